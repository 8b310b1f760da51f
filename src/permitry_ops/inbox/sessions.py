"""How a browser gets in: pages to log in and out, and none of the others without a login."""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import attrs
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from permitry_ops.inbox.access import Access, Login
from permitry_ops.inbox.pages import Links, login_page, message_page
from permitry_ops.inbox.security import Guarded, Site, read_form

__all__ = ["Page", "Sessions", "redirect"]

_STATIC = {
    "inbox.css": "text/css", "inbox.js": "text/javascript", "inbox.svg": "image/svg+xml", "try.js": "text/javascript",
}  # fmt: skip
_SESSION = 12 * 3600
_MOST_SLOWED = 100

Page: TypeAlias = Callable[[Request, Login], Awaitable[Response]]
"""What answers a request of one who has logged in; the form of a POST is in its state."""


@attrs.frozen
class Sessions:
    """Lets to the pages those who have logged in; of wrong tokens a hundred wait at a time. `links` are in headers."""

    site: Site
    access: Access
    links: Links
    _slowed: asyncio.Semaphore = attrs.field(factory=lambda: asyncio.Semaphore(_MOST_SLOWED), init=False, repr=False)

    def asgi(
        self, pages: Iterable[tuple[str, Page, str]], open_to_all: Iterable[Route], handlers: Mapping[Any, Any]
    ) -> ASGIApp:
        """Return the application of some pages, each with its path and method, and of what needs no login."""
        inside = (Route(path, functools.partial(self._inside, page), methods=[way]) for path, page, way in pages)
        routes = [
            *inside, Route("/logout", functools.partial(self._inside, self._log_out), methods=["POST"]),
            Route("/login", self._login, methods=["GET"]), Route("/login", self._log_in, methods=["POST"]),
            Route("/static/{name}", _static, methods=["GET"]), *open_to_all,
        ]  # fmt: skip
        every: dict[Any, Any] = {HTTPException: self._refuse, **handlers}
        return Guarded(Starlette(routes=routes, exception_handlers=every), self.site)

    def find(self, request: Request) -> Login | None:
        """Return the session of a browser; None where it has not logged in, or the session has ended."""
        return self.access.find(request.cookies.get(self.site.cookie, ""))

    async def _inside(self, page: Page, request: Request) -> Response:
        """Serve a page to one who has logged in; a form only with the token of the session."""
        login = self.find(request)
        if login is None:
            return redirect("/login") if request.method == "GET" else HTMLResponse(login_page("Log in first."), 401)
        if request.method == "POST":
            request.state.form = await read_form(request)
            if not self.access.is_from(login, request.state.form.get("csrf", "")):
                raise HTTPException(403, "The form is not of this session. Load the page again.")
        return await page(request, login)

    async def _login(self, _: Request) -> Response:
        return HTMLResponse(login_page())

    async def _log_in(self, request: Request) -> Response:
        form = await read_form(request)
        key = self.access.log_in(form.get("token", "").strip())
        if key is None:
            return await self._refuse_token()
        response = redirect("/")
        response.set_cookie(
            self.site.cookie, key, max_age=_SESSION, path="/", secure=self.site.is_secure, httponly=True,
            samesite="strict",
        )  # fmt: skip
        return response

    async def _refuse_token(self) -> Response:
        """Answer one whose token is wrong; after many of them late, so that guesses are slow."""
        if self._slowed.locked():
            return HTMLResponse(login_page("Too many logins have failed. Wait a minute."), 429, {"Retry-After": "60"})
        async with self._slowed:
            await asyncio.sleep(self.access.delay)
        return HTMLResponse(login_page("The link is used up or too old, or the token is wrong."), 401)

    async def _log_out(self, request: Request, _: Login) -> Response:
        self.access.log_out(request.cookies[self.site.cookie])
        response = redirect("/login")
        response.delete_cookie(self.site.cookie, path="/", secure=self.site.is_secure, httponly=True, samesite="strict")
        return response

    async def _refuse(self, request: Request, error: HTTPException) -> Response:
        page = message_page("This does not work", error.detail, login=self.find(request), links=self.links)
        return HTMLResponse(page, error.status_code, error.headers)


def redirect(path: str) -> Response:
    """Return what sends a browser to another page."""
    return RedirectResponse(path, 303)


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        raise HTTPException(404, "There is no such file.")
    return Response((Path(__file__).parent / "static" / name).read_bytes(), media_type=_STATIC[name])

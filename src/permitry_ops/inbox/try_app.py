"""The page to try rules as an application for a web server: it knows no store."""

import asyncio
import functools
from collections.abc import Mapping

import attrs
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp

from permitry_ops.inbox.access import Access, Login
from permitry_ops.inbox.apart import run_apart
from permitry_ops.inbox.security import Site
from permitry_ops.inbox.sessions import Sessions
from permitry_ops.inbox.trial import Asked, Start, send_trial
from permitry_ops.inbox.try_page import TRY_LINKS, Tried, try_page

__all__ = ["TryApp"]

_FIELDS = ("rules", "command", "tool", "arguments", "mode", "workspace")
_FIRST = "git status"
_SECONDS = 10.0
_MOST_AT_ONCE = 2


@attrs.frozen
class TryApp:
    """The page to try rules, after a login. Each trial has `seconds`, in a process of its own; two go on at once."""

    start: Start
    site: Site
    workspace: str
    access: Access = attrs.field(factory=Access)
    seconds: float = _SECONDS
    _working: asyncio.Semaphore = attrs.field(factory=lambda: asyncio.Semaphore(_MOST_AT_ONCE), init=False, repr=False)

    def asgi(self) -> ASGIApp:
        """Return the application."""
        return self.sessions.asgi([("/", self._show, "GET"), ("/", self._try, "POST")], (), {})

    @functools.cached_property
    def sessions(self) -> Sessions:
        """Who has logged in."""
        return Sessions(self.site, self.access, TRY_LINKS)

    async def _show(self, request: Request, login: Login) -> Response:
        asked = Asked(self.start.text, command=_FIRST, workspace=self.workspace)
        return await self._answer(request, login, asked, is_quick=False)

    async def _try(self, request: Request, login: Login) -> Response:
        form = request.state.form
        return await self._answer(request, login, _read(form), is_quick=form.get("quick") == "1")

    async def _answer(self, request: Request, login: Login, asked: Asked, *, is_quick: bool) -> Response:
        """Answer with what is known of the trial; a quick one does not look at the change."""

        async def is_wanted() -> bool:
            return not await request.is_disconnected()

        has_looked = not is_quick and asked.rules != self.start.text
        async with self._working:
            if not await is_wanted():
                return Response(status_code=204)
            found = await run_apart(
                send_trial, self.start, asked, most=1 + has_looked, seconds=self.seconds, is_wanted=is_wanted
            )
        outcome, report, *_ = (*found, None, None)
        return HTMLResponse(try_page(Tried(self.start, asked, outcome, report, has_looked), login))


def _read(form: Mapping[str, str]) -> Asked:
    # As browsers send lines.
    given = {name: value.replace("\r\n", "\n") for name, value in form.items()}
    texts = {name: given.get(name, "") for name in _FIELDS}
    return Asked(**texts, is_tool=given.get("what") == "tool")

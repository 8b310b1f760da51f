"""The pages of the inbox as an application for a web server."""

import asyncio
import functools
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

import attrs
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from permitry.channels.response import ToolConfirmationResponse
from permitry.core.json_values import parse_json
from permitry.errors import CallError, LedgerError, PermitryError
from permitry_ops.inbox.access import Access, Login
from permitry_ops.inbox.audit_pages import audit_page
from permitry_ops.inbox.health import health_route
from permitry_ops.inbox.live import Live, State
from permitry_ops.inbox.pages import login_page, message_page
from permitry_ops.inbox.question_pages import list_page, open_count, open_version, question_page, without_secrets
from permitry_ops.inbox.record_view import RecordView
from permitry_ops.inbox.security import Guarded, Site, read_form
from permitry_ops.inbox.stats_pages import stats_page
from permitry_ops.inbox.stored import Inbox, Shown

__all__ = ["InboxApp"]

_STATIC = {"inbox.css": "text/css", "inbox.js": "text/javascript", "inbox.svg": "image/svg+xml"}
_SESSION = 12 * 3600
_MOST_SLOWED = 100
# A request is seldom worked on for longer than that.
_AGAIN = {"": 0.0, "request": 8 * 3600.0, "1h": 3600.0, "8h": 8 * 3600.0}

Page: TypeAlias = Callable[[Request, Login], Awaitable[Response]]


@attrs.frozen
class InboxApp:
    """The inbox: pages and answers after a login; of wrong tokens a hundred wait at a time."""

    inbox: Inbox
    site: Site
    record: RecordView = attrs.field(factory=RecordView)
    access: Access = attrs.field(factory=Access)
    live: Live = attrs.field(factory=Live)
    _slowed: asyncio.Semaphore = attrs.field(factory=lambda: asyncio.Semaphore(_MOST_SLOWED), init=False, repr=False)

    def asgi(self) -> ASGIApp:
        """Return the application."""
        inside: tuple[tuple[str, Page, str], ...] = (
            ("/", self._list, "GET"), ("/events", self._list_events, "GET"),
            ("/questions/{id}", self._question, "GET"), ("/questions/{id}/events", self._question_events, "GET"),
            ("/audit", self._audit, "GET"), ("/audit/events", self._audit_events, "GET"),
            ("/stats", self._stats, "GET"),
            ("/questions/{id}/answer", self._answer, "POST"), ("/logout", self._log_out, "POST"),
        )  # fmt: skip
        routes = [Route(path, functools.partial(self._inside, page), methods=[way]) for path, page, way in inside]
        routes += [
            Route("/login", self._login, methods=["GET"]), Route("/login", self._log_in, methods=["POST"]),
            Route("/static/{name}", _static, methods=["GET"]), health_route(self.inbox),
        ]  # fmt: skip
        handlers: dict[Any, Any] = {HTTPException: self._refuse, PermitryError: self._fail}
        return Guarded(Starlette(routes=routes, exception_handlers=handlers), self.site)

    def _session(self, request: Request) -> Login | None:
        return self.access.find(request.cookies.get(self.site.cookie, ""))

    async def _inside(self, page: Page, request: Request) -> Response:
        """Serve a page to one who has logged in; a form only with the token of the session."""
        login = self._session(request)
        if login is None:
            return _to("/login") if request.method == "GET" else HTMLResponse(login_page("Log in first."), 401)
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
        response = _to("/")
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
        response = _to("/login")
        response.delete_cookie(self.site.cookie, path="/", secure=self.site.is_secure, httponly=True, samesite="strict")
        return response

    async def _list(self, _: Request, login: Login) -> Response:
        return HTMLResponse(list_page(await run_in_threadpool(self.inbox.open), login))

    async def _question(self, request: Request, login: Login) -> Response:
        shown = await self._find(request, login)
        return HTMLResponse(question_page(shown, login))

    async def _find(self, request: Request, login: Login) -> Shown:
        shown = await run_in_threadpool(self.inbox.find, request.path_params["id"])
        if shown is None:
            raise HTTPException(404, "There is no such question.")
        return shown if login.user.may_answer else without_secrets(shown)

    async def _answer(self, request: Request, login: Login) -> Response:
        """Answer the question that was shown: the form has its digest."""
        if not login.user.may_answer:
            raise HTTPException(403, "You may look at questions, and not answer them.")
        form, name = request.state.form, request.path_params["id"]
        try:
            response = _response(form)
        except (TypeError, ValueError) as error:
            shown = await self._find(request, login)
            page = functools.partial(question_page, shown, login, problem=f"Not answered: {error}.")
            edited = form.get("arguments") if form.get("action") == "edit" else None
            return HTMLResponse(
                page(edited=edited, guidance=form.get("guidance", ""), result=form.get("result", "")), 422
            )
        try:
            await run_in_threadpool(self.inbox.answer, name, form.get("digest", ""), response, login.user.name)
        except LedgerError as error:
            return HTMLResponse(message_page("Not answered", f"{error}.", login=login), 409)
        said = "responded to" if response.result is not None else response.outcome
        login.notice = f"The question {name} is {said}."
        if response.is_approval and form.get("again"):
            login.notice += await self._grant(name, form["again"], login)
        return _to("/")

    async def _grant(self, name: str, again: str, login: Login) -> str:
        give = functools.partial(self.inbox.grant, is_for_request=again == "request")
        try:
            await run_in_threadpool(give, name, _AGAIN[again], login.user.name)
        except PermitryError as error:
            return f" The next such call is asked about: {error}."
        return " The same call is permitted for a time."

    async def _audit(self, request: Request, login: Login) -> Response:
        query, version = dict(request.query_params), await run_in_threadpool(lambda: self.record.version)
        found = await run_in_threadpool(self.record.rows, query)
        return HTMLResponse(audit_page(found, query, login, version=version))

    async def _audit_events(self, request: Request, _: Login) -> Response:
        return self._events(request, "/audit", lambda: State(self.record.version))

    async def _stats(self, _: Request, login: Login) -> Response:
        return HTMLResponse(stats_page(await run_in_threadpool(self.record.stats), login))

    async def _list_events(self, request: Request, _: Login) -> Response:
        return self._events(request, "/", self._list_state)

    async def _question_events(self, request: Request, _: Login) -> Response:
        name = request.path_params["id"]
        return self._events(request, f"/questions/{name}", functools.partial(self._question_state, name))

    def _list_state(self) -> State:
        questions = self.inbox.open()
        return State(open_version(questions), open_count(len(questions)))

    def _question_state(self, name: str) -> State:
        shown = self.inbox.find(name)
        outcome = "it is not there any more" if shown is None else shown.outcome
        return State(outcome, f"This question is closed: {outcome}." if outcome else "")

    def _events(self, request: Request, key: str, look: Callable[[], State]) -> Response:
        if self.live.is_full:
            raise HTTPException(503, "Too many pages are open.")
        events = self.live.events(key, look, lambda: self._session(request) is not None)
        # A proxy must hand each event on at once.
        return StreamingResponse(events, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})

    async def _refuse(self, request: Request, error: HTTPException) -> Response:
        page = message_page("This does not work", error.detail, login=self._session(request))
        return HTMLResponse(page, error.status_code, error.headers)

    async def _fail(self, request: Request, error: PermitryError) -> Response:
        page = message_page("The questions cannot be read", f"{error}.", login=self._session(request))
        return HTMLResponse(page, 503)


def _to(path: str) -> Response:
    return RedirectResponse(path, 303)


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        raise HTTPException(404, "There is no such file.")
    return Response((Path(__file__).parent / "static" / name).read_bytes(), media_type=_STATIC[name])


def _response(form: dict[str, str]) -> ToolConfirmationResponse:
    """Return the answer in a form. Raises: `CallError`, `TypeError` or `ValueError`."""
    action, words = form.get("action", ""), form.get("guidance", "").strip()
    # As browsers send lines.
    result = form.get("result", "").replace("\r\n", "\n")
    if form.get("again", "") not in _AGAIN:
        raise CallError("there is no such time")
    is_remembered = form.get("remember") == "1"
    if (action == "respond") is not bool(result.strip()):
        raise CallError("a text in place of the result goes with the button below it, and with no other")
    match action:
        case "respond":
            return ToolConfirmationResponse(False, instructions=words, result=result)
        case "reject" | "abort":
            return ToolConfirmationResponse(False, abort=action == "abort", instructions=words)
        case "approve" | "edit" if words:
            raise CallError("words to the model go with a rejection; delete them to approve")
        case "approve":
            return ToolConfirmationResponse(True, skip_future=is_remembered)
        case "edit" if form.get("again"):
            raise CallError("only the call as it is can be permitted again, and not an edited one")
        case "edit":
            arguments = parse_json(form.get("arguments", ""))
            if not isinstance(arguments, dict):
                raise CallError("the arguments are a JSON object")
            return ToolConfirmationResponse(True, arguments=arguments)
    raise CallError("an answer is to approve, to reject, to edit, to respond or to abort")

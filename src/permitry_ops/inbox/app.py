"""The pages of the inbox as an application for a web server."""

import functools
from collections.abc import Callable

import attrs
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.types import ASGIApp

from permitry.channels.response import ToolConfirmationResponse
from permitry.core.json_values import parse_json
from permitry.errors import CallError, LedgerError, PermitryError
from permitry_ops.inbox.access import Access, Login
from permitry_ops.inbox.audit_pages import audit_page
from permitry_ops.inbox.health import health_route
from permitry_ops.inbox.live import Live, State
from permitry_ops.inbox.pages import LINKS, message_page
from permitry_ops.inbox.question_pages import list_page, open_count, open_version, question_page, without_secrets
from permitry_ops.inbox.record_view import RecordView
from permitry_ops.inbox.security import Site
from permitry_ops.inbox.sessions import Page, Sessions, redirect
from permitry_ops.inbox.stats_pages import stats_page
from permitry_ops.inbox.stored import Inbox, Shown

__all__ = ["InboxApp"]

# A request is seldom worked on for longer than that.
_AGAIN = {"": 0.0, "request": 8 * 3600.0, "1h": 3600.0, "8h": 8 * 3600.0}


@attrs.frozen
class InboxApp:
    """The inbox: pages and answers after a login."""

    inbox: Inbox
    site: Site
    record: RecordView = attrs.field(factory=RecordView)
    access: Access = attrs.field(factory=Access)
    live: Live = attrs.field(factory=Live)

    def asgi(self) -> ASGIApp:
        """Return the application."""
        inside: tuple[tuple[str, Page, str], ...] = (
            ("/", self._list, "GET"), ("/events", self._list_events, "GET"),
            ("/questions/{id}", self._question, "GET"), ("/questions/{id}/events", self._question_events, "GET"),
            ("/audit", self._audit, "GET"), ("/audit/events", self._audit_events, "GET"),
            ("/stats", self._stats, "GET"),
            ("/questions/{id}/answer", self._answer, "POST"),
        )  # fmt: skip
        return self.sessions.asgi(inside, [health_route(self.inbox)], {PermitryError: self._fail})

    @functools.cached_property
    def sessions(self) -> Sessions:
        """Who has logged in."""
        return Sessions(self.site, self.access, LINKS)

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
        return redirect("/")

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
        events = self.live.events(key, look, lambda: self.sessions.find(request) is not None)
        # A proxy must hand each event on at once.
        return StreamingResponse(events, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})

    async def _fail(self, request: Request, error: PermitryError) -> Response:
        page = message_page("The questions cannot be read", f"{error}.", login=self.sessions.find(request))
        return HTMLResponse(page, 503)


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

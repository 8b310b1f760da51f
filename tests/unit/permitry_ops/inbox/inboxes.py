"""Inboxes to test with: questions in memory, and browsers without a screen."""

import contextlib
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import uvicorn
from starlette.testclient import TestClient
from starlette.types import ASGIApp
from tests.unit.permitry_ops.inbox.people import QUESTION

from permitry.channels.response import ToolConfirmationResponse
from permitry.errors import LedgerError
from permitry_ops.inbox.access import User
from permitry_ops.inbox.app import InboxApp
from permitry_ops.inbox.live import Live
from permitry_ops.inbox.record_view import RecordView
from permitry_ops.inbox.security import Site
from permitry_ops.inbox.stored import Shown
from permitry_ops.inbox.trial import Start
from permitry_ops.inbox.try_app import TryApp

PORT = 8710
ORIGIN = f"http://127.0.0.1:{PORT}"


@attrs.define
class MemoryInbox:
    """Questions in memory."""

    questions: dict[str, Shown] = attrs.field(factory=lambda: {QUESTION.id: QUESTION})
    answers: list[tuple[str, ToolConfirmationResponse, str]] = attrs.field(factory=list)
    grants: list[tuple[str, float, str]] = attrs.field(factory=list)
    requests: list[str] = attrs.field(factory=list)

    def open(self) -> list[Shown]:
        """Return those without an outcome."""
        return [shown for shown in self.questions.values() if not shown.outcome]

    def find(self, name: str) -> Shown | None:
        """Return one."""
        return self.questions.get(name)

    def answer(self, name: str, digest: str, response: ToolConfirmationResponse, by: str) -> None:
        """Answer one, once."""
        shown = self.questions.get(name)
        if shown is None or shown.digest != digest or shown.outcome:
            raise LedgerError(f"the question `{name}` is not open any more")
        self.answers.append((name, response, by))
        self.questions[name] = attrs.evolve(
            shown, outcome=f"approved by {by}" if response.approved else f"rejected by {by}"
        )

    def grant(self, name: str, seconds: float, by: str, *, is_for_request: bool = False) -> None:
        """Keep what is granted."""
        self.grants.append((name, seconds, by))
        self.requests += [name] if is_for_request else []


@attrs.define
class Browser:
    """A browser with cookies, which names its origin as browsers do."""

    app: InboxApp | TryApp
    client: TestClient = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        """Begin without cookies."""
        self.client = TestClient(self.app.asgi(), base_url=ORIGIN, follow_redirects=False)

    def log_in(self, user: User) -> "Browser":
        """Log in by a link."""
        assert self.post("/login", token=self.app.access.link(user)).status_code == 303
        return self

    def get(self, path: str) -> Any:  # noqa: ANN401 -- a response of httpx
        """Load a page."""
        return self.client.get(path)

    def post(self, path: str, **fields: str) -> Any:  # noqa: ANN401 -- as above
        """Send a form."""
        return self.client.post(path, data=fields, headers={"Origin": ORIGIN})

    def field(self, path: str, name: str) -> str:
        """Return the value of a hidden field on a page."""
        found = re.search(rf'type="hidden" name="{name}" value="([^"]*)"', self.get(path).text)
        assert found is not None
        return found[1]

    def answer(self, action: str, name: str = "q1", **fields: str) -> Any:  # noqa: ANN401 -- as above
        """Send the form of a question as its page has it."""
        page = f"/questions/{name}"
        hidden = {each: self.field(page, each) for each in ("csrf", "digest")}
        return self.post(f"{page}/answer", **{**hidden, "action": action, **fields})


def app_of(inbox: object) -> InboxApp:
    """Return the application of an inbox."""
    return InboxApp(inbox, Site.local(PORT))  # type: ignore[arg-type]  # any that has the methods


@contextlib.contextmanager
def serving(inbox: object, record: Path | None = None) -> Iterator[tuple[InboxApp, str]]:
    """Yield the application of an inbox that is served on this machine, and its address."""
    with _listening() as (listening, site):
        app = InboxApp(inbox, site, RecordView(record), live=Live(pause=0.02))  # type: ignore[arg-type]  # as above
        with _served(app.asgi(), listening):
            yield app, site.origins[0]


@contextlib.contextmanager
def trying(start: Start, workspace: str = "/srv/shop") -> Iterator[tuple[TryApp, str]]:
    """Yield the page to try rules as it is served on this machine, and its address."""
    with _listening() as (listening, site):
        app = TryApp(start, site, workspace)
        with _served(app.asgi(), listening):
            yield app, site.origins[0]


@contextlib.contextmanager
def _listening() -> Iterator[tuple[socket.socket, Site]]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening, Site.local(listening.getsockname()[1])


@contextlib.contextmanager
def _served(app: ASGIApp, listening: socket.socket) -> Iterator[None]:
    config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1, ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()

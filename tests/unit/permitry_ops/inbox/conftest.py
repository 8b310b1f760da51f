"""An inbox with one question, and browsers of those who use it."""

import pytest
from tests.unit.permitry_ops.inbox.inboxes import Browser, MemoryInbox, app_of
from tests.unit.permitry_ops.inbox.people import ANN, BOB, EVE

from permitry_ops.inbox.app import InboxApp


@pytest.fixture
def inbox() -> MemoryInbox:
    """Return an inbox with one question."""
    return MemoryInbox()


@pytest.fixture
def app(inbox: MemoryInbox) -> InboxApp:
    """Return its application."""
    return app_of(inbox)


@pytest.fixture
def stranger(app: InboxApp) -> Browser:
    """Return a browser that has not logged in."""
    return Browser(app)


@pytest.fixture
def ann(app: InboxApp) -> Browser:
    """Return the browser of an approver."""
    return Browser(app).log_in(ANN)


@pytest.fixture
def bob(app: InboxApp) -> Browser:
    """Return the browser of another approver."""
    return Browser(app).log_in(BOB)


@pytest.fixture
def eve(app: InboxApp) -> Browser:
    """Return the browser of a viewer."""
    return Browser(app).log_in(EVE)

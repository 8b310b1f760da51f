"""A handler with two tools: `look`, which is allowed, and `write`, which is asked about."""

from collections.abc import Callable
from typing import Any

import attrs
import pytest

from permitry.audit.record import MemoryRecorder
from permitry.channels.channel import CallbackChannel
from permitry.channels.request import ToolConfirmationRequest
from permitry.config.default import create_default_authorization_policy
from permitry.core.call import ToolCall
from permitry.core.decision import Verdict
from permitry.core.rule import Request
from permitry.core.spec import ToolSpec, ToolTraits
from permitry.dispatch.registry import Handler, ToolRegistry
from permitry.guard.ledger import ConfirmationLedger
from permitry.guard.session import Session
from permitry.handler import Pending, ToolHandler


@attrs.frozen
class _Restriction:
    """Restricts the calls of `write`, or those with one path only."""

    effect: Verdict
    path: str | None
    id: str = "house-rule"
    reason: str = "for the operator"
    message: str | None = "Leave that alone."
    source: str | None = "rules.toml:7"

    def priority(self) -> int:
        """Return the default of a block."""
        return 150

    def matches(self, request: Request) -> bool:
        """Return whether the call is meant."""
        meant = self.path is None or request.call.arguments.get("path") == self.path
        return meant and request.call.tool == "write"

    def near_miss(self, _: Request) -> str | None:
        """Return None."""


@pytest.fixture
def ran() -> list[tuple[str, dict[str, Any]]]:
    """Return what ran, in order: names and arguments."""
    return []


@pytest.fixture
def registry(ran: list[tuple[str, dict[str, Any]]]) -> ToolRegistry:
    """Return a registry of tools that note their runs."""

    def tool(name: str) -> Handler:
        def run(arguments: dict[str, Any]) -> tuple[bool, str]:
            ran.append((name, arguments))
            return True, f"{name} is done"

        return run

    registry = ToolRegistry()
    registry.register(ToolSpec("look", traits=ToolTraits(read_only=True)), tool("look"))
    registry.register(ToolSpec("write"), tool("write"), preview=lambda given: f"+{given.get('path')}")
    return registry


@pytest.fixture
def recorder() -> MemoryRecorder:
    """Return the record."""
    return MemoryRecorder()


@pytest.fixture
def now() -> list[float]:
    """Return a list with the time in it; write into it to let time pass."""
    return [0.0]


@pytest.fixture
def handler(registry: ToolRegistry, recorder: MemoryRecorder, now: list[float]) -> ToolHandler:
    """Return a handler whose questions stay open for a minute."""
    ledger = ConfirmationLedger(lifetime=60.0, clock=lambda: now[0])
    return ToolHandler(Session(), registry=registry, recorder=recorder, ledger=ledger)


@pytest.fixture
def events(recorder: MemoryRecorder) -> Callable[[], list[object]]:
    """Return a function that gives the names of the recorded events."""
    return lambda: [each["event"] for each in recorder.records]


@pytest.fixture
def restrict(handler: ToolHandler) -> Callable[..., None]:
    """Return a function that replaces the policy by one that also restricts `write`, or one path of it."""

    def replace(effect: Verdict, path: str | None = None) -> None:
        handler.policy = create_default_authorization_policy([_Restriction(effect, path)])

    return replace


@pytest.fixture
def answer(handler: ToolHandler) -> Callable[[object], list[ToolConfirmationRequest]]:
    """Return a function that has every question answered so; it gives the list of what will be asked.

    An exception is raised instead of answered.
    """

    def always(given: Any) -> list[ToolConfirmationRequest]:  # noqa: ANN401 -- wrong answers are to be tried too
        asked: list[ToolConfirmationRequest] = []

        def callback(request: ToolConfirmationRequest) -> Any:  # noqa: ANN401 -- as above
            asked.append(request)
            if isinstance(given, BaseException):
                raise given
            return given

        handler.channel = CallbackChannel(callback)
        return asked

    return always


@pytest.fixture
def ask(handler: ToolHandler) -> Callable[..., Pending]:
    """Return a function that begins a call of `write` and returns the open question."""

    def begin(path: str = "a", call_id: str = "c1") -> Pending:
        outcome = handler.begin(ToolCall("write", {"path": path}, call_id=call_id))
        assert isinstance(outcome, Pending)
        return outcome

    return begin

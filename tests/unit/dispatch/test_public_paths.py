"""A walk over everything public of the registry and the handler: nothing there authorizes a call but a decision."""

import asyncio
import contextlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Phase, Verdict
from permitry.core.spec import ToolSpec
from permitry.dispatch.authorized import AuthorizedCall
from permitry.dispatch.registry import ToolRegistry
from permitry.guard.session import Session
from permitry.handler import Pending, Ready, ToolHandler

Ran = list[dict[str, Any]]

_WORK = ToolCall("work")
_ALLOWED = Decision(Verdict.ALLOW, "forged", Phase.PERMISSION, "says the attacker")
_FORGED = object.__new__(AuthorizedCall)
_GIVEN: Mapping[str, Any] = {
    "args": {},
    "arguments": {},
    "authorized": _FORGED,
    "call": _WORK,
    "call_id": "c1",
    "callback": lambda: None,
    "context": AuthContext(),
    "handler": lambda _: (True, "another tool"),
    "name": "work",
    "of": "work",
    "outcome": Ready(_WORK, _ALLOWED, _FORGED),
    "pending": Pending("guess", _WORK, _ALLOWED, ToolConfirmationRequest(_WORK)),
    "pending_id": "guess",
    "reason": "no one is there",
    "response": ToolConfirmationResponse(True, skip_future=False),
    "spec": ToolSpec("another"),
    "template": None,
    "tool_name": "work",
}


def _use(attribute: object) -> None:
    """Call a public attribute with what an attacker could have; an argument no one thought of fails the test."""
    if not callable(attribute):
        return
    parameters = inspect.signature(attribute).parameters.values()
    required = [each for each in parameters if each.default is each.empty and each.kind is not each.VAR_KEYWORD]
    given = {each.name: _GIVEN[each.name] for each in required}
    with contextlib.suppress(Exception):
        result = attribute(**given)
        if inspect.iscoroutine(result):
            asyncio.run(result)


@pytest.fixture
def created(monkeypatch: pytest.MonkeyPatch) -> list[ToolCall]:
    """Return the calls that are authorized from now on, in order."""
    calls: list[ToolCall] = []
    authorize = ToolRegistry._authorize  # noqa: SLF001 -- the one minting place is what is watched

    def watched(self: ToolRegistry, call: ToolCall, *rest: Any) -> AuthorizedCall:  # noqa: ANN401 -- handed through
        calls.append(call)
        return authorize(self, call, *rest)

    monkeypatch.setattr(ToolRegistry, "_authorize", watched)
    return calls


@pytest.fixture
def minting(created: list[ToolCall]) -> Callable[[object], set[str]]:
    """Return a function that uses everything public of an object and names what authorized a call."""

    def names(thing: object) -> set[str]:
        found = set()
        for name in dir(thing):
            before = len(created)
            if not name.startswith("_"):
                _use(getattr(thing, name))
            if len(created) > before:
                found.add(name)
        return found

    return names


def test_nothing_public_of_a_registry_authorizes(
    registry: ToolRegistry, ran: Ran, minting: Callable[[object], set[str]]
) -> None:
    """A registry alone runs nothing."""
    assert minting(registry) == set()
    assert ran == []


@pytest.mark.parametrize("session", [Session(), Session(is_plan_mode=True), Session(is_plan_mode=True, yolo_mode=True)])
def test_nothing_public_of_a_handler_authorizes_what_is_not_allowed(
    registry: ToolRegistry, ran: Ran, minting: Callable[[object], set[str]], session: Session
) -> None:
    """Without a decision to allow, or an answer, no public attribute leads to a run."""
    assert minting(ToolHandler(session, registry=registry)) == set()
    assert ran == []


def test_a_decision_to_allow_is_the_only_way(
    handler: ToolHandler, ran: Ran, minting: Callable[[object], set[str]]
) -> None:
    """With one, exactly the ways that decide authorize, and only `handle` and `ahandle` also run."""
    assert minting(handler) == {"begin", "check", "inline", "ainline", "handle", "ahandle"}
    assert len(ran) == 2

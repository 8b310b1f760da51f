"""What a whole call costs, counted and not timed: the same on every machine; a change that makes it grow fails here.

Counted are the functions that are called, those of Python and those in C, by `sys.setprofile`.
"""

import gc
import sys
from types import FrameType
from typing import Any

import pytest

from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import ToolCall
from permitry.core.spec import ToolSpec
from permitry.dispatch.arguments import with_check
from permitry.dispatch.registry import ToolRegistry
from permitry.guard.handled import HandledCalls
from permitry.guard.outcome import Pending
from permitry.guard.session import Session
from permitry.handler import ToolHandler

_MOST = 267
_FORGETTING = 13
"""What was counted when this was set, with little to spare; who needs more raises it, and says why.

From 165: outcomes, history and records are counted as they are added, so that no memory grows with a session.
From 176: the arguments are checked before anybody is asked, and a run may report.
From 185: a guard decides, and asks the handler for what only its registry knows.
From 192: outcomes are those of a session and an agent, and a question may be gone.
From 196: results are kept for rules that ask where a value comes from, and looked into when one does.
From 212: the rules that are found are asked about every call; what they said about an earlier one is not kept.
From 238: what comes of a tool is asked of one object, `Tools`.
From 259: a call goes down a line of stages, each of which gives the next one a case.
From 260: what a call leaves behind, and whether its record waits for a disk, is asked in one function each.
Down to 259: what is asked of every call is kept in slots, not in cached properties, whose first look takes longest.
From 267: a recorder is asked whether it keeps rules; calls of one digest are counted in the table of digests alone, and
a queue is made for a call that waits for none, which took a spare one, as less code does both.
"""


def _calls(handler: ToolHandler, call: ToolCall) -> int:
    count = 0

    def note(_: FrameType, event: str, __: Any) -> None:  # noqa: ANN401 -- it depends on the event
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    gc.disable()  # what is collected in the middle would be counted
    sys.setprofile(note)
    try:
        handler.handle(call)
    finally:
        sys.setprofile(before)
        gc.enable()
    return count


@pytest.mark.parametrize(("kept", "most"), [(1_000, _MOST), (10, _MOST + _FORGETTING)])
def test_a_call_that_is_allowed_makes_few_calls(handler: ToolHandler, kept: int, most: int) -> None:
    """Decided, recorded, run in its turn, recorded again; whatever ran before, and where outcomes are forgotten."""
    handler.handled = HandledCalls(calls=kept)
    calls = [ToolCall("look", {"path": "/srv/a", "limit": 7}, call_id=f"c{n}") for n in range(50)]
    counts = [_calls(handler, call) for call in calls]
    # The first one resolves the rules for its tool.
    assert max(counts[1:]) <= most


def test_arguments_are_checked_once_a_decision() -> None:
    """At the question, and once more at the answer, when a rule or the tool may have changed."""
    checked: list[dict[str, Any]] = []
    registry = ToolRegistry()
    registry.register(ToolSpec("send"), with_check(lambda _: "sent", checked.append))
    handler = ToolHandler(Session(), registry=registry)
    pending = handler.begin(ToolCall("send", {"to": "a"}))
    assert isinstance(pending, Pending)
    assert len(checked) == 1
    handler.resolve(pending.pending_id, ToolConfirmationResponse(approved=True))
    assert len(checked) == 2

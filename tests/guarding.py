"""A guard with four tools, whole calls, and what is on record of them: for tests of whole lines of stages."""

from typing import Any

import attrs

from permitry.audit.record import MemoryRecorder
from permitry.channels.response import ToolConfirmationResponse
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.decision import Decision, Phase, Verdict
from permitry.errors import AuditError
from permitry.guard.guard import Guard
from permitry.guard.outcome import Pending

RULES = """
schema = 1
[[rule]]
id = "look"
effect = "allow"
tools = ["look"]
[[rule]]
id = "ask-send"
effect = "confirm"
tools = ["send"]
[[rule]]
id = "no-remove"
effect = "block"
tools = ["remove"]
message = "Nothing is removed."
"""
"""No rule is about `write`."""
YES, NO = ToolConfirmationResponse(approved=True), ToolConfirmationResponse(approved=False)
ALLOWED = Decision(Verdict.ALLOW, "look", Phase.PERMISSION, "a rule allows it")


@attrs.define
class Broken(MemoryRecorder):
    """A record that cannot keep one kind of event."""

    event: str = attrs.field(default="decided", kw_only=True)

    def record(self, event: str, call: ToolCall, /, **details: object) -> None:
        """Keep an event, or fail."""
        if event == self.event:
            raise AuditError("the disk is full")
        super().record(event, call, **details)


def new_guard(rules: str = RULES, **parts: Any) -> Guard:  # noqa: ANN401 -- the fields of a guard
    """Return a guard that has seen no call."""
    return Guard(load_policy(rules), **parts)


def new_call(tool: str, path: str = "a", call_id: str = "c1") -> ToolCall:
    """Return a call."""
    return ToolCall(tool, {"path": path}, call_id=call_id)


def open_ask(guard: Guard, tool: str = "write", call_id: str = "c1") -> Pending:
    """Return an open question about a call."""
    pending = guard.begin(new_call(tool, call_id=call_id))
    assert isinstance(pending, Pending)
    return pending


def events(guard: Guard) -> list[object]:
    """Return the names of what is on record."""
    assert isinstance(guard.recorder, MemoryRecorder)
    return [each["event"] for each in guard.recorder.records]

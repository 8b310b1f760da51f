"""A guard with four tools, and cases on their way through it: for the tests of its stages, each of which runs alone."""

from typing import Any

import attrs

from permitry.audit.record import MemoryRecorder
from permitry.channels.response import ToolConfirmationResponse
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.decision import Decision, Phase, Verdict
from permitry.errors import AuditError
from permitry.guard.case import Answer, Case
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
ASKED = Decision(Verdict.CONFIRM, "ask-send", Phase.RESTRICTION, "a rule asks")
UNMATCHED = Decision(Verdict.CONFIRM, None, Phase.DEFAULT, "no rule is about it")
BLOCKED = Decision(Verdict.BLOCK, "no-remove", Phase.RESTRICTION, "a rule blocks it")


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


def new_case(tool: str, **known: Any) -> Case:  # noqa: ANN401 -- the fields of a case
    """Return a call of which the stages know this much."""
    return Case(new_call(tool), **known)


def open_ask(guard: Guard, tool: str = "write", call_id: str = "c1") -> Pending:
    """Return an open question about a call."""
    pending = guard.begin(new_call(tool, call_id=call_id))
    assert isinstance(pending, Pending)
    return pending


def new_answer(guard: Guard, response: ToolConfirmationResponse = YES, tool: str = "write") -> Case:
    """Return the case of a call that was asked about, with what a human said; its question is closed."""
    question = guard.ledger.claim(open_ask(guard, tool).pending_id, response)
    return Case(question.call, spec=question.spec, answer=Answer(question, response))


def events(guard: Guard) -> list[object]:
    """Return the names of what is on record."""
    assert isinstance(guard.recorder, MemoryRecorder)
    return [each["event"] for each in guard.recorder.records]

"""Calls on their way: a guard with rules of which everything can be said, and cases of its calls."""

from typing import Any

import attrs
from tests.unit.core.stubs import PlainRule

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Phase, Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.guard.case import Answer, Case
from permitry.guard.guard import Guard
from permitry.guard.ledger import PendingConfirmation

CALL = ToolCall("x", {"path": "a"}, call_id="c1")
ALLOWED = Decision(Verdict.ALLOW, "may", Phase.PERMISSION, "it may")
ASKED = Decision(Verdict.CONFIRM, None, Phase.DEFAULT, "no rule matched")
BLOCKED = Decision(Verdict.BLOCK, "never", Phase.RESTRICTION, "never", "Leave that alone.")


@attrs.define
class Failing:
    """A sink that keeps nothing."""

    def record(self, event: str, call: ToolCall, /, **details: object) -> None:
        """Fail."""
        raise OSError(f"{event} of {call.tool}: {len(details)} details")


def guard_of(*rules: PlainRule, **parts: Any) -> Guard:  # noqa: ANN401 -- the parts of a guard
    """Return a guard with these rules."""
    return Guard(AuthorizationPolicy(rules), **parts)


def case_of(decision: Decision, **known: Any) -> Case:  # noqa: ANN401 -- the fields of a case
    """Return the case of a call about which that was decided."""
    return Case(CALL, context=AuthContext(), decision=decision)._replace(**known)


def answer_of(response: Any, decision: Decision = ASKED) -> Answer:  # noqa: ANN401 -- whatever a test answers
    """Return an answer to a question about the call."""
    return Answer(PendingConfirmation("p1", CALL, decision, 0.0), response)

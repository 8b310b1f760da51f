"""The condition `repeat`."""

from typing import ClassVar

import attrs

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Question, Test

__all__ = ["RepeatCondition"]


@attrs.frozen
class RepeatCondition:
    """Holds when the very same call (by digest) would now run for at least the `times`-th time in the session."""

    is_about_call: ClassVar[bool] = True

    times: int

    def holds(self, question: Question, *, is_generous: bool) -> bool:  # noqa: ARG002 -- a count is known, or not
        """Return whether the call repeats itself often enough.

        Raises: `UnevaluableError` when the session has forgotten too much to tell.
        """
        return _count(question.call, question.context) >= self.times

    def compiled(self, question: Question, *, is_generous: bool) -> Test:  # noqa: ARG002 -- it asks call and history
        """Return `holds` as a test of call and context."""
        times = self.times

        def holds(call: ToolCall, context: AuthContext) -> bool:
            return _count(call, context) >= times

        return holds

    def fact(self, question: Question) -> str:
        """Return what is the case instead."""
        return f"repeat = {_count(question.call, question.context)}"


def _count(call: ToolCall, context: AuthContext) -> int:
    return 1 + context.history.count(call.digest)

"""The condition `repeat`."""

from typing import ClassVar

import attrs

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Question

__all__ = ["RepeatCondition"]


@attrs.frozen
class RepeatCondition:
    """Holds when the very same call (by digest) would now run for at least the `times`-th time in the session."""

    is_pure: ClassVar[bool] = True

    times: int

    def holds(self, question: Question, *, over_approximate: bool) -> bool:  # noqa: ARG002 -- a count is known, or not
        """Return whether the call repeats itself often enough.

        Raises: `UnevaluableError` when the session has forgotten too much to tell.
        """
        return _count(question.call, question.context) >= self.times

    def fact(self, question: Question) -> str:
        """Return what is the case instead."""
        return f"repeat = {_count(question.call, question.context)}"


def _count(call: ToolCall, context: AuthContext) -> int:
    return 1 + context.history.count(call.digest)

"""The condition `repeat`."""

from typing import ClassVar

import attrs

from permitry.core.rule import Question

__all__ = ["RepeatCondition"]


@attrs.frozen
class RepeatCondition:
    """Holds when the very same call (by digest) would now run for at least the `times`-th time in the session."""

    is_about_call: ClassVar[bool] = True

    times: int

    def holds(self, question: Question, *, is_generous: bool) -> bool:  # noqa: ARG002 -- the history is always known
        """Return whether the call repeats itself often enough."""
        return self._count(question) >= self.times

    def fact(self, question: Question) -> str:
        """Return what is the case instead."""
        return f"repeat = {self._count(question)}"

    @staticmethod
    def _count(question: Question) -> int:
        return 1 + sum(ran.digest == question.call.digest for ran in question.context.history.latest())

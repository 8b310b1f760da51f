"""The condition `repeat`."""

from typing import Annotated

import attrs

from permitry.conditions.written import PlainCondition
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Request

__all__ = ["RepeatCondition"]


@attrs.frozen
class RepeatCondition(PlainCondition):
    """Holds when the same call would now run for at least the `times`-th time in the session."""

    key = "repeat"
    table = Annotated[int, range(2, 1_000_001)]
    description = "The same call, for this many times or more."
    is_answered = True
    is_pure = True

    times: int

    def holds(self, request: Request) -> bool:
        """Return whether it is repeated. Raises: `UnevaluableError` for too little history."""
        return _count(request.call, request.context) >= self.times

    @property
    def expected(self) -> str:
        """What it asks for, as shown in near misses."""
        return f"at least {self.times}"

    def fact(self, request: Request) -> str:
        """Return what is true instead, as shown in near misses."""
        return f"repeat = {_count(request.call, request.context)}"


def _count(call: ToolCall, context: AuthContext) -> int:
    return 1 + context.history.count(call.digest)

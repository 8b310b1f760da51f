"""The condition `attended`."""

import attrs

from permitry.conditions.written import PlainCondition
from permitry.core.rule import Request

__all__ = ["AttendedCondition"]


@attrs.frozen
class AttendedCondition(PlainCondition):
    """Holds while a user can answer questions, or while none can."""

    key = "attended"
    table = bool
    description = "Whether a user can answer questions."
    example = bool
    in_context = "attended"
    is_answered = True
    is_pure = True

    is_attended: bool

    def holds(self, request: Request) -> bool:
        """Return whether the session is as the rule wants it."""
        return request.context.attended is self.is_attended

"""The condition `attended`."""

from typing import ClassVar

import attrs

from permitry.conditions.written import PlainCondition, Table
from permitry.core.rule import Request

__all__ = ["AttendedCondition"]


@attrs.frozen
class AttendedCondition(PlainCondition):
    """Holds while a user can answer questions, or while none can."""

    key: ClassVar[str] = "attended"
    table: ClassVar[Table] = bool
    description: ClassVar[str] = "Whether a user can answer questions."
    example: ClassVar[Table] = bool
    in_context: ClassVar[str] = "attended"
    is_answered: ClassVar[bool] = True
    is_pure: ClassVar[bool] = True

    is_attended: bool

    def holds(self, request: Request) -> bool:
        """Return whether the session is as the rule wants it."""
        return request.context.attended is self.is_attended

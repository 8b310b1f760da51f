"""The condition `repaired`."""

import attrs

from permitry.conditions.written import PlainCondition
from permitry.core.rule import Request

__all__ = ["RepairedCondition"]


@attrs.frozen
class RepairedCondition(PlainCondition):
    """Holds for calls whose text had to be repaired before it could be read, or for all others."""

    key = "repaired"
    table = bool
    description = "Whether the text of the call had to be repaired to be read."
    is_answered = True
    is_pure = True

    is_repaired: bool = attrs.field(validator=attrs.validators.instance_of(bool))

    def holds(self, request: Request) -> bool:
        """Return whether the call was repaired, or was not, as the rule wants it."""
        return request.call.repaired is self.is_repaired

    def fact(self, request: Request) -> str:
        """Return what is true instead, as shown in near misses."""
        return f"repaired = {str(request.call.repaired).lower()}"

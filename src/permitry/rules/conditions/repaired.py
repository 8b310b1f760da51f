"""The condition `repaired`."""

from typing import ClassVar

import attrs

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Question, Test

__all__ = ["RepairedCondition"]


@attrs.frozen
class RepairedCondition:
    """Holds for calls whose text had to be repaired before it could be read, or for all others."""

    is_about_call: ClassVar[bool] = True

    is_repaired: bool = attrs.field(validator=attrs.validators.instance_of(bool))

    def holds(self, question: Question, *, is_generous: bool) -> bool:  # noqa: ARG002 -- the call always says so
        """Return whether the call was repaired, or was not, as the rule wants it."""
        return question.call.repaired is self.is_repaired

    def compiled(self, question: Question, *, is_generous: bool) -> Test:  # noqa: ARG002 -- it asks the call alone
        """Return `holds` as a test of the call."""
        is_repaired = self.is_repaired

        def holds(call: ToolCall, _: AuthContext) -> bool:
            return call.repaired is is_repaired

        return holds

    def fact(self, question: Question) -> str:
        """Return what is the case instead."""
        return f"repaired = {str(question.call.repaired).lower()}"

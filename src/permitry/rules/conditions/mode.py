"""The condition `mode`."""

from typing import ClassVar

import attrs

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Question, Test
from permitry.rules.conditions._words import words

__all__ = ["ModeCondition"]


@attrs.frozen
class ModeCondition:
    """Holds in one of the named modes.

    A permission looks at the mode by its name; a restriction at every mode that is true of the session.
    """

    is_about_call: ClassVar[bool] = False

    modes: tuple[str, ...] = attrs.field(converter=words)

    def holds(self, question: Question, *, is_generous: bool) -> bool:
        """Return whether one of the modes is in force."""
        context = question.context
        in_force = context.modes if is_generous else {context.mode}
        return not in_force.isdisjoint(self.modes)

    def compiled(self, question: Question, *, is_generous: bool) -> Test:  # noqa: ARG002 -- it asks the context alone
        """Return `holds` as a test of the context."""
        modes = frozenset(self.modes)

        def may_hold(_: ToolCall, context: AuthContext) -> bool:
            return not modes.isdisjoint(context.modes)

        def holds(_: ToolCall, context: AuthContext) -> bool:
            return context.mode in modes

        return may_hold if is_generous else holds

    def fact(self, question: Question) -> str:
        """Return what is the case instead."""
        return f"mode = {question.context.mode}"

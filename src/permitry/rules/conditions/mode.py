"""The condition `mode`."""

from typing import ClassVar

import attrs

from permitry.core.rule import Question
from permitry.rules.conditions._words import words

__all__ = ["ModeCondition"]


@attrs.frozen
class ModeCondition:
    """Holds in one of the named modes.

    A permission looks at the mode by its name; a restriction at every mode that is true of the session.
    """

    is_pure: ClassVar[bool] = True

    modes: tuple[str, ...] = attrs.field(converter=words)

    def holds(self, question: Question, *, over_approximate: bool) -> bool:
        """Return whether one of the modes is in force."""
        context = question.context
        in_force = context.modes if over_approximate else {context.mode}
        return not in_force.isdisjoint(self.modes)

    def fact(self, question: Question) -> str:
        """Return what is the case instead."""
        return f"mode = {question.context.mode}"

"""The condition `label`."""

from typing import ClassVar

import attrs

from permitry.core.rule import Question
from permitry.rules.conditions._words import words

__all__ = ["LabelCondition"]


@attrs.frozen
class LabelCondition:
    """Holds while the session carries one of the labels that earlier calls left on it."""

    is_pure: ClassVar[bool] = True

    labels: tuple[str, ...] = attrs.field(converter=words)

    def holds(self, question: Question, *, over_approximate: bool) -> bool:  # noqa: ARG002 -- the labels are always known
        """Return whether the session carries one of the labels."""
        return not question.context.labels.isdisjoint(self.labels)

    def fact(self, question: Question) -> str:
        """Return what is the case instead."""
        return f"labels = {', '.join(sorted(question.context.labels)) or 'none'}"

"""The condition `label`."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

import attrs

from permitry.conditions._words import words
from permitry.conditions.written import PlainCondition, Problem, Words
from permitry.core.rule import Request
from permitry.core.template import Template

__all__ = ["LabelCondition", "label_problem"]

_KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def label_problem(word: str) -> Problem | None:
    """Return what is wrong with the word for a label."""
    if _KEBAB.fullmatch(word):
        return None
    return f"the label `{word}` is not kebab-case", "use lower-case words joined by hyphens"


@attrs.frozen
class LabelCondition(PlainCondition):
    """Holds while the session has one of the labels that earlier calls put on it."""

    key = "label"
    table = Annotated[Words, label_problem]
    description = "A label that an earlier call left on the session."
    any_of = "labels"
    is_answered = True
    example = str
    is_pure = True

    labels: tuple[str, ...] = attrs.field(converter=words)

    def holds(self, request: Request) -> bool:
        """Return whether the session has one of the labels."""
        return not request.context.labels.isdisjoint(self.labels)

    def fact(self, request: Request) -> str:
        """Return what is true instead, as shown in near misses."""
        return f"labels = {', '.join(sorted(request.context.labels)) or 'none'}"

    @classmethod
    def context(cls, value: str, _templates: Mapping[str, Template], /) -> Mapping[str, Any]:
        """Return a session with this label alone."""
        return {"labels": (value,)}

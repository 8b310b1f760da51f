"""The condition `template`."""

from typing import ClassVar

import attrs

from permitry.core.rule import Question
from permitry.rules.conditions._words import words

__all__ = ["TemplateCondition"]


@attrs.frozen
class TemplateCondition:
    """Holds while one of the named templates, or one that extends it, is active."""

    is_pure: ClassVar[bool] = True

    templates: tuple[str, ...] = attrs.field(converter=words)

    def holds(self, question: Question, *, over_approximate: bool) -> bool:  # noqa: ARG002 -- the template is always known
        """Return whether one of the templates is in force."""
        template = question.context.active_template
        return template is not None and not template.names().isdisjoint(self.templates)

    def fact(self, question: Question) -> str:
        """Return what is the case instead."""
        template = question.context.active_template
        return "no active template" if template is None else f"template = {template.name}"

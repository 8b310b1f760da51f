"""The condition `template`."""

from typing import ClassVar

import attrs

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Question, Test
from permitry.rules.conditions._words import words

__all__ = ["TemplateCondition"]


@attrs.frozen
class TemplateCondition:
    """Holds while one of the named templates, or one that extends it, is active."""

    is_about_call: ClassVar[bool] = False

    templates: tuple[str, ...] = attrs.field(converter=words)

    def holds(self, question: Question, *, is_generous: bool) -> bool:  # noqa: ARG002 -- the template is always known
        """Return whether one of the templates is in force."""
        template = question.context.active_template
        return template is not None and not template.names().isdisjoint(self.templates)

    def compiled(self, question: Question, *, is_generous: bool) -> Test:  # noqa: ARG002 -- it asks the context alone
        """Return `holds` as a test of the context."""
        templates = frozenset(self.templates)

        def holds(_: ToolCall, context: AuthContext) -> bool:
            template = context.active_template
            return template is not None and not templates.isdisjoint(template.names())

        return holds

    def fact(self, question: Question) -> str:
        """Return what is the case instead."""
        template = question.context.active_template
        return "no active template" if template is None else f"template = {template.name}"

"""The condition `template`."""

from collections.abc import Mapping
from typing import Any

import attrs

from permitry.conditions._words import words
from permitry.conditions.written import PlainCondition, Words
from permitry.core.rule import Request
from permitry.core.template import Template

__all__ = ["TemplateCondition"]


@attrs.frozen
class TemplateCondition(PlainCondition):
    """Holds while one of the named templates, or one that extends it, is active."""

    key = "template"
    table = Words
    description = "The active template, or one it extends."
    any_of = "templates"
    is_answered = True
    example = str
    is_pure = True

    templates: tuple[str, ...] = attrs.field(converter=words)

    def holds(self, request: Request) -> bool:
        """Return whether one of the templates is active."""
        template = request.context.active_template
        return template is not None and not template.names().isdisjoint(self.templates)

    def fact(self, request: Request) -> str:
        """Return what is true instead, as shown in near misses."""
        template = request.context.active_template
        return "no active template" if template is None else f"template = {template.name}"

    @classmethod
    def context(cls, value: str, templates: Mapping[str, Template], /) -> Mapping[str, Any]:
        """Return the template as the active one."""
        return {"active_template": templates.get(value)}

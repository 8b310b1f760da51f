"""The condition `template`."""

from collections.abc import Mapping
from typing import Any, ClassVar

import attrs

from permitry.conditions._words import words
from permitry.conditions.written import PlainCondition, Table, Words
from permitry.core.rule import Request
from permitry.core.template import Template

__all__ = ["TemplateCondition"]


@attrs.frozen
class TemplateCondition(PlainCondition):
    """Holds while one of the named templates, or one that extends it, is active."""

    key: ClassVar[str] = "template"
    table: ClassVar[Table] = Words
    description: ClassVar[str] = "The active template, or one it extends."
    any_of: ClassVar[str] = "templates"
    is_answered: ClassVar[bool] = True
    example: ClassVar[Table] = str
    is_pure: ClassVar[bool] = True

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

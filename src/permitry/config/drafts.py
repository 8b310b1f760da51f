"""Tables of a rule file whose structure is valid, and where they are."""

from typing import Generic, TypeAlias, TypeVar

import attrs
from pydantic import BaseModel

from permitry.config.diagnostics import SourceText
from permitry.config.locate import KeyPath
from permitry.config.schema import ListTable, RuleTable, TemplateTable, ToolTable

__all__ = ["Draft", "ListDraft", "RuleDraft", "TemplateDraft", "ToolDraft"]

Table = TypeVar("Table", bound=BaseModel)


@attrs.frozen
class Draft(Generic[Table]):
    """A `[[rule]]`, `[list.NAME]`, `[template.NAME]` or `[tool.NAME]`, and where it is."""

    source: SourceText
    path: KeyPath
    table: Table
    is_admin: bool = False

    @property
    def name(self) -> str:
        """The name of a list, template or tool, which is the last part of its path."""
        return str(self.path[-1])


ListDraft: TypeAlias = Draft[ListTable]
RuleDraft: TypeAlias = Draft[RuleTable]
TemplateDraft: TypeAlias = Draft[TemplateTable]
ToolDraft: TypeAlias = Draft[ToolTable]

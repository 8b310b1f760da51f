"""Tables of a rule file whose structure is valid, and where they are."""

from typing import Generic, TypeAlias, TypeVar

import attrs
from pydantic import BaseModel

from permitry.config.diagnostics import SourceText
from permitry.config.locate import KeyPath
from permitry.config.origin import Origin
from permitry.config.schema import ListTable, RuleTable, TemplateTable, ToolTable
from permitry.errors import Problem

__all__ = ["Draft", "ListDraft", "ProgramDraft", "RuleDraft", "TemplateDraft", "ToolDraft"]

Table = TypeVar("Table", bound=BaseModel)


@attrs.frozen
class Draft(Generic[Table]):
    """A `[[rule]]`, or a table such as `[tool.NAME]`, where it is, and how far that is trusted."""

    source: SourceText
    path: KeyPath
    table: Table
    origin: Origin = attrs.field(factory=lambda: Origin(""))

    @property
    def kind(self) -> str:
        """What it is: `rule`, `list`, `program`, `template` or `tool`."""
        return str(self.path[0])

    @property
    def name(self) -> str:
        """The name of all but a rule, which is the last part of its path."""
        return str(self.path[-1])

    @property
    def place(self) -> str:
        """Its file and line, `file:line`."""
        return self.source.source(self.path)

    def problem(self, place: KeyPath, message: str, hint: str, *, key: bool = False) -> Problem:
        """Return a problem that points at the value (or the key) at a place in the table."""
        return self.source.problem((*self.path, *place), message, hint, key=key)

    def exceed(self, most: int, what: str) -> Problem:
        """Return the problem of a project that is not trusted with more."""
        message = f"more than {most} {what} in a project that is not trusted"
        return self.problem((), message, "trust it, or take some out", key=True)


ListDraft: TypeAlias = Draft[ListTable]
ProgramDraft: TypeAlias = Draft[BaseModel]
RuleDraft: TypeAlias = Draft[RuleTable]
TemplateDraft: TypeAlias = Draft[TemplateTable]
ToolDraft: TypeAlias = Draft[ToolTable]

"""Tables of a rule file that have the right shape, and where they stand."""

import attrs

from permitry.config.diagnostics import SourceText
from permitry.config.locate import KeyPath
from permitry.config.schema import RuleTable, TemplateTable, ToolTable

__all__ = ["RuleDraft", "TemplateDraft", "ToolDraft"]


@attrs.frozen
class RuleDraft:
    """A `[[rule]]` that has the right shape, and where it stands."""

    source: SourceText
    path: KeyPath
    table: RuleTable
    is_admin: bool = False


@attrs.frozen
class TemplateDraft:
    """A `[template.NAME]` that has the right shape, and where it stands."""

    source: SourceText
    path: KeyPath
    table: TemplateTable

    @property
    def name(self) -> str:
        """The template's name, which is the last part of its path."""
        return str(self.path[-1])


@attrs.frozen
class ToolDraft:
    """A `[tool.NAME]` that has the right shape, and where it stands."""

    source: SourceText
    path: KeyPath
    table: ToolTable

    @property
    def name(self) -> str:
        """The tool's name, which is the last part of its path."""
        return str(self.path[-1])

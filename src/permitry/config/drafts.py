"""Tables of a rule file whose structure is valid: where they are, and which were dropped."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, TypeAlias, TypeVar

import attrs
from pydantic import BaseModel

from permitry.config.catalogue import find_file
from permitry.config.diagnostics import SourceText
from permitry.config.locate import KeyPath
from permitry.config.origin import Origin
from permitry.config.ruleset import RuleSet
from permitry.config.schema import ListTable, RuleFile, RuleTable, TemplateTable, ToolTable
from permitry.errors import Problem, count

__all__ = [
    "Draft", "Drafts", "ListDraft", "ProgramDraft", "RuleDraft", "TemplateDraft", "ToolDraft", "drafts_of",
    "notices_on",
]  # fmt: skip

_MOST_NAMED = 3
"""So many of a kind that is dropped are named in one file; of more, only the number is given."""

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


def notices_on(dropped: Iterable[Draft[Any]]) -> Iterator[str]:
    """Yield a notice for each definition, or one for all of a kind where a file has many, in the order given."""
    groups: dict[tuple[str, str, str], list[Draft[Any]]] = {}
    for each in dropped:
        kind = "permission" if each.kind == "rule" else each.kind
        groups.setdefault((each.source.name, kind, each.origin.distrust), []).append(each)
    for (file, kind, why), found in groups.items():
        if len(found) > _MOST_NAMED:
            yield f"{file}: {count(len(found), kind)} dropped: {why}"
            continue
        for each in found:
            name = each.table.id if each.kind == "rule" else each.name
            yield f"{each.place}: {kind} `{name}` dropped: {why}"


@attrs.frozen
class Drafts:
    """The tables of rule files: of rules by id, of templates by name; and the trusted fields of tools."""

    rules: Mapping[str, RuleDraft] = attrs.field(factory=dict)
    templates: Mapping[str, TemplateDraft] = attrs.field(factory=dict)
    trusted: Mapping[str, frozenset[str]] = attrs.field(factory=dict)


def drafts_of(rules: RuleSet) -> Drafts:
    """Return the tables of the files that `rules` were loaded from; the files are read again."""
    in_rules: dict[str, RuleDraft] = {}
    in_templates: dict[str, TemplateDraft] = {}
    trusted: dict[str, frozenset[str]] = {}
    for name in rules.files:
        text = find_file(name).read_text(encoding="utf-8")
        file = RuleFile.model_validate(tomllib.loads(text))
        source = SourceText(name, text, len(file.rule))
        in_rules |= {table.id: Draft(source, ("rule", i), table) for i, table in enumerate(file.rule)}
        in_templates |= {
            template: Draft(source, ("template", template), table) for template, table in file.template.items()
        }
        for tool, declared in file.tool.items():
            trusted[tool] = trusted.get(tool, frozenset()).union(declared.trusted_fields)
    return Drafts(in_rules, in_templates, trusted)

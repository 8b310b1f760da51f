"""The tables that loaded rules were made from, for examples and the positions of templates."""

import tomllib
from collections.abc import Mapping

import attrs

from permitry.config.catalogue import find_file
from permitry.config.diagnostics import SourceText
from permitry.config.drafts import Draft, RuleDraft, TemplateDraft
from permitry.config.load import RuleSet
from permitry.config.schema import RuleFile

__all__ = ["Drafts", "drafts_of"]


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

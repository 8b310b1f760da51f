"""The tables behind loaded rules."""

from collections.abc import Callable

from permitry.config.load import Origin, load_rules
from permitry.config.tables import drafts_of


def test_tables_of_all_files_are_there(write: Callable[[str, str], Origin]) -> None:
    """Rules and templates are found by id and name, each with its place."""
    own = 'schema = 1\nextends = ["permitry:base"]\n[template.t]\n[[rule]]\nid = "r"\neffect = "block"\ntools = ["x"]\n'
    drafts = drafts_of(load_rules([write("rules.toml", own)]))
    rule, template, base = drafts.rules["r"], drafts.templates["t"], drafts.rules["ask-payment"]
    assert rule.source.source(rule.path) == "rules.toml:4"
    assert template.source.source(template.path) == "rules.toml:3"
    assert base.source.name == "permitry:money"

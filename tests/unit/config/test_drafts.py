"""The tables behind loaded rules, and notices on those that are dropped."""

from collections.abc import Callable
from typing import Any

from permitry.config.diagnostics import SourceText
from permitry.config.drafts import Draft, drafts_of, notices_on
from permitry.config.load import Origin, load_rules

_TEXT = "schema = 1\n" + "".join(f"[template.t{number}]\n" for number in range(4))
_WHY = "the project is not trusted; see `permitry trust`"


def _dropped(file: str, number: int) -> list[Draft[Any]]:
    source, origin = SourceText(file, _TEXT), Origin(file, is_trusted=False)
    names = [f"t{each}" for each in range(number)]
    return [Draft(source, ("template", name), None, origin) for name in names]


def test_a_few_are_named_each_with_its_place_and_the_way_out() -> None:
    """The user finds each of them."""
    assert list(notices_on(_dropped("a.toml", 3))) == [
        f"a.toml:{number + 2}: template `t{number}` dropped: {_WHY}" for number in range(3)
    ]


def test_many_of_a_file_have_one_notice() -> None:
    """Imported rules would otherwise fill the screen; those of another file are named all the same."""
    assert list(notices_on([*_dropped("a.toml", 1), *_dropped("b.toml", 4)])) == [
        f"a.toml:2: template `t0` dropped: {_WHY}",
        f"b.toml: 4 templates dropped: {_WHY}",
    ]


def test_tables_of_all_files_are_there(write: Callable[[str, str], Origin]) -> None:
    """Rules and templates are found by id and name, each with its place."""
    own = 'schema = 1\nextends = ["permitry:base"]\n[template.t]\n[[rule]]\nid = "r"\neffect = "block"\ntools = ["x"]\n'
    drafts = drafts_of(load_rules([write("rules.toml", own)]))
    rule, template, base = drafts.rules["r"], drafts.templates["t"], drafts.rules["ask-payment"]
    assert rule.source.source(rule.path) == "rules.toml:4"
    assert template.source.source(template.path) == "rules.toml:3"
    assert base.source.name == "permitry:money"

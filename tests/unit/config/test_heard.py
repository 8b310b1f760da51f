"""What rules may ask for of what was said before a call."""

from pathlib import Path
from typing import Any

import attrs
from tests.tables import for_each

from permitry.conditions.scope import Conditions, Scope
from permitry.config.heard import Wanted, wishes_in, wishes_of
from permitry.config.load import Origin, load_rules


@for_each(
    ("when", "wanted"),
    [
        ("when.args.a.from = ['user']", Wanted(user=True)),
        ("when.args.a.not_from = ['t#x']", Wanted(tools=frozenset({"t"}))),
        ("when.args.a.from = ['named:t#x']", Wanted(user=True, tools=frozenset({"t"}))),
        ("when.args.a.from = ['t#x@y', 'call:u#z']", Wanted(user=True, tools=frozenset({"t", "u"}))),
        ("when.args.a.links.from = ['named:t#x']", Wanted(user=True, tools=frozenset({"t"}))),
        ("when.args.a.words = 0.5", Wanted(user=True)),
        ("when.args.a = 'x'\nunless.prompt.words = ['x']", Wanted(user=True)),
        ("when.args.a = { any = { eq = 'x' } }", Wanted()),
        ("when.command = 'git *'\nunless.path = '/x'", Wanted()),
    ],
)
def test_rules_say_what_they_may_ask_for(when: str, wanted: Wanted, tmp_path: Path) -> None:
    """In every condition."""
    effect = "allow" if ".from" in when or ".words = 0" in when else "block"
    (tmp_path / "rules.toml").write_text(
        f"schema = 1\n[[rule]]\nid = 'a'\neffect = '{effect}'\ntools = ['*']\n{when}\n"
    )
    found = wishes_of(load_rules([Origin(str(tmp_path / "rules.toml"))]))
    assert found == wanted
    assert bool(found) is (wanted != Wanted())


@attrs.frozen
class _Nested:
    """A condition with sources in it, of a kind that is not known here."""

    inside: tuple[object, ...]


def test_sources_are_found_in_conditions_of_any_kind(tmp_path: Path) -> None:
    """Each is one more place in which a value may be asked for."""
    text = "[[rule]]\nid = 'a'\neffect = 'block'\ntools = ['pay']\nwhen.args.to.not_from = ['named:t#x']\n"
    (tmp_path / "rules.toml").write_text(f"schema = 1\n{text}")
    (rule,) = load_rules([Origin(str(tmp_path / "rules.toml"))]).rules
    (condition,) = rule.scope.when.plain
    plain: Any = (_Nested((7, _Nested((getattr(condition, "sources", ()),)))),)
    assert wishes_in([Scope(when=Conditions(plain=plain))]) == Wanted(user=True, tools=frozenset({"t"}))


def test_the_shipped_rules_ask_for_nothing() -> None:
    """So that without rules of a user nothing is kept."""
    for name in ("permitry:hooks", "permitry:hooks-codex"):
        assert not wishes_of(load_rules([Origin(name)]))

"""Where rules differ so that more may be permitted."""

import pytest
from tests.unit.permitry_ops.diff.conftest import side_of

from permitry_ops.diff.openings import Opening, openings

RULE = '[[rule]]\nid = "{}"\neffect = "{}"\ntools = ["x"]\n'


def between(old: str, new: str) -> list[Opening]:
    """Return the openings from one text to another."""
    return list(openings(side_of(old), side_of(new)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (RULE.format("a", "allow"), RULE.format("b", "allow")),
        (RULE.format("a", "allow"), ""),
        ("", RULE.format("a", "block")),
        (RULE.format("a", "confirm"), RULE.format("a", "block")),
        (RULE.format("a", "allow"), RULE.format("a", "allow") + 'reason = "other"\n'),
        ("", '[policy]\nunmatched = "block"\n'),
    ],
)
def test_there_is_none_where_no_rule_permits_more(old: str, new: str) -> None:
    """By the laws: less permission, and more restriction, permit nothing."""
    assert between(old, new) == []


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("", RULE.format("a", "allow"), "permits more"),
        (RULE.format("a", "block"), "", "blocks less"),
        (RULE.format("a", "confirm"), "", "asks less"),
        (RULE.format("a", "block"), RULE.format("a", "confirm"), "blocks less"),
        ('[policy]\nunmatched = "block"\n', "", "no longer blocks what no rule matches"),
        ("", '[template.t]\nallow_tools = ["x"]\n', "is another"),
        ("", '[tool.x]\ntraits = ["read_only"]\n', "is declared otherwise"),
    ],
)
def test_each_kind_of_change_is_an_opening(old: str, new: str, what: str) -> None:
    """In words for people."""
    assert [each.what for each in between(old, new)] == [what]


def test_a_rule_that_moves_to_the_other_phase_restricts_less() -> None:
    """As permissions before it count."""
    early, late = (RULE.format("a", "confirm") + f"priority = {number}\n" for number in (160, 250))
    assert [each.what for each in between(early, late)] == ["asks less"]
    assert between(late, early) == []


def test_what_has_no_calls_is_named() -> None:
    """So that nothing is proven."""
    kept = RULE.format("a", "allow")
    found = between(kept + "keep = true\n", kept)
    assert [(each.condition, each.unsolved) for each in found] == [("keeps", ("`keeps`",))]

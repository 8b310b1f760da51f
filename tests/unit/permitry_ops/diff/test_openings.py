"""Where rules differ so that more may be permitted."""

import pytest
from tests.unit.permitry_ops.diff.conftest import side_of

from permitry_ops.diff.openings import Opening, find_openings

RULE = '[[rule]]\nid = "{}"\neffect = "{}"\ntools = ["x"]\n'


def between(old: str, new: str) -> list[Opening]:
    """Return the openings from one text to another."""
    return list(find_openings(side_of(old), side_of(new)))


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
    assert [(each.condition, each.unsolved) for each in found] == [("keep", ("`keep`",))]


@pytest.mark.parametrize(
    ("effect", "old", "new", "found"),
    [
        ("allow", "budget = { calls = 3 }", "budget = { calls = 5 }", "solved"),
        ("allow", "budget = { calls = 3 }", "", "solved"),
        ("allow", "budget = { calls = 5 }", "budget = { calls = 3 }", "none"),
        ("allow", "", "budget = { calls = 3 }", "none"),
        ("block", "budget = { calls = 3 }", "budget = { calls = 5 }", "solved"),
        ("block", "", "budget = { calls = 3 }", "solved"),
        ("block", "budget = { calls = 3 }", "", "none"),
        ("allow", "budget = { calls = 3, per = '1h' }", "budget = { calls = 3, per = '1m' }", "unsolved"),
        ("allow", "budget = { calls = 3, by = 'tool' }", "budget = { calls = 5, by = 'tool' }", "unsolved"),
        ("allow", "budget = { calls = 3 }", "budget = { calls = 3 }\nwhen.args.n = 1", "unsolved"),
    ],
)
def test_a_larger_budget_is_a_context_in_which_the_old_one_is_spent(
    effect: str, old: str, new: str, found: str
) -> None:
    """One that is smaller lets nothing through; where they cannot be compared, nothing is proven."""
    given = between(*(RULE.format("a", effect) + each for each in (old, new)))
    told = ["unsolved" if each.unsolved else "solved" for each in given]
    assert told == ([] if found == "none" else [found])
    assert all(each.context for each in given if not each.unsolved)


def test_a_label_that_a_restriction_needs_is_not_proven() -> None:
    """Where calls no longer leave it, or no longer all of them; one that no rule asks for is nothing."""
    needs = '[[rule]]\nid = "b"\neffect = "block"\ntools = ["y"]\nwhen.label = "seen"\n'
    labels = RULE.format("a", "allow") + 'adds_label = "seen"\n'
    others = labels.replace('"a"', '"c"').replace('"x"', '"z"')
    assert [each.condition for each in between(labels + others + needs, others + needs) if each.unsolved] == [
        "adds_label"
    ]
    assert between(labels, RULE.format("a", "allow")) == []


OBSERVED = RULE + "enforce = false\n"


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (RULE.format("a", "block"), OBSERVED.format("a", "block"), ["blocks less"]),
        (OBSERVED.format("a", "block"), RULE.format("a", "block"), []),
        ("", OBSERVED.format("a", "allow"), []),
        (OBSERVED.format("a", "allow"), RULE.format("a", "allow"), ["permits more"]),
        (RULE.format("a", "allow"), "[policy]\nenforce = false\n" + RULE.format("a", "allow"), []),
        ('[policy]\nunmatched = "block"\n', '[policy]\nenforce = false\nunmatched = "block"\n',
         ["no longer blocks what no rule matches"]),
    ],
)  # fmt: skip
def test_an_observed_rule_counts_for_nothing(old: str, new: str, what: list[str]) -> None:
    """On either side: one that is obeyed no more restricts less, and one that is obeyed now permits more."""
    assert [each.what for each in between(old, new)] == what

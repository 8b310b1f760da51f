"""The ways in which rules match and do not, as literals."""

from permitry.conditions.match import Match
from permitry.config.load import load_rules
from permitry.rules.configured import ConfiguredRule
from permitry_ops.diff.ways import Truth, are_contrary, differences, ways_to_match, ways_to_miss

HEAD = 'schema = 1\n[[rule]]\nid = "a"\n'


def rule_of(*lines: str) -> ConfiguredRule:
    """Return the rule of some lines."""
    (rule,) = load_rules(HEAD + "\n".join(lines) + "\n").rules
    return rule


def names(way: object) -> list[tuple[str, bool]]:
    """Return the name of each literal of a way, and whether it is wanted."""
    return [(each.name, each.is_wanted) for each in way]  # type: ignore[attr-defined]  # a way is a tuple of literals


def test_a_permission_matches_what_certainly_holds() -> None:
    """And none of its exceptions may hold."""
    rule = rule_of('effect = "allow"', 'tools = ["pay"]', "when.args.n = 3", 'unless.mode = "plan"')
    (way,) = ways_to_match(rule)
    assert names(way) == [("tools", True), ("args.n", True), ("mode", False)]
    assert [each.truths for each in way] == [{Truth.TRUE}, {Truth.TRUE}, {Truth.FALSE}]
    assert way[2].needed is Match.ALIKE
    assert [names(each) for each in ways_to_miss(rule)] == [[("tools", False)], [("args.n", False)], [("mode", True)]]


def test_a_restriction_matches_what_cannot_be_told() -> None:
    """And is missed only where a condition certainly does not hold."""
    rule = rule_of('effect = "block"', "when.args.n = 3", 'unless.args.s = "a"')
    (way,) = ways_to_match(rule)
    assert [each.truths for each in way] == [{Truth.TRUE, Truth.UNKNOWN}, {Truth.FALSE, Truth.UNKNOWN}]
    assert [[each.truths for each in miss] for miss in ways_to_miss(rule)] == [[{Truth.FALSE}], [{Truth.TRUE}]]


def test_each_pattern_that_was_added_is_a_way() -> None:
    """And those that both have are none."""
    one = rule_of('effect = "allow"', 'when.command = ["git *"]')
    two = rule_of('effect = "allow"', 'when.command = ["git *", "make *", "npm *"]')
    found = list(differences(two, one))
    assert [name for name, _, _ in found] == ["command", "command"]
    assert [way[0].part.each[0].text for _, way, _ in found] == ["make *", "npm *"]  # type: ignore[union-attr]  # patterns
    assert list(differences(one, two)) == []


def test_a_pattern_within_another_one_is_no_way_of_a_restriction() -> None:
    """Nothing else matches it; a permission wants some words spelled out, so that it may permit more."""
    for effect, most in (("block", 0), ("allow", 1)):
        one = rule_of(f'effect = "{effect}"', 'when.command = ["{sudo,doas} ** npm *"]')
        two = rule_of(f'effect = "{effect}"', 'when.command = ["{sudo,doas} ** npm *", "sudo npm test"]')
        assert len(list(differences(two, one))) == most


def test_a_restriction_with_fewer_exceptions_lets_nothing_more_through() -> None:
    """Where only patterns are left out; of another access, they are about something else."""
    rules = [
        rule_of('effect = "block"', 'when.path = ["src/**"]', f"unless = {{ path = {paths} }}")
        for paths in ('["src/a", "src/b"]', '["src/a"]', '["src/a"], access = "read"')
    ]
    found = [[bool(list(differences(one, two))) for two in rules] for one in rules]
    assert found == [[False, False, True], [True, False, True], [True, True, False]]


def test_what_certainly_holds_holds_for_a_restriction_too() -> None:
    """So it cannot be missing for one; the other way round it can."""
    (sure, *_), (unsure, *_) = (
        next(ways_to_match(rule_of(f'effect = "{effect}"', 'tools = ["pay"]'))) for effect in ("allow", "block")
    )
    (not_sure,), (not_unsure,) = (
        next(ways_to_miss(rule_of(f'effect = "{effect}"', 'tools = ["pay"]'))) for effect in ("allow", "block")
    )
    assert are_contrary((sure, not_sure))
    assert are_contrary((sure, not_unsure))
    assert are_contrary((unsure, not_unsure))
    assert not are_contrary((unsure, not_sure))

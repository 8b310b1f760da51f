"""What calls try of rules: both sides of each part."""

from pathlib import Path

from tests.unit.permitry_ops.coverage.conftest import PAY, PUSH, Call, Probes, rules_of, shell

from permitry.config.drafts import drafts_of
from permitry_ops.coverage.coverage import Coverage, measure


def pay(amount: object, **more: object) -> Call:
    """Return a call that pays."""
    return {"name": "send_money", "arguments": {"amount": amount}, **more}


def sides(found: Coverage) -> dict[str, tuple[bool, ...]]:
    """Return what was tried of the only rule, by part; that of the rule as a whole has no name."""
    (rule,) = found.rules
    return {part.name: part.sides for part in rule.every}


def test_without_calls_no_side_is_tried() -> None:
    """Each side that there is counts."""
    rules = rules_of(PAY)
    found = measure(rules, rules.rules, [], {})
    assert set(sides(found).values()) == {(False,), (False, False)}
    assert (found.matches, len(found.sides), found.percent) == (0, 8, 0.0)
    assert measure(rules, [], [], {}).percent == 100.0


def test_each_side_needs_a_call_of_its_tools(probes: Probes) -> None:
    """What another tool does, says nothing about a condition."""
    rules = rules_of(PAY)
    found = measure(rules, rules.rules, probes(rules, (pay(5), "allow", "pay"), (shell("ls"), "confirm", None)), {})
    assert sides(found) == {
        "": (True, False),
        "tools `send_money`": (True,),
        "tools `refund`": (False,),
        "when.args.amount le 100": (True, False),
        "unless.mode review": (False, True),
    }


def test_all_sides_are_tried_by_a_few_calls(probes: Probes) -> None:
    """A call may try several."""
    rules = rules_of(PAY)
    refund = {"name": "refund", "arguments": {"amount": 101}}
    review = pay(5, context={"mode": "review"})
    cases = [(pay(5), "allow", "pay"), (refund, "confirm", None), (review, "confirm", None)]
    found = measure(rules, rules.rules, probes(rules, *cases), {})
    assert (found.percent, found.matches) == (100.0, 1)


def test_each_pattern_counts_by_itself(probes: Probes) -> None:
    """That a rule matched says nothing about the other one."""
    rules = rules_of(PUSH)
    found = sides(measure(rules, rules.rules, probes(rules, (shell("git push"), "block", "push")), {}))
    assert (found["when.command `git push *`"], found["when.command `npm publish *`"]) == ((True, False), (False, True))


def test_a_rule_that_asks_matches_what_it_only_may_match(probes: Probes) -> None:
    """It asks about both; a block does not block what is not certain."""
    for effect, tried in (("confirm", (True, False)), ("block", (False, False))):
        rules = rules_of(PUSH.replace('"block"', f'"{effect}"'))
        found = sides(measure(rules, rules.rules, probes(rules, (shell("$x push"), "confirm", "push")), {}))
        assert found[""] == tried
        assert found["when.command `git push *`"] == (False, False)


def test_a_case_of_other_rules_tries_nothing(probes: Probes) -> None:
    """It does not ask these."""
    rules = rules_of(PUSH)
    cases = probes(rules_of(PAY), (shell("git push"), "confirm", None))
    assert not any(measure(rules, rules.rules, cases, {}).sides)


def test_an_example_tries_what_it_says_something_about(tmp_path: Path) -> None:
    """A condition that it does not give is taken to hold, which is not tried."""
    path = tmp_path / "rules.toml"
    path.write_text(PAY + 'match = [{ args.amount = 5 }]\nno_match = [{ tool = "refund", args.amount = 101 }]\n')
    rules = rules_of(str(path))
    found = sides(measure(rules, rules.rules, [], drafts_of(rules).rules))
    assert found == {
        "": (True, True),
        "tools `send_money`": (False,),
        "tools `refund`": (True,),
        "when.args.amount le 100": (True, True),
        "unless.mode review": (False, False),
    }


def test_a_budget_is_spent_or_is_not(probes: Probes) -> None:
    """Both are tried."""
    rules = rules_of(PAY.replace('unless.mode = "review"', "budget = { calls = 1 }"))
    ran = {"at": 1.0, "tool": "send_money", "rules": ["pay"]}
    spent = pay(5, context={"history": [ran], "now": 2.0})
    found = measure(rules, rules.rules, probes(rules, (pay(5), "allow", "pay"), (spent, "confirm", None)), {})
    assert sides(found)["budget"] == (True, True)
    assert sides(found)[""] == (True, True)


def test_a_rule_without_conditions_fails_for_other_tools(probes: Probes) -> None:
    """It matches each call of its own."""
    rules = rules_of('schema = 1\n[[rule]]\nid = "r"\neffect = "block"\ntools = ["a"]\n')
    cases = [({"name": "a", "arguments": {}}, "block", "r"), ({"name": "b", "arguments": {}}, "confirm", None)]
    assert sides(measure(rules, rules.rules, probes(rules, *cases), {})) == {"": (True, True), "tools `a`": (True,)}


def test_it_is_an_object(probes: Probes) -> None:
    """With the figures first."""
    rules = rules_of(PUSH)
    found = measure(rules, rules.rules, probes(rules, (shell("git push"), "block", "push")), {}).to_dict()
    (rule,) = found.pop("rules")
    assert found == {"matched": 1, "sides": 9, "tried": 5, "percent": 55.6}
    assert (rule["rule"], rule["source"], rule["matched"], rule["not_matched"]) == ("push", "<text 1>:3", True, False)
    assert rule["parts"][1] == {"part": "when.command `git push *`", "held": True, "failed": False}

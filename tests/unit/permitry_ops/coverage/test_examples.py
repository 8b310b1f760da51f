"""Examples of rules, as requests, and what they say something about."""

from pathlib import Path

from permitry.config.drafts import drafts_of
from permitry.config.load import load_rules
from permitry_ops.coverage.examples import list_examples

RULE = """schema = 1

[[rule]]
id = "r"
effect = "confirm"
tools = ["pay"]
when.args.amount = 5
when.mode = "x"
no_match = [{ tool = "pay", mode = "y" }]
match = [{ mode = "x" }]
"""


def test_an_example_is_a_request_and_what_it_leaves_of_a_scope(tmp_path: Path) -> None:
    """Those that must match first; a condition that it does not give is taken to hold, as are tools."""
    path = tmp_path / "rules.toml"
    path.write_text(RULE, encoding="utf-8")
    rules = load_rules(path)
    (rule,) = rules.rules
    found = list(list_examples(drafts_of(rules).rules["r"], rules))
    assert [(each.request.call.tool, each.request.context.mode) for each in found] == [("example", "x"), ("pay", "y")]
    left = [each.narrow(rule.scope) for each in found]
    assert [len(each.selectors) for each in left] == [0, 1]
    assert {tuple(type(part).__name__ for part in each.when.plain) for each in left} == {("ModeCondition",)}


def test_an_example_is_read_with_the_records_of_the_rules(tmp_path: Path) -> None:
    """What a program does is known as it is when the file is loaded."""
    record = '[program.lookit]\noperands = "read"\n'
    path = tmp_path / "rules.toml"
    rule = '[[rule]]\nid = "r"\neffect = "allow"\nwhen.command = "lookit *"\nmatch = ["lookit a.txt"]\n'
    path.write_text(f"schema = 1\n{record}{rule}", encoding="utf-8")
    rules = load_rules(path)
    (example,) = list_examples(drafts_of(rules).rules["r"], rules)
    assert [touch.access.value for touch in example.request.actions.touches()] == ["read"]

"""Examples of rules, as requests, and what they say something about."""

from pathlib import Path

from permitry.config.drafts import drafts_of
from permitry.config.load import load_rules
from permitry_ops.coverage.examples import list_calls, list_examples

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


def test_an_example_that_says_all_is_a_call(tmp_path: Path) -> None:
    """Of the tool that does such a thing; what has a context of its own is none."""
    head = 'schema = 1\n[[rule]]\nid = "r"\neffect = "block"\n'
    for lines, found in (
        ('when.command = "git push"\nmatch = ["git push"]', [("run_shell", {"command": "git push"})]),
        ('when.path = "/etc/**"\nwhen.access = "read"\nmatch = ["/etc/a"]', [("read_file", {"path": "/etc/a"})]),
        ('tools = ["pay"]\nmatch = ["pay", { tool = "pay", args.n = 1 }]', [("pay", {}), ("pay", {"n": 1})]),
        ('tools = ["pay"]\nwhen.mode = "x"\nmatch = [{ tool = "pay", mode = "x" }]', []),
    ):
        path = tmp_path / "rules.toml"
        path.write_text(head + lines, encoding="utf-8")
        calls = list(list_calls(drafts_of(load_rules(path)).rules["r"]))
        assert [(call["name"], call["arguments"]) for call in calls] == found

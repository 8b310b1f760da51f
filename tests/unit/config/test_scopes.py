"""From tables of conditions to what a rule is about."""

import pytest
from tests.tables import for_each

from permitry.conditions.agent import AgentCondition
from permitry.conditions.args import argument_condition
from permitry.conditions.command import ArgvPattern
from permitry.conditions.digest import DigestCondition
from permitry.conditions.host import HostPattern
from permitry.conditions.label import LabelCondition
from permitry.conditions.mode import ModeCondition
from permitry.conditions.path import PathPattern
from permitry.conditions.repaired import RepairedCondition
from permitry.conditions.repeat import RepeatCondition
from permitry.conditions.scope import Condition, Conditions, Scope
from permitry.conditions.server import ServerCondition
from permitry.conditions.template import TemplateCondition
from permitry.conditions.tool_digest import ToolDigestCondition
from permitry.conditions.tools import ToolSelector
from permitry.config.conditions import read_scope, scope_of
from permitry.config.diagnostics import SourceText
from permitry.config.drafts import RuleDraft
from permitry.config.load import load_rules
from permitry.config.schema import RuleTable
from permitry.core.names import NamePattern
from permitry.core.pattern import Pattern
from permitry.errors import ConfigError, RuleError


def _table(**keys: object) -> RuleTable:
    return RuleTable.model_validate({"id": "r", "effect": "block", **keys})


def _scope(table: RuleTable) -> Scope:
    scope, problems = read_scope(RuleDraft(SourceText("r.toml", ""), ("rule", 0), table))
    assert problems == []
    return scope


def _when(**keys: object) -> Conditions:
    return _scope(_table(when=keys)).when


@for_each(
    ("key", "value", "condition"),
    [
        ("mode", ["plan", "review"], ModeCondition(("plan", "review"))),
        ("agent", "sub-*", AgentCondition((Pattern("sub-*"),))),
        ("template", "reader", TemplateCondition(("reader",))),
        ("server", ["docs", "m*"], ServerCondition((NamePattern("docs"), NamePattern("m*")))),
        ("label", "web", LabelCondition(("web",))),
        ("digest", "0" * 64, DigestCondition(("0" * 64,))),
        ("repeat", 3, RepeatCondition(3)),
        ("repaired", True, RepairedCondition(True)),
        ("repaired", False, RepairedCondition(False)),
        ("tool_digest", ["0" * 64, "ab" * 8], ToolDigestCondition(("0" * 64, "ab" * 8))),
        ("args", {"n": 7}, argument_condition("n", 7)),
        ("args", {"n": {"gt": 7}}, argument_condition("n", {"gt": 7})),
    ],
)
def test_every_plain_condition_becomes_one(key: str, value: object, condition: Condition) -> None:
    """One word or a list of them."""
    assert _when(**{key: value}) == Conditions((condition,))


def test_every_condition_on_actions_becomes_patterns() -> None:
    """Of each kind as many as there are."""
    conditions = _when(command=["ls", "rm *"], path="src/**", host="Example.com:8080")
    assert conditions.commands == (ArgvPattern("ls"), ArgvPattern("rm *"))
    assert conditions.paths == (PathPattern("src/**"),)
    assert conditions.hosts == (HostPattern("Example.com:8080", None, "example.com", 8080),)


@for_each(("args", "paths"))
def test_tables_of_tables_are_nested_arguments(args: dict[str, object], paths: list[str]) -> None:
    """Until one that holds an operator."""
    found = [".".join(getattr(each, "path")) for each in _when(args=args).plain]  # noqa: B009 -- of a class of its own
    assert found == paths


def test_tools_and_exceptions_belong_to_the_scope() -> None:
    """Left out, they are no selectors and no exception."""
    scope = _scope(_table(tools=["x", "@reads"], when={"mode": "plan"}, unless={"path": "a"}))
    selectors = (ToolSelector("x"), ToolSelector("@reads"))
    assert scope == Scope(selectors, Conditions((ModeCondition(("plan",)),)), Conditions(paths=(PathPattern("a"),)))
    assert _scope(_table()) == Scope()


@for_each(("line", "keys", "place"))
def test_a_condition_that_cannot_be_read_is_told_at_its_place(line: str, keys: dict[str, object], place: str) -> None:
    """With a hint of its own where there is one, and build refuses it."""
    draft = RuleDraft(SourceText("r.toml", f"[[rule]]\n{line}\n"), ("rule", 0), _table(**keys))
    _, [problem] = read_scope(draft)
    assert (problem.line, problem.column) == (2, line.index(place) + 1)
    assert "; " not in problem.message
    with pytest.raises(RuleError):
        scope_of([], draft.table.when, draft.table.unless)


def test_every_condition_that_cannot_be_read_is_told() -> None:
    """Not only the first."""
    table = _table(when={"path": ["a\\b", "ok", "c\\d"]}, unless={"command": "a{b"})
    draft = RuleDraft(SourceText("r.toml", "[[rule]]\n"), ("rule", 0), table)
    scope, problems = read_scope(draft)
    assert len(problems) == 3
    assert scope.when.paths == (PathPattern("ok"),)


@for_each(("line", "column", "span"))
def test_a_mistake_is_shown_at_the_text_that_it_names(line: str, column: int, span: int) -> None:
    """And at the argument where it names none."""
    text = f'schema = 1\n[[rule]]\nid = "a"\neffect = "allow"\ntools = ["pay"]\n{line}\n'
    with pytest.raises(ConfigError) as caught:
        load_rules(text)
    (problem,) = caught.value.problems
    assert (problem.line, problem.column, problem.span) == (6, column, span)

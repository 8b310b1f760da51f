"""What lint says about rules that never decide is true of every call."""

import itertools
from collections.abc import Iterator

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permitry.conditions.command import ArgvPattern
from permitry.conditions.mode import ModeCondition
from permitry.conditions.path import PathPattern
from permitry.conditions.scope import Condition, Conditions, Scope
from permitry.conditions.server import ServerCondition
from permitry.conditions.tools import ToolSelector
from permitry.config.load import RuleSet
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.names import NamePattern
from permitry.core.policy import AuthorizationPolicy
from permitry.rules.configured import ConfiguredRule
from permitry_ops.lint import lint

TOOLS = ("*", "run_*", "run_shell", "write_file", "read_file", "mcp:*/x", "mcp:s/?", "@reads", "@writes", "@shell")
COMMANDS = ("git *", "git push *", "git push", "git {push,fetch} *", "git p* --all", "*", "rm ? *")
PATHS = ("src/**", "src/*", "src/a", "**", "/**", "~/src/**", "src/**/b", "./src")
COMMAND_LINES = ("git", "git push", "git push --all", "git fetch x", "rm a", "rm a b", "ls", "git push >src/a", "a | b")
NAMES = ("src/a", "src/x/b", "a", "/etc/x", "~/src/a", "src")
PLAIN: tuple[Condition, ...] = (
    ModeCondition(("plan",)),
    ModeCondition(("plan", "review")),
    ModeCondition(("yolo",)),
    ServerCondition((NamePattern("s"),)),
)

# A law is true on a slow machine, too.
TIMELESS = settings(deadline=None, database=None, derandomize=True)

conditions = st.builds(
    Conditions,
    plain=st.lists(st.sampled_from(PLAIN), max_size=1).map(tuple),
    commands=st.lists(st.sampled_from(COMMANDS).map(ArgvPattern), max_size=2).map(tuple),
    paths=st.lists(st.sampled_from(PATHS).map(PathPattern), max_size=1).map(tuple),
)
scopes = st.builds(
    Scope,
    st.lists(st.sampled_from(TOOLS).map(ToolSelector), max_size=2).map(tuple),
    st.just(Conditions()) | conditions,
    st.none() | conditions.filter(lambda each: each != Conditions()),
)
effects = st.sampled_from(Verdict)
PRIORITIES = {Verdict.BLOCK: (150,), Verdict.CONFIRM: (160, 260), Verdict.ALLOW: (250, 270)}


@st.composite
def rule_sets(draw: st.DrawFn) -> RuleSet:
    """Return a few rules over a small vocabulary, so that many overlap."""
    rules = []
    for number, (effect, scope) in enumerate(draw(st.lists(st.tuples(effects, scopes), min_size=1, max_size=4))):
        priority = draw(st.sampled_from(PRIORITIES[effect]))
        rules.append(ConfiguredRule(f"r{number}", effect, priority, scope, source=f"rules.toml:{number}"))
    return RuleSet(tuple(rules), files=("rules.toml",))


def _calls() -> Iterator[ToolCall]:
    for command in (
        "git",
        "git push",
        "git push --all",
        "git fetch x",
        "rm a",
        "rm a b",
        "ls",
        "git push >src/a",
        "a|b",
    ):
        yield ToolCall("run_shell", {"command": command})
    for tool, path in itertools.product(
        ("write_file", "read_file"), ("src/a", "src/x/b", "a", "/etc/x", "~/src/a", "src")
    ):
        yield ToolCall(tool, {"path": path})
    yield from (ToolCall(name, {}) for name in ("run_it", "mcp:s/x", "mcp:t/x", "other"))


CALLS = tuple(_calls())
CONTEXTS = tuple(AuthContext(mode=mode, workspace="/w") for mode in ("default", "plan", "review", "yolo"))


def _verdicts(policy: AuthorizationPolicy) -> list[Verdict]:
    return [policy.decide(call, context).verdict for call in CALLS for context in CONTEXTS]


@pytest.mark.parametrize("kind", ["redundant", "shadowed", "never-matches"])
@TIMELESS
@given(rules=rule_sets())
def test_without_the_rule_every_verdict_is_the_same(rules: RuleSet, kind: str) -> None:
    """A rule that is said to be superfluous can be taken out, one at a time."""
    for finding in lint(rules):
        if finding.kind == kind:
            left = tuple(rule for rule in rules.rules if rule.id != finding.rule_id)
            assert _verdicts(attrs.evolve(rules, rules=left).policy()) == _verdicts(rules.policy()), finding


@TIMELESS
@given(rules=rule_sets())
def test_no_rules_make_lint_fail(rules: RuleSet) -> None:
    """Whatever loads can be looked at."""
    assert all(finding.rule_id is not None for finding in lint(rules))

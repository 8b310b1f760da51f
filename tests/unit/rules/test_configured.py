"""Rules from files; how their parts combine is a law in `tests/property/test_configured.py`."""

from typing import Any

import attrs
import pytest

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.pattern import Pattern
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import Question
from permitry.core.spec import ToolSpec, ToolTraits
from permitry.core.template import Template
from permitry.rules.configured import TRAIT_SELECTORS, ConfiguredRule, ToolSelector


def _rule(*tools: str, **conditions: Any) -> ConfiguredRule:  # noqa: ANN401 -- passed on to the rule
    return ConfiguredRule("rule", Verdict.ALLOW, 250, tuple(map(ToolSelector, tools)), **conditions)


def _question(tool: str = "bash", **context: Any) -> Question:  # noqa: ANN401 -- passed on to the context
    return Question(ToolCall(tool), AuthContext(**context))


# Selectors --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("selector", "tool"),
    [("bash", "bash"), ("read_*", "read_file"), ("*", "mcp:docs/search"), ("mcp:docs/*", "mcp:docs/search")],
)
def test_a_selector_selects_by_name_and_glob(selector: str, tool: str) -> None:
    """The name is the one rules see."""
    assert ToolSelector(selector).selects(_question(tool))


@pytest.mark.parametrize(
    ("selector", "tool"),
    [("bash", "mcp:docs/bash"), ("search", "mcp:docs/search"), ("read_*", "bread_file"), ("", "a")],
)
def test_a_selector_selects_nothing_else(selector: str, tool: str) -> None:
    """The whole name must fit, server included."""
    assert not ToolSelector(selector).selects(_question(tool))


@pytest.mark.parametrize(
    ("call", "spec", "reads"),
    [
        (ToolCall("read_file"), None, True),
        (ToolCall("unheard_of"), None, False),
        (ToolCall("read_file", kind=PayloadKind.CUSTOM), None, False),
        (ToolCall("bash"), ToolSpec("bash", traits=ToolTraits(read_only=True)), True),
        (ToolCall("read_file"), ToolSpec("read_file"), False),
    ],
)
def test_trait_selectors_look_at_what_a_tool_is(*, call: ToolCall, spec: ToolSpec | None, reads: bool) -> None:
    """`@reads` selects what is known to read, `@writes` all else."""
    question = Question(call, AuthContext(), spec)
    assert ToolSelector("@reads").selects(question) is reads
    assert ToolSelector("@writes").selects(question) is not reads


def test_the_trait_selectors_are_listed() -> None:
    """The loader knows which words beginning with @ mean something."""
    assert TRAIT_SELECTORS == ("@reads", "@writes")


def test_a_rule_without_selectors_selects_every_tool() -> None:
    """No list is no limit; one of several selectors is enough."""
    assert _rule().selects(_question("anything"))
    assert _rule("grep", "bash").selects(_question("bash"))
    assert not _rule("grep", "glob").selects(_question("bash"))


# Conditions -------------------------------------------------------------------------------------------------------

CHILD = Template("child", extends=(Template("parent"),))


@pytest.mark.parametrize(
    ("conditions", "context"),
    [
        ({"modes": ("default",)}, {}),
        ({"modes": ("plan", "yolo")}, {"yolo_mode": True}),
        ({"modes": ("review",)}, {"mode": "review"}),
        ({"agents": (Pattern("main"),)}, {}),
        ({"agents": (Pattern("x"), Pattern("sub-*"))}, {"agent": "sub-1"}),
        ({"templates": ("child",)}, {"active_template": CHILD}),
        ({"templates": ("other", "parent")}, {"active_template": CHILD}),
    ],
)
def test_a_condition_that_holds_lets_the_rule_match(conditions: dict[str, Any], context: dict[str, Any]) -> None:
    """One of the values listed is enough; a template counts for those it extends."""
    assert _rule("bash", **conditions).matches(_question(**context))
    assert _rule("bash", **conditions).near_miss(_question(**context)) is None


@pytest.mark.parametrize(
    ("conditions", "context", "near_miss"),
    [
        ({"modes": ("plan",)}, {}, "mode = default"),
        ({"modes": ("default",)}, {"is_plan_mode": True}, "mode = plan"),
        ({"agents": (Pattern("sub-*"),)}, {}, "agent = main"),
        ({"templates": ("child",)}, {}, "no active template"),
        ({"templates": ("child",)}, {"active_template": Template("parent")}, "template = parent"),
        (
            {"modes": ("plan",), "agents": (Pattern("x"),), "templates": ("t",)},
            {},
            "mode = default, agent = main, no active template",
        ),
    ],
)
def test_a_condition_that_fails_is_the_near_miss(
    conditions: dict[str, Any], context: dict[str, Any], near_miss: str
) -> None:
    """Every condition that does not hold is told as a fact, for a tool the rule means."""
    rule = _rule("bash", **conditions)
    assert not rule.matches(_question(**context))
    assert rule.near_miss(_question(**context)) == near_miss
    assert rule.near_miss(_question("grep", **context)) is None


# As a rule of a policy --------------------------------------------------------------------------------------------


def test_a_policy_tells_where_the_rule_stands() -> None:
    """Reason, message and source reach the decision."""
    rule = ConfiguredRule("r", Verdict.BLOCK, 150, reason="why", message="what", source="rules.toml:3")
    decision = AuthorizationPolicy([rule]).decide(ToolCall("bash"), AuthContext())
    assert (decision.rule_id, decision.verdict) == ("r", Verdict.BLOCK)
    assert (decision.reason, decision.message, decision.source) == ("why", "what", "rules.toml:3")


def test_the_place_of_a_file_is_no_part_of_the_version() -> None:
    """The same rule on another line is the same rule; another tool is not."""
    rule = _rule("bash")
    versions = [
        AuthorizationPolicy([changed]).version
        for changed in (rule, attrs.evolve(rule, source="other.toml:9"), _rule("grep"))
    ]
    assert versions[0] == versions[1] != versions[2]

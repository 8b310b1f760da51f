"""Rules from files; how their parts combine is a law in `tests/property/test_configured.py`."""

from typing import Any

import attrs
import pytest
from tests.tables import for_each

from permitry.conditions.agent import AgentCondition
from permitry.conditions.args import LinkReader, argument_conditions
from permitry.conditions.attended import AttendedCondition
from permitry.conditions.budget import Budget
from permitry.conditions.command import ArgvPattern
from permitry.conditions.label import LabelCondition
from permitry.conditions.mode import ModeCondition
from permitry.conditions.provenance.provenance import Provenance
from permitry.conditions.repeat import RepeatCondition
from permitry.conditions.scope import Condition, Conditions, Scope
from permitry.conditions.server import ServerCondition
from permitry.conditions.template import TemplateCondition
from permitry.conditions.tools import ToolSelector
from permitry.config.conditions import host_pattern
from permitry.config.load import load_rules
from permitry.core.action import Action, Actions, Run, Unknown, Word
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.history import History, Ran
from permitry.core.names import NamePattern
from permitry.core.pattern import Pattern
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import Request, Unsure
from permitry.core.source import Lists
from permitry.core.template import Template
from permitry.errors import RuleError, UnevaluableError
from permitry.rules.configured import ConfiguredRule
from permitry.rules.flow import FlowRule

CHILD = Template("child", extends=(Template("parent"),))
PLAN, MAIN = ModeCondition(("plan",)), AgentCondition((Pattern("main"),))
SPENT = History.of([Ran(0.0, "bash", "main", "d", frozenset({"rule"}))])


def _rule(*tools: str, plain: tuple[Condition, ...] = (), **rest: Any) -> ConfiguredRule:  # noqa: ANN401 -- passed on
    scope = Scope(tuple(map(ToolSelector, tools)), Conditions(plain))
    return ConfiguredRule("rule", Verdict.ALLOW, 250, scope, **rest)


def _request(tool: str = "bash", **context: Any) -> Request:  # noqa: ANN401 -- passed on to the context
    return Request(ToolCall(tool), AuthContext(**context))


def _restriction(rule: ConfiguredRule) -> ConfiguredRule:
    return attrs.evolve(rule, effect=Verdict.BLOCK, priority_number=150)


# What a rule is about ---------------------------------------------------------------------------------------------


def test_a_rule_without_selectors_selects_every_tool() -> None:
    """No list is not a limit; one of several selectors is enough."""
    assert _rule().matches(_request("anything"))
    assert _rule("grep", "bash").matches(_request("bash"))
    assert not _rule("grep", "glob").matches(_request("bash"))


@for_each(
    ("plain", "context"),
    [
        ((ModeCondition(("default",)),), {}),
        ((ModeCondition(("plan", "yolo")),), {"yolo_mode": True}),
        ((AgentCondition((Pattern("x"), Pattern("sub-*"))),), {"agent": "sub-1"}),
        ((TemplateCondition(("other", "parent")),), {"active_template": CHILD}),
        ((MAIN, ModeCondition(("review",))), {"mode": "review"}),
    ],
)
def test_conditions_that_hold_let_the_rule_match(plain: tuple[Condition, ...], context: dict[str, Any]) -> None:
    """All of them hold, for a permission as for a restriction; then nothing was missed."""
    for rule in (_rule("bash", plain=plain), _restriction(_rule("bash", plain=plain))):
        assert rule.matches(_request(**context))
        assert rule.near_miss(_request(**context)) is None


@for_each(
    ("plain", "context", "near_miss"),
    [
        ((PLAN,), {}, "mode = default (expected: plan)"),
        ((ModeCondition(("default",)),), {"is_plan_mode": True}, "mode = plan (expected: default)"),
        ((AgentCondition((Pattern("sub-*"),)),), {}, "agent = main (expected: sub-*)"),
        ((TemplateCondition(("child",)),), {}, "no active template (expected: child)"),
        (
            (TemplateCondition(("child",)),),
            {"active_template": Template("parent")},
            "template = parent (expected: child)",
        ),
        ((LabelCondition(("web", "mail")),), {}, "labels = none (expected: web or mail)"),
        ((ServerCondition((NamePattern("docs"), NamePattern("m*"))),), {}, "no server (expected: docs or m*)"),
        ((RepeatCondition(3),), {}, "repeat = 1 (expected: at least 3)"),
        ((AttendedCondition(False),), {}, "attended = true"),
        (
            (PLAN, AgentCondition((Pattern("x"),)), TemplateCondition(("t",))),
            {},
            "mode = default (expected: plan), agent = main (expected: x), no active template (expected: t)",
        ),
    ],
)
def test_a_condition_that_fails_is_the_near_miss(
    plain: tuple[Condition, ...], context: dict[str, Any], near_miss: str
) -> None:
    """Every condition that does not hold is reported as a fact, for a tool the rule means."""
    rule = _rule("bash", plain=plain)
    assert not rule.matches(_request(**context))
    assert rule.near_miss(_request(**context)) == near_miss
    assert rule.near_miss(_request("grep", **context)) is None


@for_each(
    ("tools", "called", "near_miss"),
    [
        (("@shell", "grep", "send_mail"), "sendMail", "its tool is called `send_mail`"),
        (("mcp:mail/send",), "mcp__mail__send", "its tool is called `mcp:mail/send`; the call names no server"),
        (("mcp:mail/*",), "mcp__mail__send", "its tool is called `mcp:mail/*`; the call names no server"),
        (("mcp:mail/send",), "mcp:Mail/send", "its tool is called `mcp:mail/send`"),
        (("send_mail",), "send_mails", None),
        (("@reads",), "reads", None),
    ],
)
def test_nearly_the_name_is_a_near_miss(tools: tuple[str, ...], called: str, near_miss: str | None) -> None:
    """What differs in case and signs alone is likely to be meant."""
    assert _rule(*tools).near_miss(_request(called)) == near_miss


def test_an_exception_that_holds_is_the_near_miss() -> None:
    """What `unless` takes back is reported as such."""
    scope = Scope((ToolSelector("bash"),), unless=Conditions((MAIN,)))
    rule = ConfiguredRule("rule", Verdict.BLOCK, 150, scope)
    assert rule.matches(_request()) is False
    assert rule.near_miss(_request()) == "`unless` holds"


@for_each(
    ("unless", "why"),
    [
        (Conditions((PLAN,)), "mode = default (expected: plan)"),
        (Conditions(commands=(ArgvPattern("ls *"),)), "`rm` (expected: run `ls *`)"),
        (
            (Conditions((PLAN,)), Conditions(commands=(ArgvPattern("cd *"), ArgvPattern("ls *")))),
            "mode = default (expected: plan) and `rm` (expected: run `cd *`, ...)",
        ),
        (None, None),
    ],
)
def test_an_exception_that_does_not_hold_is_explained(unless: Any, why: str | None) -> None:  # noqa: ANN401 -- passed on
    """Of a restriction, with what is expected and what is there instead; the exceptions of a permission are others."""
    scope = Scope((ToolSelector("bash"),), unless=unless)
    rule = ConfiguredRule("rule", Verdict.BLOCK, 150, scope)
    assert rule.matches(_doing(LS, RM)) is True
    assert rule.not_lifted(_doing(LS, RM)) == why
    assert attrs.evolve(rule, effect=Verdict.ALLOW, priority_number=250).not_lifted(_doing(LS, RM)) is None


def test_an_exception_is_about_what_the_rule_is_about() -> None:
    """What meets both is not named, and where all that is known does, something else may be done."""
    unless = Conditions(commands=(ArgvPattern("rm a"),))
    scope = Scope(when=Conditions(commands=(ArgvPattern("rm *"),)), unless=unless)
    rule = ConfiguredRule("rule", Verdict.BLOCK, 150, scope)
    removed = [Run((Word("rm"), Word(name))) for name in "ab"]
    assert rule.not_lifted(_doing(LS, *removed)) == "`rm b` (expected: run `rm a`)"
    assert rule.not_lifted(_doing(LS, removed[0])) == "something that is not certain (expected: run `rm a`)"


# Budgets ----------------------------------------------------------------------------------------------------------


def test_it_says_where_the_values_came_from_that_it_asks_about() -> None:
    """In `when` and in `unless`; nothing about the call of another tool."""
    (source,) = argument_conditions(("to",), {"from": ["user"]}, LinkReader(lambda _: (), host_pattern))
    rule = _rule("pay", plain=(source,))
    request = Request(ToolCall("pay", {"to": "AT11"}), AuthContext(provenance=Provenance.of(["Pay AT11"])))
    excepting = attrs.evolve(_restriction(rule), scope=Scope(rule.scope.selectors, unless=rule.scope.when))
    for each in (rule, excepting):
        assert [str(origin) for origin in each.origins(request)] == ['`to` = "AT11" occurs in the user\'s messages']
    assert list(rule.origins(_request("bash"))) == []
    assert list(_rule("pay", plain=(ModeCondition(("default",)),)).origins(request)) == []


def test_a_permission_with_a_budget_matches_while_it_is_not_spent() -> None:
    """What is over the budget is no longer permitted, and the near miss says why."""
    rule = _rule("bash", budget=Budget("rule", 1))
    assert rule.matches(_request()) is True
    assert rule.matches(_request(history=SPENT)) is False
    assert rule.near_miss(_request(history=SPENT)) == "the budget is spent"


def test_a_restriction_with_a_budget_matches_once_it_is_spent() -> None:
    """What is within the budget is free, and the near miss says why."""
    rule = _restriction(_rule("bash", budget=Budget("rule", 1)))
    assert rule.matches(_request()) is False
    assert rule.near_miss(_request()) == "the budget is not spent"
    assert rule.matches(_request(history=SPENT)) is True
    assert rule.matches(_request("grep", history=SPENT)) is False


# Actions ----------------------------------------------------------------------------------------------------------


LS, RM = (Run((Word(name),), doubt) for name, doubt in (("ls", None), ("rm", "it removes")))


def _about(*commands: str, effect: Verdict = Verdict.ALLOW, **rest: Any) -> ConfiguredRule:  # noqa: ANN401 -- passed on
    scope = Scope(when=Conditions(commands=tuple(map(ArgvPattern, commands))))
    return ConfiguredRule("rule", effect, 250 if effect is Verdict.ALLOW else 150, scope, **rest)


def _doing(*certain: Action, **context: Any) -> Request:  # noqa: ANN401 -- passed on to the context
    return Request(ToolCall("bash"), AuthContext(**context), reader=lambda *_: Actions(certain))


def test_a_permission_covers_what_its_scope_covers() -> None:
    """And says of the rest that it is not covered."""
    rule = _about("ls *")
    assert rule.covers(_doing(LS, RM)) == {0}
    assert rule.matches(_doing(LS, RM)) is False
    assert rule.near_miss(_doing(LS, RM)) == "`rm` is not covered"


def test_a_budget_is_no_reason_for_a_call_that_is_not_in_scope() -> None:
    """A rule would not match it, however much is spent."""
    for history in (History(), SPENT):
        for effect in (Verdict.ALLOW, Verdict.BLOCK):
            rule = _about("rm *", effect=effect, budget=Budget("rule", 1))
            reason = rule.near_miss(_doing(LS, history=history))
            assert reason is None or "budget" not in reason
    assert _about("ls *", budget=Budget("rule", 1)).near_miss(_doing(LS, history=SPENT)) == "the budget is spent"
    assert _about("ls *", effect=Verdict.BLOCK, budget=Budget("rule", 1)).near_miss(_doing(LS)) == (
        "the budget is not spent"
    )


def test_a_permission_covers_nothing_once_its_budget_is_spent() -> None:
    """What covers nothing does not ask for the budget at all."""
    rule = _about("ls *", budget=Budget("rule", 1))
    assert rule.covers(_doing(LS)) == {0}
    assert rule.covers(_doing(LS, history=SPENT)) == frozenset()
    timed = _about("ls *", budget=Budget("rule", 1, seconds=60))
    assert timed.covers(_doing(RM)) == frozenset()
    with pytest.raises(UnevaluableError, match="no clock"):
        timed.covers(_doing(LS))


def test_a_restriction_is_unsure_with_a_budget_only_once_that_is_spent() -> None:
    """What may be meant may be over the budget; before that it is free."""
    rule = _about("rm *", effect=Verdict.BLOCK, budget=Budget("rule", 1))
    unreadable = Unknown("$x", "an expansion")
    assert rule.matches(_doing(unreadable)) is False
    assert rule.matches(_doing(unreadable, history=SPENT)) == Unsure("`$x` is not known before it runs", "run `rm *`")


# All calls at once ------------------------------------------------------------------------------------------------


def test_a_restriction_and_a_permission_see_the_mode_with_other_eyes() -> None:
    """As they do for one call: generously the one, surely the other."""
    rule = _rule(plain=(ModeCondition(("yolo",)),))
    request = _request(is_plan_mode=True, yolo_mode=True)
    assert rule.matches(request) is False
    assert _restriction(rule).matches(request) is True


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


# Lists ------------------------------------------------------------------------------------------------------------

LISTED = """schema = 1
[list.people]
values = []
[[rule]]
id = "mail"
effect = "allow"
tools = ["send"]
when.args.to = { in = "@people" }
budget = { calls = 1 }
"""


def test_a_session_fills_the_lists_of_a_rule() -> None:
    """And those of what the rule counts; a rule without these lists stays as it is."""
    rules = load_rules(LISTED)
    using: tuple[ConfiguredRule | FlowRule, ...] = (*rules.rules, *rules.flows)
    for each in using:
        request = Request(ToolCall("send", {"to": "ann"}), AuthContext())
        assert each.lists == {"people"}
        assert each.matches(request) is False
        assert each.with_lists(Lists({"people": ["ann"]})).matches(request) is True
        assert each.with_lists(Lists({"others": ["ann"]})) is each
    assert _rule("bash").lists == frozenset()
    assert "in @people" in str(rules.rules[0].scope.when.plain[0])


def test_a_policy_is_filled_by_the_lists_of_a_context() -> None:
    """Once for the same lists; a list that no rule uses is an error."""
    policy = load_rules(LISTED).policy()
    lists, call = Lists({"people": ["ann"]}), ToolCall("send", {"to": "ann"})
    contexts = [AuthContext(), AuthContext(lists=lists), AuthContext(lists=lists)]
    assert [policy.decide(call, each).verdict.value for each in contexts] == ["confirm", "allow", "allow"]
    assert policy.within(contexts[1]) is policy.within(contexts[2])
    with pytest.raises(RuleError, match="no rule uses the list `peple`; did you mean `people`"):
        policy.with_lists({"people": ["ann"], "peple": []})


# What can be undone -------------------------------------------------------------------------------------------------


def _shell_question(command: str, *actions: Action) -> Request:
    call = ToolCall("bash", {"command": command})
    return Request(call, AuthContext(), reader=lambda *_: Actions(actions))


def test_a_permission_that_keeps_permits_what_is_known() -> None:
    """The whole call, or a part of it; and says why where it does not."""
    keeping = _rule("bash", keeps=True)
    known, unknown = _shell_question("ls", Run((Word("ls"),))), _shell_question("x", Run((Word("x"),), "unknown"))
    assert keeping.matches(known)
    assert not keeping.matches(unknown)
    assert _rule("bash").matches(unknown)
    assert keeping.near_miss(known) is None
    assert keeping.near_miss(unknown) == "`keep` permits only what can be undone: it is not known what `x` changes"


def test_a_permission_that_keeps_covers_nothing_of_what_is_not_known() -> None:
    """What another permission covers would be changed without being kept."""
    commands = Conditions(commands=(ArgvPattern("ls"),))
    keeping = attrs.evolve(_rule(keeps=True), scope=Scope((), commands))
    known = _shell_question("ls", Run((Word("ls"),)))
    both = _shell_question("ls; x", Run((Word("ls"),)), Run((Word("x"),), "unknown"))
    assert keeping.covers(known) == {0}
    assert keeping.covers(both) == frozenset()
    assert attrs.evolve(keeping, keeps=False).covers(both) == {0}

"""Rule sets and values of lists that are added to a policy, for good or for one session."""

import gc
import pickle
from typing import Any

import attrs
import pytest
from tests.tables import for_each

from permitry.conditions.budget import Budget
from permitry.conditions.scope import Scope
from permitry.conditions.tools import ToolSelector
from permitry.config.ruleset import RuleSet
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.source import Lists, is_rule_source, lists_in, lists_of
from permitry.core.spec import ToolSpec, ToolTraits
from permitry.core.template import Template
from permitry.errors import RuleError
from permitry.rules.configured import ConfiguredRule
from permitry.rules.exclusive_template import ExclusiveTemplateRule
from permitry.rules.flow import FlowRule

ALLOW, CONFIRM, BLOCK = Verdict.ALLOW, Verdict.CONFIRM, Verdict.BLOCK
CALL = ToolCall("t")


def _rule(rule_id: str, effect: Verdict, *tools: str) -> ConfiguredRule:
    priority = {ALLOW: 250, CONFIRM: 160, BLOCK: 150}[effect]
    return ConfiguredRule(rule_id, effect, priority, Scope(tuple(map(ToolSelector, tools))))


def _set(*rules: ConfiguredRule, **rest: Any) -> RuleSet:  # noqa: ANN401 -- the fields of a rule set
    return RuleSet(rules, **rest)


MAY, NEVER = _set(_rule("may", ALLOW, "t")), _set(_rule("never", BLOCK, "t"))


def _verdict(policy: AuthorizationPolicy, rules: RuleSet | None = None, **rest: Any) -> Verdict:  # noqa: ANN401 -- the fields of a context
    return policy.decide(CALL, AuthContext(rules=rules, **rest)).verdict


def test_a_rule_set_is_a_source_and_a_rule_is_none() -> None:
    """It is known by what it has; a context refuses anything else."""
    assert [is_rule_source(each) for each in (MAY, MAY.rules[0], None)] == [True, False, False]
    with pytest.raises(TypeError, match="`rules` is a rule set"):
        AuthContext(rules="rules.toml")  # type: ignore[arg-type]  # on purpose


def test_all_of_a_rule_set_counts() -> None:
    """Rules, flows, tools, and the stricter of two verdicts about unmatched calls, whichever is first."""
    flow = FlowRule("may", Scope(), "web")
    tools = {"a": ToolSpec("a"), "t": ToolSpec("t", traits=ToolTraits(destructive=True))}
    full = attrs.evolve(MAY, flows=(flow,), tools=tools, unmatched=BLOCK, unmatched_source="x:1")
    own = AuthorizationPolicy(declared={"t": ToolSpec("t")}, unmatched_source="y:1")
    policy = own.with_rules(full, _rule("more", BLOCK, "u"))
    assert [getattr(rule, "id", "") for rule in policy.rules] == ["may", "more"]
    assert (policy.flows, policy.declared) == ((flow,), {"a": ToolSpec("a"), "t": ToolSpec("t")})
    assert (policy.unmatched, policy.unmatched_source) == (BLOCK, "x:1")
    assert policy.with_rules(_set(unmatched_source="z:1")).unmatched_source == "x:1"
    template = {"only": Template("only", exclusive=True)}
    assert AuthorizationPolicy().with_rules(_set(templates=template)).rules == (ExclusiveTemplateRule(),)


def test_what_is_there_already_stays_and_another_rule_of_an_id_is_refused() -> None:
    """Two files may extend one shipped set."""
    policy = AuthorizationPolicy().with_rules(MAY)
    assert policy.with_rules(MAY, MAY) == policy
    with pytest.raises(RuleError, match="two rules have the id `may`"):
        policy.with_rules(_set(_rule("may", BLOCK, "t")))
    with pytest.raises(RuleError, match="two rules have the id `may`"):
        policy.decide(CALL, AuthContext(rules=_set(_rule("may", BLOCK, "t"))))


def test_the_rules_of_a_session_count_for_its_calls_alone() -> None:
    """What is remembered of one session is not known to another, in whatever order they are asked."""
    policy = AuthorizationPolicy()
    for _ in range(2):
        found = [_verdict(policy, each) for each in (None, MAY, NEVER, MAY, None)]
        assert found == [CONFIRM, ALLOW, BLOCK, ALLOW, CONFIRM]
    explained = policy.explain(CALL, AuthContext(rules=MAY))
    assert (explained.decision.verdict, [rule.rule_id for rule in explained.rules]) == (ALLOW, ["may"])
    assert policy.explain(CALL, AuthContext()).rules == ()


def test_a_restriction_of_the_policy_holds_in_every_session() -> None:
    """And one of the session holds whatever the policy permits."""
    assert _verdict(AuthorizationPolicy(NEVER.rules), MAY) is BLOCK
    assert _verdict(AuthorizationPolicy(MAY.rules), NEVER) is BLOCK


def test_a_child_is_never_allowed_more_than_its_parent() -> None:
    """Its own rules permit what those above it permit as well; the rules above restrict it."""
    policy = AuthorizationPolicy()
    parents = {"none": None, "may": MAY, "never": NEVER}
    found = {
        name: [_verdict(policy, own, parent=AuthContext(rules=above)) for own in (None, MAY, NEVER)]
        for name, above in parents.items()
    }
    assert found["none"] == [CONFIRM, CONFIRM, BLOCK]
    assert found["may"] == [CONFIRM, ALLOW, BLOCK]
    assert found["never"] == [BLOCK, BLOCK, BLOCK]
    assert AuthContext(rules=MAY).child("sub").rules is MAY


@pytest.fixture
def budgeted() -> RuleSet:
    """Return a rule set that lets one call run, and counts it."""
    rule = attrs.evolve(_rule("once", ALLOW, "t"), budget=Budget("once", 1))
    return _set(rule, flows=(FlowRule("once", Scope(), "seen", counts=True),))


def test_the_side_effects_are_those_of_the_session(budgeted: RuleSet) -> None:
    """Also those of the sessions above; another session leaves none."""
    policy, own = AuthorizationPolicy(), AuthContext(rules=budgeted)
    for context in (own, AuthContext(parent=own), own.child("sub")):
        left = policy.side_effects(CALL, context)
        assert (set(left.labels), set(left.rules)) == ({"seen"}, {"once"})
    assert policy.side_effects(CALL, AuthContext()).labels == frozenset()


def test_what_a_session_blocks_is_not_shown_to_it() -> None:
    """Nor what a session above blocks; other sessions see it."""
    policy, spec = AuthorizationPolicy(), ToolSpec("t")
    for context, could in (
        (AuthContext(), True),
        (AuthContext(rules=MAY), True),
        (AuthContext(rules=NEVER), False),
        (AuthContext(rules=NEVER).child("sub"), False),
        (AuthContext(rules=MAY, parent=AuthContext(rules=NEVER)), False),
        (AuthContext(rules=MAY, parent=AuthContext()), True),
    ):
        assert policy.could_run(spec, context) is could


def test_what_was_made_for_a_session_goes_with_its_rules() -> None:
    """The policy is made once, and does not keep the rules of sessions that ended."""
    policy, rules = AuthorizationPolicy(), _set(_rule("may", ALLOW, "t"))
    context = AuthContext(rules=rules)
    assert policy.within(context) is policy.within(AuthContext(rules=rules))
    assert policy.within(AuthContext()) is policy
    kept = vars(AuthorizationPolicy)["_extended"].__get__(policy)
    assert len(kept) == 1
    del context, rules
    gc.collect()
    assert kept == {}


def test_lists_are_read_as_a_mapping_of_tuples() -> None:
    """What the host changes in its own list afterwards changes nothing here."""
    given = ["ann", "bob"]
    lists = Lists({"colleagues": given, "limits": (1, 2.5)})
    given.append("eve")
    assert dict(lists) == {"colleagues": ("ann", "bob"), "limits": (1, 2.5)}
    assert len(lists) == 2
    assert repr(lists) == "Lists({'colleagues': ('ann', 'bob'), 'limits': (1, 2.5)})"


def test_lists_pickle() -> None:
    """A context goes to other processes with its lists."""
    assert pickle.loads(pickle.dumps(Lists({"a": ["x"]}))) == Lists({"a": ["x"]})  # noqa: S301 -- our own bytes


@for_each("values", ["ann", 7, None])
def test_a_list_of_another_type_is_refused(values: Any) -> None:  # noqa: ANN401 -- wrong on purpose
    """One text would become its letters."""
    with pytest.raises(TypeError, match="the list `colleagues` is a list of texts or numbers, not"):
        Lists({"colleagues": values})


@for_each("value", [True, None, ["ann"]])
def test_a_value_of_another_type_is_refused(value: Any) -> None:  # noqa: ANN401 -- wrong on purpose
    """Only texts and numbers can be in a list."""
    with pytest.raises(TypeError, match=r"the list `colleagues` has .*, which is neither a text nor a number"):
        Lists({"colleagues": [value]})


def test_lists_that_are_frozen_already_stay_as_they_are() -> None:
    """A policy is kept for the very object, so that a session does not have it made again for every call."""
    lists = Lists({"a": ["x"]})
    assert lists_of(lists) is lists
    assert lists_of({"a": ["x"]}) == lists
    assert lists_of(None) is None
    assert AuthContext(lists=lists).lists is lists


class _Rule:
    """A rule of the host's own, with a field that is called `lists` by chance."""

    id = "own"
    lists = ("a",)

    def priority(self) -> int:
        """Return a place among the permissions."""
        return 200

    def should_allow_without_confirmation(self, _tool: str, _context: AuthContext) -> bool:
        """Return False."""
        return False


def test_a_rule_of_another_class_uses_no_list() -> None:
    """Only a rule that can be filled says which lists it uses."""
    assert lists_in(_Rule()) == frozenset()
    with pytest.raises(RuleError, match=r"no rule uses the list `a`; it is for `\[list.a\]` of a rule file"):
        AuthorizationPolicy([_Rule()]).decide(ToolCall("x"), AuthContext(lists=Lists({"a": ["x"]})))

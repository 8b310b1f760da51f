"""Policies that are made out of others: with more rules."""

from typing import cast

import attrs
import pytest
from tests.unit.core.stubs import StubRule

from permitry.core.action import Actions
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import AnyRule, Request
from permitry.core.spec import ToolSpec
from permitry.errors import RuleError


@attrs.frozen
class _Flow:
    """A flow that everything leaves."""

    id: str = "few"
    label: str | None = "web"
    counts: bool = True

    def matches(self, _: Request) -> bool:
        return True


def _rule(rule_id: str, number: int = 150) -> AnyRule:
    return cast("AnyRule", StubRule(rule_id, effect=Verdict.BLOCK, priority_number=number))


def test_a_policy_with_more_rules_keeps_all_else() -> None:
    """Flows, declarations and reader are the old ones; what is left behind is left behind as before."""
    declared, reader = {"a": ToolSpec("a")}, lambda *_: cast("Actions", None)
    before = AuthorizationPolicy([_rule("few")], reader=reader, declared=declared, flows=[_Flow()])
    after = before.with_rules(_rule("new", 120))
    assert (after.reader, after.declared, after.flows) == (before.reader, before.declared, before.flows)
    assert after.side_effects(ToolCall("x"), AuthContext()) == before.side_effects(ToolCall("x"), AuthContext())
    assert (after.decide(ToolCall("x"), AuthContext()).rule_id, len(before.rules)) == ("new", 1)


def test_more_rules_bring_flows_of_their_own() -> None:
    """Those of the policy stay."""
    policy = AuthorizationPolicy(flows=[_Flow("other", counts=False)]).with_rules(_rule("few"), flows=[_Flow()])
    assert [flow.id for flow in policy.flows] == ["other", "few"]


def test_a_rule_cannot_be_added_twice() -> None:
    """Its id is taken."""
    policy = AuthorizationPolicy([_rule("one")])
    with pytest.raises(RuleError, match="two rules have the id `one`"):
        policy.with_rules(_rule("one"))


@attrs.frozen
class _Reader:
    """A reader that only has records."""

    known: tuple[str, ...] = ()

    def __call__(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None) -> Actions:
        raise AssertionError((call, context, spec))

    def with_records(self, records: tuple[str, ...]) -> "_Reader":
        return _Reader((*self.known, *records))


@attrs.frozen
class _Rules:
    """A set of rules with records of programs, and nothing else."""

    records: tuple[str, ...] = ("a",)
    policy_rules: tuple[AnyRule, ...] = ()
    flows: tuple[_Flow, ...] = ()
    tools: dict[str, ToolSpec] = attrs.field(factory=dict)
    unmatched: Verdict = Verdict.CONFIRM
    unmatched_source: str | None = None


def test_records_of_added_rules_are_read_by() -> None:
    """Behind those that the policy has; a reader that takes none stays as it is."""
    policy = AuthorizationPolicy(reader=_Reader(("own",)))
    assert repr(policy.with_rules(_Rules()).reader) == repr(_Reader(("own", "a")))
    plain = AuthorizationPolicy(reader=lambda *_: Actions())
    assert plain.with_rules(_Rules()).reader is plain.reader

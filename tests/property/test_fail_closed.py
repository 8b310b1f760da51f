"""Law 2: nothing fails open."""

from typing import Any

import attrs
from hypothesis import given

from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import AnyRule, Request, Unsure


def _is_faulty(rule: AnyRule) -> bool:
    return not isinstance(getattr(rule, "answer", True), bool | Unsure)


def _covers_nothing_known(rule: AnyRule) -> bool:
    return not isinstance(getattr(rule, "covering", frozenset()), frozenset)


def _mended(rule: Any, *, matches: bool | None = None) -> AnyRule:  # noqa: ANN401 -- one of the conftest's, not to be imported
    """Return `rule`, its failure replaced by an answer: the one that the law gives for it if none is given."""
    is_restriction = getattr(rule, "effect", Verdict.ALLOW) is not Verdict.ALLOW
    if _is_faulty(rule):
        rule = attrs.evolve(rule, answer=is_restriction if matches is None else matches)
        # What cannot say whether it permits a call permits no part of it either.
        rule = attrs.evolve(rule, covering=frozenset()) if hasattr(rule, "covering") else rule
    mended: AnyRule = attrs.evolve(rule, covering=frozenset()) if _covers_nothing_known(rule) else rule
    return mended


def _without_rules(context: AuthContext) -> AuthContext:
    """Return a context without rules of a session, which may permit: its own, and those of the agents above it."""
    above = None if context.parent is None else _without_rules(context.parent)
    return attrs.evolve(context, rules=None, parent=above)


@given(policy=..., request=...)
def test_a_failing_restriction_matches_and_a_failing_permission_does_not(
    policy: AuthorizationPolicy, request: Request
) -> None:
    """A failing rule leads to the decision of a rule that answers what the law says."""
    policy = attrs.evolve(policy, unmatched=Verdict.CONFIRM)
    failing = policy.decide(request.call, request.context, request.spec)
    good = attrs.evolve(policy, rules=map(_mended, policy.rules))
    mended = good.decide(request.call, request.context, request.spec)
    assert (failing.verdict, failing.rule_id, failing.phase) == (mended.verdict, mended.rule_id, mended.phase)
    # Rules as files have them are not mended, and may not be evaluable either.
    faulty = {getattr(rule, "id", None) for rule in policy.rules if _is_faulty(rule)}
    assert not {error.rule_id for error in mended.errors} & faulty


@given(policy=..., request=..., matches=...)
def test_a_rule_that_fails_is_never_milder_than_an_answer(
    policy: AuthorizationPolicy,
    request: Request,
    matches: bool,  # noqa: FBT001 -- hypothesis passes by keyword
) -> None:
    """Whether the rules that fail would have matched or not: the call is treated as strictly at least."""
    failing = policy.decide(request.call, request.context, request.spec)
    good = attrs.evolve(policy, rules=[_mended(rule, matches=matches) for rule in policy.rules])
    answered = good.decide(request.call, request.context, request.spec)
    assert failing.verdict.strictness >= answered.verdict.strictness


@given(policy=..., request=...)
def test_rules_that_all_fail_allow_nothing(policy: AuthorizationPolicy, request: Request) -> None:
    """A policy of nothing but failing rules never allows, and says which ones failed."""
    faulty = [rule for rule in policy.rules if _is_faulty(rule)]
    context = _without_rules(request.context)
    decision = attrs.evolve(policy, rules=faulty).decide(request.call, context, request.spec)
    assert decision.verdict is not Verdict.ALLOW
    full = [rule for rule in faulty if hasattr(rule, "effect") and rule.priority() < 200]
    assert len(decision.errors) >= len(full)
    assert all(error.error for error in decision.errors)


@given(request=...)
def test_an_empty_policy_asks(request: Request) -> None:
    """Without a rule every call is asked about."""
    decision = AuthorizationPolicy().decide(request.call, _without_rules(request.context), request.spec)
    assert decision.verdict is Verdict.CONFIRM
    assert decision.rule_id is None

"""An observed rule changes no verdict: decided and recorded, it is obeyed in nothing."""

import attrs
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject, SearchStrategy

from permitry.core.decision import Decision
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import AnyRule, Request
from permitry.guard.guard import Guard
from permitry.guard.outcome import Ask, Permit, Refusal, Silence
from permitry.guard.session import Session


def _decide(policy: AuthorizationPolicy, request: Request) -> Decision:
    return policy.decide(request.call, request.context, request.spec)


@given(policy=..., request=..., data=st.data())
def test_an_observed_rule_changes_no_decision(
    restrictions: SearchStrategy[AnyRule],
    permissions: SearchStrategy[AnyRule],
    policy: AuthorizationPolicy,
    request: Request,
    data: DataObject,
) -> None:
    """Whatever it is, nothing but the version is another one, in the explanation as well."""
    extra = data.draw(st.one_of(restrictions, permissions))
    whole = attrs.evolve(policy, rules=(*policy.rules, extra))
    watching = attrs.evolve(policy, observed=whole)
    before, after = _decide(policy, request), _decide(watching, request)
    assert watching.version != policy.version
    assert attrs.evolve(after, policy_version="") == attrs.evolve(before, policy_version="")
    asked = (request.call, request.context, request.spec)
    assert watching.explain(*asked).rules == policy.explain(*asked).rules
    if request.spec is not None:
        visible = policy.could_run(request.spec, request.context)
        assert watching.could_run(request.spec, request.context) is visible


@given(policy=..., request=..., data=st.data())
def test_what_would_be_decided_is_what_is_decided_once_it_is_obeyed(
    restrictions: SearchStrategy[AnyRule],
    permissions: SearchStrategy[AnyRule],
    policy: AuthorizationPolicy,
    request: Request,
    data: DataObject,
) -> None:
    """And nothing is said where that is the same, by the same rule."""
    extra = data.draw(st.one_of(restrictions, permissions))
    whole = attrs.evolve(policy, rules=(*policy.rules, extra))
    watching = attrs.evolve(policy, observed=whole)
    now, then = _decide(policy, request), _decide(whole, request)
    would = watching.would(request.call, request.context, request.spec)
    is_same = (now.verdict, now.rule_id) == (then.verdict, then.rule_id)
    assert would == (None if is_same else then)


@given(policy=..., request=..., data=st.data())
def test_a_guard_does_what_it_would_do_without_them(
    restrictions: SearchStrategy[AnyRule],
    permissions: SearchStrategy[AnyRule],
    policy: AuthorizationPolicy,
    request: Request,
    data: DataObject,
) -> None:
    """Its outcome, and what it keeps for later calls."""
    extra = data.draw(st.one_of(restrictions, permissions))
    whole = attrs.evolve(policy, rules=(*policy.rules, extra))

    def end(rules: AuthorizationPolicy) -> tuple[object, ...]:
        session = Session(yolo_mode=request.context.yolo_mode, agent=request.context.agent)
        guard = Guard(rules, session)
        outcomes = [guard.check(request.call.with_id(name)) for name in ("a", "b")]
        kept = (session.labels, session.counts, session.tool_ignore_list, session.history.count(request.call.digest))
        return [_shape(each) for each in outcomes], kept

    assert end(attrs.evolve(policy, observed=whole)) == end(policy)


def _shape(outcome: Permit | Refusal | Ask | Silence) -> tuple[object, ...]:
    decision = outcome.decision
    if decision is None:
        return (type(outcome),)
    return type(outcome), decision.verdict, decision.rule_id, decision.reason, decision.message

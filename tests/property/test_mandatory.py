"""Law 1: a restriction is mandatory."""

import attrs
from hypothesis import given
from hypothesis import strategies as st

from permitry.core.decision import Phase, Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import Request
from permitry.rules.configured import ConfiguredRule


def _without_overrides(policy: AuthorizationPolicy) -> AuthorizationPolicy:
    # A two-method rule below 100 stays: it has no effect of its own, and is not an override.
    rules = (r for r in policy.rules if r.priority() >= 100 or not hasattr(r, "effect"))
    return attrs.evolve(policy, rules=rules)


@given(
    policy=..., request=..., effect=st.sampled_from((Verdict.CONFIRM, Verdict.BLOCK)), priority=st.integers(100, 199)
)
def test_no_permission_lifts_a_restriction(
    policy: AuthorizationPolicy, request: Request, effect: Verdict, priority: int
) -> None:
    """Whatever permits a call, it is at least as strict as one restriction that matches it.

    What nothing permits may be blocked by the policy, which is stricter than a request.
    """
    mandatory = ConfiguredRule("mandatory", effect, priority)
    restricted = attrs.evolve(policy, rules=(*_without_overrides(policy).rules, mandatory))
    decision = restricted.decide(request.call, request.context, request.spec)
    assert decision.verdict >= effect
    assert decision.phase is Phase.RESTRICTION or (decision.verdict is policy.unmatched > effect)


@given(policy=..., request=...)
def test_an_allow_means_that_no_restriction_matched(policy: AuthorizationPolicy, request: Request) -> None:
    """An ALLOW outside the overrides leaves no restriction that matched or failed."""
    explanation = policy.explain(request.call, request.context, request.spec)
    decision = explanation.decision
    if decision.verdict is Verdict.ALLOW and decision.phase is not Phase.OVERRIDE:
        assert not [rule for rule in explanation.matches if rule.phase is Phase.RESTRICTION]

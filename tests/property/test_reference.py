"""Law 8: the compiled policy answers as the slow, obvious reference does."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import attrs
from hypothesis import given, settings

from permitry.core.decision import Phase, Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import AnyRule, Request

Reference: TypeAlias = Callable[[Sequence[AnyRule], Request, Verdict], tuple[Verdict, str | None, Phase, int]]


# This one law carries the others, so it gets ten times the examples of the profile.
@settings(max_examples=10 * settings().max_examples)
@given(policy=..., request=...)
def test_decide_agrees_with_the_reference(reference: Reference, policy: AuthorizationPolicy, request: Request) -> None:
    """Verdict, deciding rule, phase and number of errors are those of the reference."""
    given = request.call, request.context, request.spec
    decision = policy.decide(*given)
    found = (decision.verdict, decision.rule_id, decision.phase, len(decision.errors))
    # The policy knows what else the name of a tool may mean.
    assert found == reference(policy.rules, policy.request(*given), policy.unmatched)


@given(policy=..., request=...)
def test_what_no_rule_matches_may_be_blocked(policy: AuthorizationPolicy, request: Request) -> None:
    """Then it is stricter in exactly those places, and in their phase; a restriction that asks lifts no such block."""
    given = request.call, request.context, request.spec
    before, after = policy.decide(*given), attrs.evolve(policy, unmatched=Verdict.BLOCK).decide(*given)
    if Phase.DEFAULT in (before.phase, after.phase):
        assert (after.verdict, after.rule_id, after.phase) == (Verdict.BLOCK, None, Phase.DEFAULT)
        assert before.verdict is not Verdict.ALLOW
    else:
        assert (after.verdict, after.rule_id) == (before.verdict, before.rule_id)

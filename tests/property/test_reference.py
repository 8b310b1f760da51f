"""Law 8: the compiled policy answers as the slow, obvious reference does."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from hypothesis import given, settings

from permitry.core.decision import Phase, Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import AnyRule, Question

Reference: TypeAlias = Callable[[Sequence[AnyRule], Question], tuple[Verdict, str | None, Phase, int]]


# This one law carries the others, so it gets ten times the examples of the profile.
@settings(max_examples=10 * settings().max_examples)
@given(policy=..., question=...)
def test_decide_agrees_with_the_reference(
    reference: Reference, policy: AuthorizationPolicy, question: Question
) -> None:
    """Verdict, deciding rule, phase and number of errors are those of the reference."""
    given = question.call, question.context, question.spec
    decision = policy.decide(*given)
    found = (decision.verdict, decision.rule_id, decision.phase, len(decision.errors))
    # The policy knows what else the name of a tool may mean.
    assert found == reference(policy.rules, policy.question(*given))

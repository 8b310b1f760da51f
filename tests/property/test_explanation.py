"""Law 9: a decision can be explained, and `decide` and `explain` never disagree."""

from hypothesis import given

from permitry.core.decision import Phase, Verdict
from permitry.core.explanation import Explanation, RuleOutcome, RuleTrace
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import Request


def _effect(rule: RuleTrace) -> Verdict:
    return Verdict.CONFIRM if rule.outcome is RuleOutcome.UNSURE else rule.effect


def _explain(policy: AuthorizationPolicy, request: Request) -> Explanation:
    return policy.explain(request.call, request.context, request.spec)


@given(policy=..., request=...)
def test_explain_tells_the_decision_of_decide(policy: AuthorizationPolicy, request: Request) -> None:
    """The explanation holds the very decision."""
    assert _explain(policy, request).decision == policy.decide(request.call, request.context, request.spec)


@given(policy=..., request=...)
def test_the_deciding_rule_is_marked_and_no_other(policy: AuthorizationPolicy, request: Request) -> None:
    """One rule is marked as deciding, the one the decision names, and it is among the matches."""
    explanation = _explain(policy, request)
    decision = explanation.decision
    deciding = [rule for rule in explanation.rules if rule.deciding]
    assert [rule.rule_id for rule in deciding] == ([] if decision.rule_id is None else [decision.rule_id])
    for rule in deciding:
        verdict = Verdict.CONFIRM if rule.outcome is RuleOutcome.UNSURE else rule.effect
        assert (verdict, rule.phase, rule.source) == (decision.verdict, decision.phase, decision.source)
        assert rule in explanation.matches


@given(policy=..., request=...)
def test_the_matches_lead_to_the_verdict(policy: AuthorizationPolicy, request: Request) -> None:
    """The phases applied to the matches give the verdict."""
    explanation = _explain(policy, request)
    matches = {phase: [m for m in explanation.matches if m.phase is phase] for phase in Phase}
    restricted = max((_effect(m) for m in matches[Phase.RESTRICTION]), default=Verdict.ALLOW)
    if matches[Phase.OVERRIDE]:
        expected = {Verdict.ALLOW}
    elif restricted >= policy.unmatched:
        expected = {restricted}
    else:
        # Parts that are covered need not add up to the whole; where they do, a rule that covers one of them decides,
        # and a question about these parts does not count.
        whole = [m for m in matches[Phase.PERMISSION] if m.outcome is not RuleOutcome.COVERED]
        is_shared_out = len(whole) < len(matches[Phase.PERMISSION])
        # Where the default blocks, a question that may not apply needs a match that is certain.
        is_certain = policy.unmatched is Verdict.CONFIRM or any(m.outcome is RuleOutcome.MATCHED for m in whole)
        expected = {_effect(whole[0]) if whole and is_certain else policy.unmatched}
        expected |= {Verdict.ALLOW, policy.unmatched, *map(_effect, whole[:1])} if is_shared_out else set()
        # A restriction that asks is a floor, also where what nothing permits is blocked.
        expected = {max(each, restricted) for each in expected}
    assert explanation.decision.verdict in expected


@given(policy=..., request=...)
def test_every_rule_is_reported_once_and_in_order(policy: AuthorizationPolicy, request: Request) -> None:
    """Overrides, restrictions and permissions follow each other, each by priority."""
    rules = _explain(policy, request).rules
    counts = {len(policy.within(context).rules) for context in request.context.lineage()}
    order = [Phase.OVERRIDE, Phase.RESTRICTION, Phase.PERMISSION]
    assert len({rule.rule_id for rule in rules}) == len(rules)
    assert len(rules) in counts
    places = [(order.index(rule.phase), rule.priority) for rule in rules]
    assert places == sorted(places)


@given(policy=..., request=...)
def test_every_error_of_the_decision_is_reported(policy: AuthorizationPolicy, request: Request) -> None:
    """A rule that failed on the way to the decision is reported as failed, with the same error."""
    explanation = _explain(policy, request)
    failed = {(rule.rule_id, rule.error) for rule in explanation.rules if rule.outcome is RuleOutcome.FAILED}
    assert {(error.rule_id, error.error) for error in explanation.decision.errors} <= failed


@given(policy=..., request=...)
def test_a_near_miss_is_no_match(policy: AuthorizationPolicy, request: Request) -> None:
    """Only a rule that was asked and did not match, or not wholly, can have missed nearly."""
    outcomes = (RuleOutcome.NOT_MATCHED, RuleOutcome.COVERED)
    assert all(rule.outcome in outcomes for rule in _explain(policy, request).near_misses)

"""Rules from files: conditions narrow, selectors widen, and a near miss is a match but for its conditions."""

import attrs
from hypothesis import given
from hypothesis import strategies as st
from tests.matching import matches

from permitry.actions.changes import changes_of
from permitry.conditions.agent import AgentCondition
from permitry.conditions.attended import AttendedCondition
from permitry.conditions.match import Match
from permitry.conditions.mode import ModeCondition
from permitry.conditions.scope import Condition, Conditions, Scope
from permitry.conditions.template import TemplateCondition
from permitry.conditions.tools import ToolsCondition, ToolSelector
from permitry.conditions.traits import TraitsCondition
from permitry.core.decision import Verdict
from permitry.core.pattern import Pattern
from permitry.core.rule import Request
from permitry.rules.configured import ConfiguredRule

_needed = st.sampled_from([Match.YES, Match.ALIKE])
_selectors = st.lists(
    st.sampled_from(("bash", "read_*", "mcp:*", "@reads", "@writes", "@network", "@shell")).map(ToolSelector),
    max_size=3,
).map(tuple)
_words = st.lists(
    st.sampled_from(("default", "plan", "yolo", "main", "helper", "reader", "writer")), min_size=1, max_size=3
).map(tuple)
_plain = st.lists(
    st.one_of(
        st.builds(ModeCondition, _words),
        st.builds(AgentCondition, _words.map(lambda words: tuple(map(Pattern, words)))),
        st.builds(TemplateCondition, _words),
        st.builds(ToolsCondition, st.sampled_from(((ToolSelector("bash"),), (ToolSelector("@reads"),)))),
        st.builds(AttendedCondition, st.booleans()),
        st.builds(TraitsCondition, st.sampled_from((("read_only",), ("destructive", "open_world")))),
    ),
    max_size=3,
).map(tuple)
_effects = st.sampled_from(((Verdict.ALLOW, 250), (Verdict.BLOCK, 150)))


def _rule(
    selectors: tuple[ToolSelector, ...] = (),
    plain: tuple[Condition, ...] = (),
    effect: tuple[Verdict, int] = (Verdict.ALLOW, 250),
) -> ConfiguredRule:
    return ConfiguredRule("rule", *effect, Scope(selectors, Conditions(plain)))


_rules = st.builds(_rule, _selectors, _plain, _effects)


@given(rule=_rules, request=...)
def test_a_rule_matches_when_selector_and_every_condition_hold(rule: ConfiguredRule, request: Request) -> None:
    """The parts of a rule, each asked as a rule of its own, all match exactly when the rule does."""
    scopes = [Scope(rule.scope.selectors), *(Scope((), Conditions((each,))) for each in rule.scope.when.plain)]
    parts = [attrs.evolve(rule, scope=scope) for scope in scopes]
    assert rule.matches(request) is all(part.matches(request) for part in parts)


@given(rule=_rules, plain=_plain, request=...)
def test_unless_takes_back_what_it_is_about(
    rule: ConfiguredRule, plain: tuple[Condition, ...], request: Request
) -> None:
    """A rule with `unless` matches where it does without, and the conditions of `unless` do not all hold."""
    unless = attrs.evolve(rule, scope=attrs.evolve(rule.scope, unless=Conditions(plain)))
    needed = Match.ALIKE if rule.effect is Verdict.ALLOW else Match.YES
    is_excepted = all(matches(condition, request, needed) for condition in plain)
    assert unless.matches(request) is (rule.matches(request) and not is_excepted)


@given(rule=_rules, first=_plain, second=_plain, request=...)
def test_each_alternative_of_unless_takes_back_by_itself(
    rule: ConfiguredRule, first: tuple[Condition, ...], second: tuple[Condition, ...], request: Request
) -> None:
    """A rule with two exceptions matches where it does with the one, and with the other, alone."""
    one, other = Conditions(first), Conditions(second)
    found = [
        attrs.evolve(rule, scope=attrs.evolve(rule.scope, unless=each)).matches(request)
        for each in (one, other, (one, other), (other, one), (one, one))
    ]
    assert found == [found[0], found[1], found[0] and found[1], found[0] and found[1], found[0]]


@given(selectors=_selectors, request=..., needed=_needed)
def test_selectors_are_alternatives(selectors: tuple[ToolSelector, ...], request: Request, needed: Match) -> None:
    """A rule selects a call when one of its selectors does; without selectors, always."""
    alone = [Scope((selector,)).selects(request, needed) for selector in selectors]
    assert Scope(selectors).selects(request, needed) is (any(alone) or not selectors)


@given(rule=_rules, request=...)
def test_a_near_miss_is_a_selected_call_that_does_not_match(rule: ConfiguredRule, request: Request) -> None:
    """A near miss is reported exactly when only conditions was in the way."""
    is_selected = rule.scope.selects(request, Match.YES if rule.effect is Verdict.ALLOW else Match.ALIKE)
    assert (rule.near_miss(request) is not None) is (is_selected and not rule.matches(request))


@given(request=...)
def test_a_call_surely_either_reads_or_writes(request: Request) -> None:
    """`@reads` and `@writes` share out all calls of which it is asked what they certainly are; no call is neither."""
    for needed in (Match.YES, Match.ALIKE):
        reads, writes = (matches(ToolSelector(text), request, needed) for text in ("@reads", "@writes"))
        assert reads is not writes if needed is Match.YES else reads or writes


@given(rule=_rules, request=...)
def test_a_permission_that_keeps_permits_no_more(rule: ConfiguredRule, request: Request) -> None:
    """It permits and covers a part of what it does without that, and only where all changes are known."""
    plain = attrs.evolve(rule, effect=Verdict.ALLOW, priority_number=250)
    keeping = attrs.evolve(plain, keeps=True)
    assert plain.matches(request) or not keeping.matches(request)
    assert keeping.covers(request) <= plain.covers(request)
    assert not keeping.matches(request) or changes_of(request.actions, request.tool).doubt is None

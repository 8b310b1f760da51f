"""Rules from files: conditions narrow, selectors widen, and a near miss is a match but for its conditions."""

from hypothesis import given
from hypothesis import strategies as st

from permitry.core.decision import Verdict
from permitry.core.pattern import Pattern
from permitry.core.rule import Question
from permitry.rules.configured import ConfiguredRule, ToolSelector

_selectors = st.lists(
    st.sampled_from(("bash", "read_*", "mcp:*", "@reads", "@writes")).map(ToolSelector), max_size=3
).map(tuple)
_words = st.lists(st.sampled_from(("default", "plan", "yolo", "main", "helper", "reader", "writer")), max_size=3)
_names = _words.map(tuple)
_agents = _words.map(lambda words: tuple(map(Pattern, words)))
_rules = st.builds(
    ConfiguredRule,
    st.just("rule"),
    st.just(Verdict.ALLOW),
    st.just(250),
    selectors=_selectors,
    modes=_names,
    agents=_agents,
    templates=_names,
)


@given(rule=_rules, question=...)
def test_a_rule_matches_when_selector_and_every_condition_hold(rule: ConfiguredRule, question: Question) -> None:
    """The parts of a rule, each asked as a rule of its own, all match exactly when the rule does."""
    parts = (
        ConfiguredRule("tools", rule.effect, 250, rule.selectors),
        ConfiguredRule("modes", rule.effect, 250, modes=rule.modes),
        ConfiguredRule("agents", rule.effect, 250, agents=rule.agents),
        ConfiguredRule("templates", rule.effect, 250, templates=rule.templates),
    )
    assert rule.matches(question) is all(part.matches(question) for part in parts)


@given(selectors=_selectors, question=...)
def test_selectors_are_alternatives(selectors: tuple[ToolSelector, ...], question: Question) -> None:
    """A rule selects a call when one of its selectors does; without selectors, always."""
    rule = ConfiguredRule("rule", Verdict.ALLOW, 250, selectors)
    alone = [ConfiguredRule("rule", Verdict.ALLOW, 250, (selector,)).selects(question) for selector in selectors]
    assert rule.selects(question) is (any(alone) or not selectors)


@given(rule=_rules, question=...)
def test_a_near_miss_is_a_selected_call_that_does_not_match(rule: ConfiguredRule, question: Question) -> None:
    """A near miss is told exactly when only conditions stood in the way."""
    is_near = rule.selects(question) and not rule.matches(question)
    assert (rule.near_miss(question) is not None) is is_near


@given(question=...)
def test_a_call_either_reads_or_writes(question: Question) -> None:
    """`@reads` and `@writes` share out all calls."""
    assert ToolSelector("@reads").selects(question) is not ToolSelector("@writes").selects(question)

"""What the laws share: two profiles, the reference evaluator, and random policies and questions.

The tests of this folder are the same code under two profiles: a plain `pytest` runs them with the small one, and
`pytest -m large` with the large one. Hypothesis reads the profile when a test is decorated, so it is loaded in
`pytest_configure`, before any test file of this folder is imported. The project deselects the marker `large` by
default, so exactly a run with `-m large` puts that marker on every test here, before pytest selects by it.

Policies, questions, contexts and calls come by type (`@given(policy=..., question=...)`); what is no type of its own
comes from a fixture that holds a strategy.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias, cast

import attrs
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Phase, Verdict
from permitry.core.pattern import Pattern
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import AuthorizationRule, Question
from permitry.core.spec import ToolSpec, ToolTraits
from permitry.core.template import Template
from permitry.rules import BUILT_IN_RULES
from permitry.rules.configured import ConfiguredRule, ToolSelector

Judgement: TypeAlias = tuple[Verdict, str | None, Phase, int]

# Profiles ---------------------------------------------------------------------------------------------------------

_HERE = Path(__file__).parent


def _is_large(config: pytest.Config) -> bool:
    return bool(config.getoption("markexpr") == "large")


def pytest_configure(config: pytest.Config) -> None:
    """Load the profile of this run."""
    # A busy machine is no fault of a law, so nothing here looks at the clock.
    timeless = settings(deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile("small", timeless, max_examples=100, derandomize=True)
    settings.register_profile("large", timeless, max_examples=2_000, derandomize=False, print_blob=True)
    settings.load_profile("large" if _is_large(config) else "small")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark every law as large in a run with `-m large`."""
    for item in items if _is_large(config) else []:
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.large)


# Rules of which the tests know what they answer -------------------------------------------------------------------


def _give(answer: object) -> bool:
    if isinstance(answer, type) and issubclass(answer, Exception):
        raise answer("on purpose")
    return cast("bool", answer)


@attrs.frozen
class FixedRule:
    """A rule that gives `answer` to every question, or raises it."""

    effect: Verdict
    priority_number: int
    answer: object
    id: str = "fixed"
    reason: str = "always the same"
    message: str | None = None
    source: str | None = None

    def priority(self) -> int:
        """Return the given priority."""
        return self.priority_number

    def matches(self, _: Question) -> bool:
        """Return or raise the given answer."""
        return _give(self.answer)

    def near_miss(self, _: Question) -> str | None:
        """Fail: a near miss must never cost an explanation."""
        raise RuntimeError("on purpose")


@attrs.frozen
class TwoMethods:
    """A rule with the two methods of the seed; `id` is the name a policy must find for it."""

    priority_number: int
    tools: tuple[str, ...]
    answer: object
    id: str = "two-methods"

    def priority(self) -> int:
        """Return the given priority."""
        return self.priority_number

    def should_allow_without_confirmation(self, tool_name: str, _: AuthContext) -> bool:
        """Return or raise the given answer about some tools, and False about all others."""
        return _give(self.answer) if tool_name in self.tools else False


Rule: TypeAlias = AuthorizationRule | TwoMethods

# The reference evaluator ------------------------------------------------------------------------------------------


def _judge(rules: Sequence[Rule], question: Question) -> Judgement:
    errors: list[Rule] = []
    in_order = sorted(rules, key=lambda rule: rule.priority())
    for rule in in_order:
        if _phase(rule) is Phase.OVERRIDE and _holds(rule, question, errors, when_failing=False):
            return Verdict.ALLOW, rule.id, Phase.OVERRIDE, len(errors)
    restrictions = [rule for rule in in_order if _phase(rule) is Phase.RESTRICTION]
    matched = [rule for rule in restrictions if _holds(rule, question, errors, when_failing=True)]
    for verdict in (Verdict.BLOCK, Verdict.CONFIRM):
        for rule in matched:
            if getattr(rule, "effect", None) is verdict:
                return verdict, rule.id, Phase.RESTRICTION, len(errors)
    for rule in in_order:
        if _phase(rule) is Phase.PERMISSION and _holds(rule, question, errors, when_failing=False):
            return Verdict.ALLOW, rule.id, Phase.PERMISSION, len(errors)
    return Verdict.CONFIRM, None, Phase.DEFAULT, len(errors)


def _holds(rule: Rule, question: Question, errors: list[Rule], *, when_failing: bool) -> bool:
    try:
        answer: object = _asked(rule, question)
    except Exception:  # noqa: BLE001 -- a rule may fail in any way
        answer = "no answer"
    if answer is True or answer is False:
        return answer
    errors.append(rule)
    return when_failing


def _phase(rule: Rule) -> Phase:
    if isinstance(rule, TwoMethods) or rule.priority() >= 200:
        return Phase.PERMISSION
    return Phase.OVERRIDE if rule.priority() < 100 else Phase.RESTRICTION


def _asked(rule: Rule, question: Question) -> bool:
    if isinstance(rule, TwoMethods):
        return rule.should_allow_without_confirmation(question.call.tool, question.context)
    return rule.matches(question)


@pytest.fixture(scope="session")
def reference() -> Callable[[Sequence[Rule], Question], Judgement]:
    """Return the slow, obvious evaluator: verdict, id of the deciding rule, phase, and number of errors."""
    return _judge


# Random rules -----------------------------------------------------------------------------------------------------

_TOOLS = ("bash", "read_file", "write_file", "present_plan", "mcp:docs/search", "mcp:docs/read_file")
_SELECTORS = (*_TOOLS, "*", "read_*", "*_file", "?ash", "mcp:*", "mcp:docs/*", "@reads", "@writes")
_MODES = ("default", "plan", "yolo", "review")
_READER = Template("reader", ("read_file", "mcp:docs/*"))
_TEMPLATES = (_READER, Template("writer", ("write_*",), extends=(_READER,)), Template("empty"))
_FAULTS = (None, 1, 0, "yes", (), object, ValueError, KeyError, RecursionError, AttributeError)
_OVERRIDES = [(Verdict.ALLOW, priority) for priority in (0, 1, 50, 99)]
_RESTRICTIONS = [(v, p) for v in (Verdict.CONFIRM, Verdict.BLOCK) for p in (100, 101, 150, 160, 199)]
_PERMISSIONS = [(Verdict.ALLOW, priority) for priority in (200, 201, 250, 300, 310, 399)]


def _some(values: Sequence[str]) -> SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(values), max_size=2).map(tuple)


def _configured(place: tuple[Verdict, int], selectors: tuple[str, ...], *conditions: tuple[str, ...]) -> ConfiguredRule:
    modes, agents, templates = conditions
    return ConfiguredRule(
        "configured",
        *place,
        tuple(map(ToolSelector, selectors)),
        modes=modes,
        agents=tuple(map(Pattern, agents)),
        templates=templates,
    )


def _fixed(place: tuple[Verdict, int], answer: object) -> FixedRule:
    effect, priority = place
    return FixedRule(effect, priority, answer)


def _full_rules(places: Sequence[tuple[Verdict, int]]) -> SearchStrategy[Rule]:
    place = st.sampled_from(places)
    templates = _some([template.name for template in _TEMPLATES])
    configured = st.builds(_configured, place, _some(_SELECTORS), _some(_MODES), _some(("main", "h*")), templates)
    plain = st.builds(_configured, place, _some(_SELECTORS), *([st.just(())] * 3))
    fixed = st.builds(_fixed, place, st.sampled_from((True, False, *_FAULTS)))
    return st.one_of(plain, configured, fixed)


_two_methods = st.builds(
    TwoMethods, st.sampled_from((0, 50, 150, 250, 399)), _some(_TOOLS), st.sampled_from((True, *_FAULTS))
)
_any_restriction = _full_rules(_RESTRICTIONS)
_any_permission = st.one_of(_full_rules(_OVERRIDES + _PERMISSIONS), _two_methods)


def _named(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Give every rule an id of its own, and drop a built-in rule that comes twice."""
    named: dict[str, Rule] = {}
    seeds = 0
    for number, rule in enumerate(rules):
        if isinstance(rule, TwoMethods):
            seeds += 1
            rule_id = "two-methods" if seeds == 1 else f"two-methods-{seeds}"
            named[rule_id] = attrs.evolve(rule, id=rule_id)
        elif isinstance(rule, ConfiguredRule | FixedRule):
            named[f"rule-{number}"] = attrs.evolve(rule, id=f"rule-{number}")
        else:
            named[rule.id] = rule
    return tuple(named.values())


_rule_lists = st.lists(
    st.one_of(
        st.sampled_from(BUILT_IN_RULES),
        _any_restriction,
        _full_rules(_PERMISSIONS),
        _two_methods,
        _full_rules(_OVERRIDES + _PERMISSIONS),
    ),
    max_size=8,
).map(_named)


@pytest.fixture(scope="session")
def restrictions() -> SearchStrategy[Rule]:
    """Return random restrictions, failing ones among them."""
    return _any_restriction


@pytest.fixture(scope="session")
def permissions() -> SearchStrategy[Rule]:
    """Return random overrides and permissions, failing ones and two-method ones among them."""
    return _any_permission


# Random questions -------------------------------------------------------------------------------------------------

_flags = st.booleans()
_contexts = st.builds(
    AuthContext,
    is_plan_mode=_flags,
    yolo_mode=_flags,
    tool_ignore_list=_some(_TOOLS),
    active_template=st.sampled_from((None, *_TEMPLATES)),
    mode=st.sampled_from(_MODES),
    agent=st.sampled_from(("main", "helper", "other")),
)
_calls = st.builds(
    ToolCall,
    st.sampled_from((*_TOOLS, "unknown")),
    st.dictionaries(st.sampled_from(("path", "limit")), st.sampled_from(("a.txt", 7, None, [1])), max_size=2),
    kind=st.sampled_from((PayloadKind.FUNCTION, PayloadKind.FUNCTION, PayloadKind.CUSTOM)),
)
_traits = st.builds(
    ToolTraits, read_only=st.sampled_from((None, True, False)), destructive=st.sampled_from((None, True))
)


def _question(call: ToolCall, context: AuthContext, traits: ToolTraits | None, *, is_its_own: bool) -> Question:
    spec = None if traits is None else ToolSpec(call.tool if is_its_own else "another_tool", traits=traits)
    return Question(call, context, spec)


st.register_type_strategy(AuthContext, _contexts)
st.register_type_strategy(ToolCall, _calls)
st.register_type_strategy(AuthorizationPolicy, _rule_lists.map(AuthorizationPolicy))
st.register_type_strategy(
    Question, st.builds(_question, _calls, _contexts, st.one_of(st.none(), _traits), is_its_own=_flags)
)

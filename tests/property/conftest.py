"""What the laws share: two profiles, the reference evaluator, and random policies and requests.

The tests of this folder are the same code under the two profiles of `tests/conftest.py`: a plain `pytest` runs them
with the small one, and `pytest -m large` with the large one. Under the small one each law is tried twice: with 30
examples that are the same in every run, and with 10 of this run alone, whose seed is shown when the law fails;
`--hypothesis-seed` repeats them. The project deselects the marker `large` by default, so exactly a run with `-m large`
puts that marker on every test here, before pytest selects by it.

Policies, requests, contexts and calls come by type (`@given(policy=..., request=...)`); what is not a type of its own
comes from a fixture that holds a strategy.
"""

import functools
import inspect
import secrets
import zlib
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import TypeAlias, cast

import attrs
import pytest
from hypothesis import is_hypothesis_test, seed, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from permitry.conditions.agent import AgentCondition
from permitry.conditions.attended import AttendedCondition
from permitry.conditions.command import ArgvPattern
from permitry.conditions.host import HostPattern
from permitry.conditions.mode import ModeCondition
from permitry.conditions.path import PathPattern
from permitry.conditions.scope import Condition, Conditions, Scope
from permitry.conditions.template import TemplateCondition
from permitry.conditions.text import TextCondition
from permitry.conditions.tools import ToolsCondition, ToolSelector
from permitry.conditions.traits import TraitsCondition
from permitry.config.ruleset import RuleSet
from permitry.core.action import Access, Action, Actions, Connect, Operands, Place, Roots, Run, Touch, Unknown, Word
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Phase, Verdict
from permitry.core.pattern import Pattern
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import AuthorizationRule, Request, Unsure
from permitry.core.spec import ArgumentRole, ToolSpec, ToolTraits
from permitry.core.template import Template
from permitry.rules import BUILT_IN_RULES
from permitry.rules.configured import ConfiguredRule

Judgement: TypeAlias = tuple[Verdict, str | None, Phase, int]

# Profiles ---------------------------------------------------------------------------------------------------------

_HERE = Path(__file__).parent


def _is_large(config: pytest.Config) -> bool:
    return bool(config.getoption("markexpr") == "large")


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Try a law of the small profile with the examples of every run, and then with those of this one."""
    law, config = pyfuncitem.obj, pyfuncitem.config
    if not is_hypothesis_test(law) or _is_large(config):
        return (yield)
    seed(zlib.crc32(pyfuncitem.nodeid.encode()))(law)
    law(**{name: pyfuncitem.funcargs[name] for name in inspect.signature(law).parameters})
    number = int(config.getoption("--hypothesis-seed") or secrets.randbits(32))
    seed(number)(law)
    usual = law._hypothesis_internal_use_settings  # noqa: SLF001 -- there is no other way to change them
    fewer = settings(usual, max_examples=max(1, usual.max_examples // 3))
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(law, "_hypothesis_internal_use_settings", fewer)
            return (yield)
    except Exception as error:
        error.add_note(f"These examples were of this run alone; for the same ones: --hypothesis-seed={number}")
        raise


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark every law as large in a run with `-m large`."""
    for item in items if _is_large(config) else []:
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.large)


# Rules of which the tests know what they answer -------------------------------------------------------------------


def _give(answer: object) -> object:
    if isinstance(answer, type) and issubclass(answer, Exception):
        raise answer("on purpose")
    return answer


@attrs.frozen
class FixedRule:
    """A rule that gives `answer` to every request, or raises it; so with `covering`, the actions it permits."""

    effect: Verdict
    priority_number: int
    answer: object
    covering: object = ()
    id: str = "fixed"
    reason: str = "always the same"
    message: str | None = None
    source: str | None = None

    def priority(self) -> int:
        """Return the given priority."""
        return self.priority_number

    def matches(self, _: Request) -> bool | Unsure:
        """Return or raise the given answer."""
        return cast("bool | Unsure", _give(self.answer))

    def covers(self, _: Request) -> frozenset[int]:
        """Return or raise the given indices."""
        return cast("frozenset[int]", _give(self.covering))

    def near_miss(self, _: Request) -> str | None:
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
        return cast("bool", _give(self.answer)) if tool_name in self.tools else False


Rule: TypeAlias = AuthorizationRule | TwoMethods

# The reference evaluator ------------------------------------------------------------------------------------------


def _judge(rules: Sequence[Rule], request: Request, unmatched: Verdict = Verdict.CONFIRM) -> Judgement:
    """Return the strictest of what is judged for the agent and those above it; of equals, the nearest."""
    asked = [attrs.evolve(request, context=context) for context in request.context.lineage()]
    own = [each.context.rules.policy_rules if each.context.rules is not None else () for each in asked]
    judgements = [_judged_once((*rules, *more), each, unmatched) for each, more in zip(asked, own, strict=True)]
    return max(judgements, key=lambda judgement: judgement[0].strictness)


def _judged_once(rules: Sequence[Rule], request: Request, unmatched: Verdict) -> Judgement:
    errors: list[Rule] = []
    in_order = sorted(rules, key=_order)
    for rule in in_order:
        if _phase(rule) is Phase.OVERRIDE and _asked(rule, request, errors) is True:
            return Verdict.ALLOW, rule.id, Phase.OVERRIDE, len(errors)
    asked = [(_restriction(rule, request, errors), rule.id) for rule in in_order if _phase(rule) is Phase.RESTRICTION]
    found = [(each, rule_id) for each, rule_id in asked if each is not None]
    restricted: tuple[Verdict, str] | None = None
    if found:
        # Of those that ask, one that is sure is named before one that is not, then the first that is most alike.
        (verdict, *_), rule_id = max(found, key=lambda pair: (pair[0][0].strictness, *pair[0][1:]))
        restricted = verdict, rule_id
    if restricted is not None and restricted[0] >= unmatched:
        return *restricted, Phase.RESTRICTION, len(errors)
    permissions = [rule for rule in in_order if _phase(rule) is Phase.PERMISSION]
    permitted = _permitted(permissions, request, errors, unmatched)
    if restricted is not None and permitted is not None:
        return *restricted, Phase.RESTRICTION, len(errors)
    return permitted or (unmatched, None, Phase.DEFAULT, len(errors))


def _permitted(
    permissions: Sequence[Rule], request: Request, errors: list[Rule], unmatched: Verdict
) -> Judgement | None:
    doubtful: str | None = None
    left = set(range(len(request.actions.certain)))
    for rule in permissions:
        if _effect(rule) is Verdict.CONFIRM:
            answer = _asked(rule, _about(request, left), errors)
            if answer is True or (answer is not False and unmatched is Verdict.CONFIRM):
                return Verdict.CONFIRM, doubtful or rule.id, Phase.PERMISSION, len(errors)
            # Without it the call may be blocked; a question in doubt is one only if the call is not.
            doubtful = doubtful or (None if answer is False else rule.id)
            continue
        answer = _asked(rule, request, errors)
        if answer not in (True, None) and _is_shared_out(request):
            left -= _covered(rule, request, errors)
        if answer is True or (not left and _is_shared_out(request)):
            verdict = Verdict.CONFIRM if doubtful else Verdict.ALLOW
            return verdict, doubtful or rule.id, Phase.PERMISSION, len(errors)
    return None


def _about(request: Request, numbers: set[int]) -> Request:
    """Return the request about a call that does only some of the actions of this one."""
    left = tuple(action for number, action in enumerate(request.actions.certain) if number in numbers)
    actions = attrs.evolve(request.actions, certain=left)
    return attrs.evolve(request, reader=lambda *_: actions)


def _effect(rule: Rule) -> Verdict:
    return Verdict.ALLOW if isinstance(rule, TwoMethods) else rule.effect


def _order(rule: Rule) -> tuple[int, ...]:
    """Return the priority, and what brings one that asks, or the more general of two restrictions, to the front."""
    if _phase(rule) is Phase.PERMISSION:
        return rule.priority(), int(_effect(rule) is Verdict.ALLOW)
    return rule.priority(), *(_specificity(rule) if _phase(rule) is Phase.RESTRICTION else ())


def _specificity(rule: Rule) -> tuple[int, int]:
    return getattr(rule, "specificity", (0, 0))


def _restriction(rule: Rule, request: Request, errors: list[Rule]) -> tuple[Verdict, *tuple[int, ...]] | None:
    """Return what a restriction decides, whether it is sure, if not its likeness, and then what brings it to the front.

    None where it does not apply. The more specific one is named, unless nothing that is known looks like it.
    """
    answer = _asked(rule, request, errors)
    if answer is False:
        return None
    if isinstance(answer, Unsure):
        return (
            Verdict.CONFIRM,
            False,
            answer.likeness,
            -rule.priority(),
            *(_specificity(rule) if answer.likeness else ()),
        )
    return cast("FixedRule", rule).effect, True, 0, -rule.priority(), *_specificity(rule)


def _is_shared_out(request: Request) -> bool:
    """Return whether several permissions may share the call: its tool and its two or more actions are all known."""
    certain = request.actions.certain
    is_known = request.tool is not None and bool(request.tool.roles)
    return is_known and len(certain) > 1 and not any(isinstance(action, Unknown) for action in certain)


def _phase(rule: Rule) -> Phase:
    if isinstance(rule, TwoMethods) or rule.priority() >= 200:
        return Phase.PERMISSION
    return Phase.OVERRIDE if rule.priority() < 100 else Phase.RESTRICTION


def _asked(rule: Rule, request: Request, errors: list[Rule]) -> bool | Unsure | None:
    """Return the answer of a rule, None for none."""
    try:
        if isinstance(rule, TwoMethods):
            answer: object = rule.should_allow_without_confirmation(request.call.tool, request.context)
        else:
            answer = rule.matches(request)
    except Exception:  # noqa: BLE001 -- a rule may fail in any way
        answer = "no answer"
    if answer is True or answer is False or isinstance(answer, Unsure):
        return answer
    errors.append(rule)
    return None


def _covered(rule: Rule, request: Request, errors: list[Rule]) -> set[int]:
    try:
        return set(rule.covers(request)) if hasattr(rule, "covers") else set()
    except Exception:  # noqa: BLE001 -- a rule may fail in any way
        errors.append(rule)
        return set()


@pytest.fixture(scope="session")
def reference() -> Callable[[Sequence[Rule], Request, Verdict], Judgement]:
    """Return the slow, obvious evaluator: verdict, id of the deciding rule, phase, and number of errors."""
    return _judge


# Random rules -----------------------------------------------------------------------------------------------------

_TOOLS = ("bash", "read_file", "write_file", "present_plan", "mcp:docs/search", "mcp:docs/read_file")
_SELECTORS = (*_TOOLS, "*", "read_*", "*_file", "?ash", "mcp:*", "mcp:docs/*", "@reads", "@writes")
_MODES = ("default", "plan", "yolo", "review")
_PATTERNS = (
    "command ls *",
    "command rm *",
    "command LD_PRELOAD=* rm *",
    "path src/**",
    "path secret",
    "host example.com",
    "host *",
)
_READER = Template("reader", ("read_file", "mcp:docs/*"))
_TEMPLATES = (_READER, Template("writer", ("write_*",), extends=(_READER,)), Template("empty"))
_FAULTS = (None, 1, 0, "yes", (), object, ValueError, KeyError, RecursionError, AttributeError)
_OVERRIDES = [(Verdict.ALLOW, priority) for priority in (0, 1, 50, 99)]
_RESTRICTIONS = [(v, p) for v in (Verdict.CONFIRM, Verdict.BLOCK) for p in (100, 101, 150, 160, 199)]
_QUESTIONS = [(Verdict.CONFIRM, priority) for priority in (200, 250, 290, 310)]
_PERMISSIONS = [(Verdict.ALLOW, priority) for priority in (200, 201, 250, 300, 310, 399)]


def _some(values: Sequence[str]) -> SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(values), max_size=2).map(tuple)


def _fields(
    modes: tuple[str, ...],
    agents: tuple[str, ...],
    templates: tuple[str, ...],
    patterns: tuple[str, ...],
    others: tuple[Condition, ...] = (),
) -> Conditions:
    plain: list[Condition] = list(others)
    plain += [ModeCondition(modes)] if modes else []
    plain += [AgentCondition(tuple(map(Pattern, agents)))] if agents else []
    plain += [TemplateCondition(templates)] if templates else []
    kinds: dict[str, list[str]] = {"command": [], "path": [], "host": []}
    for pattern in patterns:
        kind, _, text = pattern.partition(" ")
        kinds[kind].append(text)
    return Conditions(
        tuple(plain),
        tuple(map(ArgvPattern, kinds["command"])),
        tuple(map(PathPattern, kinds["path"])),
        tuple(HostPattern.parse(text, str) for text in kinds["host"]),
    )


def _configured(
    place: tuple[Verdict, int], selectors: tuple[str, ...], when: Conditions, unless: Sequence[Conditions]
) -> ConfiguredRule:
    return ConfiguredRule("configured", *place, Scope(tuple(map(ToolSelector, selectors)), when, unless))


def _fixed(place: tuple[Verdict, int], answer: object, covering: object) -> FixedRule:
    effect, priority = place
    return FixedRule(effect, priority, answer, covering)


_templates = _some([template.name for template in _TEMPLATES])
_others = st.lists(
    st.sampled_from(
        (
            AttendedCondition(True),
            AttendedCondition(False),
            TraitsCondition(("destructive",)),
            TextCondition.read((), {"contains": "a"}),
            ToolsCondition((ToolSelector("bash"), ToolSelector("@reads"))),
        )
    ),
    max_size=1,
).map(tuple)
_conditions = st.builds(_fields, _some(_MODES), _some(("main", "h*")), _templates, _some(_PATTERNS), _others)
_action_conditions = st.builds(_fields, *([st.just(())] * 3), _some(_PATTERNS))
_answers = st.sampled_from((True, False, Unsure("on purpose"), *_FAULTS))
_coverings = st.one_of(
    st.frozensets(st.integers(0, 3)), st.sampled_from((frozenset(), frozenset({0, 1, 2}), None, ValueError))
)


def _full_rules(places: Sequence[tuple[Verdict, int]]) -> SearchStrategy[Rule]:
    place, selectors = st.sampled_from(places), _some(_SELECTORS)
    configured = st.builds(
        _configured,
        place,
        selectors,
        st.one_of(_conditions, _action_conditions),
        st.lists(st.one_of(_conditions, _action_conditions), max_size=2),
    )
    plain = st.builds(_configured, place, selectors, st.just(Conditions()), st.just(()))
    return st.one_of(plain, configured, st.builds(_fixed, place, _answers, _coverings))


_two_methods = st.builds(
    TwoMethods, st.sampled_from((0, 50, 150, 250, 399)), _some(_TOOLS), st.sampled_from((True, *_FAULTS))
)
_any_restriction = st.one_of(_full_rules(_RESTRICTIONS), _full_rules(_QUESTIONS))
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
    """Return random restrictions and questions among the permissions, failing ones among them."""
    return _any_restriction


@pytest.fixture(scope="session")
def permissions() -> SearchStrategy[Rule]:
    """Return random overrides and permissions, failing ones and two-method ones among them."""
    return _any_permission


# Random requests -------------------------------------------------------------------------------------------------


def _of_session(name: str, place: tuple[Verdict, int], selector: str) -> RuleSet:
    return RuleSet((ConfiguredRule(name, *place, Scope((ToolSelector(selector),))),))


_OF_SESSIONS = (
    None,
    None,
    _of_session("session-may", (Verdict.ALLOW, 250), "bash"),
    _of_session("session-asks", (Verdict.CONFIRM, 240), "*"),
    _of_session("session-never", (Verdict.BLOCK, 150), "*_file"),
)
_flags = st.booleans()
_contexts = st.builds(
    AuthContext,
    is_plan_mode=_flags,
    yolo_mode=_flags,
    tool_ignore_list=_some(_TOOLS),
    active_template=st.sampled_from((None, *_TEMPLATES)),
    mode=st.sampled_from(_MODES),
    agent=st.sampled_from(("main", "helper", "other")),
    attended=_flags,
    rules=st.sampled_from(_OF_SESSIONS),
)
_lineages = st.builds(
    lambda contexts: functools.reduce(lambda above, own: attrs.evolve(own, parent=above), contexts),
    st.lists(_contexts, min_size=1, max_size=3),
)


def _place(name: str) -> Place:
    return Place(name, (f"/w/{name}",), (f"/w/{name}",))


def _run(text: str, doubt: str | None, *touches: Touch) -> Run:
    words = tuple(map(Word, text.split()))
    return Run(words, doubt, read_operands=lambda: Operands(touches, is_listed=True))


_DOES: dict[str, Action] = {
    "ls": _run("ls -l", None),
    "cat secret": _run("cat secret", None, Touch(Access.READ, _place("secret"))),
    "rm src/a": _run("rm src/a", "it removes", Touch(Access.DELETE, _place("src/a"))),
    # What may be what an exception is about, and a program that an assignment changes.
    "rm open": attrs.evolve(
        _run("rm -- $x", "it removes", Touch(Access.DELETE, Place("$x", is_certain=False, is_open=True))),
        words=(Word("rm"), Word("--"), Word("$x", is_open=True, is_single=True)),
    ),
    "loaded rm": attrs.evolve(
        _run("rm src/a", "it removes", Touch(Access.DELETE, _place("src/a"))), sets=("LD_PRELOAD=./e.so",)
    ),
    "read": Touch(Access.READ, _place("src/b")),
    "write": Touch(Access.WRITE, _place("src/b")),
    "connect": Connect("https://example.com", "https", "example.com", 443),
    "connect open": Connect("$u", is_certain=False),
    "mystery": Unknown("???", "it is a mystery"),
}


@attrs.frozen
class Told:
    """A reader for calls that say themselves what they do."""

    def __call__(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None) -> Actions:  # noqa: ARG002 -- the protocol's
        """Return the actions named in the argument `does`, and as possible ones those in `may`."""
        certain, possible = (
            tuple(_DOES[str(word)] for word in cast("tuple[object, ...]", call.arguments.get(name, ())))
            for name in ("does", "may")
        )
        is_reading = set(certain) <= {_DOES[name] for name in ("ls", "cat secret", "read")}
        return Actions(certain, possible, roots=Roots(("/w",)), doubt=None if is_reading else "it does more")


_names_of_actions = st.lists(st.sampled_from(sorted(_DOES)), max_size=3)
_calls = st.builds(
    ToolCall,
    st.sampled_from((*_TOOLS, "bash", "unknown")),
    st.one_of(
        st.fixed_dictionaries({"does": _names_of_actions, "may": _names_of_actions}),
        st.fixed_dictionaries({"does": _names_of_actions}),
        st.dictionaries(st.sampled_from(("path", "limit")), st.sampled_from(("a.txt", 7, None, [1])), max_size=2),
    ),
    kind=st.sampled_from((PayloadKind.FUNCTION, PayloadKind.FUNCTION, PayloadKind.CUSTOM)),
)
_traits = st.builds(
    ToolTraits, read_only=st.sampled_from((None, True, False)), destructive=st.sampled_from((None, True))
)


_roles = st.sampled_from((None, {}, {"does": ArgumentRole.COMMAND}, {"does": ArgumentRole.WRITE_PATH}))


def _request(
    call: ToolCall,
    context: AuthContext,
    traits: ToolTraits | None,
    roles: dict[str, ArgumentRole] | None,
    *,
    is_its_own: bool,
) -> Request:
    spec = None if traits is None else ToolSpec(call.tool if is_its_own else "another", traits=traits, roles=roles)
    return Request(call, context, spec, Told())


st.register_type_strategy(AuthContext, _lineages)
st.register_type_strategy(ToolCall, _calls)
_unmatched = st.sampled_from((Verdict.CONFIRM, Verdict.CONFIRM, Verdict.BLOCK))
st.register_type_strategy(
    AuthorizationPolicy, st.builds(AuthorizationPolicy, _rule_lists, reader=st.just(Told()), unmatched=_unmatched)
)
st.register_type_strategy(
    Request, st.builds(_request, _calls, _lineages, st.one_of(st.none(), _traits), _roles, is_its_own=_flags)
)

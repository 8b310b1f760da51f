"""Law 8: the compiled policy and the obvious evaluation never disagree, in any part of a decision.

Policies are drawn, and pairs of a call and a context for each. Every decision is compared with what the rules come to
when each is asked in turn, and with the one an explanation tells. A plain run compares 20,000 pairs, `-m large` a
million.
"""

import gc
import itertools
import pickle
import random
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, TypeAlias, cast

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

from permitry.actions.extract import ReadActions
from permitry.conditions.agent import AgentCondition
from permitry.conditions.args import argument_condition
from permitry.conditions.attended import AttendedCondition
from permitry.conditions.budget import Budget
from permitry.conditions.command import ArgvPattern
from permitry.conditions.digest import DigestCondition
from permitry.conditions.host import HostPattern
from permitry.conditions.label import LabelCondition
from permitry.conditions.match import Match
from permitry.conditions.mode import ModeCondition
from permitry.conditions.path import PathPattern
from permitry.conditions.repaired import RepairedCondition
from permitry.conditions.repeat import RepeatCondition
from permitry.conditions.scope import Condition, Conditions, Scope
from permitry.conditions.server import ServerCondition
from permitry.conditions.template import TemplateCondition
from permitry.conditions.text import TextCondition
from permitry.conditions.tool_digest import ToolDigestCondition
from permitry.conditions.tools import ToolsCondition, ToolSelector
from permitry.conditions.traits import TraitsCondition
from permitry.core.action import Unknown
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Phase, Verdict
from permitry.core.history import History, Ran
from permitry.core.names import NamePattern, name_forms
from permitry.core.pattern import Pattern
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import AnyRule, AuthorizationRule, Request, Unsure, phase_of
from permitry.core.spec import TRAIT_SELECTORS, ArgumentRole, ToolSpec, ToolTraits
from permitry.core.template import Template
from permitry.errors import UnevaluableError
from permitry.rules import BUILT_IN_RULES
from permitry.rules.configured import ConfiguredRule
from permitry.rules.exclusive_template import ExclusiveTemplateRule
from permitry.rules.flow import FlowRule
from permitry.rules.plan_mode import PlanModeBlockingRule
from permitry.rules.read_only import ReadOnlyToolRule

Pair: TypeAlias = tuple[ToolCall, AuthContext, ToolSpec | None]
Told: TypeAlias = tuple[Verdict, str | None, Phase, str, tuple[tuple[str, str], ...]]

_AND = "; and "
"""Behind it is why another rule asks as well."""
_PAIRS = 260 if settings().max_examples > 100 else 100

# The obvious evaluation -------------------------------------------------------------------------------------------


@attrs.define
class _Asking:
    """Asks rules one by one, and keeps what fails."""

    request: Request
    errors: list[tuple[str, str]] = attrs.Factory(list)

    def judged(self, rules: Sequence[tuple[str, AnyRule]]) -> Told:
        """Return verdict, rule, phase, reason and errors: phase by phase, every rule in its order."""
        verdict, rule_id, phase, reason = self._judged(sorted(rules, key=lambda pair: _order(pair[1])))
        return verdict, rule_id, phase, reason, tuple(self.errors)

    def _judged(self, rules: Sequence[tuple[str, AnyRule]]) -> tuple[Verdict, str | None, Phase, str]:
        for rule_id, rule in rules:
            if _phase(rule) is Phase.OVERRIDE and self._answer(rule_id, rule) is True:
                return Verdict.ALLOW, rule_id, Phase.OVERRIDE, _reason(rule)
        found = [self._restricted(*pair) for pair in rules if _phase(pair[1]) is Phase.RESTRICTION]
        for verdict, likeness in (
            (Verdict.BLOCK, 9),
            (Verdict.CONFIRM, 9),
            *((Verdict.CONFIRM, n) for n in (3, 2, 1, 0)),
        ):
            equals = [each for each in found if each is not None and each[:2] == (verdict, likeness)]
            if equals:
                _, _, _, rule_id, reason = min(equals, key=lambda each: each[2])
                return verdict, rule_id, Phase.RESTRICTION, reason
        left = set(range(len(self.request.actions.certain)))
        for rule_id, rule in rules:
            if _phase(rule) is Phase.PERMISSION:
                answer = self._answer(rule_id, rule)
                if answer is not None and answer is not True and hasattr(rule, "covers") and self._is_shared_out():
                    left -= self._covered(rule_id, rule)
                    answer = not left
                if answer is True:
                    return Verdict.ALLOW, rule_id, Phase.PERMISSION, _reason(rule)
        return Verdict.CONFIRM, None, Phase.DEFAULT, "no rule matched"

    def _restricted(self, rule_id: str, rule: AnyRule) -> tuple[Verdict, int, tuple[int, ...], str, str] | None:
        answer = self._answer(rule_id, rule)
        if answer is False:
            return None
        if isinstance(answer, Unsure):
            possible = f"may {answer.may or 'do what a rule is about'}"
            if _reason(rule) and _reason(rule) != cast("AuthorizationRule", rule).message:
                possible = f"possibly {_reason(rule)}"
            grounds = f"{possible}{'' if answer.likeness else ', for example'} ({answer.reason})"
            place = _narrow_first(rule) if answer.likeness else (rule.priority(),)
            return Verdict.CONFIRM, answer.likeness, place, rule_id, grounds
        return cast("AuthorizationRule", rule).effect, 9, _narrow_first(rule), rule_id, _reason(rule)

    def _answer(self, rule_id: str, rule: AnyRule) -> bool | Unsure | None:
        """Return the answer of a rule, None for none."""
        try:
            if hasattr(rule, "matches"):
                answer: object = rule.matches(self.request)
            else:
                request = self.request
                answer = cast("_TwoMethods", rule).should_allow_without_confirmation(request.call.tool, request.context)
        except Exception as error:  # noqa: BLE001 -- a rule may fail in any way
            self.errors.append((rule_id, f"{type(error).__name__}: {error}"))
            return None
        if answer is True or answer is False or isinstance(answer, Unsure):
            return answer
        self.errors.append((rule_id, f"answered {answer!r}, not True or False"))
        return None

    def _covered(self, rule_id: str, rule: AnyRule) -> set[int]:
        try:
            return set(cast("Any", rule).covers(self.request))
        except Exception as error:  # noqa: BLE001 -- a rule may fail in any way
            self.errors.append((rule_id, f"{type(error).__name__}: {error}"))
            return set()

    def _is_shared_out(self) -> bool:
        certain, tool = self.request.actions.certain, self.request.tool
        is_known = tool is not None and bool(tool.roles)
        return is_known and len(certain) > 1 and not any(isinstance(action, Unknown) for action in certain)


def _order(rule: AnyRule) -> tuple[int, int, int]:
    """Return the priority, and what brings the more general of two restrictions to the front."""
    kind, words = getattr(rule, "specificity", (0, 0)) if _phase(rule) is Phase.RESTRICTION else (0, 0)
    return rule.priority(), kind, words


def _narrow_first(rule: AnyRule) -> tuple[int, ...]:
    """Return the priority, and what brings the more specific one of two rules to the front."""
    kind, words = getattr(rule, "specificity", (0, 0))
    return rule.priority(), -kind, -words


def _phase(rule: AnyRule) -> Phase | None:
    return phase_of(rule.priority()) if hasattr(rule, "matches") else Phase.PERMISSION


def _reason(rule: AnyRule) -> str:
    return cast("AuthorizationRule", rule).reason if hasattr(rule, "matches") else f"{type(rule).__name__} permits it"


def _reference(policy: AuthorizationPolicy, pair: Pair) -> Told:
    """Return what the rules come to, for the agent and those above it: the strictest, and of equals the nearest."""
    call, context, spec = pair
    seen = itertools.count(1)
    rules = [(getattr(rule, "id", None) or _name(next(seen)), rule) for rule in policy.rules]
    shown = [_Asking(policy.request(call, each, spec)).judged(rules) for each in context.lineage()]
    return max(shown, key=lambda each: each[0].strictness)


def _name(number: int) -> str:
    return "_-two-methods" if number == 1 else f"_-two-methods-{number}"


def _told(decision: Decision) -> Told:
    errors = tuple((error.rule_id, error.error) for error in decision.errors)
    reason, _, _ = decision.reason.partition(_AND)
    return decision.verdict, decision.rule_id, decision.phase, reason, errors


# Rules that an index could be wrong about -------------------------------------------------------------------------


@attrs.frozen
class _TwoMethods:
    """A rule with the two methods of the seed."""

    priority_number: int
    tool: str
    answer: object

    def priority(self) -> int:
        return self.priority_number

    def should_allow_without_confirmation(self, tool_name: str, _: AuthContext) -> bool:
        return cast("bool", _give(self.answer)) if tool_name == self.tool else False


@attrs.frozen
class _Foreign:
    """A rule of which nothing is known but its answers."""

    id: str
    effect: Verdict
    priority_number: int
    answer: object
    covering: object
    reason: ClassVar[str] = "it says so"
    message: ClassVar[str | None] = None
    source: ClassVar[str | None] = None

    def priority(self) -> int:
        return self.priority_number

    def matches(self, request: Request) -> bool | Unsure:
        return cast("bool", _give(self.answer(request) if callable(self.answer) else self.answer))

    def covers(self, _: Request) -> frozenset[int]:
        return cast("frozenset[int]", _give(self.covering))

    def near_miss(self, _: Request) -> str | None:
        return None


@attrs.frozen
class _Talking(_Foreign):
    """A rule that says more about itself; or that raises, or says what makes no sense."""

    said: object = None

    @property
    def is_pure(self) -> Any:  # noqa: ANN401 -- what a rule answers is up to it
        return _give(self.said)

    def needs(self) -> Any:  # noqa: ANN401 -- as above
        return _give(self.said)

    def matches(self, request: Request) -> bool | Unsure:
        return super().matches(request)

    def covers(self, request: Request) -> frozenset[int]:
        return super().covers(request)


def _give(answer: object) -> object:
    if isinstance(answer, type) and issubclass(answer, Exception):
        raise answer("on purpose")
    return answer


@attrs.frozen
class _Narrowed(ConfiguredRule):
    """A rule of a file of which someone changed the answer, and nothing else."""

    def matches(self, request: Request) -> bool | Unsure:
        return not super().matches(request)


class _Loose(ConfiguredRule):
    """A rule of a file whose objects can be changed."""


class _Wrapper:
    """A rule that answers for itself, and forwards all the rest."""

    def __init__(self, rule: ConfiguredRule) -> None:
        self._rule = rule

    def matches(self, request: Request) -> bool | Unsure:
        return "a" in request.call.name

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- whatever is there
        return getattr(self._rule, name)


@attrs.frozen
class _OddPlanMode(PlanModeBlockingRule):
    """Plan mode, but for one agent."""

    def matches(self, request: Request) -> bool:
        return super().matches(request) and request.context.agent == "main"


@attrs.frozen
class _OddReadOnly(ReadOnlyToolRule):
    """Reads only, and covers everything."""

    id: ClassVar[str] = "odd-read-only"

    def covers(self, request: Request) -> frozenset[int]:
        return frozenset(range(len(request.actions.certain)))


@attrs.frozen
class _OddMode(ModeCondition):
    """A condition of which someone changed the answer, and nothing else."""

    def match(self, request: Request, needed: Match = Match.YES, /) -> Match:
        return Match.of(super().match(request, needed) < needed)


@attrs.frozen
class _OddCondition(Condition):
    """A condition that no one compiles."""

    answer: object
    is_pure: ClassVar[bool] = True

    def match(self, _request: Request, _needed: Match = Match.YES, /) -> Match:
        return Match.of(bool(_give(self.answer)))

    def fact(self, _: Request, /) -> str:
        return "it is odd"


@attrs.frozen
class _OddSelector(ToolSelector):
    """A selector of which someone changed the answer, and nothing else."""

    def match(self, request: Request, needed: Match = Match.YES, /) -> Match:
        return Match.of(super().match(request, needed) < needed)


# Random rules -----------------------------------------------------------------------------------------------------

READS, WRITES = ToolTraits(read_only=True, open_world=False), ToolTraits(read_only=False, destructive=True)
SPECS = (
    *(ToolSpec(name) for name in ("bash", "read_file", "present_plan", "mcp:docs/search", "get_all", "a")),
    ToolSpec("bash", kinds=PayloadKind),
    ToolSpec("run", traits=ToolTraits(open_world=True), roles={"command": ArgumentRole.COMMAND}),
    ToolSpec("run", "another", traits=READS, roles={"command": ArgumentRole.COMMAND}),
    ToolSpec("get_all", traits=READS, roles={}),
    ToolSpec("get_all", traits=WRITES, roles={"path": ArgumentRole.WRITE_PATH, "url?": ArgumentRole.URL}),
    ToolSpec("mcp:docs/search", traits=READS, roles={"path": ArgumentRole.READ_PATH}),
    ToolSpec("subtask", traits=ToolTraits(spawns_agent=True)),
)
NAMES = (
    *sorted({spec.name for spec in SPECS}),
    "web_fetch",
    "write_file",
    "mcp:docs/get_all",
    "mcp:x/a",
    "unheard of",
    "Bash",
    "mcp__docs__search",
    "functions.get_all",
    "X/A",
    "mcp_x_a",
)
ARGUMENTS: tuple[Mapping[str, Any], ...] = (
    {}, {"command": "ls -l"}, {"command": "ls && rm a"}, {"command": "cat a | grep b"}, {"command": 7}, {"path": "a"},
    {"path": "src/b", "limit": 3}, {"limit": True}, {"limit": 3.0}, {"limit": "3"}, {"limit": 101, "path": ["a"]},
    {"filter": {"id": "x"}}, {"filter": {"id": None}}, {"filter": "x"}, {"tags": ["a", "b"]}, {"tags": []},
    {"url": "https://example.com/a", "path": "a"}, {"command": ["ls"]}, {"limit": None},
)  # fmt: skip
CALLS = tuple(
    ToolCall(name, arguments, kind=kind, repaired=repaired)
    for name, arguments in itertools.product(NAMES, ARGUMENTS)
    for kind, repaired in ((PayloadKind.FUNCTION, False), (PayloadKind.FUNCTION, True), (PayloadKind.CUSTOM, False))
) + tuple(ToolCall("bash", arguments, kind=kind) for kind in PayloadKind for arguments in ARGUMENTS)
TEMPLATES = (None, Template("reader", ("get_*", "a")), Template("only", ("run", "mcp:*"), exclusive=True))

_selectors = st.sampled_from(
    [ToolSelector(text) for text in (
        *NAMES, *TRAIT_SELECTORS, "*", "**", "?", "get_*", "*_all", "*_a*", "mcp:*", "mcp:*/get_*", "mcp:docs/*", "g*l",
        "*e*_*e*", "??_*", "r?n", "*a", "w*", "nobody", "*nobody*",
        "Get_*", "docs__*",
    )]
    + [_OddSelector("get_*"), _OddSelector("@reads")]
)  # fmt: skip
_tables: tuple[tuple[str, Any], ...] = (
    ("limit", 3), ("limit", True), ("limit", "3"), ("limit", {"le": 100}), ("limit", {"gt": 2, "ne": 101}),
    ("limit", {"in": [1, 3]}), ("limit", {"not_in": [1, 3.5]}), ("limit", {"type": "integer"}), ("limit", {"lt": "b"}),
    ("limit", {"exists": False}), ("path", {"exists": True}), ("path", {"prefix": ["src/", "b"]}), ("path", "a"),
    ("path", {"suffix": "b", "contains": "c"}), ("path", {"glob": ["s*b", "a"]}), ("path", {"regex": "[a-c]"}),
    ("path", {"length": {"le": 1}}), ("filter.id", "x"), ("filter.id", {"ne": "y"}), ("filter.id", {"exists": False}),
    ("tags", {"any": {"eq": "a"}}), ("tags", {"all": {"in": ["a", "b"]}}), ("tags", {"eq": ["a", "b"]}),
    ("tags", {"in": [["a"], ["a", "b"]]}), ("path", {"ge": "a"}), ("path", {"in": ["a", "b"], "exists": True}),
    ("tags", {"each": {"in": ["a", "b"]}}), ("path", {"each": {"eq": "a"}}), ("path", {"optional": True, "eq": "a"}),
    ("limit", {"optional": True, "in": [1, 3]}),
)  # fmt: skip
_contextual: tuple[Condition, ...] = (
    ModeCondition(("plan", "night")), ModeCondition(("default",)), ModeCondition(("yolo", "default")),
    AgentCondition((Pattern("main"),)), AgentCondition((Pattern("h*"), Pattern("x"))), LabelCondition(("web",)),
    TemplateCondition(("reader",)), ServerCondition((NamePattern("docs"),)),
    ServerCondition((NamePattern("*"), NamePattern("x"))),
    ToolDigestCondition((SPECS[9].digest[:12],)), ToolDigestCondition((SPECS[0].digest, SPECS[11].digest)),
    AttendedCondition(True), AttendedCondition(False), TraitsCondition(("destructive",)),
    TraitsCondition(("read_only", "open_world")),
    ToolsCondition((ToolSelector("get_*"), ToolSelector("run"))), ToolsCondition((ToolSelector("@reads"),)),
)  # fmt: skip
_of_calls: tuple[Condition, ...] = (
    *(argument_condition(path, table) for path, table in _tables),
    TextCondition.read((), {"contains": "a"}), TextCondition.read((), {"regex": "src/.*"}),
    RepairedCondition(is_repaired=True), RepeatCondition(2), DigestCondition((CALLS[0].digest, CALLS[9].digest)),
)  # fmt: skip
_odd: tuple[Condition, ...] = (
    _OddMode(("plan",)), _OddCondition(True), _OddCondition(False), _OddCondition(ValueError),
    _OddCondition(UnevaluableError), _OddCondition(1),
)  # fmt: skip
_plain = st.lists(
    st.one_of(*(st.sampled_from(each) for each in (_contextual, _contextual, _of_calls, _of_calls, _odd))), max_size=3
).map(tuple)
_actions = st.sampled_from(
    (
        {},
        {},
        {},
        {"commands": (ArgvPattern("ls *"),)},
        {"commands": (ArgvPattern("*"),)},
        {"commands": (ArgvPattern("rm *"), ArgvPattern("cat *"))},
        {"paths": (PathPattern("a"), PathPattern("src/**"))},
        {"paths": (PathPattern("/**"),), "commands": (ArgvPattern("cat *"),)},
        {"hosts": (HostPattern.parse("example.com", str),)},
    )
)
_conditions = st.builds(lambda plain, actions: Conditions(plain, **actions), _plain, _actions)
_PLACES = {
    Verdict.ALLOW: (0, 50, 200, 250, 250, 250, 300, 399),
    Verdict.CONFIRM: (100, 150, 160),
    Verdict.BLOCK: (100, 150, 160, 199),
}
_places = st.sampled_from([(effect, priority) for effect, all_of in _PLACES.items() for priority in all_of])
_budgets = st.builds(
    Budget,
    st.just("r0"),
    st.integers(0, 2),
    st.sampled_from(("calls", "calls", "targets")),
    st.sampled_from((None, 10.0)),
    st.sampled_from(("session", "agent", "tool")),
)
_COUNTED = (FlowRule("r0", Scope(), counts=True),)
_FAULTS = (None, 1, "yes", ValueError, RecursionError, UnevaluableError)
_answers = st.sampled_from(
    (True, False, Unsure("on purpose"), Unsure("a", "b", 2), lambda request: "a" in request.call.name, *_FAULTS)
)
_coverings = st.sampled_from((frozenset(), frozenset({0, 1, 2}), frozenset({1}), None, ValueError))
_sayings: st.SearchStrategy[object] = st.sampled_from((None, True, ValueError, "nonsense", 1, (), [[]], [["nonsense"]]))


@attrs.frozen
class _Draft:
    """A rule without an id."""

    make: Callable[[str], AnyRule]


def _configured(kind: type[ConfiguredRule]) -> st.SearchStrategy[_Draft]:
    scopes = st.builds(
        Scope,
        st.lists(_selectors, max_size=3).map(tuple),
        st.one_of(st.just(Conditions()), _conditions),
        st.one_of(st.none(), st.none(), _conditions, st.lists(_conditions, min_size=2, max_size=2)),
    )
    return st.builds(
        lambda place, scope, budget: _Draft(
            lambda name: kind(name, place[0], place[1], scope, budget, f"because of {name}")
        ),
        _places,
        scopes,
        st.one_of(st.none(), st.none(), st.none(), _budgets),
    )


def _drafts() -> st.SearchStrategy[_Draft]:
    foreign = st.builds(
        lambda place, answer, covering: _Draft(lambda name: _Foreign(name, place[0], place[1], answer, covering)),
        _places,
        _answers,
        _coverings,
    )
    talking = st.builds(
        lambda place, answer, covering, said: _Draft(
            lambda name: _Talking(name, place[0], place[1], answer, covering, said)
        ),
        _places,
        _answers,
        _coverings,
        _sayings,
    )
    two = st.builds(
        lambda *fields: _Draft(lambda _: _TwoMethods(*fields)),
        st.sampled_from((0, 50, 150, 250)),
        st.sampled_from(NAMES),
        st.sampled_from((True, False, *_FAULTS)),
    )
    odd = st.sampled_from((_Narrowed, _Loose)).flatmap(_configured)
    wrapped = _configured(ConfiguredRule).map(
        lambda draft: _Draft(lambda name: cast("Any", _Wrapper)(draft.make(name)))
    )
    ours = _configured(ConfiguredRule)
    return st.one_of(ours, ours, ours, ours, ours, ours, foreign, talking, two, odd, wrapped)


_built_in = st.sampled_from(
    (
        BUILT_IN_RULES,
        BUILT_IN_RULES,
        (*BUILT_IN_RULES, ExclusiveTemplateRule()),
        (),
        (_OddReadOnly(), _OddPlanMode(), *BUILT_IN_RULES[3:]),
    )
)
_declared = st.sampled_from(
    ({}, {"get_all": ToolSpec("get_all", traits=READS)}, {"a": SPECS[8], "mcp:x/a": ToolSpec("mcp:x/a", roles={})})
)


def _policy(
    built_in: Sequence[AnyRule], drafts: Sequence[_Draft], declared: Mapping[str, ToolSpec]
) -> AuthorizationPolicy:
    rules = [draft.make(f"r{number}") for number, draft in enumerate(drafts)]
    return AuthorizationPolicy((*built_in, *rules), reader=ReadActions(None), declared=declared, flows=_COUNTED)


_policies = st.builds(_policy, _built_in, st.lists(_drafts(), max_size=10), _declared)

# Rules that answer quickly have policies of their own: one that has to be asked would slow down all of them.
_BROAD = tuple(ToolSelector(text) for text in ("*", "*a*", "get_*", "mcp:*", "bash", "r?n", *TRAIT_SELECTORS))


def _quick_policy(chance: random.Random) -> AuthorizationPolicy:
    built_in = chance.choice((BUILT_IN_RULES, BUILT_IN_RULES[1:], (*BUILT_IN_RULES, ExclusiveTemplateRule()), ()))
    rules: list[AnyRule] = [*built_in]
    rules += [_quick_rule(f"r{number}", chance) for number in range(chance.randint(1, 9))]
    chance.shuffle(rules)
    return AuthorizationPolicy(rules, reader=ReadActions(None), flows=_COUNTED)


def _quick_rule(name: str, chance: random.Random) -> ConfiguredRule:
    effect = chance.choice((Verdict.ALLOW, Verdict.CONFIRM, Verdict.BLOCK, Verdict.BLOCK))
    unless = Conditions(_quick_conditions(chance)) if chance.random() < 0.3 else None
    scope = Scope(
        tuple(chance.sample(_BROAD, chance.choice((0, 0, 1, 1, 2)))), Conditions(_quick_conditions(chance)), unless
    )
    budget = Budget("r0", chance.randrange(3), by="tool") if chance.random() < 0.05 else None
    return ConfiguredRule(name, effect, chance.choice(_PLACES[effect]), scope, budget, f"because of {name}")


def _quick_conditions(chance: random.Random) -> tuple[Condition, ...]:
    return tuple(
        chance.choice(chance.choice((_contextual, _of_calls))) for _ in range(chance.choice((0, 0, 1, 1, 2, 3)))
    )


# Random pairs -----------------------------------------------------------------------------------------------------


def _chance(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 -- the same each time


def _context(chance: random.Random, parent: AuthContext | None = None) -> AuthContext:
    ran = [
        Ran(
            at, chance.choice(NAMES), chance.choice(("main", "helper")), chance.choice(CALLS[:60]).digest,
            frozenset(chance.sample(("r0", "r1"), chance.randrange(2))), frozenset({"file:/w/a"}),
        )
        for at in (0.0, 95.0, 99.0)[: chance.randrange(4)]
    ]  # fmt: skip
    return AuthContext(
        chance.random() < 0.2,
        chance.random() < 0.3,
        chance.choices(NAMES, k=chance.randrange(3)),
        chance.choice(TEMPLATES),
        mode=chance.choice(("default", "default", "plan", "yolo", "night")),
        agent=chance.choice(("main", "helper", "x")),
        workspace=chance.choice((None, "/w")),
        labels=chance.sample(("web", "mail"), chance.randrange(2)),
        attended=chance.choice((True, True, False)),
        history=History.of(ran),
        now=chance.choice((None, 100.0)),
        parent=parent,
    )


def _pairs(chance: random.Random, count: int, names: Sequence[str] = NAMES) -> Iterator[Pair]:
    contexts = [_context(chance) for _ in range(max(2, count // 10))]
    contexts += [_context(chance, chance.choice(contexts)) for _ in range(count // 20)]
    calls = [call for call in CALLS if call.tool in names]
    by_name = {name: [spec for spec in SPECS if spec.name == name] for name in NAMES}
    for _ in range(count):
        call = chance.choice(calls)
        # Now and then, a declaration that no one kept, or that is of another tool.
        spec = chance.choice((None, *by_name[call.tool], *by_name[call.tool], chance.choice(SPECS)))
        if spec is not None and chance.random() < 0.2:
            spec = attrs.evolve(spec)
        yield call, chance.choice(contexts), spec


def _check(policy: AuthorizationPolicy, pairs: Sequence[Pair]) -> None:
    for pair in pairs:
        decision = policy.decide(*pair)
        assert _told(decision) == _reference(policy, pair), pair
        _, _, other = decision.reason.partition(_AND)
        assert not other or any(getattr(rule, "reason", other) in other for rule in policy.rules), pair
        assert decision == policy.explain(*pair).decision, pair


@given(policy=_policies, seed=st.integers(0, 2**32))
def test_the_index_agrees_with_the_obvious_evaluation(policy: AuthorizationPolicy, seed: int) -> None:
    """Verdict, rule, phase, reason and errors of every decision, and the whole of what an explanation tells."""
    _check(policy, list(_pairs(_chance(seed), _PAIRS)))


@given(seed=st.integers(0, 2**64))
def test_it_agrees_where_all_rules_answer_quickly(seed: int) -> None:
    """Many small policies, in which the rules meet each other at a few tools."""
    chance = _chance(seed)
    for _ in range(_PAIRS // 20):
        names = chance.sample(NAMES, 3)
        _check(_quick_policy(chance), list(_pairs(chance, 20, names)))


@settings(max_examples=max(5, settings().max_examples // 20))
@given(policies=st.lists(_policies, min_size=2, max_size=3), seed=st.integers(0, 2**32))
def test_so_it_does_while_another_thread_reloads(policies: list[AuthorizationPolicy], seed: int) -> None:
    """Whichever policy is in force at that moment, old or new or built again, its decision is its own."""
    pairs = list(_pairs(_chance(seed), _PAIRS // 2))
    expected = [[_reference(policy, pair) for pair in pairs] for policy in policies]
    in_force, is_over = [(0, policies[0])], threading.Event()

    def reload() -> None:
        for number, policy in itertools.cycle(enumerate(policies)):
            again = attrs.evolve(policy)
            in_force[0] = (number, again)
            in_force[0] = (number, policy)
            if is_over.is_set():
                return

    def decide(_: int) -> None:
        for _, (place, pair) in itertools.product(range(2), enumerate(pairs)):
            number, policy = in_force[0]
            assert _told(policy.decide(*pair)) == expected[number][place], pair

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(3) as pool:
            reloading = pool.submit(reload)
            try:
                list(pool.map(decide, range(2)))
            finally:
                is_over.set()
            reloading.result()
    finally:
        sys.setswitchinterval(interval)


@settings(max_examples=max(5, settings().max_examples // 10))
@given(policy=_policies, seed=st.integers(0, 2**32))
def test_many_at_once_are_the_same_decisions(policy: AuthorizationPolicy, seed: int) -> None:
    """In their order, with declarations and without."""
    chance = _chance(seed)
    context, calls = _context(chance), chance.choices(CALLS, k=50)
    specs = {spec.name: spec for spec in SPECS}
    assert policy.decide_many(calls, context) == [policy.decide(call, context) for call in calls]
    assert policy.decide_many(calls, context, specs) == [
        policy.decide(call, context, specs.get(call.tool)) for call in calls
    ]


@settings(max_examples=max(5, settings().max_examples // 10))
@given(policy=_policies, seed=st.integers(0, 2**32))
def test_a_name_that_was_forgotten_is_decided_the_same(policy: AuthorizationPolicy, seed: int) -> None:
    """When names are pushed out, declarations die, and their places in memory are taken again."""
    pairs = list(_pairs(_chance(seed), 40))
    policy._index.most = 3  # noqa: SLF001 -- four thousand names would take too long
    before = [policy.decide(*pair) for pair in pairs]
    for number in range(20):
        policy.decide(ToolCall(f"invented_{number}"), AuthContext(), ToolSpec(f"invented_{number}", traits=READS))
        policy.decide(ToolCall(f"invented_{number}"), AuthContext())
    gc.collect()
    assert [policy.decide(*pair) for pair in reversed(pairs)] == before[::-1]


@settings(max_examples=max(5, settings().max_examples // 10))
@given(seed=st.integers(0, 2**32), drafts=st.lists(_configured(ConfiguredRule), max_size=6))
def test_a_policy_goes_through_a_pickle_and_an_evolution(seed: int, drafts: list[_Draft]) -> None:
    """What was resolved before stays behind, and the decisions are the same."""
    policy = _policy(BUILT_IN_RULES, drafts, {})
    pairs = list(_pairs(_chance(seed), 40))
    before = [policy.decide(*pair) for pair in pairs]
    for again in (attrs.evolve(policy), pickle.loads(pickle.dumps(policy))):  # noqa: S301 -- our own bytes
        assert [again.decide(*pair) for pair in pairs] == before


@given(name=st.sampled_from(NAMES), texts=st.lists(st.text("abA*?_:/.", min_size=1, max_size=8), max_size=12))
def test_globs_are_found_as_they_match(name: str, texts: list[str]) -> None:
    """Filed together, they find what each would match alone: in a permission the name, in a restriction any reading."""
    for effect, priority in ((Verdict.ALLOW, 250), (Verdict.BLOCK, 150)):
        rules = [
            ConfiguredRule(f"r{number}", effect, priority, Scope((ToolSelector(text),)))
            for number, text in enumerate(texts)
        ]
        policy = AuthorizationPolicy(rules)
        for tool in (name, "ab_a", "a", "aab:b/a", "b__/a", "mcp__a__b__a", "B.a"):
            call = ToolCall(tool)
            names = frozenset({tool}) if effect is Verdict.ALLOW else call.readings
            fitting = (r.id for r, text in zip(rules, texts, strict=True) if _is_meant(text, effect, names))
            assert policy.decide(call, AuthContext()).rule_id == next(fitting, None)


def _is_meant(text: str, effect: Verdict, names: frozenset[str]) -> bool:
    forms = {text} if effect is Verdict.ALLOW else {text} | name_forms(text)
    return any(Pattern(form).matches(name) for form in forms for name in names)

"""A tool that is left out of what a model is shown is blocked, whatever its call would be."""

import functools
import itertools
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import for_each

from permitry.config.load import Origin, load_rules
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.history import History, Ran
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import Request
from permitry.core.spec import ArgumentRole, ToolSpec, ToolTraits
from permitry.core.template import Template

Table: TypeAlias = dict[str, Any]
Load: TypeAlias = Callable[[Sequence[Table]], AuthorizationPolicy]

KINDS = frozenset(PayloadKind)
READS, WRITES = ToolTraits(read_only=True, open_world=False), ToolTraits(read_only=False)
COMMAND = {"command": ArgumentRole.COMMAND}
SPECS = (
    *(ToolSpec(name) for name in ("bash", "read_file", "present_plan", "mcp:docs/search", "apply_patch")),
    ToolSpec("bash", kinds=KINDS),
    ToolSpec("run", traits=ToolTraits(open_world=True), roles=COMMAND, kinds={PayloadKind.FUNCTION}),
    ToolSpec("run", "another", traits=READS, roles=COMMAND),
    ToolSpec("look", traits=READS, roles={}),
    ToolSpec("look", traits=WRITES, roles={}, kinds={PayloadKind.FUNCTION, PayloadKind.LOCAL_SHELL}),
    ToolSpec("look", traits=WRITES, kinds={PayloadKind.FUNCTION, PayloadKind.LOCAL_SHELL}),
    ToolSpec("present_plan", traits=WRITES, kinds=KINDS),
    ToolSpec("mcp:docs/search", traits=WRITES, roles={"path": ArgumentRole.READ_PATH}),
    ToolSpec("subtask", traits=ToolTraits(spawns_agent=True)),
)
NAMES = tuple(sorted({spec.name for spec in SPECS}))
TEMPLATES = (None, Template("reader", ("look",)), Template("only", ("look", "mcp:*"), exclusive=True))
_FILE = {"template": {"reader": {}, "only": {"exclusive": True}}, "tool": {"run": {"traits": ["read_only"]}}}
_ARGUMENTS: tuple[Table, ...] = (
    {}, {"command": "ls"}, {"command": "rm a"}, {"command": 7}, {"path": "a"}, {"limit": 3}, {"command": ["ls"]},
)  # fmt: skip

# Rule files -------------------------------------------------------------------------------------------------------

_one_digest = st.sampled_from(SPECS).map(lambda spec: spec.digest[:16])
_when: Mapping[str, st.SearchStrategy[Any]] = {
    "mode": st.lists(st.sampled_from(("default", "plan", "yolo", "night")), min_size=1, max_size=2, unique=True),
    "agent": st.sampled_from(("main", "h*")),
    "template": st.sampled_from(("reader", "only")),
    "server": st.sampled_from(("docs", "*", "other")),
    "label": st.sampled_from(("web", "mail")),
    "tool_digest": st.one_of(_one_digest, st.lists(_one_digest, min_size=2, max_size=2, unique=True)),
    "repaired": st.booleans(),
    "repeat": st.just(2),
    "digest": st.sampled_from(NAMES).map(lambda name: ToolCall(name).digest),
    "args": st.sampled_from(({"limit": 3}, {"path": {"exists": False}})),
    "command": st.sampled_from(("ls *", "rm *", "*")),
    "path": st.just("a"),
}
_selectors = st.sampled_from(
    (*NAMES, "*", "mcp:*/*", "?ook", "@reads", "@writes", "@shell", "@network", "@agent", "other")
)
_budgets = st.fixed_dictionaries(
    {"by": st.sampled_from(("session", "agent", "tool"))},
    optional={"per": st.just("10s")},
).flatmap(lambda rest: st.sampled_from([{"calls": 1, **rest}, {"calls": 2, **rest}, {"targets": 1, **rest}]))
_contextual = ("mode", "agent", "template", "server", "label", "tool_digest")


def _some_of(names: Sequence[str], most: int) -> st.SearchStrategy[Table]:
    chosen = st.lists(st.sampled_from(names), min_size=1, max_size=most, unique=True)
    return chosen.flatmap(lambda keys: st.fixed_dictionaries({key: _when[key] for key in keys}))


_conditions = st.one_of(_some_of(_contextual, 2), _some_of(tuple(_when), 2))


def _tidied(rule: Table) -> Table:
    """Return the rule without what the loader refuses: a label that would widen."""
    widening = rule.get("when" if rule["effect"] == "allow" else "unless", {})
    widening.pop("label", None)
    return {key: value for key, value in rule.items() if value != {}}


def _rules(effect: str, **keys: st.SearchStrategy[Any]) -> st.SearchStrategy[Table]:
    selectors = st.one_of(st.just(["*"]), st.lists(_selectors, min_size=1, max_size=3, unique=True))
    needed = {"effect": st.just(effect), "tools": selectors, **keys}
    optional = {"when": _conditions, "unless": _conditions, "budget": _budgets}
    return st.fixed_dictionaries(needed, optional=optional).map(_tidied)


_files = st.lists(
    st.one_of(
        _rules("block"),
        _rules("block"),
        _rules("confirm"),
        _rules("allow", priority=st.sampled_from((50, 250))),
    ),
    min_size=1,
    max_size=4,
)


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{json.dumps(key)} = {_toml(inner)}' for key, inner in value.items())} }}"
    return json.dumps(value)


@pytest.fixture(scope="session")
def load(tmp_path_factory: pytest.TempPathFactory) -> Load:
    """Return a function that writes rules into a file of the admin layer and returns its policy."""
    path = tmp_path_factory.mktemp("visible") / "rules.toml"

    def loaded(rules: Sequence[Table]) -> AuthorizationPolicy:
        tables = [{"id": f"r{number}", **rule} for number, rule in enumerate(rules)]
        content = {"schema": 1, **_FILE, "rule": tables}
        path.write_text("".join(f"{key} = {_listed(value)}\n" for key, value in content.items()), encoding="utf-8")
        return load_rules([Origin(str(path), is_admin=True)]).policy()

    return loaded


def _listed(value: object) -> str:
    return f"[{', '.join(map(_toml, value))}]" if isinstance(value, list) else _toml(value)


# Contexts, tools and calls ----------------------------------------------------------------------------------------

_ran = st.builds(
    Ran,
    at=st.sampled_from((0.0, 95.0)),
    tool=st.sampled_from(NAMES),
    agent=st.sampled_from(("main", "helper")),
    digest=st.sampled_from(NAMES).map(lambda name: ToolCall(name).digest),
    rules=st.frozensets(st.sampled_from(("r0", "r1", "r2"))),
    targets=st.frozensets(st.sampled_from(("host:a", "host:b"))),
)
_contexts = st.builds(
    AuthContext,
    is_plan_mode=st.booleans(),
    mode=st.sampled_from(("default", "yolo", "night")),
    agent=st.sampled_from(("main", "helper")),
    active_template=st.sampled_from(TEMPLATES),
    labels=st.frozensets(st.sampled_from(("web", "mail"))),
    history=st.lists(_ran, max_size=3).map(History.of),
    now=st.sampled_from((None, 100.0)),
)
_lineages = st.builds(
    lambda contexts: functools.reduce(lambda above, own: attrs.evolve(own, parent=above), contexts),
    st.lists(_contexts, min_size=1, max_size=2),
)


def _calls(spec: ToolSpec) -> Iterator[ToolCall]:
    """Yield calls of every kind that the tool takes: with every choice of arguments, as they came and repaired."""
    for kind, arguments, repaired in itertools.product(spec.kinds, _ARGUMENTS, (False, True)):
        yield ToolCall(spec.name, arguments, kind=kind, repaired=repaired)


def _check(policy: AuthorizationPolicy, context: AuthContext) -> None:
    """Check that every call of every tool that is left out is blocked."""
    for spec in SPECS:
        if not policy.could_run(spec, context):
            verdicts = {call: policy.decide(call, context, spec).verdict for call in _calls(spec)}
            assert set(verdicts.values()) == {Verdict.BLOCK}, (spec, verdicts)


# What is left out is what never runs, so it gets three times the examples of the profile.
@settings(max_examples=3 * settings().max_examples)
@given(rules=_files, context=_lineages)
def test_a_tool_that_could_not_run_is_blocked_whatever_the_call(
    load: Load, rules: Sequence[Table], context: AuthContext
) -> None:
    """Rules of files, agents above each other, tools with and without roles: no call of a hidden tool passes."""
    _check(load(rules), context)


@pytest.mark.parametrize("where", ["when", "unless"])
@pytest.mark.parametrize("key", _when)
@settings(max_examples=settings().max_examples // 5)
@given(data=st.data())
def test_each_condition_alone_hides_only_what_is_blocked(load: Load, data: st.DataObject, key: str, where: str) -> None:
    """One rule for every tool, with one condition: nothing else can make up for a wrong answer."""
    rule = {"effect": "block", "tools": ["*"], where: {key: data.draw(_when[key])}}
    policy, context = load([_tidied(rule)]), data.draw(_contexts)
    _check(policy, context)


@given(policy=..., request=..., kinds=st.frozensets(st.sampled_from(PayloadKind)))
def test_so_it_is_with_rules_that_know_nothing_of_it(
    policy: AuthorizationPolicy, request: Request, kinds: frozenset[PayloadKind]
) -> None:
    """Rules that fail, that are unsure, or that only speak about calls hide nothing that could pass."""
    call, context = request.call, request.context
    spec = ToolSpec(call.tool, traits=ToolTraits(read_only=False), kinds=kinds | {call.kind})
    if not policy.could_run(spec, context):
        assert policy.decide(call, context, spec).verdict is Verdict.BLOCK


@given(rules=_files, context=_contexts, own=_contexts, spec=st.sampled_from(SPECS))
def test_a_sub_agent_is_shown_no_more(
    load: Load, rules: Sequence[Table], context: AuthContext, own: AuthContext, spec: ToolSpec
) -> None:
    """What is hidden from an agent is hidden from those it starts."""
    policy = load(rules)
    child = attrs.evolve(own, parent=context)
    assert policy.could_run(spec, context) or not policy.could_run(spec, child)


# The usual cases, so that the law is not empty --------------------------------------------------------------------

_LOOK = SPECS[8]
_ALL = frozenset(NAMES) - {"present_plan"}
_PLAN = AuthContext(is_plan_mode=True)
_SPENT = AuthContext(history=History.of([Ran(95.0, "look", "main", "d", frozenset({"r0"}))]), now=100.0)


def _hidden(policy: AuthorizationPolicy, context: AuthContext) -> set[str]:
    """Return the names of the tools of which no variant could run."""
    return set(NAMES) - {spec.name for spec in SPECS if policy.could_run(spec, context)}


@for_each(
    ("rule", "context", "hidden"),
    [
        ({"tools": ["look"]}, {}, {"look"}),
        ({"tools": ["?ook", "mcp:*/*"]}, {}, {"look", "mcp:docs/search"}),
        ({"tools": ["*"]}, {}, _ALL),
        ({"tools": ["@shell"]}, {}, {"bash", "run"}),
        ({"tools": ["@agent"]}, {}, _ALL - {"run"}),
        ({"tools": ["look"], "when": {"mode": "night"}}, {"mode": "night"}, {"look"}),
        ({"tools": ["look"], "when": {"mode": "night"}}, {}, set()),
        ({"tools": ["look"], "when": {"agent": "h*"}}, {"agent": "helper"}, {"look"}),
        ({"tools": ["*"], "when": {"server": "docs"}}, {}, {"mcp:docs/search"}),
        ({"tools": ["*"], "unless": {"server": "docs"}}, {}, _ALL - {"mcp:docs/search"}),
        ({"tools": ["look"], "when": {"template": "reader"}}, {"active_template": TEMPLATES[1]}, {"look"}),
        ({"tools": ["look"], "when": {"label": "web"}}, {"labels": {"web"}}, {"look"}),
        ({"tools": ["look"], "when": {"label": "web"}}, {}, set()),
        ({"tools": ["look"], "unless": {"mode": "night"}}, {"mode": "night"}, set()),
        ({"tools": ["look"], "unless": {"path": "a", "mode": "night"}}, {}, {"look"}),
        ({"tools": ["look"], "when": {"path": "a"}}, {}, set()),
        ({"tools": ["look"], "when": {"args": {"limit": 3}}}, {}, set()),
        ({"effect": "confirm", "tools": ["*"]}, {}, set()),
    ],
)
def test_a_block_hides_what_it_surely_means(
    load: Load, rule: Table, context: dict[str, Any], hidden: Collection[str]
) -> None:
    """By name, glob and trait, with conditions on the context that hold and exceptions that do not."""
    assert _hidden(load([{"effect": "block", **rule}]), AuthContext(**context)) == hidden


def test_a_tool_is_hidden_once_its_budget_is_spent(load: Load) -> None:
    """Before that a call would pass."""
    policy = load([{"effect": "block", "tools": ["look"], "budget": {"calls": 1, "per": "10s"}}])
    assert _hidden(policy, _SPENT) == {"look"}
    assert _hidden(policy, AuthContext(now=100.0)) == set()


def test_a_version_of_a_tool_is_hidden(load: Load) -> None:
    """Only tools that declare themselves as they did when they were looked at are shown."""
    policy = load([{"effect": "block", "tools": ["look"], "unless": {"tool_digest": _LOOK.digest}}])
    shown = [spec for spec in SPECS if spec.name == "look" and policy.could_run(spec, AuthContext())]
    assert shown == [_LOOK]


def test_plan_mode_hides_what_is_known_to_write(load: Load) -> None:
    """Readers, shells and the plan itself stay; so for the agents that one in plan mode starts."""
    policy = load([])
    for context in (_PLAN, _PLAN.child("helper", is_plan_mode=False)):
        shown = {spec for spec in SPECS if policy.could_run(spec, context)}
        assert {spec.name for spec in shown} == {"bash", "run", "present_plan", "look"}
        assert not any(spec.traits == WRITES and spec.roles == {} for spec in shown)


def test_an_exclusive_template_hides_all_other_tools(load: Load) -> None:
    """While it is active."""
    policy = load([])
    assert _hidden(policy, AuthContext(active_template=TEMPLATES[2])) == _ALL - {"look", "mcp:docs/search"}
    assert _hidden(policy, AuthContext(active_template=TEMPLATES[1])) == set()


def test_an_override_of_the_admin_keeps_a_tool_in_sight(load: Load) -> None:
    """It may allow some call before the block speaks."""
    block = {"effect": "block", "tools": ["*"]}
    allow = {"effect": "allow", "priority": 50, "tools": ["look"], "when": {"args": {"limit": 3}}}
    assert _hidden(load([block, allow]), AuthContext()) == _ALL - {"look"}
    assert _hidden(load([block, {**allow, "tools": ["other"]}]), AuthContext()) == _ALL

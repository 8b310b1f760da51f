"""The compiled policy: what it remembers, what it leaves out, and what it never takes for granted."""

import gc
from typing import Any, ClassVar

import attrs
import pytest
from tests.tables import for_each

from permitry.actions.extract import ReadActions
from permitry.conditions.args import argument_condition
from permitry.conditions.command import ArgvPattern
from permitry.conditions.match import Match
from permitry.conditions.mode import ModeCondition
from permitry.conditions.path import PathPattern
from permitry.conditions.scope import Conditions, Scope
from permitry.conditions.tools import ToolSelector
from permitry.conditions.written import Condition
from permitry.core.action import Actions, Operands, Run, Word
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.facts import Fact, Kind
from permitry.core.index import Index
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import AnyRule, Request
from permitry.core.spec import ArgumentRole, ToolSpec, ToolTraits
from permitry.core.template import Template
from permitry.errors import UnevaluableError
from permitry.rules import BUILT_IN_RULES
from permitry.rules.configured import ConfiguredRule

ALLOW, CONFIRM, BLOCK = Verdict.ALLOW, Verdict.CONFIRM, Verdict.BLOCK
NOWHERE = AuthContext()


def _yes(_: Request) -> bool:
    return True


@attrs.define(eq=False)
class _Rule:
    """A rule that counts how often it was asked."""

    id: str = "rule"
    effect: Verdict = BLOCK
    priority_number: int = 150
    names: Any = ("bash",)
    answer: Any = _yes
    facts: Any = ()
    asked: int = 0
    reason: ClassVar[str] = "it says so"
    message: ClassVar[str | None] = None
    source: ClassVar[str | None] = None

    def priority(self) -> int:
        return self.priority_number

    def matches(self, request: Request) -> bool:
        self.asked += 1
        return bool(self.answer(request))

    def near_miss(self, _: Request) -> str | None:
        return None

    def needs(self) -> Any:  # noqa: ANN401 -- what a rule answers is up to it
        if isinstance(self.facts, Exception):
            raise self.facts
        if self.names is None:
            return self.facts
        return (frozenset(Fact(Kind.TOOL, False, name) for name in self.names), *self.facts)


@attrs.define(eq=False)
class _Pure(_Rule):
    """A rule that answers by its request alone."""

    is_pure: ClassVar[bool] = True

    def matches(self, request: Request) -> bool:
        return super().matches(request)

    def needs(self) -> Any:  # noqa: ANN401 -- as above
        return super().needs()


def _policy(*rules: _Rule, **rest: Any) -> AuthorizationPolicy:  # noqa: ANN401 -- passed on
    return AuthorizationPolicy(rules, **rest)


def _index(policy: AuthorizationPolicy) -> Index:
    return policy._index  # noqa: SLF001 -- it is what is tested


# What is left out ---------------------------------------------------------------------------------------------------


@for_each(
    ("names", "tool", "is_asked"),
    [
        (("bash",), "bash", True),
        (("bash",), "bash2", False),
        (("b*",), "bash", True),
        (("b*", "bash"), "bash", True),
        (("*sh",), "bash", True),
        (("b?sh",), "bash", True),
        (("b?sh",), "bsh", False),
        (("*a*",), "bash", True),
        (("b*h*z",), "bash", False),
        (("mcp:*/get_*",), "mcp:docs/get_all", True),
        (("mcp:*/get_*",), "mcp:docs/set_all", False),
        (("*",), "anything", True),
        (("**",), "anything", True),
        (("???",), "abc", True),
        (("???",), "abcd", False),
        ((), "anything", True),
        (None, "anything", True),
        (("bash", "bash"), "bash", True),
        (("ab*x1", "ab*q*cd", "ab*??cd"), "ab12cd", True),
        (("*q*z*", "*q*r*"), "qr", True),
    ],
)
def test_a_rule_is_asked_about_the_tools_it_selects(names: object, tool: str, is_asked: bool) -> None:  # noqa: FBT001 -- a column
    """By name or by glob; and about all when it does not say."""
    rule = _Rule(names=names)
    decision = _policy(rule).decide(ToolCall(tool), NOWHERE)
    assert (decision.rule_id is not None, rule.asked > 0) == (is_asked, is_asked)


@for_each("count", [1, 2, 3])
def test_rules_about_one_name_are_all_asked(count: int) -> None:
    """However many there are."""
    rules = [_Rule(f"rule-{number}") for number in range(count)]
    _policy(*rules).decide(ToolCall("bash"), NOWHERE)
    assert [rule.asked for rule in rules] == [1] * count


# What is asked each time --------------------------------------------------------------------------------------------


def _decided(policy: AuthorizationPolicy, context: AuthContext = NOWHERE, calls: int = 3) -> list[Verdict]:
    """Return the verdicts about several calls of one tool."""
    return [policy.decide(ToolCall("bash", {"n": n}), context).verdict for n in range(calls)]


@for_each("effect", [CONFIRM, BLOCK])
def test_a_failure_is_remembered_as_one(effect: Verdict) -> None:
    """Law 2 holds for what is remembered, and the record says what failed."""

    def fail(request: Request) -> bool:
        raise UnevaluableError(f"not in mode {request.context.mode}")

    policy = _policy(_Pure(effect=effect, answer=fail))
    first, second = (policy.decide(ToolCall("bash", {"n": n}), NOWHERE) for n in range(2))
    assert first is second
    assert (first.verdict, [str(error) for error in first.errors]) == (
        effect, ["rule: UnevaluableError: not in mode default"],
    )  # fmt: skip
    assert "night" in str(policy.decide(ToolCall("bash"), AuthContext(mode="night")).errors[0])


def test_a_rule_that_swallows_every_error_still_cannot_hide_what_it_reads() -> None:
    """What it asks of a call that is not known passes by `except Exception`."""

    def swallow(request: Request) -> bool:
        try:
            return bool(request.call.arguments["n"] == 1)
        except Exception:  # noqa: BLE001 -- as rules of others do
            return False

    assert _decided(_policy(_Pure(answer=swallow))) == [CONFIRM, BLOCK, CONFIRM]


# What is found by facts ---------------------------------------------------------------------------------------------


def _needing(number: int, value: object) -> _Rule:
    return _Rule(
        f"rule-{number}",
        answer=lambda request: request.call.arguments.get("n") == value,
        facts=[frozenset({Fact(Kind.ARGUMENT, (("n",), "number"), value)})],
    )


def test_of_many_rules_those_are_asked_whose_facts_are_met() -> None:
    """And all of them where the fact is not known, or of another class."""
    rules = [_needing(number, number) for number in range(100)]
    policy = _policy(*rules)
    assert policy.decide(ToolCall("bash", {"n": 7}), NOWHERE).rule_id == "rule-7"
    assert [rule.asked for rule in rules] == [int(number == 7) for number in range(100)]
    for arguments in ({}, {"n": "7"}, {"n": [7]}):
        policy.decide(ToolCall("bash", arguments), NOWHERE)
    assert {rule.asked for rule in rules} == {3, 4}


def test_a_rule_that_cannot_say_what_it_needs_is_asked() -> None:
    """Among many that can."""
    said: tuple[Any, ...] = (ValueError("on purpose"), None, (), 7, [[]], [["x"]])
    odd = [_Rule(f"odd-{n}", CONFIRM, names=None, facts=facts) for n, facts in enumerate(said)]
    policy = _policy(*(_needing(number, number) for number in range(100)), *odd)
    policy.decide(ToolCall("bash", {"n": 200}), NOWHERE)
    assert all(rule.asked for rule in odd)


# What it never takes for granted ------------------------------------------------------------------------------------


@attrs.define(eq=False)
class _Narrowed(_Pure):
    """A rule of which only the answer was changed."""

    def matches(self, request: Request) -> bool:
        return super().matches(request) and request.call.arguments.get("n") == 1


@attrs.define(eq=False)
class _Static(_Rule):
    """A rule whose answer needs no rule."""

    @staticmethod
    def matches(_: Request) -> bool:
        return False


@attrs.define(eq=False)
class _Looking(_Pure):
    """A rule that looks its methods up in its own way."""

    def __getattribute__(self, name: str) -> Any:  # noqa: ANN401 -- whatever is there
        return (lambda _: False) if name == "matches" else super().__getattribute__(name)


class _Loose(_Pure):
    """A rule whose objects have a dictionary."""

    is_pure: ClassVar[bool] = True


class _Wrapper:
    """A rule that answers itself, and forwards the rest."""

    def __init__(self, rule: _Rule) -> None:
        self._rule = rule

    def matches(self, _: Request) -> bool:
        return False

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- whatever is there
        return getattr(self._rule, name)


@for_each("rule", [_Narrowed(), _Wrapper(_Pure()), _Looking(), _Static(names=None)])
def test_a_rule_is_asked_by_its_own_method(rule: AnyRule) -> None:
    """Whether a subclass, a wrapper or a look-up changed it, and where it is not an ordinary one."""
    assert AuthorizationPolicy([rule]).decide(ToolCall("bash"), NOWHERE).rule_id is None


@for_each("rule", [_Narrowed(names=("other",)), _Loose(names=("other",))])
def test_what_a_class_says_of_its_tools_does_not_hold_for_a_subclass(rule: _Rule) -> None:
    """It may be about others as well."""
    assert AuthorizationPolicy([rule]).decide(ToolCall("bash", {"n": 1}), NOWHERE).rule_id == "rule"


def test_a_method_that_is_put_onto_the_object_counts() -> None:
    """For each call: such an object is never taken for pure."""
    plain, changed = _Loose(), _Loose()
    changed.matches = lambda request: request.call.arguments["n"] == 1  # type: ignore[method-assign]  # on purpose
    assert _decided(AuthorizationPolicy([plain])) == [BLOCK] * 3
    assert _decided(AuthorizationPolicy([changed])) == [CONFIRM, BLOCK, CONFIRM]


class _Odd(ToolSpec):
    """A declaration that says something else each time."""

    @property
    def only_reads(self) -> bool:
        """Return whether this is asked for the first time."""
        return False


def test_a_declaration_of_another_type_is_asked_about_each_time() -> None:
    """What its properties say may be anything."""
    rule = _Pure()
    policy = _policy(rule)
    odd = _Odd("bash")
    assert [policy.decide(ToolCall("bash"), NOWHERE, odd).verdict for _ in range(2)] == [BLOCK, BLOCK]
    assert rule.asked == 2
    assert not policy.could_run(attrs.evolve(odd, kinds=()), NOWHERE)
    assert policy.could_run(odd, NOWHERE)


# What is kept -------------------------------------------------------------------------------------------------------


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the tools whose rules were looked up, one for each time."""
    found: list[str] = []
    find = Index._make

    def noting(index: Index, call: ToolCall, *rest: Any) -> Any:  # noqa: ANN401 -- passed on
        found.append(call.tool)
        return find(index, call, *rest)

    monkeypatch.setattr(Index, "_make", noting)
    return found


def test_the_rules_of_a_tool_are_looked_up_once(looked_up: list[str]) -> None:
    """For each declaration, and for each kind of call."""
    policy, spec = _policy(), ToolSpec("bash", kinds=PayloadKind)
    for _ in range(3):
        policy.decide(ToolCall("bash"), NOWHERE)
        policy.decide(ToolCall("bash"), NOWHERE, spec)
        policy.decide(ToolCall("bash", kind=PayloadKind.CUSTOM), NOWHERE)
        policy.decide(ToolCall("bash", kind=PayloadKind.CUSTOM), NOWHERE, spec)
    assert looked_up == ["bash"] * 4


def test_names_that_are_made_up_push_out_only_each_other(looked_up: list[str]) -> None:
    """A declared tool, in a registry or in a rule file, stays known however many names a model invents."""
    policy, spec = _policy(declared={"run": ToolSpec("run")}), ToolSpec("bash")
    _index(policy).most = 4
    for name in ("bash", "run", "made_up"):
        policy.decide(ToolCall(name), NOWHERE, spec if name == "bash" else None)
    for number in range(100):
        policy.decide(ToolCall(f"invented_{number}"), NOWHERE)
    policy.decide(ToolCall("bash"), NOWHERE, spec)
    policy.decide(ToolCall("run"), NOWHERE)
    assert len(looked_up) == 103
    policy.decide(ToolCall("made_up"), NOWHERE)
    assert len(looked_up) == 104
    assert len(_index(policy)._named) + len(_index(policy)._earlier) <= 2 * (4 + 1)  # noqa: SLF001 -- the bound


def test_as_many_names_as_may_be_are_kept(looked_up: list[str]) -> None:
    """None of them is looked up a second time."""
    policy = _policy()
    _index(policy).most = 4
    for name in "abcdabcdabcd":
        policy.decide(ToolCall(name), NOWHERE)
    assert looked_up == ["a", "b", "c", "d"]


def test_a_name_asked_about_of_late_is_kept(looked_up: list[str]) -> None:
    """Of two names, the one that is still in use stays."""
    policy = _policy()
    _index(policy).most = 4
    for number in range(40):
        policy.decide(ToolCall("bash"), NOWHERE)
        policy.decide(ToolCall(f"invented_{number}"), NOWHERE)
    assert len(looked_up) == 41


def test_tools_with_the_same_rules_share_them() -> None:
    """What finds those that a call can match is made once, and goes with the last of the tools."""
    policy = _policy(_Rule("r", names=("b*",)))
    specs = [ToolSpec(f"b{number}") for number in range(9)]
    for spec in specs:
        policy.decide(ToolCall(spec.name), NOWHERE, spec)
    assert len(_index(policy)._selections) == 1  # noqa: SLF001 -- it is what is tested
    del spec
    specs.clear()
    gc.collect()
    assert len(_index(policy)._selections) == 0  # noqa: SLF001 -- as above


def test_what_is_kept_of_a_tool_goes_with_its_declaration() -> None:
    """Nothing is kept alive, and nothing is left behind."""
    policy = _policy(_Pure())
    spec = ToolSpec("bash", kinds=(PayloadKind.FUNCTION, PayloadKind.CUSTOM))
    policy.could_run(spec, NOWHERE)
    policy.decide(ToolCall("bash"), NOWHERE, spec)
    assert len(_index(policy)._specs) == 2  # noqa: SLF001 -- it is what is tested
    del spec
    gc.collect()
    assert len(_index(policy)._specs) == 0  # noqa: SLF001 -- as above


def test_a_declaration_that_takes_the_place_of_another_is_resolved_again() -> None:
    """Whatever the new one has in common with the old, its address in memory included."""
    policy = AuthorizationPolicy(BUILT_IN_RULES)
    reads, writes = ToolTraits(read_only=True), ToolTraits(read_only=False)
    for number in range(50):
        spec = ToolSpec("tool", traits=writes if number % 2 else reads, roles={})
        assert policy.decide(ToolCall("tool"), NOWHERE, spec).verdict is (CONFIRM if number % 2 else ALLOW)
        del spec


def test_a_declaration_of_one_tool_says_nothing_of_another() -> None:
    """A call under another name is resolved for itself."""
    policy = AuthorizationPolicy(BUILT_IN_RULES)
    spec = ToolSpec("look", traits=ToolTraits(read_only=True), roles={})
    assert policy.decide(ToolCall("look"), NOWHERE, spec).verdict is ALLOW
    assert policy.decide(ToolCall("other"), NOWHERE, spec).verdict is CONFIRM
    assert policy.decide(ToolCall("look", kind=PayloadKind.CUSTOM), NOWHERE, spec).verdict is ALLOW


def test_what_a_rule_file_declares_completes_what_a_tool_says() -> None:
    """Once for the tool, and for each request that is asked about it."""
    seen: list[ToolSpec | None] = []

    class _Looking(_Rule):
        def matches(self, request: Request) -> bool:
            seen.extend((request.spec, request.tool, request.own))
            return False

    declared = {"bash": ToolSpec("bash", traits=ToolTraits(read_only=True), roles={"x": ArgumentRole.TEXT})}
    policy, own = _policy(_Looking(names=None), declared=declared), ToolSpec("bash", "its own words")
    policy.decide(ToolCall("bash"), NOWHERE, own)
    spec, tool, vouched = seen
    assert spec == tool
    assert spec is not None
    assert (spec.description, spec.traits.read_only, spec.roles) == ("its own words", True, {"x": ArgumentRole.TEXT})
    assert vouched is own


# Ahead of a call ----------------------------------------------------------------------------------------------------


def _in_yolo(request: Request) -> bool:
    return request.context.yolo_mode


def _of_call(request: Request) -> bool:
    return request.context.yolo_mode and bool(request.call.arguments)


def _spent(request: Request) -> bool:
    return request.context.history.count("digest") == 0


def _never(_: Request) -> bool:
    return False


@for_each(
    ("answer", "context", "is_hidden"),
    [
        (_yes, {}, True),
        (_never, {}, False),
        (_in_yolo, {"yolo_mode": True}, True),
        (_in_yolo, {}, False),
        (_of_call, {"yolo_mode": True}, False),
        (_of_call, {}, False),
        (_spent, {}, True),
    ],
)
def test_a_block_of_all_calls_hides_a_tool(answer: object, context: dict[str, Any], is_hidden: bool) -> None:  # noqa: FBT001 -- a column
    """By the context, history included; not where the arguments make a difference."""
    policy = _policy(_Pure(answer=answer))
    for _ in range(2):
        assert policy.could_run(ToolSpec("bash"), AuthContext(**context)) is not is_hidden


@for_each(("answer", "is_hidden"), [(_yes, False), (_never, True), (_in_yolo, True), (_of_call, True), (_spent, False)])
def test_an_override_that_may_match_shows_it(answer: object, is_hidden: bool) -> None:  # noqa: FBT001 -- a column
    """Whatever is blocked behind it."""
    policy = _policy(_Pure("override", ALLOW, 10, answer=answer), _Pure())
    assert policy.could_run(ToolSpec("bash"), NOWHERE) is not is_hidden


@for_each("effect", [ALLOW, BLOCK])
def test_a_rule_that_is_not_pure_hides_nothing(effect: Verdict) -> None:
    """It is not asked ahead of a call, and an override of that kind may match."""
    policy = _policy(_Rule("impure", effect, 10 if effect is ALLOW else 150), _Pure(names=("bash", effect.value)))
    assert policy.could_run(ToolSpec("bash"), NOWHERE) is (effect is ALLOW)
    assert _policy(_Rule()).could_run(ToolSpec("bash"), NOWHERE)


def test_for_a_sub_agent_a_block_above_it_is_enough() -> None:
    """The strictest of the contexts counts."""
    policy, spec = AuthorizationPolicy(BUILT_IN_RULES), ToolSpec("write", traits=ToolTraits(read_only=False), roles={})
    above = AuthContext(is_plan_mode=True)
    assert policy.could_run(spec, NOWHERE.child("helper"))
    assert not policy.could_run(spec, above.child("helper", is_plan_mode=False))


# The built-in rules, once the tool is known -------------------------------------------------------------------------


@for_each(
    ("context", "rule_id"),
    [
        ({}, None),
        ({"is_plan_mode": True}, "plan-mode"),
        ({"yolo_mode": True}, "yolo"),
        ({"tool_ignore_list": ["look"]}, "ignore-list"),
        ({"tool_ignore_list": ["other"]}, None),
        ({"active_template": Template("t", ("l*",))}, "template"),
        ({"active_template": Template("t", ("x",))}, None),
    ],
)
def test_a_resolved_tool_still_answers_to_its_context(context: dict[str, Any], rule_id: str | None) -> None:
    """One tool, one policy, every mode."""
    policy = AuthorizationPolicy(BUILT_IN_RULES)
    policy.decide(ToolCall("look"), NOWHERE)
    assert policy.decide(ToolCall("look"), AuthContext(**context)).rule_id == rule_id


def test_many_calls_are_decided_at_once() -> None:
    """In their order, with the declarations of a registry or a mapping."""
    policy = AuthorizationPolicy(BUILT_IN_RULES)
    calls = [ToolCall("look"), ToolCall("read_file"), ToolCall("look")]
    specs = {"look": ToolSpec("look", traits=ToolTraits(read_only=True), roles={})}
    assert [decision.verdict for decision in policy.decide_many(calls, NOWHERE)] == [CONFIRM, ALLOW, CONFIRM]
    assert [decision.verdict for decision in policy.decide_many(calls, NOWHERE, specs)] == [ALLOW] * 3


# Rules of files, once the tool is known -----------------------------------------------------------------------------


def _restriction(*plain: Any) -> AuthorizationPolicy:  # noqa: ANN401 -- conditions of all kinds
    selected = Scope((ToolSelector("bash"),), Conditions(plain))
    return AuthorizationPolicy([ConfiguredRule("r", BLOCK, 150, selected)])


@for_each(
    ("table", "holds", "not_so", "unclear"),
    [
        ({"eq": 1}, 1.0, 2, True),
        ({"ne": "a"}, "b", "a", 1),
        ({"in": [True]}, True, False, 1),
        ({"not_in": [1, 2.5]}, 3, 2.5, "1"),
        ({"lt": 2}, 1, 2, "1"),
        ({"le": 2}, 2, 3, True),
        ({"gt": "a"}, "b", "a", 7),
        ({"ge": 2, "le": 3}, 2, 4, None),
        ({"glob": ["a*", "b"]}, "abc", "c", 1),
        ({"prefix": ["a", "b"]}, "bc", "c", ["a"]),
        ({"suffix": "a"}, "ba", "b", {"a": 1}),
        ({"contains": "a"}, "bab", "b", ["a"]),
        ({"regex": "a+"}, "aa", "ab", 1),
        ({"length": 1}, "a", "aa", 1),
        ({"eq": ["a", 1]}, ["a", 1], ["a", 2], "a"),
        ({"any": {"eq": 1}}, [2, 1], [2], 1),
    ],
)
def test_an_argument_is_judged_the_same_quickly(table: Any, holds: Any, not_so: Any, unclear: Any) -> None:  # noqa: ANN401 -- JSON
    """What holds, what does not, and what cannot be said, which counts as a match and is on record."""
    policy = _restriction(argument_condition("n", table))
    decided = [policy.decide(ToolCall("bash", {"n": value}), NOWHERE) for value in (holds, not_so, unclear)]
    assert [(each.rule_id, len(each.errors)) for each in decided] == [("r", 0), (None, 0), ("r", 1)]


class _OddMode(ModeCondition):
    """A condition of which only the answer was changed."""

    def match(self, request: Request, needed: Match = Match.YES, /) -> Match:
        """Return the opposite."""
        return Match.of(super().match(request, needed) < needed)


@attrs.frozen
class _Failing(Condition):
    """A condition that fails as none of ours does."""

    is_pure: ClassVar[bool] = True

    def match(self, _request: Request, _needed: Match = Match.YES, /) -> Match:
        """Raise."""
        raise ValueError("on purpose")

    def fact(self, _: Request) -> str:
        """Return nothing of interest."""
        return "it fails"


def test_a_condition_of_another_type_is_asked_itself() -> None:
    """What its class says does not hold once its answer was changed."""
    assert _restriction(_OddMode(("plan",))).decide(ToolCall("bash"), NOWHERE).rule_id == "r"


def test_an_exception_of_a_restriction_is_judged_after_its_conditions() -> None:
    """Its failure is on record where they hold; where they do not, it makes no difference."""
    scope = Scope((), Conditions((ModeCondition(("night",)),)), Conditions((_Failing(),)))
    policy = AuthorizationPolicy([ConfiguredRule("r", BLOCK, 150, scope)])
    night, day = (policy.decide(ToolCall("bash"), AuthContext(mode=mode)) for mode in ("night", "day"))
    assert (night.verdict, [error.error for error in night.errors]) == (BLOCK, ["ValueError: on purpose"])
    assert (day.verdict, day.errors) == (CONFIRM, ())


class _OddSelector(ToolSelector):
    """A selector of which only the answer was changed."""

    def match(self, _request: Request, _needed: Match = Match.YES, /) -> Match:
        """Return `YES`."""
        return Match.YES


def test_a_selector_of_another_type_is_asked_itself() -> None:
    """A rule with one is about any tool."""
    rule = ConfiguredRule("r", BLOCK, 150, Scope((_OddSelector("@reads"),)))
    assert AuthorizationPolicy([rule]).decide(ToolCall("bash"), NOWHERE).rule_id == "r"


@for_each(("effect", "priority"), [(ALLOW, 50), (BLOCK, 150), (ALLOW, 250)])
@for_each("path", ["n", "a.b"])
def test_a_test_that_has_no_answer_counts_as_a_failure_of_its_rule(effect: Verdict, priority: int, path: str) -> None:
    """A restriction applies and no permission does; both are on record, and explained the same."""
    scope = Scope((), Conditions((argument_condition(path, 1),)))
    policy = AuthorizationPolicy([ConfiguredRule("r", effect, priority, scope)])
    decision = policy.decide(ToolCall("tool"), NOWHERE)
    assert decision.verdict is (BLOCK if effect is BLOCK else CONFIRM)
    assert [str(error) for error in decision.errors] == [f"r: UnevaluableError: `args.{path}` is missing"]
    assert policy.explain(ToolCall("tool"), NOWHERE).decision == decision


def test_an_exception_without_an_answer_lifts_nothing() -> None:
    """Neither from a restriction, nor, as that may be lifted, from a permission."""
    scope = Scope((), Conditions(), Conditions((argument_condition("n", 1),)))
    policies = [AuthorizationPolicy([ConfiguredRule("r", *each, scope)]) for each in ((BLOCK, 150), (ALLOW, 250))]
    assert [policy.decide(ToolCall("tool"), NOWHERE).verdict for policy in policies] == [BLOCK, CONFIRM]


# What others may make of our classes --------------------------------------------------------------------------------


class _Listing(Template):
    """A template that lists what it was given last; two of one name are equal."""

    lists: tuple[str, ...] = ()

    def allows(self, tool: str) -> bool:
        """Return what it says now."""
        return tool in self.lists


def _listing(*names: str) -> _Listing:
    template = _Listing("a")
    object.__setattr__(template, "lists", names)
    return template


def test_a_template_of_another_class_is_asked_each_time() -> None:
    """One that is equal may allow less."""
    policy = AuthorizationPolicy(BUILT_IN_RULES)
    contexts = [AuthContext(active_template=_listing(*names)) for names in (("tool",), (), ("tool",))]
    assert [policy.decide(ToolCall("tool"), each).verdict for each in contexts] == [ALLOW, CONFIRM, ALLOW]


class _Trusting(AuthContext):
    """A context that ignores every tool."""

    def ignores(self, _: str) -> bool:
        """Return True."""
        return True


def test_what_a_context_of_another_class_ignores_is_its_own_matter() -> None:
    """Another one with the same list is not taken for it."""
    policy = AuthorizationPolicy(BUILT_IN_RULES)
    verdicts = [policy.decide(ToolCall("tool"), each).verdict for each in (_Trusting(), NOWHERE, _Trusting())]
    assert verdicts == [ALLOW, CONFIRM, ALLOW]


@attrs.frozen
class _FailingByCall(_Failing):
    """A condition that fails, but not before it has looked at the call."""

    is_pure: ClassVar[bool] = True

    def match(self, request: Request, needed: Match = Match.YES, /) -> Match:
        """Raise."""
        return super().match(request, needed) if request.call.arguments else Match.NO


@for_each("unless", [Conditions(), Conditions(commands=(ArgvPattern("git log"),))])
def test_an_exception_that_fails_matters_to_the_calls_that_a_rule_is_about(unless: Conditions) -> None:
    """As it lifts nothing, the rule is found by what it is about, and its failure is on record there."""
    when = Conditions(commands=(ArgvPattern("git *"),))
    scope = Scope((), when, attrs.evolve(unless, plain=(_FailingByCall(),)))
    others = [Scope((), Conditions(commands=(ArgvPattern(f"p{n} *"),))) for n in range(9)]
    rules = [ConfiguredRule(f"r{n}", BLOCK, 150, each) for n, each in enumerate((scope, *others))]
    policy = AuthorizationPolicy(rules, reader=ReadActions())
    calls = [ToolCall("bash", {"command": text}) for text in ("git push", "p1 x", "ls")]
    decided = [policy.decide(call, NOWHERE) for call in calls]
    assert [(each.rule_id, len(each.errors)) for each in decided] == [("r0", 1), ("r2", 0), (None, 0)]
    assert decided == [policy.explain(call, NOWHERE).decision for call in calls]


@attrs.frozen
class _Part:
    """A permission that fails when it is asked for parts."""

    id: ClassVar[str] = "part"
    effect: ClassVar[Verdict] = ALLOW
    reason: ClassVar[str] = ""
    message: ClassVar[str | None] = None
    source: ClassVar[str | None] = None
    is_pure: ClassVar[bool] = True

    def priority(self) -> int:
        return 250

    def matches(self, _: Request) -> bool:
        return False

    def covers(self, _: Request) -> frozenset[int]:
        raise ValueError("on purpose")

    def near_miss(self, _: Request) -> str | None:
        return None


def test_a_permission_that_fails_for_parts_alone_is_on_record() -> None:
    """It is not left out for never matching."""
    decision = AuthorizationPolicy([_Part()], reader=ReadActions()).decide(
        ToolCall("bash", {"command": "a && b"}), NOWHERE
    )
    assert [error.error for error in decision.errors] == ["ValueError: on purpose"]


def _run(call: ToolCall, context: AuthContext, spec: ToolSpec | None) -> Actions:  # noqa: ARG001 -- a reader
    def fail() -> Operands:
        raise ValueError("on purpose")

    return Actions((Run((Word("a"),), read_operands=fail),))


_NO_PATH = Fact(Kind.ARGUMENT, (), 1)


@for_each(
    "rules",
    [
        [ConfiguredRule(f"r{n}", BLOCK, 150, Scope((), Conditions(paths=(PathPattern(f"p{n}"),)))) for n in range(9)],
        [_Rule(f"r{n}", facts=((frozenset({_NO_PATH})),)) for n in range(9)],
    ],
)
def test_where_facts_cannot_be_worked_out_every_rule_is_asked(rules: list[AnyRule]) -> None:
    """By a reader that fails late, or a fact that makes no sense: that is never an exception of the policy."""
    policy = AuthorizationPolicy(rules, reader=_run)
    decision = policy.decide(ToolCall("bash", {"command": "a"}), NOWHERE)
    assert decision == policy.explain(ToolCall("bash", {"command": "a"}), NOWHERE).decision
    assert decision.verdict is BLOCK

"""The compiled policy: what it keeps, what it leaves out, and what it never takes for granted."""

import gc
from typing import Any, ClassVar

import attrs
import pytest

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Phase, Verdict
from permitry.core.index import Index
from permitry.core.pattern import Pattern
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import AnyRule, Question, Rest, own_method
from permitry.core.spec import ArgumentRole, ToolSpec, ToolTraits
from permitry.core.template import Template
from permitry.rules import BUILT_IN_RULES
from permitry.rules.conditions._quick import quick_check
from permitry.rules.conditions.arguments import ArgumentCondition, ArgumentTest, argument_condition
from permitry.rules.conditions.mode import ModeCondition
from permitry.rules.conditions.scope import Conditions, Scope
from permitry.rules.conditions.tools import ToolSelector
from permitry.rules.configured import ConfiguredRule

ALLOW, CONFIRM, BLOCK = Verdict.ALLOW, Verdict.CONFIRM, Verdict.BLOCK
NOWHERE = AuthContext()


@attrs.frozen
class _Name:
    """A selector of names."""

    text: str

    @property
    def pattern(self) -> Pattern | None:
        return None if self.text.startswith("@") else Pattern(self.text)

    def always_selects(self, question: Question, *, is_generous: bool) -> bool | None:
        if self.text == "@fails":
            raise ValueError("on purpose")
        return is_generous if self.text == "@generous" else question.call.tool == "never"


class _Every(Pattern):
    """A pattern that means more than it says."""

    def matches(self, _: str) -> bool:
        return True


class _Word(str):
    """A selector that is a word as well."""

    __slots__ = ()
    pattern = None

    def always_selects(self, _: Question, *, is_generous: bool) -> bool:
        return is_generous


class _Subtle:
    """A selector with a pattern of its own kind."""

    pattern = _Every("bash")


@attrs.define(eq=False)
class _Rule:
    """A rule that counts how often it was asked."""

    id: str = "rule"
    effect: Verdict = BLOCK
    priority_number: int = 150
    names: Any = ("bash",)
    rest: Any = None
    asked: int = 0
    resolved: int = 0
    reason: ClassVar[str] = "it says so"
    message: ClassVar[str | None] = None
    source: ClassVar[str | None] = None

    def priority(self) -> int:
        return self.priority_number

    def matches(self, _: Question) -> bool:
        self.asked += 1
        return True

    def near_miss(self, _: Question) -> str | None:
        return None

    def selectors(self) -> Any:  # noqa: ANN401 -- what a rule answers is up to it
        if isinstance(self.names, Exception):
            raise self.names
        return None if self.names is None else tuple(_Name(name) if type(name) is str else name for name in self.names)

    def residue(self, question: Question, *, is_selected: bool) -> Any:  # noqa: ANN401, ARG002 -- as above
        self.resolved += 1
        if isinstance(self.rest, Exception):
            raise self.rest
        return self.rest


def _policy(*rules: _Rule, **rest: Any) -> AuthorizationPolicy:  # noqa: ANN401 -- passed on
    return AuthorizationPolicy(rules, **rest)


def _index(policy: AuthorizationPolicy) -> Index:
    return policy._index  # noqa: SLF001 -- it is what is tested


# What is left out ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
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
        (("@generous",), "anything", True),
        (("@strict",), "anything", False),
        (("@fails",), "anything", True),
        ((), "anything", True),
        (None, "anything", True),
        (ValueError("on purpose"), "anything", True),
        ((7,), "anything", True),
        ((_Subtle(),), "anything", True),
        ((_Word("bash"),), "anything", True),
        (("bash", "bash"), "bash", True),
        (("ab*x1", "ab*q*cd", "ab*??cd"), "ab12cd", True),
        (("*q*z*", "*q*r*"), "qr", True),
    ],
)
def test_a_rule_is_asked_about_the_tools_it_selects(names: object, tool: str, is_asked: bool) -> None:  # noqa: FBT001 -- a column
    """By name, by glob, by a trait that may be so; and about all when it cannot say."""
    rule = _Rule(names=names)
    decision = _policy(rule).decide(ToolCall(tool), NOWHERE)
    assert (decision.rule_id is not None, rule.asked > 0) == (is_asked, is_asked)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_rules_about_one_name_are_all_asked(count: int) -> None:
    """However many there are."""
    rules = [_Rule(f"rule-{number}") for number in range(count)]
    _policy(*rules).decide(ToolCall("bash"), NOWHERE)
    assert [rule.asked for rule in rules] == [1] * count


def test_a_rule_of_which_nothing_is_left_is_never_asked() -> None:
    """False, once, stands for every call of the tool."""
    rule = _Rule(rest=False)
    policy = _policy(rule)
    assert [policy.decide(ToolCall("bash", {"n": n}), NOWHERE).verdict for n in range(3)] == [CONFIRM] * 3
    assert (rule.asked, rule.resolved) == (0, 1)


def test_a_rule_that_always_matches_is_never_asked() -> None:
    """True, once, stands for every call of the tool, and the decision is one object."""
    rule = _Rule(rest=True)
    policy = _policy(rule)
    first, second = (policy.decide(ToolCall("bash", {"n": n}), NOWHERE) for n in range(2))
    assert first is second
    assert (first.verdict, rule.asked) == (BLOCK, 0)


@pytest.mark.parametrize("rest", [None, ValueError("on purpose"), 1, "yes", Rest(lambda _, __: None)])
def test_a_rule_that_does_not_say_what_is_left_is_asked(rest: object) -> None:
    """What is no answer leaves all of the rule."""
    rule = _Rule(rest=rest)
    assert _policy(rule).decide(ToolCall("bash"), NOWHERE).verdict is BLOCK
    assert rule.asked == 1


def test_a_rest_that_is_not_final_only_says_when_to_ask() -> None:
    """False leaves the rule out; True, and a failure, ask it."""
    rule = _Rule(rest=Rest(lambda call, _: bool(call.arguments["n"]), is_final=False, is_about_call=True))
    policy = _policy(rule)
    verdicts = [policy.decide(ToolCall("bash", arguments), NOWHERE).verdict for arguments in ({"n": 0}, {"n": 1}, {})]
    assert verdicts == [CONFIRM, BLOCK, BLOCK]
    assert rule.asked == 2


@pytest.mark.parametrize(
    ("effect", "priority", "verdict"),
    [(ALLOW, 50, CONFIRM), (CONFIRM, 150, CONFIRM), (BLOCK, 150, BLOCK), (ALLOW, 250, CONFIRM)],
)
def test_a_final_rest_that_fails_is_the_failure_of_the_rule(effect: Verdict, priority: int, verdict: Verdict) -> None:
    """Law 2 holds for tests as for rules, and the record says what failed."""
    rule = _Rule(
        effect=effect, priority_number=priority, rest=Rest(lambda call, _: call.arguments["n"] == 1, is_about_call=True)
    )
    decision = _policy(rule).decide(ToolCall("bash"), NOWHERE)
    assert (decision.verdict, [str(error) for error in decision.errors]) == (verdict, ["rule: KeyError: 'n'"])
    assert rule.asked == 0


@pytest.mark.parametrize(("effect", "priority"), [(ALLOW, 50), (BLOCK, 150), (ALLOW, 250)])
def test_a_final_rest_answers_in_every_phase(effect: Verdict, priority: int) -> None:
    """True matches, False does not, None asks."""
    answers: dict[object, bool] = {1: True, 2: False}
    rest = Rest(lambda call, _: answers.get(call.arguments["n"]), is_about_call=True)
    rule = _Rule(effect=effect, priority_number=priority, rest=rest)
    policy = _policy(rule)
    decided = [policy.decide(ToolCall("bash", {"n": n}), NOWHERE).rule_id for n in (1, 2, 3)]
    assert (decided, rule.asked) == (["rule", None, "rule"], 1)


def test_a_failure_before_an_override_stays_on_record() -> None:
    """The decision of the next one tells it."""
    failing = _Rule("failing", ALLOW, 10, rest=Rest(lambda call, _: call.arguments["n"] == 1, is_about_call=True))
    decision = _policy(failing, _Rule("next", ALLOW, 20, rest=True)).decide(ToolCall("bash"), NOWHERE)
    assert (decision.rule_id, decision.phase, len(decision.errors)) == ("next", Phase.OVERRIDE, 1)


def test_what_a_sure_block_outdoes_is_not_asked() -> None:
    """A confirm, a later block that is sure, and every permission; but not a block before it, nor one that may fail."""
    sure = Rest(lambda _, context: context.yolo_mode)
    asked = [
        _Rule("before", BLOCK, 110, rest=sure),
        _Rule("weaker", CONFIRM, 120, rest=sure),
        _Rule("block", BLOCK, 150, rest=True),
        _Rule("behind", BLOCK, 160, rest=sure),
        _Rule("failing", CONFIRM, 170, rest=Rest(lambda call, _: call.arguments["n"] == 1, is_about_call=True)),
        _Rule("never", ALLOW, 250),
    ]
    decision = _policy(*asked).decide(ToolCall("bash"), AuthContext(yolo_mode=True))
    assert (decision.rule_id, len(decision.errors)) == ("before", 1)
    assert _policy(*asked).decide(ToolCall("bash", {"n": 2}), NOWHERE).rule_id == "block"
    assert asked[-1].asked == 0


# What it never takes for granted ------------------------------------------------------------------------------------


class _Narrowed(_Rule):
    """A rule of which only the answer was changed."""

    def matches(self, question: Question) -> bool:
        super().matches(question)
        return False


class _Covering(_Rule):
    """A rule that covers something now."""

    def covers(self, _: Question) -> frozenset[int]:
        return frozenset()


@attrs.define(eq=False)
class _Static(_Rule):
    """A rule whose answer needs no rule."""

    @staticmethod
    def matches(_: Question) -> bool:
        return False


@attrs.define(eq=False)
class _Looking(_Rule):
    """A rule that looks its methods up in its own way."""

    def __getattribute__(self, name: str) -> Any:  # noqa: ANN401 -- whatever is there
        return (lambda _: False) if name == "matches" else super().__getattribute__(name)


class _Loose(_Rule):
    """A rule whose objects have a dictionary."""


class _Wrapper:
    """A rule that answers itself, and forwards the rest."""

    def __init__(self, rule: _Rule) -> None:
        self._rule = rule

    def matches(self, _: Question) -> bool:
        return False

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- whatever is there
        return getattr(self._rule, name)


@pytest.mark.parametrize("rule", [_Narrowed(rest=True), _Wrapper(_Rule(rest=True)), _Looking(rest=True)])
def test_what_is_left_of_a_rule_does_not_count_once_its_answer_was_changed(rule: AnyRule) -> None:
    """Neither by a subclass, nor by a wrapper, nor by how it is looked up."""
    assert AuthorizationPolicy([rule]).decide(ToolCall("bash"), NOWHERE).rule_id is None


@pytest.mark.parametrize("rule", [_Static(names=None), _Looking(names=None)])
def test_a_rule_is_asked_by_its_own_method(rule: AnyRule) -> None:
    """Also where that is no ordinary one of its class."""
    assert AuthorizationPolicy([rule]).decide(ToolCall("bash"), NOWHERE).rule_id is None


def test_it_does_not_count_once_an_object_was_changed() -> None:
    """A method that is put onto the object is the one that counts."""
    plain, changed = _Loose(rest=True), _Loose(rest=True)
    changed.matches = lambda _: False  # type: ignore[method-assign]  # on purpose
    assert AuthorizationPolicy([plain]).decide(ToolCall("bash"), NOWHERE).rule_id == "rule"
    assert AuthorizationPolicy([changed]).decide(ToolCall("bash"), NOWHERE).rule_id is None


def test_a_method_speaks_for_what_was_not_changed_below_it() -> None:
    """So for its own class and for one that changes nothing; not for one that adds what it should know of."""
    assert own_method(_Rule(), "residue", "matches", "covers") is not None
    assert own_method(_Loose(), "residue", "matches", "covers") is not None
    assert own_method(_Covering(), "residue", "matches", "covers") is None
    assert own_method(_Rule(), "nothing", "nowhere") is None


class _Odd(ToolSpec):
    """A declaration that says something else each time."""

    @property
    def only_reads(self) -> bool:
        """Return whether this is asked for the first time."""
        return False


def test_a_declaration_of_another_type_is_asked_about_each_time() -> None:
    """What its properties say may be anything."""
    rule = _Rule(rest=False)
    policy = _policy(rule)
    odd = _Odd("bash")
    assert [policy.decide(ToolCall("bash"), NOWHERE, odd).verdict for _ in range(2)] == [BLOCK, BLOCK]
    assert rule.asked == 2
    assert not policy.could_run(attrs.evolve(odd, kinds=()), NOWHERE)
    assert policy.could_run(odd, NOWHERE)


# What is kept -------------------------------------------------------------------------------------------------------


def test_a_tool_is_resolved_once() -> None:
    """For each declaration, and for each kind of call."""
    rule = _Rule(rest=True)
    policy, spec = _policy(rule), ToolSpec("bash", kinds=PayloadKind)
    for _ in range(3):
        policy.decide(ToolCall("bash"), NOWHERE)
        policy.decide(ToolCall("bash"), NOWHERE, spec)
        policy.decide(ToolCall("bash", kind=PayloadKind.CUSTOM), NOWHERE)
        policy.decide(ToolCall("bash", kind=PayloadKind.CUSTOM), NOWHERE, spec)
    assert rule.resolved == 4


def test_names_that_are_made_up_push_out_only_each_other() -> None:
    """A declared tool, in a registry or in a rule file, stays resolved however many names a model invents."""
    rule = _Rule(names=("bash", "run", "made_up"), rest=True)
    policy, spec = _policy(rule, declared={"run": ToolSpec("run")}), ToolSpec("bash")
    _index(policy).most = 4
    for name in ("bash", "run", "made_up"):
        policy.decide(ToolCall(name), NOWHERE, spec if name == "bash" else None)
    for number in range(100):
        policy.decide(ToolCall(f"invented_{number}"), NOWHERE)
    before = rule.resolved
    policy.decide(ToolCall("bash"), NOWHERE, spec)
    policy.decide(ToolCall("run"), NOWHERE)
    assert rule.resolved == before == 3
    policy.decide(ToolCall("made_up"), NOWHERE)
    assert rule.resolved == 4
    assert len(_index(policy)._named) + len(_index(policy)._earlier) <= 2 * (4 + 1)  # noqa: SLF001 -- the bound


def test_a_name_asked_about_of_late_is_kept() -> None:
    """Of two names, the one that is still in use stays."""
    rule = _Rule(rest=True)
    policy = _policy(rule)
    _index(policy).most = 4
    for number in range(40):
        policy.decide(ToolCall("bash"), NOWHERE)
        policy.decide(ToolCall(f"invented_{number}"), NOWHERE)
    assert rule.resolved == 1


def test_what_is_kept_of_a_tool_goes_with_its_declaration() -> None:
    """Nothing is kept alive, and nothing is left behind."""
    policy = _policy(_Rule(rest=True))
    spec = ToolSpec("bash", kinds=(PayloadKind.FUNCTION, PayloadKind.CUSTOM))
    policy.could_run(spec, NOWHERE)
    policy.decide(ToolCall("bash"), NOWHERE, spec)
    assert (len(_index(policy)._specs), len(_index(policy)._shown)) == (2, 1)  # noqa: SLF001 -- it is what is tested
    del spec
    gc.collect()
    assert (len(_index(policy)._specs), len(_index(policy)._shown)) == (0, 0)  # noqa: SLF001 -- as above


def test_a_declaration_that_takes_the_place_of_another_is_resolved_anew() -> None:
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
    """Once for the tool, and for each question that is asked about it."""
    seen: list[ToolSpec | None] = []

    class _Looking(_Rule):
        def matches(self, question: Question) -> bool:
            seen.extend((question.spec, question.tool, question.own))
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


class _Knowing(_Rule):
    """A rule that may know ahead of a call."""

    def matches(self, question: Question) -> bool:
        return super().matches(question)

    def residue(self, question: Question, *, is_selected: bool) -> Any:  # noqa: ANN401 -- as above
        return super().residue(question, is_selected=is_selected)

    def always_matches(self, question: Question) -> bool | None:
        """Return the answer for the agent main alone."""
        return True if question.context.agent == "main" else None


class _Never(_Rule):
    """A rule that knows ahead that it never matches."""

    def always_matches(self, _: Question) -> bool:
        """Return False."""
        return False


_YOLO = Rest(lambda _, context: context.yolo_mode)
_MAYBE = Rest(lambda _, context: context.yolo_mode, is_final=False)
_OF_CALL = Rest(lambda _, context: context.yolo_mode, is_about_call=True)


@pytest.mark.parametrize(
    ("rest", "context", "is_hidden"),
    [
        (True, {}, True),
        (False, {}, False),
        (_YOLO, {"yolo_mode": True}, True),
        (_YOLO, {}, False),
        (_MAYBE, {"yolo_mode": True}, True),
        (_MAYBE, {"yolo_mode": True, "agent": "helper"}, False),
        (_MAYBE, {}, False),
        (_OF_CALL, {"yolo_mode": True}, False),
        (None, {}, True),
        (None, {"agent": "helper"}, False),
    ],
)
def test_a_block_that_knows_ahead_hides_a_tool(rest: object, context: dict[str, Any], is_hidden: bool) -> None:  # noqa: FBT001 -- a column
    """By what is left of it, and where that does not say, by itself."""
    policy = _policy(_Knowing(rest=rest))
    for _ in range(2):
        assert policy.could_run(ToolSpec("bash"), AuthContext(**context)) is not is_hidden


@pytest.mark.parametrize(
    ("rest", "is_hidden"), [(True, False), (False, True), (_YOLO, True), (None, False), (_OF_CALL, False)]
)
def test_an_override_that_may_match_shows_it(rest: object, is_hidden: bool) -> None:  # noqa: FBT001 -- a column
    """Whatever is blocked behind it."""
    override = _Knowing("override", ALLOW, 10, rest=rest)
    policy = _policy(override, _Knowing(rest=True))
    assert policy.could_run(ToolSpec("bash"), NOWHERE) is not is_hidden


@pytest.mark.parametrize("names", [("bash",), None])
@pytest.mark.parametrize(("rest", "is_hidden"), [(True, True), (_YOLO, False), (None, True), (_OF_CALL, False)])
def test_an_override_that_is_asked_leaves_the_blocks_to_judge(rest: object, names: object, is_hidden: bool) -> None:  # noqa: FBT001 -- a column
    """When it answers that it never matches."""
    override = _Never("override", ALLOW, 10, names)
    assert _policy(override, _Knowing(rest=rest)).could_run(ToolSpec("bash"), NOWHERE) is not is_hidden


def test_a_block_that_does_not_know_ahead_hides_nothing() -> None:
    """It says what is left of it, and never spoke of tools to show."""
    assert _policy(_Rule(rest=True)).could_run(ToolSpec("bash"), NOWHERE)


def test_for_a_sub_agent_a_block_above_it_is_enough() -> None:
    """The strictest of the contexts counts."""
    policy, spec = AuthorizationPolicy(BUILT_IN_RULES), ToolSpec("write", traits=ToolTraits(read_only=False), roles={})
    above = AuthContext(is_plan_mode=True)
    assert policy.could_run(spec, NOWHERE.child("helper"))
    assert not policy.could_run(spec, above.child("helper", is_plan_mode=False))


# The built-in rules, once the tool is known -------------------------------------------------------------------------


@pytest.mark.parametrize(
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


def _restriction(*plain: Any, scope: type[Scope] = Scope) -> AuthorizationPolicy:  # noqa: ANN401 -- conditions of all kinds
    selected = scope((ToolSelector("bash"),), Conditions(plain))
    return AuthorizationPolicy([ConfiguredRule("r", BLOCK, 150, selected)])


class _OddScope(Scope):
    """A scope that somebody changed."""

    def restricts(self, _: Question) -> bool:
        """Return False."""
        return False


class _OddTest(ArgumentTest):
    """A test that somebody changed."""

    def truth(self, _: object) -> bool:
        """Return False."""
        return False


def test_an_operand_of_another_type_takes_a_closer_look() -> None:
    """No rule file can hold one."""
    assert quick_check("lt", (1,)) is None


def test_a_scope_of_another_type_is_asked_itself() -> None:
    """What is left of it is for it to say."""
    assert _restriction(scope=_OddScope).decide(ToolCall("bash"), NOWHERE).rule_id is None


def test_a_test_of_another_type_is_asked_itself() -> None:
    """So with the tests of arguments."""
    condition = ArgumentCondition(("n",), _OddTest(argument_condition("n", 1).test.checks))
    assert _restriction(condition).decide(ToolCall("bash", {"n": 1}), NOWHERE).rule_id is None


@pytest.mark.parametrize(
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

    def holds(self, question: Question, *, is_generous: bool) -> bool:
        """Return the opposite."""
        return not super().holds(question, is_generous=is_generous)


@attrs.frozen
class _Failing:
    """A condition that fails as none of ours does."""

    is_about_call: ClassVar[bool] = True

    def holds(self, question: Question, *, is_generous: bool) -> bool:  # noqa: ARG002 -- it only fails
        """Raise."""
        raise ValueError("on purpose")

    def fact(self, _: Question) -> str:
        """Return nothing of interest."""
        return "it fails"


def test_a_condition_of_another_type_is_asked_itself() -> None:
    """What was compiled does not count once its answer was changed."""
    assert _restriction(_OddMode(("plan",))).decide(ToolCall("bash"), NOWHERE).rule_id == "r"


def test_an_exception_of_a_restriction_is_judged_first() -> None:
    """Its failure is on record, whatever the conditions say."""
    scope = Scope((), Conditions((ModeCondition(("night",)),)), Conditions((_Failing(),)))
    decision = AuthorizationPolicy([ConfiguredRule("r", BLOCK, 150, scope)]).decide(ToolCall("bash"), NOWHERE)
    assert (decision.verdict, [error.error for error in decision.errors]) == (BLOCK, ["ValueError: on purpose"])


class _OddSelector(ToolSelector):
    """A selector of which only the answer was changed."""

    def selects(self, question: Question, *, is_generous: bool) -> bool:  # noqa: ARG002 -- it always selects
        """Return True."""
        return True

    def always_selects(self, question: Question, *, is_generous: bool) -> bool | None:  # noqa: ARG002 -- and never knows it
        """Return False."""
        return False


def test_a_selector_of_another_type_is_asked_itself() -> None:
    """A rule with one is about any tool."""
    rule = ConfiguredRule("r", BLOCK, 150, Scope((_OddSelector("@reads"),)))
    assert AuthorizationPolicy([rule]).decide(ToolCall("bash"), NOWHERE).rule_id == "r"


@pytest.mark.parametrize(("effect", "priority"), [(ALLOW, 50), (BLOCK, 150), (ALLOW, 250)])
@pytest.mark.parametrize("path", ["n", "a.b"])
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

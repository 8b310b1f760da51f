"""What a policy makes of the rules it is given, and refuses."""

from typing import Any, ClassVar, cast

import attrs
import pytest
from tests.tables import for_each
from tests.unit.core.stubs import PlainRule, StubRule

from permitry.core.call import ToolCall
from permitry.core.compile import compile_rules, complete
from permitry.core.compiled_rule import CompiledRule
from permitry.core.context import AuthContext
from permitry.core.decision import DecisionCache, Phase, Verdict
from permitry.core.facts import Fact, Kind
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import BuiltInRule, Request, Rule
from permitry.core.shared import SideEffects
from permitry.errors import RuleError
from permitry.rules.configured import ConfiguredRule
from permitry.rules.plan_mode import PlanModeBlockingRule
from permitry.rules.read_only import ReadOnlyToolRule

REQUEST = Request(ToolCall("t"), AuthContext())
NEEDS = (frozenset({Fact(Kind.TOOL, False, "t")}),)


def _entries(*rules: object) -> list[CompiledRule]:
    return list(compile_rules(cast("Any", rules), DecisionCache(lambda: "v1")))


@for_each(
    ("changes", "why"),
    [
        ({"id": ""}, "has no id"),
        ({"id": 5}, "has no id"),
        ({"effect": "allow"}, "must be a Verdict"),
        ({"priority_number": 250.0}, "whole number"),
        ({"priority_number": True}, "whole number"),
        ({"priority_number": -1}, "does not fit"),
        ({"priority_number": 400}, "does not fit"),
        ({"priority_number": 199}, "does not fit"),
        ({"effect": Verdict.BLOCK}, "does not fit"),
    ],
)
def test_an_unusable_rule_is_refused(changes: dict[str, Any], why: str) -> None:
    """By a policy as a whole: it never goes on without one of its rules."""
    with pytest.raises(RuleError, match=why):
        _entries(StubRule(**{"id": "r", **changes}))


@for_each("lacking", ["reason", "priority", "matches", "near_miss"])
def test_a_rule_that_lacks_what_it_must_have_is_refused(lacking: str) -> None:
    """When the policy is made, and not with each call; the error says what is lacking."""
    said = {"id": "r", "effect": Verdict.ALLOW, "reason": "", "message": None, "source": None}
    methods = {"priority": lambda _: 250, "matches": lambda _, __: True, "near_miss": lambda _, __: None}
    made = type("_Short", (), {name: each for name, each in {**said, **methods}.items() if name != lacking})
    with pytest.raises(RuleError, match=f"`_Short` is not a rule: it has no `{lacking}`"):
        _entries(made())


@for_each("thing", [None, "rule", object()])
def test_what_is_not_a_rule_is_refused(thing: object) -> None:
    """It has neither an effect nor the two methods of a permission."""
    with pytest.raises(RuleError, match="is not a rule"):
        _entries(thing)


def test_two_rules_with_one_id_are_refused() -> None:
    """A record could not say which of them decided."""
    with pytest.raises(RuleError, match="two rules have the id `r`"):
        _entries(StubRule("r"), StubRule("r"))


def test_a_two_method_rule_is_only_ever_a_permission() -> None:
    """Whatever its priority; a second one of its class has an id of its own."""

    class ReadsOnly:
        def priority(self) -> int:
            return 0

        def should_allow_without_confirmation(self, tool: str, _: AuthContext) -> bool:
            return tool == "t"

    first, second = _entries(ReadsOnly(), ReadsOnly())
    assert (first.rule_id, second.rule_id) == ("reads-only", "reads-only-2")
    assert (first.phase, first.effect) == (Phase.PERMISSION, Verdict.ALLOW)
    assert first.decision_for(first.ask(REQUEST, [])) is not None


def test_a_rule_that_says_everything_is_taken_as_it_is() -> None:
    """Nothing is copied, so that a rule of a file costs no memory twice."""
    rule = ConfiguredRule("r", Verdict.ALLOW, 250)
    assert complete(rule) is rule


def test_what_a_rule_of_another_make_leaves_out_has_a_default() -> None:
    """It is asked about every call, covers nothing, keeps nothing and relies on nothing."""
    full = complete(PlainRule("r", Verdict.ALLOW, 250))
    assert (full.id, full.matches(REQUEST)) == ("r", True)
    assert (full.needs(), full.is_pure, full.keeps) == ((), False, False)
    assert (full.relies_on, full.specificity) == (None, (0, 0))
    assert (full.covers(REQUEST), full.origins(REQUEST), full.not_lifted(REQUEST)) == (frozenset(), (), None)


def test_what_a_rule_of_another_make_says_counts() -> None:
    """Of its objects by any road, and of its class where objects cannot be changed."""

    @attrs.frozen
    class _Short(PlainRule):
        keeps: ClassVar[bool] = True
        is_pure: ClassVar[bool] = True

        def needs(self) -> tuple[frozenset[Fact], ...]:
            return NEEDS

    full = complete(_Short("r", Verdict.ALLOW, 250))
    assert (full.needs(), full.is_pure, full.keeps) == (NEEDS, True, True)


class _Wrapper:
    """Answers for itself, and forwards all the rest."""

    def __init__(self, rule: object) -> None:
        self.rule = rule

    def matches(self, _: Request) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- whatever is there
        return getattr(self.rule, name)


@attrs.frozen
class _Narrowed(PlanModeBlockingRule):
    """Derived, with another answer."""

    def matches(self, _: Request) -> bool:
        return True


@attrs.frozen
class _Wide(ReadOnlyToolRule):
    """Derived, with another answer."""

    def matches(self, _: Request) -> bool:
        return True


class _Open(ReadOnlyToolRule):
    """Derived, with objects that can be changed."""

    is_pure: ClassVar[bool] = True


@for_each("rule", [_Wrapper(ReadOnlyToolRule()), _Narrowed(), _Wide(), _Open()])
def test_what_a_class_says_holds_for_no_other_one(rule: Any) -> None:  # noqa: ANN401 -- of any class
    """One that is derived from it may answer otherwise, and is asked about every call."""
    full = complete(rule)
    assert (full.needs(), full.is_pure) == ((), False)
    assert full.id == rule.id


def test_a_rule_that_fails_at_what_only_helps_is_a_rule() -> None:
    """What it cannot say is as if it did not say it."""

    class _Broken(StubRule):
        @property
        def asks_origins(self) -> bool:
            raise ValueError

    assert complete(cast("Any", _Broken("r"))).asks_origins is False


@for_each("name", ["keeps", "relies_on"])
def test_a_rule_that_fails_at_what_counts_against_a_call_is_refused(name: str) -> None:
    """It may keep, or rely on a budget that nothing counts: what it does not say is not taken for no."""

    def fail(_: object) -> object:
        raise ZeroDivisionError

    rule = type("_Broken", (PlainRule,), {name: property(fail)})("r", Verdict.ALLOW, 250)
    with pytest.raises(ZeroDivisionError):
        _entries(rule)


@for_each(("covers", "can"), [(lambda _: frozenset({0}), True), (None, False)])
def test_a_permission_that_covers_parts_of_calls_is_asked_for_them(covers: object, can: bool) -> None:  # noqa: FBT001 -- a parameter
    """One whose `covers` is None has none."""

    class _Covering(PlainRule):
        pass

    vars_of = {"covers": covers}
    (entry,) = _entries(type("_Made", (_Covering,), vars_of)("r", Verdict.ALLOW, 250))
    assert entry.can_cover is can


class _Said(Rule):
    """A rule without a dict, whose class says what it needs."""

    __slots__ = ()
    id: ClassVar[str] = "said"
    effect: ClassVar[Verdict] = Verdict.BLOCK
    reason: ClassVar[str] = "why"
    message: ClassVar[str | None] = None
    source: ClassVar[str | None] = None

    def priority(self) -> int:
        return 150

    def matches(self, _: Request) -> bool:
        return True

    def near_miss(self, _: Request) -> str | None:
        return None

    def needs(self) -> tuple[frozenset[Fact], ...]:
        return NEEDS


class _Inherits(_Said):
    """Another one that says nothing of its own."""

    __slots__ = ()


def test_what_a_class_inherits_is_not_what_it_needs() -> None:
    """It may match more than its parent; what the parent itself says counts for its own objects."""
    said, inherits = _Said(), _Inherits()
    assert complete(said) is said
    assert complete(inherits).needs() == ()


class _Forwarding(BuiltInRule):
    """Answers as another rule does, and says what that says."""

    id: ClassVar[str] = "forwarding"
    reason: ClassVar[str] = "why"

    def __init__(self, rule: ConfiguredRule) -> None:
        self.rule = rule

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- whatever is there
        return getattr(self.__dict__["rule"], name)

    def priority(self) -> int:
        return 250


def test_what_a_rule_forwards_counts() -> None:
    """What it permits is kept first, if the rule behind it says so, and no default hides that."""
    full = complete(_Forwarding(ConfiguredRule("r", Verdict.ALLOW, 250, keeps=True)))
    assert full.keeps is True
    assert (full.needs(), full.is_pure) == ((), False)


class _OwnNeeds(Rule):
    """A rule whose object has a `needs` of its own."""

    id: ClassVar[str] = "own"
    effect: ClassVar[Verdict] = Verdict.BLOCK
    reason: ClassVar[str] = "why"
    message: ClassVar[str | None] = None
    source: ClassVar[str | None] = None

    def __init__(self) -> None:
        self.__dict__["needs"] = lambda: NEEDS

    def priority(self) -> int:
        return 150

    def matches(self, _: Request) -> bool:
        return True

    def near_miss(self, _: Request) -> str | None:
        return None


class _Slots:
    """The same with slots, in which functions are."""

    __slots__ = ("effect", "id", "is_pure", "matches", "message", "near_miss", "needs", "priority", "reason", "source")

    def __init__(self) -> None:
        self.id, self.effect, self.reason, self.message, self.source = "slots", Verdict.BLOCK, "why", None, None
        self.priority = lambda: 150
        self.matches, self.near_miss, self.needs, self.is_pure = lambda _: True, lambda _: None, lambda: NEEDS, True


@for_each("rule", [_OwnNeeds(), _Slots()])
def test_what_an_object_says_it_needs_does_not_count(rule: Any) -> None:  # noqa: ANN401 -- of any class
    """It is asked about every call: only a class without objects that may differ says what its rules need."""
    full = complete(rule)
    assert (full.needs(), full.is_pure) == ((), False)
    policy = AuthorizationPolicy([rule])
    assert policy.decide(ToolCall("other"), AuthContext()).verdict is Verdict.BLOCK


def test_a_two_method_rule_may_rely_on_a_label() -> None:
    """A policy in which no flow puts it there is refused."""

    class _Labelled:
        relies_on: ClassVar[SideEffects] = SideEffects(frozenset({"web"}))

        def priority(self) -> int:
            return 250

        def should_allow_without_confirmation(self, _: str, __: AuthContext) -> bool:
            return True

    with pytest.raises(RuleError, match="no flow keeps the label `web`"):
        AuthorizationPolicy([_Labelled()])


def test_a_two_method_rule_has_the_form_of_any_other() -> None:
    """Its place, and no near miss."""

    class _Never:
        def priority(self) -> int:
            return 250

        def should_allow_without_confirmation(self, _: str, __: AuthContext) -> bool:
            return False

    (entry,) = _entries(_Never())
    assert entry.rule.priority() == 250
    (trace,) = AuthorizationPolicy([_Never()]).explain(ToolCall("t"), AuthContext()).rules
    assert (trace.priority, trace.near_miss) == (250, None)


def test_a_rule_that_says_its_tools_in_the_old_way_is_refused() -> None:
    """It would be asked about every tool, and may permit what it left to `selectors()` to keep away."""

    class _Selecting(PlainRule):
        def selectors(self) -> tuple[str, ...]:
            return ("a",)

    with pytest.raises(RuleError, match="write `needs"):
        _entries(_Selecting("r", Verdict.ALLOW, 250))

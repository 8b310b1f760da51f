"""Law 2, one fault at a time: a rule that fails never speaks in a call's favour, and the failure is on record."""

from collections.abc import Callable
from typing import Any

import attrs
import pytest
from tests.tables import for_each

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Phase, RuleFailure, Verdict
from permitry.core.explanation import RuleOutcome
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import Request, Unsure
from permitry.core.spec import ToolSpec
from permitry.core.template import Template

ALLOW, CONFIRM, BLOCK = Verdict.ALLOW, Verdict.CONFIRM, Verdict.BLOCK


class _Truthy:
    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash(True)

    def __repr__(self) -> str:
        return "truthy"


def _raise(error: BaseException) -> Callable[[Any], Any]:
    def fail(_: object) -> None:
        raise error

    return fail


def _endless(request: Any) -> Any:  # noqa: ANN401 -- never comes back
    return _endless(request)


def _set(name: str, value: object) -> Callable[[Any], Any]:
    def change(thing: object) -> bool:
        setattr(thing, name, value)
        return True

    return change


def _no_exceptions_left(_: object) -> None:
    raise ExceptionGroup("two", [ValueError("a"), KeyError("b")])


FAULTS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "raises ValueError": (_raise(ValueError("bad value")), "ValueError: bad value"),
    "raises KeyError": (lambda request: request.call.arguments["missing"], "KeyError: 'missing'"),
    "raises TypeError": (lambda request: request.call.arguments["path"] > 1, "TypeError: "),
    "raises AttributeError": (lambda request: request.nothing, "AttributeError: "),
    "raises AssertionError": (_raise(AssertionError()), "AssertionError: "),
    "raises StopIteration": (_raise(StopIteration()), "StopIteration: "),
    "raises MemoryError": (_raise(MemoryError()), "MemoryError: "),
    "raises a group": (_no_exceptions_left, "ExceptionGroup: two"),
    "never ends": (_endless, "RecursionError: "),
    "returns None": (lambda _: None, "answered None, not True or False"),
    "returns 1": (lambda _: 1, "answered 1, not True or False"),
    "returns 0": (lambda _: 0, "answered 0, not True or False"),
    "returns a str": (lambda _: "yes", "answered 'yes', not True or False"),
    "returns an empty str": (lambda _: "", "answered '', not True or False"),
    "returns a list": (lambda _: [True], "answered [True], not True or False"),
    "returns a truthy object": (lambda _: _Truthy(), "answered truthy, not True or False"),
    "returns a verdict": (lambda _: ALLOW, "answered <Verdict.ALLOW: 'allow'>, not True or False"),
    "returns NotImplemented": (lambda _: NotImplemented, "answered NotImplemented, not True or False"),
    "sets the call": (_set("call", ToolCall("read_file")), "FrozenInstanceError: "),
    "sets the context": (_set("context", AuthContext(yolo_mode=True)), "FrozenInstanceError: "),
    "sets the mode": (lambda q: _set("yolo_mode", True)(q.context), "FrozenInstanceError: "),
    "sets an argument": (lambda q: q.call.arguments.update(path="/"), "AttributeError: "),
    "sets a nested argument": (lambda q: q.call.arguments["list"].append(1), "AttributeError: "),
    "sets the ignore list": (lambda q: q.context.tool_ignore_list.append("bash"), "AttributeError: "),
    "sets the counts": (lambda q: q.context.counts.clear(), "AttributeError: "),
    "sets the labels": (lambda q: q.context.labels.add("x"), "AttributeError: "),
    "sets the template": (lambda q: _set("name", "x")(q.context.active_template), "FrozenInstanceError: "),
    "sets the spec": (lambda q: _set("name", "read_file")(q.spec), "FrozenInstanceError: "),
    "sets the traits": (lambda q: _set("read_only", True)(q.spec.traits), "FrozenInstanceError: "),
}


@attrs.frozen
class _Rule:
    effect: Verdict
    priority_number: int
    test: Callable[[Request], bool] = attrs.field(repr=False)
    id: str = "rule"
    reason: str = "why"
    message: str | None = None
    source: str | None = None

    def priority(self) -> int:
        return self.priority_number

    def matches(self, request: Request) -> bool:
        return self.test(request)

    def near_miss(self, _: Request) -> str | None:
        return "never asked of a rule that failed"


@attrs.frozen
class SeedRule:
    """A rule with the two methods of the seed, whose fault meets a request all the same."""

    priority_number: int
    test: Callable[[Any], bool] = attrs.field(repr=False)

    def priority(self) -> int:
        """Return the given priority."""
        return self.priority_number

    def should_allow_without_confirmation(self, tool_name: str, context: AuthContext) -> bool:
        """Give the given answer."""
        return self.test(Request(_call(), context, ToolSpec(tool_name)))


def _call() -> ToolCall:
    return ToolCall("bash", {"path": "a", "list": [0]})


def _decide(*rules: Any) -> Decision:  # noqa: ANN401 -- rules of both kinds
    context = AuthContext(active_template=Template("t"))
    return AuthorizationPolicy(rules).decide(_call(), context, ToolSpec("bash"))


def _yes(_: Request) -> bool:
    return True


@pytest.fixture(params=FAULTS)
def fault(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """Return one way to fail."""
    return FAULTS[request.param][0]


@for_each("name", FAULTS)
def test_the_failure_is_in_the_decision(name: str) -> None:
    """The record says which rule failed, and how."""
    test, error = FAULTS[name]
    (failure,) = _decide(_Rule(BLOCK, 150, test)).errors
    assert failure.rule_id == "rule"
    assert failure.error.startswith(error)


@for_each("effect", [CONFIRM, BLOCK])
def test_a_restriction_that_fails_has_matched(fault: Callable[[Any], Any], effect: Verdict) -> None:
    """It decides as if it had answered True, above every permission."""
    decision = _decide(_Rule(effect, 150, fault), _Rule(ALLOW, 250, _yes, "yes"))
    assert (decision.verdict, decision.rule_id, decision.phase) == (effect, "rule", Phase.RESTRICTION)
    assert len(decision.errors) == 1


@for_each(("priority", "phase"), [(250, Phase.PERMISSION), (50, Phase.OVERRIDE)])
def test_a_permission_or_override_that_fails_has_not_matched(
    fault: Callable[[Any], Any], priority: int, phase: Phase
) -> None:
    """Alone it allows nothing, and the default speaks; the explanation tells the failure and no near miss."""
    rule = _Rule(ALLOW, priority, fault)
    decision = _decide(rule)
    assert (decision.verdict, decision.rule_id, len(decision.errors)) == (CONFIRM, None, 1)
    (trace,) = AuthorizationPolicy([rule]).explain(_call(), AuthContext()).rules
    assert (trace.outcome, trace.phase, trace.near_miss) == (RuleOutcome.FAILED, phase, None)


@for_each("priority", [50, 150, 250])
def test_a_two_method_rule_that_fails_permits_nothing(fault: Callable[[Any], Any], priority: int) -> None:
    """Whatever its priority, its failure leaves the default, and is on record under its name."""
    decision = _decide(SeedRule(priority, fault))
    assert (decision.verdict, decision.rule_id) == (CONFIRM, None)
    assert [failure.rule_id for failure in decision.errors] == ["seed-rule"]


def test_a_failing_permission_does_not_stop_the_next(fault: Callable[[Any], Any]) -> None:
    """Another permission may still allow, and the failure is on record."""
    decision = _decide(_Rule(ALLOW, 200, fault), _Rule(ALLOW, 250, _yes, "yes"))
    assert (decision.verdict, decision.rule_id, len(decision.errors)) == (ALLOW, "yes", 1)


def test_failures_are_recorded_in_the_order_of_the_rules() -> None:
    """Every failure met on the way is there, also behind the rule that decides."""
    fail = FAULTS["raises ValueError"][0]
    rules = [
        _Rule(CONFIRM, 199, fail, "d"),
        _Rule(ALLOW, 10, fail, "a"),
        _Rule(BLOCK, 120, _yes, "b"),
        _Rule(CONFIRM, 160, fail, "c"),
    ]
    decision = _decide(*rules)
    assert decision.rule_id == "b"
    assert decision.errors == tuple(RuleFailure(rule_id, "ValueError: bad value") for rule_id in "acd")


def test_a_failing_block_is_stricter_than_a_matching_confirm() -> None:
    """Failing or not, the strictest restriction decides."""
    decision = _decide(_Rule(CONFIRM, 100, _yes, "ask"), _Rule(BLOCK, 199, FAULTS["returns None"][0], "block"))
    assert (decision.verdict, decision.rule_id) == (BLOCK, "block")


def test_a_decision_with_errors_leaves_the_next_one_clean() -> None:
    """Errors belong to one request."""
    policy = AuthorizationPolicy([_Rule(BLOCK, 150, lambda request: request.call.arguments["path"] == "a")])
    assert policy.decide(ToolCall("bash"), AuthContext()).errors
    assert policy.decide(_call(), AuthContext()).errors == ()


def test_an_explanation_tells_the_error() -> None:
    """A failed restriction is a match, and says what went wrong."""
    (trace,) = AuthorizationPolicy([_Rule(BLOCK, 150, FAULTS["returns 1"][0])]).explain(_call(), AuthContext()).matches
    assert (trace.outcome, trace.deciding) == (RuleOutcome.FAILED, True)
    assert trace.error == "answered 1, not True or False"


@for_each("error", [KeyboardInterrupt(), SystemExit(1)])
def test_an_end_of_the_process_is_no_answer(error: BaseException) -> None:
    """What ends the process goes on, and no decision is made."""
    with pytest.raises(type(error)):
        _decide(_Rule(BLOCK, 150, _raise(error)))


@attrs.frozen
class _Fixed:
    """A rule that gives one answer, or raises it."""

    id: str
    effect: Verdict
    priority_number: int
    answer: Any
    reason: str = ""
    message: str | None = None
    source: str | None = None

    def priority(self) -> int:
        return self.priority_number

    def matches(self, _: Request) -> bool | Unsure:
        if isinstance(self.answer, Exception):
            raise self.answer
        answer: bool | Unsure = self.answer
        return answer

    def near_miss(self, _: Request) -> str | None:
        return None


def test_a_failure_on_the_way_to_a_doubt_is_on_record() -> None:
    """The decision is made for this call, as the reason of the doubt is."""
    failing = _Fixed("failing", ALLOW, 50, ValueError("on purpose"))
    doubting = _Fixed("doubting", BLOCK, 150, Unsure("it is not known"))
    decision = AuthorizationPolicy([failing, doubting]).decide(ToolCall("a"), AuthContext())
    assert (decision.verdict, decision.rule_id) == (CONFIRM, "doubting")
    assert [str(error) for error in decision.errors] == ["failing: ValueError: on purpose"]

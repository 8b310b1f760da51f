"""What a decision costs, counted and not timed: the same on every machine, and a change that makes it grow fails here.

Counted are the functions that are called, those of Python and those in C, by `sys.setprofile`. The bounds are what was
counted when they were set, with little to spare; who needs more raises them, and says why.
"""

import gc
import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from tests.tables import for_each

from permitry.conditions.args import argument_condition
from permitry.conditions.mode import ModeCondition
from permitry.conditions.scope import Condition, Conditions, Scope
from permitry.conditions.tools import ToolSelector
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.spec import ToolSpec, ToolTraits
from permitry.rules import BUILT_IN_RULES
from permitry.rules.configured import ConfiguredRule

CONTEXT = AuthContext()
MANY = 2_000


def _rule(rule_id: str, tool: str, *plain: Condition, effect: Verdict = Verdict.ALLOW) -> ConfiguredRule:
    priority = 250 if effect is Verdict.ALLOW else 150
    return ConfiguredRule(rule_id, effect, priority, Scope((ToolSelector(tool),), Conditions(plain)), reason="so")


def _policy(others: int) -> AuthorizationPolicy:
    """Return a policy with a few rules about the tools asked about, and so many others."""
    limit = argument_condition("limit", {"le": 100})
    own = [
        _rule("by-name", "named"),
        _rule("by-glob", "glob_*"),
        _rule("blocked", "blocked", effect=Verdict.BLOCK),
        _rule("by-mode", "modal", ModeCondition(("default",))),
        _rule("by-argument", "limited", limit),
        _rule("not-by-argument", "limited", argument_condition("path", {"prefix": "/etc/"}), effect=Verdict.BLOCK),
    ]
    forms = ("tool_{}", "mcp:server{}/*", "*_of_{}", "mcp:*/do_{}_*")
    rest = [_rule(f"r{n}", forms[n % len(forms)].format(n), *((limit,) if n % 3 else ())) for n in range(others)]
    return AuthorizationPolicy((*BUILT_IN_RULES, *own, *rest))


def _counted(work: Callable[[], object]) -> list[str]:
    """Return the names of all functions that were called."""
    names: list[str] = []

    def note(frame: FrameType, event: str, argument: Any) -> None:  # noqa: ANN401 -- it depends on the event
        if event == "call":
            names.append(frame.f_code.co_name)
        elif event == "c_call" and argument is not sys.setprofile:
            names.append(argument.__name__)

    gc.collect()
    before = sys.getprofile()
    gc.disable()  # what is collected in the middle would be counted
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
        gc.enable()
    return names[1:]


FEW, LOTS = _policy(0), _policy(MANY)
ARGUMENTS = {"limit": 7, "path": "/srv/a"}


@for_each(
    ("tool", "rule_id", "bound"),
    [
        # Each rule that is found is asked: nothing is kept of what it said before. See docs/reference/benchmarks.md.
        ("named", "by-name", 28),
        ("glob_a", "by-glob", 40),
        ("blocked", "blocked", 24),
        ("modal", "by-mode", 31),
        ("read_file", "read-only", 37),
        ("unheard_of", None, 27),
        ("limited", "by-argument", 67),
    ],
)
def test_a_decision_makes_few_calls(tool: str, rule_id: str | None, bound: int) -> None:
    """However many rules there are: none about other tools is touched, and the question is all that is built."""
    call = ToolCall(tool, ARGUMENTS)
    counts = []
    for policy in (FEW, LOTS):
        assert policy.decide(call, CONTEXT).rule_id == rule_id
        names = _counted(lambda policy=policy: policy.decide(call, CONTEXT))  # type: ignore[misc]  # bound at once
        assert (names.count("__new__"), names.count("__init__")) == (1, 0)
        counts.append(len(names))
    assert counts[0] == counts[1] <= bound


def test_decisions_are_not_made_again() -> None:
    """The same verdict for the same tool is the same object."""
    calls = [ToolCall("limited", {"limit": n, "path": "/srv"}) for n in range(20)]
    assert len({id(decision) for decision in LOTS.decide_many(calls, CONTEXT)}) == 1


def test_a_decision_allocates_next_to_nothing() -> None:
    """Less than four kilobytes at any moment, and of a thousand decisions no more stays than of one."""
    call = ToolCall("limited", ARGUMENTS)
    LOTS.decide(call, CONTEXT)
    gc.collect()
    # A tracer, such as one that measures coverage, would be counted too.
    tracer = sys.gettrace()
    sys.settrace(None)
    tracemalloc.start()
    try:
        begun = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        for _ in range(1_000):
            LOTS.decide(call, CONTEXT)
        now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        sys.settrace(tracer)
    assert (now - begun < 2048, peak - begun < 4096) == (True, True)


def test_a_call_that_fails_a_rule_costs_little_more() -> None:
    """A missing argument is the usual failure: the rules about other tools are not asked for it."""
    call = ToolCall("limited")
    decision = LOTS.decide(call, CONTEXT)
    assert [error.rule_id for error in decision.errors] == ["not-by-argument", "by-argument"][: len(decision.errors)]
    names = _counted(lambda: LOTS.decide(call, CONTEXT))
    assert len(names) <= 70


@for_each(("effect", "answered"), [(Verdict.ALLOW, None), (Verdict.BLOCK, "r0")])
def test_a_missing_argument_builds_no_record_and_no_decision(
    monkeypatch: pytest.MonkeyPatch, effect: Verdict, answered: str | None
) -> None:
    """Each rule that lacks one, at whatever depth, makes a few calls, and the decision is the one made before."""
    counts = []
    for many in (3, 10):
        paths = [f"a{n}.b" if n % 2 else f"a{n}" for n in range(many)]
        rules = [_rule(f"r{n}", "tool", argument_condition(path, 1), effect=effect) for n, path in enumerate(paths)]
        policy, call = AuthorizationPolicy(rules), ToolCall("tool", {"other": 1})
        decision = policy.decide(call, CONTEXT)
        reported = [(f"r{n}", f"UnevaluableError: `args.{path}` is missing") for n, path in enumerate(paths)]
        assert [(error.rule_id, error.error) for error in decision.errors] == reported
        assert decision.rule_id == answered
        assert policy.explain(call, CONTEXT).decision == decision
        with monkeypatch.context() as patch:
            # None of these can be made now.
            patch.setattr("permitry.core.decision.RuleFailure", None)
            patch.setattr("permitry.core.decision.Decision", None)
            assert policy.decide(call, CONTEXT) is decision
        counts.append(len(_counted(lambda policy=policy, call=call: policy.decide(call, CONTEXT))))  # type: ignore[misc]  # bound at once
    assert counts[1] - counts[0] <= 7 * 70


def test_a_decision_with_failures_is_not_made_again() -> None:
    """The same failures on the way to the same decision are the same object, and are all told."""
    calls = [ToolCall("limited", {"path": f"/srv/{n}"}) for n in range(20)]
    decisions = LOTS.decide_many(calls, CONTEXT)
    assert len({id(decision) for decision in decisions}) == 1
    assert [str(error) for error in decisions[0].errors] == ["by-argument: UnevaluableError: `args.limit` is missing"]


@for_each("tool", ["named", "glob_b", "unheard_of", "limited", "mcp:server4/x", "x_of_2"])
def test_a_new_name_costs_the_same_among_many_rules(tool: str) -> None:
    """Looking it up takes a few more looks, for the lengths that globs have; only rules that are found are tried."""
    policies = (_policy(0), _policy(MANY))
    for policy in policies:
        # The first decision of all works out the version of the policy, which is part of it.
        policy.decide(ToolCall("another"), CONTEXT)
    few, many = (
        len(_counted(lambda policy=policy: policy.decide(ToolCall(tool), CONTEXT)))  # type: ignore[misc]  # bound at once
        for policy in policies
    )
    assert few <= 520
    assert many <= few + 220


def test_a_tool_that_is_shown_again_costs_next_to_nothing() -> None:
    """Only rules that can block all its calls are asked again, as the mode does here: no context is remembered."""
    specs = [ToolSpec(f"tool_{n}", traits=ToolTraits(read_only=bool(n % 2)), roles={}) for n in range(100)]

    def shown() -> list[ToolSpec]:
        return [spec for spec in specs if LOTS.could_run(spec, CONTEXT)]

    assert shown() == specs
    assert len(_counted(shown)) <= 16 * len(specs) + 1


def test_a_rule_takes_little_memory() -> None:
    """Less than 300 bytes beyond the rule itself, in a policy that has been asked nothing yet."""
    rules = [*BUILT_IN_RULES, *(_rule(f"r{n}", f"tool_{n}" if n % 5 else f"glob_{n}_*") for n in range(MANY))]
    gc.collect()
    tracemalloc.start()
    try:
        policy = AuthorizationPolicy(rules)
        gc.collect()  # what Python keeps for objects to come is not taken
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert isinstance(policy.decide(ToolCall("a"), CONTEXT), Decision)
    assert taken / len(rules) < 300

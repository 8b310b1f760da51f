"""Law 4: forgetting never allows more, whatever the bounds are.

Sessions with tiny bounds are held against ones that forget nothing, and against what must never happen: a second run of
a call, and a run after a human's no.
"""

import math
from collections.abc import Sequence
from typing import Any

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

from permitry.audit.record import MemoryRecorder
from permitry.channels.response import ToolConfirmationResponse
from permitry.conditions.budget import Budget
from permitry.conditions.repeat import RepeatCondition
from permitry.conditions.scope import Conditions, Scope
from permitry.conditions.tools import ToolSelector
from permitry.config.default import create_default_authorization_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.counts import Tally
from permitry.core.decision import Verdict
from permitry.core.history import Bounds, History, Log, Ran
from permitry.core.policy import AuthorizationPolicy
from permitry.core.spec import ToolSpec, ToolTraits
from permitry.dispatch.registry import ToolRegistry
from permitry.guard.handled import HandledCalls
from permitry.guard.ledger import ConfirmationLedger
from permitry.handler import Pending, ToolHandler
from permitry.rules.configured import ConfiguredRule
from permitry.rules.flow import FlowRule

_TOOLS = ("look", "write")
_TARGETS = ("host:a", "host:b", "host:c", "host:d")
_CALLS = [ToolCall(tool, {"n": number}) for tool in _TOOLS for number in range(3)]
_tiny = st.builds(Bounds, *(st.integers(1, 3) for _ in range(5)))
_EFFECTS = ((Verdict.ALLOW, 250), (Verdict.CONFIRM, 160), (Verdict.BLOCK, 150))

# What ran -----------------------------------------------------------------------------------------------------------

_ran = st.builds(
    lambda call, **rest: Ran(tool=call.tool, digest=call.digest, **rest),
    st.sampled_from(_CALLS),
    at=st.sampled_from((0.0, 10.0, 20.0, 20.0, 30.0, 15.0, float("nan"))),
    agent=st.sampled_from(("main", "helper")),
    rules=st.frozensets(st.sampled_from(("r0", "r1"))),
    targets=st.frozensets(st.sampled_from(_TARGETS)),
)


@st.composite
def _rules(draw: st.DrawFn, rule_id: str) -> ConfiguredRule:
    effect, priority = draw(st.sampled_from(_EFFECTS))
    budget = draw(
        st.builds(
            Budget,
            st.just(rule_id),
            st.integers(1, 4),
            st.sampled_from(("calls", "targets")),
            st.sampled_from((None, 5.0, 12.0, 100.0)),
            st.sampled_from(("session", "agent", "tool")),
        )
    )
    repeats = Conditions((RepeatCondition(draw(st.integers(2, 4))),))
    has_repeats, tools = draw(st.booleans()), (ToolSelector("*"),)
    scope = Scope(tools)
    if has_repeats:
        # What holds once a call repeats itself restricts, or takes a permission back.
        is_permission = effect is Verdict.ALLOW
        scope = Scope(tools, unless=repeats) if is_permission else Scope(tools, repeats)
    return ConfiguredRule(rule_id, effect, priority, scope, draw(st.sampled_from((None, budget))))


def _policy(rules: tuple[ConfiguredRule, ...]) -> AuthorizationPolicy:
    return AuthorizationPolicy(rules, flows=[FlowRule(rule.id, rule.scope, counts=True) for rule in rules])


_policies = st.tuples(_rules("r0"), _rules("r1")).map(_policy)


def _verdict(policy: AuthorizationPolicy, call: ToolCall, history: History) -> Verdict:
    return policy.decide(call, AuthContext(history=history, now=31.0)).verdict


_charges = st.lists(
    st.tuples(
        st.sampled_from((*map(float, range(20)), math.nan)),
        st.frozensets(st.sampled_from(_TARGETS)),
    ),
    max_size=30,
)


# A small world of its own, and quick: five times the examples of the profile.
@settings(max_examples=5 * settings().max_examples)
@given(
    charges=_charges,
    since=st.one_of(st.just(-math.inf), st.integers(-1, 10).map(float)),
    others=st.frozensets(st.sampled_from((*_TARGETS, "host:new"))),
    exact=st.integers(1, 3),
    kept=st.integers(1, 3),
)
def test_an_account_never_counts_too_little(
    *,
    charges: list[tuple[float, frozenset[str]]],
    since: float,
    others: frozenset[str],
    exact: int,
    kept: int,
) -> None:
    """However few times and targets it keeps; and with room for all of them it counts as one would by hand."""
    late = [targets for at, targets in charges if not math.isfinite(at) or at > since]
    targets = len(others.union(*late))
    for account, is_whole in ((Tally(exact, kept), False), (Tally(99, 99), True)):
        for charge in charges:
            account.add(*charge)
        counted, met = account.calls_since(since), account.targets_since(since, others)
        assert (counted >= len(late), met >= targets) == (True, True)
        assert not is_whole or (counted, met) == (len(late), targets)


@given(policy=_policies, bounds=_tiny, ran=st.lists(_ran, max_size=15), call=st.sampled_from(_CALLS))
def test_a_decision_is_never_milder_for_what_was_forgotten(
    policy: AuthorizationPolicy, bounds: Bounds, ran: list[Ran], call: ToolCall
) -> None:
    """Budgets and repeats of a bounded past restrict at least as much as those of all of it."""
    log = Log(bounds)
    for each in ran:
        log.add(each)
    assert _verdict(policy, call, log.history) >= _verdict(policy, call, History.of(ran))


@given(policy=_policies, ran=st.lists(_ran, max_size=9), later=st.lists(_ran, max_size=9), bounds=_tiny)
def test_a_moment_is_never_judged_milder_later(
    policy: AuthorizationPolicy, ran: list[Ran], later: list[Ran], bounds: Bounds
) -> None:
    """A context that someone kept: the same decision while nothing was forgotten, a stricter one at most after."""
    logs = [Log(), Log(bounds)]
    for log in logs:
        for each in ran:
            log.add(each)
    moments = [log.history for log in logs]
    before = [_verdict(policy, call, moments[0]) for call in _CALLS]
    for log in logs:
        for each in later:
            log.add(each)
    whole, bounded = ([_verdict(policy, call, moment) for call in _CALLS] for moment in moments)
    assert whole == before
    assert all(after >= earlier for after, earlier in zip(bounded, before, strict=True))


# Whole sessions -----------------------------------------------------------------------------------------------------


@attrs.frozen
class Step:
    """One call, and what the human says if asked: yes, no, or nothing for now."""

    call: ToolCall
    mode: str
    answer: bool | None


_steps = st.lists(
    st.builds(
        Step,
        st.builds(
            ToolCall,
            st.sampled_from(_TOOLS),
            st.fixed_dictionaries({"n": st.integers(0, 1)}),
            call_id=st.sampled_from(("a", "b", "c", "d")),
        ),
        st.sampled_from(("default", "default", "yolo")),
        st.sampled_from((True, False, None)),
    ),
    max_size=25,
)
_POLICY = create_default_authorization_policy()


def _played(steps: Sequence[Step], **parts: Any) -> list[tuple[object, ...]]:  # noqa: ANN401 -- passed on
    """Return what was on record of a session: events, ids and digests, and what was answered."""
    registry, recorder = ToolRegistry(), MemoryRecorder()
    for name in _TOOLS:
        registry.register(ToolSpec(name, traits=ToolTraits(read_only=name == "look")), lambda _: (True, "done"))
    handler = ToolHandler(policy=_POLICY, registry=registry, recorder=recorder, **parts)
    for step in steps:
        handler.session.switch_mode(step.mode)
        outcome = handler.begin(step.call)
        if isinstance(outcome, Pending):
            if step.answer is None:
                continue
            outcome = handler.resolve(outcome.pending_id, ToolConfirmationResponse(step.answer))
        handler.run(outcome)
    return [(each["event"], each["call_id"], each["digest"], each.get("approved")) for each in recorder.records]


_bounds: st.SearchStrategy[HandledCalls[Any]] = st.builds(
    HandledCalls, st.integers(0, 3), st.sampled_from((0, 20, 1_000)), st.integers(1, 3)
)


@given(steps=_steps, handled=_bounds, most=st.integers(0, 3))
def test_no_call_runs_twice_or_after_a_no(steps: list[Step], handled: HandledCalls[Any], most: int) -> None:
    """However little is kept of outcomes, ids and questions."""
    records = _played([*steps, *steps], handled=handled, ledger=ConfirmationLedger(most=most))
    started = [call for event, *call, _ in records if event == "started"]
    assert len({tuple(call) for call in started}) == len(started)
    declined: set[tuple[object, ...]] = set()
    for event, *call, approved in records:
        if event == "answered" and not approved:
            declined.add(tuple(call))
        assert not (event in {"started", "asked"} and tuple(call) in declined)


@given(steps=_steps, handled=_bounds, most=st.integers(0, 3))
def test_what_runs_runs_without_bounds_as_well(steps: list[Step], handled: HandledCalls[Any], most: int) -> None:
    """Of each call that runs in a session with bounds, the same ran in one that forgets nothing."""
    bounded = _played(steps, handled=handled, ledger=ConfirmationLedger(most=most))
    whole = _played(steps)
    ran = [{tuple(call) for event, *call, _ in each if event == "started"} for each in (bounded, whole)]
    assert ran[0] <= ran[1]

"""Budgets: so many calls or targets, in a window, of the session, an agent or a tool."""

import sys
from collections.abc import Iterable
from typing import Any, Literal

import attrs
import pytest
from tests.tables import for_each

from permitry.conditions.budget import Budget
from permitry.conditions.scope import Scope
from permitry.conditions.tools import ToolSelector
from permitry.core.action import Access, Action, Actions, Connect, Operands, Place, Run, Touch, Unknown, Word
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.history import History, Log, Ran
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import Request
from permitry.core.shared import Limit
from permitry.errors import UnevaluableError
from permitry.golden.counts import GivenCounts
from permitry.rules.configured import ConfiguredRule
from permitry.rules.flow import FlowRule

CALL = ToolCall("fetch_url", {"url": "https://a"})
A, B = (Actions((Connect(host, host=host),)) for host in ("a", "b"))
RAN = Ran(100.0, "fetch_url", "main", "d", frozenset({"web"}), frozenset({"host:a"}))


def _request(ran: Iterable[Ran] = (), actions: Actions = A, **context: Any) -> Request:  # noqa: ANN401 -- passed on
    return Request(CALL, AuthContext(history=History.of(ran), **context), reader=lambda *_: actions)


# Calls ------------------------------------------------------------------------------------------------------------


@for_each(("ran", "is_spent"), [(0, False), (1, False), (2, True), (3, True)])
def test_a_budget_of_calls_is_spent_when_as_many_ran(*, ran: int, is_spent: bool) -> None:
    """The call that is asked about is the one too many."""
    assert Budget("web", 2).is_spent(_request([RAN] * ran)) is is_spent


def test_only_calls_the_rule_meant_are_counted() -> None:
    """What other rules counted is not on this budget."""
    other = attrs.evolve(RAN, rules=frozenset({"mail", "webs"}))
    assert not Budget("web", 1).is_spent(_request([other, attrs.evolve(RAN, rules=frozenset())]))
    assert Budget("web", 1).is_spent(_request([attrs.evolve(RAN, rules=frozenset({"mail", "web"}))]))


@for_each(("by", "field", "counted"))
def test_a_budget_counts_for_whom_it_says(
    *, by: Literal["session", "agent", "tool"], field: str, counted: bool
) -> None:
    """Of an agent, what others ran is not counted; of a tool, what other tools did is not."""
    changed: dict[str, Any] = {field: "another"}
    other = attrs.evolve(RAN, **changed)
    budget = Budget("web", 1, by=by)
    assert budget.is_spent(_request([RAN]))
    assert budget.is_spent(_request([other])) is counted


# Windows ----------------------------------------------------------------------------------------------------------


@for_each(("now", "is_spent"), [(100.0, True), (159.0, True), (160.0, False), (1000.0, False)])
def test_what_ran_a_window_ago_is_free_again(*, now: float, is_spent: bool) -> None:
    """Sixty seconds after the call its place is free."""
    assert Budget("web", 1, seconds=60).is_spent(_request([RAN], now=now)) is is_spent


def test_what_ran_after_now_is_counted() -> None:
    """A clock that was set back frees nothing."""
    assert Budget("web", 1, seconds=60).is_spent(_request([RAN], now=50.0))


def test_a_window_without_a_clock_cannot_be_counted() -> None:
    """Law 2 says what that means to a restriction and to a permission."""
    with pytest.raises(UnevaluableError, match="no clock"):
        Budget("web", 1, seconds=60).is_spent(_request())


def test_the_whole_session_needs_no_clock() -> None:
    """Without a window everything counts, however long ago."""
    ancient = attrs.evolve(RAN, at=-1e12)
    assert Budget("web", 1).is_spent(_request([ancient], now=None))


# Targets ----------------------------------------------------------------------------------------------------------


@for_each(
    ("most", "ran", "actions", "is_spent"),
    [
        (1, (), A, False),
        (1, (RAN, RAN, RAN), A, False),
        (1, (RAN,), B, True),
        (2, (RAN,), B, False),
        (1, (), Actions((*A.certain, *B.certain)), True),
        (1, (), Actions(A.certain, B.certain), True),
        (1, (RAN,), Actions(), True),
        (1, (), Actions(), False),
    ],
)
def test_a_budget_of_targets_is_spent_by_one_that_is_new(
    *, most: int, ran: tuple[Ran, ...], actions: Actions, is_spent: bool
) -> None:
    """A known target is free; a call may need several at once, and one without any is a target of its own."""
    assert Budget("web", most, "targets").is_spent(_request(ran, actions)) is is_spent


def test_targets_that_cannot_be_read_cannot_be_counted() -> None:
    """Law 2 again: what the call touches is not certain."""
    unreadable = Actions((Unknown("$x", "an expansion"),))
    with pytest.raises(UnevaluableError, match="targets cannot be counted"):
        Budget("web", 9, "targets").is_spent(_request(actions=unreadable))
    assert not Budget("web", 9).is_spent(_request(actions=unreadable))


def test_targets_of_calls_outside_the_window_are_forgotten() -> None:
    """The window holds for targets as for calls."""
    budget = Budget("web", 1, "targets", seconds=60)
    assert budget.is_spent(_request([RAN], B, now=110.0))
    assert not budget.is_spent(_request([RAN], B, now=500.0))


def _run(*touches: Touch, is_listed: bool = True) -> Run:
    return Run((Word("x"),), read_operands=lambda: Operands(touches, is_listed=is_listed))


@for_each(
    "action",
    [
        Touch(Access.READ, Place("*.py", ("/w/*.py",), ("/w/*.py",), is_certain=False)),
        Touch(Access.READ, Place("src", ("/w/src",), ("/w/src",), is_tree=True)),
        _run(is_listed=False),
        _run(Touch(Access.WRITE, Place("*", ("/w/*",), ("/w/*",), is_certain=False))),
        _run(Touch(Access.WRITE, Place("a", ("/w/a",), ("/w/a",), is_tree=True))),
        Connect("http://$x", host=None),
    ],
)
def test_targets_whose_number_is_not_known_cannot_be_counted(action: Action) -> None:
    """A pattern, a whole tree, a program no one listed or no address may be any number of targets."""
    for actions in (Actions((action,)), Actions(A.certain, (action,))):
        with pytest.raises(UnevaluableError, match="targets cannot be counted"):
            Budget("web", 9, "targets").is_spent(_request(actions=actions))
        assert not Budget("web", 9).is_spent(_request(actions=actions))


def test_files_that_are_named_are_counted() -> None:
    """Those of a listed program as well."""
    named = _run(*(Touch(Access.READ, Place(name, (f"/w/{name}",), (f"/w/{name}",))) for name in "abc"))
    assert Budget("web", 2, "targets").is_spent(_request(actions=Actions((named,))))
    assert not Budget("web", 3, "targets").is_spent(_request(actions=Actions((named,))))


@for_each("now", [float("nan"), float("inf"), float("-inf")])
def test_a_clock_that_tells_no_time_cannot_be_counted_on(now: float) -> None:
    """No window could be told from it: every call would lie outside."""
    with pytest.raises(UnevaluableError, match="no clock"):
        Budget("web", 1, seconds=60).is_spent(_request([RAN], now=now))


def test_a_restriction_whose_budget_cannot_be_counted_applies() -> None:
    """Law 2: with a clock that is broken, and with targets that are not known."""
    scope = Scope((ToolSelector("fetch_url"),))
    for budget, request in (
        (Budget("web", 9, seconds=60), _request(now=float("nan"))),
        (Budget("web", 9, "targets"), _request(actions=Actions((_run(is_listed=False),)))),
    ):
        rule, flow = ConfiguredRule("web", Verdict.BLOCK, 150, scope, budget), FlowRule("web", scope, counts=True)
        policy = AuthorizationPolicy([rule], flows=[flow], reader=request.reader)
        assert policy.decide(request.call, request.context).verdict is Verdict.BLOCK


# However long the session -----------------------------------------------------------------------------------------


def _work(request: Request, budget: Budget) -> int:
    """Return how many functions are called to say whether a budget is spent."""
    count = 0

    def note(_: object, event: str, __: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        budget.is_spent(request)
    finally:
        sys.setprofile(before)
    return count


@for_each("of", ["calls", "targets"])
@for_each("seconds", [None, 3600.0])
def test_a_budget_costs_the_same_after_many_calls(of: Literal["calls", "targets"], seconds: float | None) -> None:
    """Nothing looks at what ran call by call."""
    costs = []
    for count in (100, 5_000):
        log = Log()
        for at in range(count):
            log.add(attrs.evolve(RAN, at=float(at), digest=str(at), targets=frozenset({f"host:{at % 40}"})))
        context = AuthContext(history=log.history, now=float(count))
        request = Request(CALL, context, reader=lambda *_: A)
        costs.append(_work(request, Budget("web", 50, of, seconds)))
    # The first of all caches a little more.
    assert costs[1] <= costs[0] < 150


# Shared budgets ---------------------------------------------------------------------------------------------------

SHARED = Budget("web", 2, seconds=3600.0, by="principal")


@for_each(("used", "is_spent"), [(0, False), (1, False), (2, True), (3, True)])
def test_a_shared_budget_is_spent_when_as_many_are_counted(*, used: int, is_spent: bool) -> None:
    """By the store, whatever ran in this session; a clock is not needed for that."""
    assert SHARED.is_spent(_request([RAN] * 5, shared=GivenCounts({"web": used}))) is is_spent


def test_a_shared_budget_has_no_answer_without_a_store() -> None:
    """So that a restriction applies, and a permission does not."""
    with pytest.raises(UnevaluableError, match="no store counts this budget"):
        SHARED.is_spent(_request(now=0.0))
    with pytest.raises(UnevaluableError, match="no store"):
        SHARED.fact(_request(now=0.0), is_spent=True)


def test_what_cannot_be_counted_together_is_refused() -> None:
    """A session has an end, and what outlasts it needs a window; targets are not kept in a store."""
    with pytest.raises(ValueError, match="by organisation counts calls in a window"):
        Budget("web", 2, by="organisation")
    with pytest.raises(ValueError, match="by principal counts calls in a window"):
        Budget("web", 2, "targets", 60.0, "principal")


@for_each(("seconds", "words"), [(90.0, "90s"), (60.0, "1m"), (7200.0, "2h"), (86400.0, "1d"), (0.5, "0.5s")])
def test_a_shared_budget_reports_how_much_is_used(seconds: float, words: str) -> None:
    """With its window as in a rule file; other budgets have no such words."""
    request = _request(shared=GivenCounts({"web": 1}))
    budget = attrs.evolve(SHARED, seconds=seconds)
    assert budget.fact(request, is_spent=False) == f"the budget is not spent: 1 of 2 in {words} by principal"
    assert budget.fact(request, is_spent=True) is None
    assert Budget("web", 2).fact(request, is_spent=False) == "the budget is not spent"


def test_a_shared_budget_is_counted_by_its_limit() -> None:
    """Any other has none."""
    assert SHARED.limit == Limit("web", "principal", 2, 3600.0)
    assert attrs.evolve(SHARED, by="agent").limit is None
    assert Budget("web", 2).limit is None

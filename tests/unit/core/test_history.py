"""What ran before, as a context sees it."""

import copy
import math
import pickle
import tracemalloc
from collections.abc import Callable

import attrs
import pytest
from tests.tables import for_each

from permitry.core.call import ToolCall
from permitry.core.history import Bounds, History, Log, Ran, Whose
from permitry.errors import UnevaluableError

FIRST, SECOND = Ran(1.0, "bash", "main", "d1"), Ran(2.0, "grep", "main", "d2")
TINY = Bounds(calls=2, digests=2, accounts=3, times=1, targets=2)
ALL: Whose = ("few", "session", "")


def _ran(at: float = 0.0, *targets: str, tool: str = "bash", rule: str = "few") -> Ran:
    return Ran(at, tool, "main", ToolCall(f"at {at}").digest, frozenset({rule}), frozenset(targets))


def _log(*calls: Ran, bounds: Bounds = TINY) -> Log:
    log = Log(bounds)
    for ran in calls:
        log.add(ran)
    return log


def test_a_history_tells_the_newest_first() -> None:
    """Rules look at what was last."""
    assert list(History.of([FIRST, SECOND]).latest()) == [SECOND, FIRST]
    assert list(History().latest()) == []


def test_a_history_does_not_grow_with_its_log() -> None:
    """It looks at a log that others add to, and never changes."""
    log = Log()
    log.add(FIRST)
    history = log.history
    log.add(SECOND)
    assert (len(history), list(history.latest())) == (1, [FIRST])


def test_histories_go_by_content() -> None:
    """Equal runs make equal histories, whatever list they look at."""
    log = Log()
    log.add(FIRST)
    history = log.history
    log.add(SECOND)
    assert history == History.of([FIRST]) != History.of([FIRST, SECOND])
    assert hash(history) == hash(History.of([FIRST]))
    assert history != (FIRST,)


def test_a_copy_holds_what_the_history_held() -> None:
    """A copy takes along no later run, and shares no list."""
    log = Log()
    log.add(FIRST)
    history = log.history
    log.add(SECOND)
    assert pickle.loads(pickle.dumps(history)) == history == copy.deepcopy(history)  # noqa: S301 -- our own bytes


# Counting -------------------------------------------------------------------------------------------------------


def test_a_moment_counts_what_had_run_by_then() -> None:
    """What ran later is on no count, whatever is counted."""
    log = Log()
    log.add(_ran(1.0, "a"))
    before = log.history
    for at in (2.0, 2.0, 1.0):
        log.add(_ran(at, "b"))
    assert (before.count(_ran(1.0).digest), log.history.count(_ran(1.0).digest)) == (1, 2)
    assert (before.calls(ALL), before.calls(ALL, 1.0), log.history.calls(ALL, 1.0)) == (1, 0, 2)
    assert (before.targets(ALL, {"c"}), log.history.targets(ALL, {"c"})) == (2, 3)


@for_each("since", [-math.inf, 0.5, 1.0, 2.0, 5.0, 9.0])
def test_times_may_come_in_any_order(since: float) -> None:
    """A clock that was set back, or forward by mistake, changes no count of the others."""
    times = [1.0, 5.0, 2.0, 2.0, 9.0, 3.0, 1.0, 4.0]
    history = History.of(_ran(at, f"at {at}") for at in times)
    late = [at for at in times if at > since]
    assert history.calls(ALL, since) == len(late)
    assert history.targets(ALL, {"new"}, since) == len({*late}) + 1


@for_each("at", [math.nan, math.inf, -math.inf])
def test_a_call_at_no_known_time_is_never_free_again(at: float) -> None:
    """A clock that fails for once frees nothing."""
    history = History.of([_ran(1.0, "a"), _ran(at, "b"), _ran(2.0, "c")])
    assert history.calls(ALL, 1e12) == 1
    assert history.targets(ALL, (), 1e12) == 1


# Forgetting -----------------------------------------------------------------------------------------------------


def test_what_was_forgotten_counts_on() -> None:
    """Two calls are kept in full; of the others it is known that they ran, and how often."""
    log = _log(*(_ran(at, f"at {at}") for at in (1.0, 1.0, 1.0, 2.0, 3.0)))
    assert [ran.at for ran in log.history.latest()] == [3.0, 2.0]
    assert (len(log.history), log.history.count(_ran(1.0).digest)) == (5, 3)
    assert (log.history.calls(ALL), log.history.targets(ALL, ())) == (5, 3)


def test_any_text_is_counted_as_a_digest() -> None:
    """A host may give its calls digests of its own."""
    log = _log(*(attrs.evolve(_ran(1.0), digest=digest) for digest in ("no digest", "no digest", "another")))
    assert [log.history.count(digest) for digest in ("no digest", "another", "none")] == [2, 1, 0]


def test_digests_past_the_bound_cannot_be_counted() -> None:
    """Those that have room are counted as before; for any other one no one knows."""
    log = _log(*(_ran(float(at)) for at in range(9)))
    assert log.history.count(_ran(1.0).digest) == 1
    for at in (5.0, 99.0):
        with pytest.raises(UnevaluableError, match="so many calls"):
            log.history.count(_ran(at).digest)


def test_accounts_past_the_bound_cannot_be_counted() -> None:
    """Those that have room are counted as before; any other one may have been charged."""
    log = _log(_ran(1.0), _ran(2.0, rule="other"))
    assert log.history.calls(ALL) == 1
    with pytest.raises(UnevaluableError, match="so many budgets"):
        log.history.calls(("other", "session", ""))


def test_a_moment_that_was_forgotten_cannot_be_counted() -> None:
    """An old context whose later calls are not kept any more has no answer, not another one."""
    log = _log(_ran(1.0))
    before = log.history
    for at in (2.0, 3.0):
        log.add(_ran(at))
    assert before.calls(ALL) == 1
    log.add(_ran(4.0))
    with pytest.raises(UnevaluableError, match="this moment"):
        before.calls(ALL)
    with pytest.raises(UnevaluableError, match="this moment"):
        before.count(_ran(1.0).digest)


@for_each("since", [-math.inf, -1.0, 50.0, 97.5, 98.5, 99.5])
def test_what_falls_out_of_a_count_is_never_free_too_early(since: float) -> None:
    """With few times and targets kept, the counts are as high or higher."""
    calls = [_ran(float(at), f"at {at % 7}") for at in range(100)]
    few, all_of_them = _log(*calls).history, History.of(calls)
    assert few.calls(ALL, since) >= all_of_them.calls(ALL, since)
    assert few.targets(ALL, {"new"}, since) >= all_of_them.targets(ALL, {"new"}, since)


def test_a_count_is_a_thousandth_too_high_at_most() -> None:
    """However long a session is, and however far a window reaches back."""
    log = _log(*(_ran(float(at)) for at in range(60_000)), bounds=attrs.evolve(Bounds(), calls=10))
    for since in (10, 1_000, 30_000, 50_000, 59_900):
        true = 59_999 - since
        assert true <= log.history.calls(ALL, float(since)) <= true * 1.001 + 1


def test_a_long_target_is_kept_by_its_digest() -> None:
    """It is the same target as before, in a few bytes."""
    long = "path:/" + "x" * 10_000
    log = _log(_ran(1.0, long))
    assert log.history.targets(ALL, {long}) == 1
    assert all(len(target) < 100 for ran in log.history.latest() for target in ran.targets)


def test_a_call_with_many_targets_does_not_crowd_the_memory() -> None:
    """It is counted, and not kept in full."""
    log = _log(_ran(1.0, *(f"path:/{number}" for number in range(1_000))))
    assert (list(log.history.latest()), log.history.targets(ALL, ()) > 9) == ([], True)


def test_a_log_stays_as_large_as_it_is() -> None:
    """Ten times the calls take no more memory."""
    log = _log(*(_ran(float(at), f"path:/{at}") for at in range(2_000)), bounds=Bounds(10, 50, 10, 10, 10))
    tracemalloc.start()
    try:
        for at in range(20_000):
            log.add(_ran(float(at), f"path:/{at}"))
        grown = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert grown < 20_000


def _pickled(history: History) -> History:
    again: History = pickle.loads(pickle.dumps(history))  # noqa: S301 -- our own bytes
    return again


@for_each("copied", [copy.deepcopy, _pickled])
def test_a_copy_counts_what_the_history_forgot(copied: Callable[[History], History]) -> None:
    """In another process a budget is as spent as here."""
    history = _log(*(_ran(float(at), f"at {at}") for at in range(4))).history
    again = copied(history)
    assert (again, len(again)) == (history, 4)
    for asked in (again, history):
        assert (asked.calls(ALL), asked.count(_ran(0.0).digest), asked.targets(ALL, ())) == (4, 1, 4)
    assert history != _log(*(_ran(at + 0.5) for at in range(4))).history

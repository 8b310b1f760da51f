"""How things are timed: every call by itself, in rounds, all subjects in turns.

A machine that others use, too, is slow now and then, for all subjects alike. So the subjects take turns, and of the
rounds the best one counts: of a figure's noise, nothing makes it smaller than it is. As each turn would find the caches
of the processor full of what the others left there, it begins with a pass that is not timed. The collector stays on;
what was loaded is taken out of its sight, as servers do after they have started.
"""

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

__all__ = ["Request", "Subject", "Timing", "best_of", "clock_cost", "measure"]

Request: TypeAlias = tuple[Any, ...]
_FEWEST = 5


@attrs.frozen
class Subject:
    """Something to time: a function, and for every round the arguments of its calls.

    What must not be asked twice is not `repeatable`: no round begins with a pass that is not timed.
    """

    ask: Callable[..., object]
    requests: Callable[[int], Sequence[Request]]
    is_repeatable: bool = True


@attrs.frozen
class Timing:
    """What a call takes, in microseconds: the best median and 99th percentile of any round, and calls per second."""

    p50: float
    p99: float
    per_second: float


def clock_cost() -> int:
    """Return what reading the clock itself adds to a figure, in nanoseconds."""
    clock = time.perf_counter_ns
    found = []
    for _ in range(2_000):
        begin = clock()
        found.append(clock() - begin)
    return sorted(found)[len(found) // 2]


def measure(
    subjects: Mapping[str, Subject], *, rounds: int, seconds: float, fewest: int = _FEWEST
) -> dict[str, Timing]:
    """Return the timing of every subject; a round of one ends after `seconds`, yet not before `fewest` calls."""
    cost = clock_cost()
    found: dict[str, list[Timing]] = {name: [] for name in subjects}
    gc.collect()
    gc.freeze()
    try:
        for turn in range(rounds + 1):
            for name, subject in subjects.items():
                requests = _in_turn(subject, turn)
                if subject.is_repeatable or not turn:
                    _one_round(subject.ask, requests, seconds / 4, cost, 1)
                if turn:
                    timing = _one_round(subject.ask, requests, seconds, cost, fewest)
                    found[name].append(timing)
    finally:
        gc.unfreeze()
    return {name: _best(timings) for name, timings in found.items()}


def best_of(count: int, build: Callable[[], object]) -> float:
    """Return the least of `count` times, in seconds, that building something takes."""
    found = []
    for _ in range(count):
        gc.collect()
        begin = time.perf_counter()
        kept = build()
        found.append(time.perf_counter() - begin)
        del kept
    return min(found)


def _in_turn(subject: Subject, turn: int) -> Sequence[Request]:
    """Return the requests of a round; slow subjects do not get through them, so each round begins elsewhere."""
    requests = subject.requests(turn)
    start = turn * 7 % len(requests)
    return (*requests[start:], *requests[:start])


def _one_round(
    ask: Callable[..., object], requests: Sequence[Request], seconds: float, cost: int, fewest: int
) -> Timing:
    clock = time.perf_counter_ns
    end = clock() + int(seconds * 1e9)
    taken = []
    for request in requests:
        begin = clock()
        ask(*request)
        now = clock()
        taken.append(max(now - begin - cost, 1))
        if now > end and len(taken) >= fewest:
            break
    return _timing(taken)


def _timing(taken: list[int]) -> Timing:
    taken.sort()
    last = len(taken) - 1
    return Timing(taken[last // 2] / 1e3, taken[min(last, round(last * 0.99))] / 1e3, len(taken) / sum(taken) * 1e9)


def _best(timings: Sequence[Timing]) -> Timing:
    return Timing(
        min(timing.p50 for timing in timings),
        min(timing.p99 for timing in timings),
        max(timing.per_second for timing in timings),
    )

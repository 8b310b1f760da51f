"""How long one decision takes, by the number of rules: permitry next to what else there is."""

import functools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs
from tests.bench.agreement import disagreements
from tests.bench.memory import bytes_per_rule
from tests.bench.peers.engine import Engine, Loaded
from tests.bench.peers.everyone import absent, installed
from tests.bench.peers.permitry_ import as_call, policy_of, rule_file
from tests.bench.report import Report, Scale, Table, Tell, number
from tests.bench.timing import Request, Subject, Timing, best_of, measure
from tests.bench.workload import KINDS, BenchCall, BenchRule, calls, fresh_calls, rules

from permitry import AuthorizationPolicy

__all__ = ["FRESH", "WITH_CALL", "run"]

FRESH = "new name"
WITH_CALL = "permitry, building the call"
_BASE = "permitry"
_IN_TURNS = "permitry, in turns"
_TEXT = """\
Each engine gets the same rules and calls, in its own words: 80 % exact names, 15 % globs, 5 % conditions on the mode,
the beginning of a path, or a number. A *hit* meets a rule, a *miss* none; *mixed* is half hits, a tenth conditions that
just fail, and misses. There are {calls} different calls of each kind, asked about again and again, so permitry has met
their names before. A *new name* was never asked about; half of these fall under a glob. Requests are made
beforehand, for all engines alike; the row `permitry, building the call` makes its `ToolCall` as part of the time. The
engines of others know two answers where permitry has three: there, `confirm` and `block` are both "not allow"."""


@attrs.frozen
class _Round:
    """What was measured with one number of rules."""

    count: int
    timings: Mapping[str, Mapping[str, Timing]]
    """By kind of call, then by engine."""
    seconds: Mapping[str, float]
    """What loading took."""
    wrong: tuple[str, ...]
    wrong_names: frozenset[str]
    ours: Subject | None
    """Our own engine with mixed calls, to be timed again next to those with other numbers of rules."""


def run(scale: Scale, tell: Tell) -> Report:
    """Return the tables of decisions."""
    found = [_measured(count, scale, tell) for count in scale.sizes]
    tell("decisions: all numbers of rules in turns")
    grown = _in_turns(found, scale)
    detail = next(each for each in found if each.count == scale.largest)
    tell(f"decisions: weighing {detail.count} rules")
    weights = {each.name: bytes_per_rule(each, detail.count) for each in _bearable(detail.count)[: scale.weighed]}
    tell("decisions: building the index")
    index = _index_seconds(detail.count)
    return Report(
        "Decisions",
        (_ratios(found),),
        (_by_kind(detail), _growth(found, grown), _by_count(found), _in_detail(detail, weights)),
        text=f"{_TEXT.format(calls=scale.calls)}\n\n{_notes()}",
        facts=_facts(found, detail, weights, index) | _growth_facts(grown),
        series={
            name: [(each.count, each.timings["mixed"][name].p50) for each in found if name in each.timings["mixed"]]
            for name in _names(found)
        },
        wrong=tuple(line for each in found for line in each.wrong),
    )


def _measured(count: int, scale: Scale, tell: Tell) -> _Round:
    made = rules(count)
    loaded: dict[str, Loaded] = {}
    seconds: dict[str, float] = {}
    for engine in _bearable(count):
        tell(f"decisions: {count} rules, loading {engine.name}")
        loaded[engine.name], seconds[engine.name] = _load(engine, made)
    samples = {kind: calls(made, kind, scale.calls) for kind in KINDS}
    every = [call for kind in ("mixed", "hit", "miss") for call in samples[kind]]
    tell(f"decisions: {count} rules, comparing the answers")
    wrong = disagreements(loaded, loaded["naive loop"], every)
    for name in wrong:
        del loaded[name]
    timings: dict[str, Mapping[str, Timing]] = {}
    for kind, sample in samples.items():
        tell(f"decisions: {count} rules, {kind}")
        subjects = {name: _warm(engine, sample) for name, engine in loaded.items()}
        if _BASE in loaded:
            subjects[WITH_CALL] = _building(loaded[_BASE], sample)
        timings[kind] = measure(subjects, rounds=scale.rounds, seconds=scale.seconds)
    tell(f"decisions: {count} rules, {FRESH}")
    fresh = tuple(fresh_calls(made, (scale.rounds + 1) * scale.calls))
    subjects = {name: _cold(engine, fresh, scale.calls) for name, engine in loaded.items()}
    timings[FRESH] = measure(subjects, rounds=scale.rounds, seconds=scale.seconds)
    notes = tuple(f"{count} rules: {each}" for each in wrong.values())
    ours = _warm(loaded[_BASE], samples["mixed"]) if _BASE in loaded else None
    return _Round(count, timings, seconds, notes, frozenset(wrong), ours)


def _in_turns(found: Sequence[_Round], scale: Scale) -> dict[int, Timing]:
    """Return what a decision of ours takes by the number of rules, all timed at one time and not minutes apart."""
    subjects = {str(each.count): each.ours for each in found if each.ours is not None}
    timings = measure(subjects, rounds=scale.rounds, seconds=scale.seconds)
    return {int(count): timing for count, timing in timings.items()}


def _bearable(count: int) -> tuple[Engine, ...]:
    return tuple(engine for engine in installed() if count <= engine.most)


def _load(engine: Engine, made: Sequence[BenchRule]) -> tuple[Loaded, float]:
    written = engine.write(made)
    begin = time.perf_counter()
    loaded = engine.load(written)
    return loaded, time.perf_counter() - begin


def _warm(engine: Loaded, sample: Sequence[BenchCall]) -> Subject:
    requests = [engine.prepare(call) for call in sample]
    return Subject(engine.ask, lambda _: requests)


def _cold(engine: Loaded, fresh: Sequence[BenchCall], count: int) -> Subject:
    def requests(turn: int) -> Sequence[Request]:
        return [engine.prepare(call) for call in fresh[turn * count : (turn + 1) * count]]

    return Subject(engine.ask, requests, is_repeatable=False)


def _building(engine: Loaded, sample: Sequence[BenchCall]) -> Subject:
    contexts = [(call, engine.prepare(call)[1]) for call in sample]
    decide: Callable[..., object] = engine.ask

    def ask(call: BenchCall, context: Any) -> object:  # noqa: ANN401 -- what the engine prepared
        return decide(as_call(call), context)

    return Subject(ask, lambda _: contexts)


def _index_seconds(count: int) -> float:
    policy = policy_of(rule_file(rules(count)))
    build = functools.partial(
        AuthorizationPolicy, policy.rules, reader=policy.reader, declared=policy.declared, flows=policy.flows
    )
    return best_of(5, build)


# Tables ---------------------------------------------------------------------------------------------------------------


def _names(found: Sequence[_Round]) -> list[str]:
    first = found[0].timings["mixed"]
    ordered = [engine.name for engine in installed() if engine.name in first]
    return [ordered[0], WITH_CALL, *ordered[1:]] if WITH_CALL in first else ordered


def _others(found: Sequence[_Round]) -> list[str]:
    return [name for name in _names(found) if name != _BASE]


def _lacking(found: Sequence[_Round]) -> Iterator[tuple[str, str]]:
    yield from ((one.name, one.reason) for one in absent())
    yield from (
        (name, "answers differ, so not timed") for name in sorted({name for one in found for name in one.wrong_names})
    )


def _head(found: Sequence[_Round], first: str = "engine") -> tuple[str, ...]:
    return (first, *(f"{each.count:,} rules" for each in found))


def _ratios(found: Sequence[_Round]) -> Table:
    rows = [(name, *(_times(each.timings["mixed"], name) for each in found)) for name in _others(found)]
    caption = (
        "How many times as long as permitry a decision takes (median, mixed calls); below 1 is faster than permitry:"
    )
    return Table(caption, _head(found), (*rows, *_lacking(found)))


def _times(timings: Mapping[str, Timing], name: str) -> str:
    if name not in timings or _BASE not in timings:
        return "-"
    return f"{number(timings[name].p50 / timings[_BASE].p50)}x"


def _by_kind(detail: _Round) -> Table:
    kinds = (*KINDS, FRESH)
    rows = [(name, *(_times(detail.timings[kind], name) for kind in kinds)) for name in _others([detail])]
    return Table(
        f"The same by kind of call, with {detail.count:,} rules:", ("engine", *kinds), (*rows, *_lacking([detail]))
    )


def _growth(found: Sequence[_Round], grown: Mapping[int, Timing]) -> Table:
    first = found[0].timings["mixed"]
    caption = (
        f"How many times as long as with {found[0].count} rules a decision of the same engine takes (median, mixed); "
        f"the row `{_IN_TURNS}` is measured for all numbers of rules at one time, in turns:"
    )
    rows = []
    if found[0].count in grown:
        each = [grown.get(one.count) for one in found]
        base = grown[found[0].count].p50
        rows.append((_IN_TURNS, *("-" if one is None else f"{number(one.p50 / base)}x" for one in each)))
    for name in _names(found):
        each = [one.timings["mixed"].get(name) for one in found]
        rows.append((name, *("-" if one is None else f"{number(one.p50 / first[name].p50)}x" for one in each)))
    return Table(caption, _head(found), tuple(rows))


def _by_count(found: Sequence[_Round]) -> Table:
    rows = [(name, *(_pair(each.timings["mixed"], name) for each in found)) for name in _names(found)]
    return Table("One decision in µs, median / 99th percentile, mixed calls:", _head(found), (*rows, *_lacking(found)))


def _pair(timings: Mapping[str, Timing], name: str) -> str:
    timing = timings.get(name)
    return "-" if timing is None else f"{number(timing.p50)} / {number(timing.p99)}"


def _in_detail(detail: _Round, weights: Mapping[str, float | None]) -> Table:
    natives = {engine.name: engine.is_native for engine in installed()}
    rows = []
    for name in _names([detail]):
        mixed = detail.timings["mixed"][name]
        seconds, weight = detail.seconds.get(name), weights.get(name)
        memory = "-" if weight is None else f"{number(weight)} {'RSS' if natives.get(name) else 'traced'}"
        rows.append(
            (
                name,
                *(_pair(detail.timings[kind], name) for kind in (*KINDS, FRESH)),
                number(mixed.per_second),
                "-" if seconds is None else number(seconds * 1000),
                memory,
            )
        )
    head = ("engine", "hit", "miss", "mixed", FRESH, "mixed/s", "load ms", "bytes a rule")
    caption = (
        f"With {detail.count:,} rules: µs, median / 99th percentile, by kind of call; a *{FRESH}* was never asked "
        "about before. Memory is what `tracemalloc` counts, or for native engines what the process grows by (RSS):"
    )
    return Table(caption, head, tuple(rows))


def _notes() -> str:
    return "\n".join(f"- {engine.name}: {engine.note}." for engine in installed())


def _facts(
    found: Sequence[_Round], detail: _Round, weights: Mapping[str, float | None], index: float
) -> dict[str, float]:
    facts: dict[str, float] = {f"index-ms-{detail.count}": index * 1000}
    for each in found:
        ours = each.timings["mixed"].get(_BASE)
        if ours is not None:
            facts |= {f"p50-{each.count}": ours.p50, f"p99-{each.count}": ours.p99}
            others = each.timings["mixed"].items()
            facts |= {f"{name}-{each.count}": timing.p50 / ours.p50 for name, timing in others}
    fresh, weight = detail.timings[FRESH].get(_BASE), weights.get(_BASE)
    if fresh is not None:
        facts[f"new-name-{detail.count}"] = fresh.p50
    if _BASE in detail.seconds:
        facts[f"load-ms-{detail.count}"] = detail.seconds[_BASE] * 1000
    if weight is not None:
        facts[f"bytes-a-rule-{detail.count}"] = weight
    return facts


def _growth_facts(grown: Mapping[int, Timing]) -> dict[str, float]:
    if not grown:
        return {}
    fewest, most = min(grown), max(grown)
    return {f"growth-{fewest}-{most}": grown[most].p50 / grown[fewest].p50}

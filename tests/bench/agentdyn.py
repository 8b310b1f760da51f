"""AgentDyn's recorded calls under rules that know where a value comes from; no model is asked.

::

    python -m tests.bench.agentdyn

The calls are read from the folder `shared` next to the checkout. They hold neither what the user wrote nor what tools
returned. In place of the first is what the other runs of the same task without an attack put into their arguments. The
page `docs/reference/benchmarks-agentdyn.md` has the figures, and what they show.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from tests.bench.peers.engine import version
from tests.bench.report import Table, markdown
from tests.peers.test_agentdyn import CALLS, SUITES, Figures, Lines, example, figures, kind_of

from permitry import AuthorizationPolicy, Session, ToolCall, load_policy
from permitry.core.context import AuthContext
from permitry.core.json_values import JsonValue

__all__ = ["main", "measured", "recorded", "words_of_others"]

_HERE = Path(__file__).resolve().parent
_HEAD = ("suite, rules", "attacks let through", "attacks", "benign asked", "benign refused", "calls", "unasked", "runs")


def recorded() -> dict[str, Lines]:
    """Return the calls of each run, in their order."""
    runs: dict[str, Lines] = defaultdict(list)
    for line in CALLS.read_text(encoding="utf-8").splitlines():
        call = json.loads(line)
        runs[call["run"]].append(call)
    return runs


def words_of_others(runs: Mapping[str, Lines]) -> Callable[[Lines], str]:
    """Return a function that says, for a run, what all other runs of its task without an attack gave to tools."""
    given: dict[tuple[str, str], dict[str, set[str]]] = defaultdict(dict)
    for name, run in runs.items():
        if kind_of(run) == "benign":
            given[_task(run)][name] = {each for call in run for each in _values(call["arguments"])}

    def words(run: Lines) -> str:
        others = [values for name, values in given[_task(run)].items() if name != run[0]["run"]]
        return "\n".join(sorted(set().union(*others)))

    return words


def _task(run: Lines) -> tuple[str, str]:
    return run[0]["suite"], run[0]["user_task"]


def _values(value: JsonValue) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = tuple(value.values())
    if isinstance(value, list | tuple):
        for inner in value:
            yield from _values(inner)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)


def _verdicts(policy: AuthorizationPolicy, words: Callable[[Lines], str], run: Lines) -> list[str]:
    """Return the verdicts on a run in one session; a call that is asked about counts as approved."""
    session, verdicts = Session(workspace="/nowhere"), []
    session.heard(words(run))
    for line in run:
        call, context = ToolCall(line["name"], line["arguments"]), AuthContext.from_state(session)
        verdicts.append(policy.decide(call, context).verdict.value)
        if verdicts[-1] != "block":
            session.apply(call, policy.side_effects(call, context))
            session.returned(call, None)
    return verdicts


def measured(runs: Mapping[str, Lines], suite: str, rules: str) -> Figures:
    """Return the figures of a suite under `labels`, the example sets, or those of this benchmark: `provenance`.

    `unheard` are the same, where nothing is known of what the user wrote.
    """
    path = example(suite) if rules == "labels" else str(_HERE / "dyn" / f"{suite}.toml")
    words = (lambda _: "") if rules == "unheard" else words_of_others(runs)
    return figures(runs, suite, partial(_verdicts, load_policy(path), words))


def _numbers(each: Figures) -> tuple[int, ...]:
    """Return the figures of a row; attacks let through at least and at most come first."""
    (least, most), benign, attacks = each.stopped(), each.verdicts("benign"), len(each.of("succeeded"))
    calls = (benign["confirm"], benign["block"], benign.total())
    return attacks - most, attacks - least, attacks, *calls, each.unasked(), len(each.of("benign"))


def _row(name: str, numbers: Sequence[int]) -> tuple[str, ...]:
    least, most, *others = numbers
    return name, f"{least} to {most}", *map(str, others)


def main() -> int:
    """Print the table."""
    runs = recorded()
    rows = []
    for rules in ("labels", "unheard", "provenance"):
        parts = [_numbers(measured(runs, suite, rules)) for suite in SUITES]
        rows += [_row(f"{suite}, {rules}", part) for suite, part in zip(SUITES, parts, strict=True)]
        rows.append(_row(f"all, {rules}", [sum(column) for column in zip(*parts, strict=True)]))
    caption = f"{sum(map(len, runs.values())):,} calls of {len(runs)} runs, permitry {version('permitry')}:"
    sys.stdout.write(markdown(Table(caption, _HEAD, tuple(rows))))
    return 0


if __name__ == "__main__":
    sys.exit(main())

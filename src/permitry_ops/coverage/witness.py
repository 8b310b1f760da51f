"""A call that is decided otherwise with a mistake in the rules, or that there is none."""

import itertools
import json
import re
import time
from collections.abc import Iterable, Iterator

import attrs

from permitry.conditions.scope import Conditions
from permitry.errors import CallError
from permitry_ops.coverage.mutants import Mutant
from permitry_ops.coverage.score import Fate, Outcome
from permitry_ops.diff.openings import find_openings
from permitry_ops.diff.search import Search
from permitry_ops.diff.side import Line, Side
from permitry_ops.diff.solve import Solver
from permitry_ops.diff.ways import Way, ways_to_match, ways_to_miss

__all__ = ["look"]


def look(mutant: Mutant, rules: Side, seconds: float, likely: Iterable[Line] = ()) -> Outcome:
    """Return the call that would notice a mutant, that there is none, or why neither is known.

    Those that are `likely` are tried first. It searches no longer than `seconds`. Raises: `RuleError` where the rules
    do not load with the mistake.
    """
    other = Side.of(mutant.within(rules.rules), rules.workspace)
    line = _guess(mutant, rules, other, likely)
    deadline = time.monotonic() + seconds
    why: dict[str, None] = {}
    for old, new in ((rules, other), (other, rules)) if line is None else ():
        search = Search(old, new, deadline=deadline)
        found = map(search.answer, find_openings(old, new))
        for answer in found if line is None else ():
            why |= dict.fromkeys(answer.why)
            if answer.witness is not None:
                line = answer.witness.line
                break
    if line is not None:
        return Outcome(mutant, Fate.MISSED, line=_move_home(line, rules, other))
    return Outcome(mutant, Fate.UNPROVEN if why else Fate.EQUAL, why=tuple(why))


def _guess(mutant: Mutant, rules: Side, other: Side, likely: Iterable[Line]) -> Line | None:
    """Return a call that is likely to be decided otherwise and is; a search asks more, and takes longer."""
    solver = Solver(rules, other)
    solved = itertools.chain.from_iterable(solver.solve(way).lines for way in _likely_ways(mutant))
    for line in itertools.chain(likely, solved):
        # What is asked about in any case shows in YOLO mode that a rule asks.
        for each in (line, {**line, "context": {**line.get("context", {}), "yolo_mode": True}}):
            if _differ(each, rules, other):
                return each
    return None


def _likely_ways(mutant: Mutant) -> Iterator[Way]:
    """Yield what must be true of the likely calls: that the rule matches, or that its exception applies as well."""
    likely = attrs.evolve(mutant.rule, scope=attrs.evolve(mutant.likely, unless=()))
    for way in ways_to_match(likely):
        if mutant.likely.unless == mutant.rule.scope.unless:
            yield way
        for miss in ways_to_miss(attrs.evolve(mutant.rule, scope=attrs.evolve(mutant.likely, when=Conditions()))):
            if miss[0].is_wanted:
                yield (*way, *miss)


def _move_home(line: Line, rules: Side, other: Side) -> Line:
    """Return a call without the home folder of this machine in it, if it still shows the difference."""
    text = json.dumps(line)
    for home in rules.roots.home:
        text = re.sub(rf"{re.escape(home)}(?![\w.-])", "~", text)
    moved: Line = json.loads(text)
    return moved if _differ(moved, rules, other) else line


def _differ(line: Line, rules: Side, other: Side) -> bool:
    """Return whether two sides come to different verdicts about a call."""
    try:
        return rules.decide(line).verdict is not other.decide(line).verdict
    except CallError:
        return False

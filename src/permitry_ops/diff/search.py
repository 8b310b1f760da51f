"""The search for a call that one side of a comparison permits more than the other, or that there is none.

Both policies are asked about every candidate, and nothing counts that they did not say. Where a rule hides a
difference, the search goes on with the ways in which that rule does not apply; where none is left, no call shows it.
"""

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from permitry.core.decision import Decision, Phase, Verdict
from permitry.errors import CallError
from permitry.rules.configured import ConfiguredRule
from permitry_ops.diff.deadline import OutOfTimeError, end_at, is_over
from permitry_ops.diff.openings import TIME, Opening, find_openings
from permitry_ops.diff.side import Line, Side
from permitry_ops.diff.solve import Solver
from permitry_ops.diff.ways import Literal, Way, are_contrary, ways_to_match, ways_to_miss

__all__ = ["Answer", "Search", "Witness"]

_MOST_WAYS = 400
_DEEPEST = 12
_MANY = 50
"""Of more rules than this that may permit a call, the search tries only the list of tools not to ask about."""


@attrs.frozen
class Witness:
    """A call that both sides were asked about, and what each decided."""

    line: Line
    before: Decision
    after: Decision


@attrs.frozen
class Answer:
    """What was found for an opening: a witness, that there is none (`why` is empty), or why that is not proven."""

    opening: Opening
    witness: Witness | None = None
    why: tuple[str, ...] = ()

    @property
    def is_proven(self) -> bool:
        """Whether there is no such call."""
        return self.witness is None and not self.why


@attrs.define
class Search:
    """Looks for calls that `new` permits more than `old`; ends at `deadline`, in seconds of `time.monotonic`."""

    old: Side
    new: Side
    deadline: float | None = None
    asked: int = 0
    _solver: Solver = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._solver = Solver(self.old, self.new)

    def answer_all(self) -> list[Answer]:
        """Return what is known of each opening from one side to the other."""
        with end_at(self.deadline):
            return [self.answer(opening) for opening in find_openings(self.old, self.new)]

    def answer(self, opening: Opening) -> Answer:
        """Return what is known of one opening."""
        why: dict[str, None] = dict.fromkeys(opening.unsolved)
        with end_at(self.deadline):
            try:
                found = None if is_over() else self._find(opening, why)
            except OutOfTimeError:
                found = None
            if found is None and is_over():
                why[TIME] = None
        return Answer(opening, found, () if found is not None else tuple(why))

    def _find(self, opening: Opening, why: dict[str, None]) -> Witness | None:
        """Return a witness, or None and add to `why` what is not searched for. Raises: `OutOfTimeError`."""
        waiting: list[tuple[Way, bool, int]] = [(opening.way, False, 0)]
        seen: set[tuple[frozenset[Literal], bool]] = set()
        while waiting:
            way, is_ignored, depth = waiting.pop()
            if (key := (frozenset(way), is_ignored)) in seen:
                continue
            seen.add(key)
            if len(seen) > _MOST_WAYS or depth > _DEEPEST:
                why["the search was ended early"] = None
                break
            solution = self._solver.solve(way, is_restriction=opening.is_restriction)
            why |= dict.fromkeys(solution.unsolved)
            hidden: dict[tuple[object, ...], tuple[Decision, Decision]] = {}
            for found in self._ask_each(solution.lines, opening, is_ignored=is_ignored):
                if found.after.verdict < found.before.verdict:
                    return found
                both = found.before, found.after
                hidden.setdefault(tuple((each.verdict, each.rule_id) for each in both), both)
            for each in hidden.values():
                nexts, lacking = self._branches(opening, way, each, is_ignored=is_ignored)
                why |= dict.fromkeys(lacking)
                waiting += [(further, ignored, depth + 1) for further, ignored in reversed(nexts)]
        return None

    def _ask_each(self, lines: Iterable[Line], opening: Opening, *, is_ignored: bool) -> Iterator[Witness]:
        """Yield what both sides decide of each line that is a valid call."""
        for given in lines:
            line = _within(given, opening.context, is_ignored=is_ignored)
            self.asked += 1
            with contextlib.suppress(CallError):
                yield Witness(line, self.old.decide(line), self.new.decide(line))

    def _branches(
        self, opening: Opening, way: Way, hidden: tuple[Decision, Decision], *, is_ignored: bool
    ) -> tuple[list[tuple[Way, bool]], list[str]]:
        """Return the ways to go on, and why there may be others."""
        before, after = hidden
        nexts: list[tuple[Way, bool]] = []
        lacking: list[str] = []
        # Where both permit it, what permits it before must not apply; else what decides after must not.
        side, decided = (self.old, before) if after.verdict is Verdict.ALLOW else (self.new, after)
        if decided.rule_id is not None:
            rule = side.by_id.get(decided.rule_id)
            if rule is None:
                lacking.append(f"`{decided.rule_id}` decides what was tried")
            else:
                nexts += [(each, is_ignored) for each in _with_miss(way, rule)]
                lacking += _why_not_missed(way, rule)
        elif not opening.is_restriction:
            lacking.append("the rule does not match what was tried")
        if opening.is_restriction and not is_ignored and after.phase is not Phase.RESTRICTION:
            # Nothing restricts it: some rule must permit it.
            nexts += [(each, False) for each in self._permissions_in(way)]
            nexts.append((way, True))
            if after.phase is Phase.PERMISSION and after.verdict is Verdict.CONFIRM:
                lacking.append(f"what is permitted before `{after.rule_id}` asks")
        return nexts, lacking

    def _permissions_in(self, way: Way) -> Iterator[Way]:
        """Yield the way with each in which a permission matches as well."""
        rules = [each for each in self.new.rules.rules if each.effect is Verdict.ALLOW and _may_meet(each, way)]
        for rule in rules if len(rules) <= _MANY else ():
            for match in ways_to_match(rule):
                if not are_contrary(both := _join(way, match)):
                    yield both


def _within(line: Line, context: Mapping[str, Any], *, is_ignored: bool) -> Line:
    """Return a line with more of its context: with a tool that the user does not want to be asked about."""
    added = {**context, "tool_ignore_list": [line["name"]]} if is_ignored else context
    return {**line, "context": {**line.get("context", {}), **added}} if added else line


def _with_miss(way: Way, rule: ConfiguredRule) -> Iterator[Way]:
    for miss in ways_to_miss(rule):
        both = _join(way, miss)
        if len(both) > len(way) and not are_contrary(both):
            yield both


def _why_not_missed(way: Way, rule: ConfiguredRule) -> Iterator[str]:
    """Yield why a rule may not match although no call was found that it does not match."""
    if rule.budget is not None or rule.keeps:
        yield f"the budget or `keep` of `{rule.id}`"
    if any(set(miss) <= set(way) for miss in ways_to_miss(rule)):
        yield f"`{rule.id}` matches more than its patterns say"


def _join(way: Way, others: Iterable[Literal]) -> Way:
    return (*way, *(each for each in others if each not in way))


def _may_meet(rule: ConfiguredRule, way: Way) -> bool:
    """Return whether a rule and a way may be about one tool; where both name one, it must be the same."""
    names = {each.text for each in rule.scope.selectors if each.pattern is not None and each.pattern.is_exact}
    if not rule.scope.selectors or len(names) < len(rule.scope.selectors):
        return True
    for each in way:
        if isinstance(each.part, tuple) and each.is_wanted:
            patterns = [selector.pattern for selector in each.part]
            if all(pattern is not None and not any(map(pattern.matches, names)) for pattern in patterns):
                return False
    return True

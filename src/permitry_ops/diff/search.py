"""The search for a call that one side of a comparison permits more than the other, or that there is none.

Both policies are asked about every candidate, and nothing counts that they did not say. Where a rule hides a
difference, the search goes on with the ways in which that rule does not apply; where none is left, no call shows it.
"""

import contextlib
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from permitry.conditions.command import ArgvPattern
from permitry.conditions.match import Match
from permitry.core.decision import Decision, Phase, Verdict
from permitry.errors import CallError
from permitry.rules.configured import ConfiguredRule
from permitry_ops.diff.openings import Opening
from permitry_ops.diff.side import Line, Side
from permitry_ops.diff.solve import Solver
from permitry_ops.diff.ways import Literal, Patterns, Way, are_contrary, ways_to_match, ways_to_miss

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

    def answer(self, opening: Opening) -> Answer:
        """Return what is known of one opening."""
        why: dict[str, None] = dict.fromkeys(opening.unsolved)
        waiting: list[tuple[Way, bool, int]] = [(opening.way, False, 0)]
        seen: set[tuple[frozenset[Literal], bool]] = set()
        while waiting:
            way, is_ignored, depth = waiting.pop()
            if (key := (frozenset(way), is_ignored)) in seen:
                continue
            seen.add(key)
            if len(seen) > _MOST_WAYS or depth > _DEEPEST or self._is_over():
                why["the search was ended early"] = None
                break
            solution = self._solver.solve(way)
            why |= dict.fromkeys(solution.unsolved)
            hidden: dict[tuple[object, ...], tuple[Decision, Decision]] = {}
            for found in self._ask_each(solution.lines, opening, is_ignored=is_ignored):
                if found.after.verdict < found.before.verdict:
                    return Answer(opening, found)
                both = found.before, found.after
                hidden.setdefault(tuple((each.verdict, each.rule_id) for each in both), both)
            for each in hidden.values():
                nexts, lacking = self._branches(opening, way, each, is_ignored=is_ignored)
                why |= dict.fromkeys(lacking)
                waiting += [(further, ignored, depth + 1) for further, ignored in reversed(nexts)]
        return Answer(opening, None, tuple(why or dict.fromkeys(self._spellings(opening))))

    def _is_over(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline

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
        if after.verdict is Verdict.ALLOW:
            # Both permit it: what permits it before must not apply.
            rule = self.old.by_id.get(before.rule_id or "")
            if rule is None:
                lacking.append(f"`{before.rule_id}` permits what was tried")
            else:
                nexts += [(each, is_ignored) for each in _with_miss(way, rule)]
            return nexts, lacking
        if after.rule_id is not None:
            rule = self.new.by_id.get(after.rule_id)
            if rule is None:
                lacking.append(f"`{after.rule_id}` restricts what was tried")
            else:
                nexts += [(each, is_ignored) for each in _with_miss(way, rule)]
        if opening.is_restriction and not is_ignored and after.phase is not Phase.RESTRICTION:
            # Nothing restricts it: some rule must permit it.
            nexts += [(each, False) for each in self._permissions_in(way)]
            nexts.append((way, True))
        return nexts, lacking

    def _permissions_in(self, way: Way) -> Iterator[Way]:
        """Yield the way with each in which a permission matches as well."""
        rules = [each for each in self.new.rules.rules if each.effect is Verdict.ALLOW and _may_meet(each, way)]
        for rule in rules if len(rules) <= _MANY else ():
            for match in ways_to_match(rule):
                if not are_contrary(both := _join(way, match)):
                    yield both

    def _spellings(self, opening: Opening) -> Iterator[str]:
        """Yield the patterns of a restriction in other spellings of which no other one may be about."""
        if not opening.is_restriction:
            return
        for each in opening.way:
            if isinstance(each.part, Patterns) and each.is_wanted and each.needed is not Match.YES:
                kept = [
                    rule
                    for rule in self.new.rules.rules
                    if rule.effect is not Verdict.ALLOW and _generalizes(rule, each.part)
                ]
                if not kept:
                    yield f"other spellings of `{each.part.kind}`"


def _within(line: Line, context: Mapping[str, Any], *, is_ignored: bool) -> Line:
    """Return a line with more of its context: with a tool that the user does not want to be asked about."""
    added = {**context, "tool_ignore_list": [line["name"]]} if is_ignored else context
    return {**line, "context": {**line.get("context", {}), **added}} if added else line


def _with_miss(way: Way, rule: ConfiguredRule) -> Iterator[Way]:
    for miss in ways_to_miss(rule):
        both = _join(way, miss)
        if len(both) > len(way) and not are_contrary(both):
            yield both


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


def _generalizes(rule: ConfiguredRule, part: Patterns) -> bool:
    """Return whether a rule has, for each pattern, the same one or one that is about more in every spelling."""
    when = rule.scope.when
    ours = {"command": when.commands, "path": when.paths, "host": when.hosts}[part.kind]
    if part.kind == "host":
        return bool(ours)
    return all(any(each == other or _is_head(other, each) for other in ours) for each in part.each)


def _is_head(wider: object, narrower: object) -> bool:
    """Return whether a command pattern is the beginning of another one, with any words behind it."""
    if not (isinstance(wider, ArgvPattern) and isinstance(narrower, ArgvPattern)):
        return False
    *head, last = wider.tokens
    has_options = any(token.may_be_option for token in head)
    return last.is_any and not has_options and tuple(head) == narrower.tokens[: len(head)]

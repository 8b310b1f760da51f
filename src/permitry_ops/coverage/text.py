"""What was tried and noticed, as lines for people."""

from collections.abc import Iterator, Mapping
from typing import Any

from permitry.core.texts import one_line
from permitry.errors import count
from permitry_ops.coverage.coverage import Coverage, PartCoverage, RuleCoverage
from permitry_ops.coverage.score import Fate, Outcome, Score
from permitry_ops.diff.report import command_of
from permitry_ops.diff.side import Line

__all__ = ["show_coverage", "show_score"]


def show_coverage(found: Coverage) -> Iterator[str]:
    """Yield each rule with what was not tried of it, and the figures."""
    for rule in found.rules:
        lacking = [*_list_lacking(rule)]
        if lacking:
            yield one_line(f"{rule.source}: {rule.rule_id}")
            yield from (one_line(f"  {each}") for each in lacking)
    sides = f"{sum(found.sides)} of {len(found.sides)} sides tried ({found.percent:.1f} %)"
    yield f"{found.matches} of {count(len(found.rules), 'rule')} matched, {sides}"


def _list_lacking(rule: RuleCoverage) -> Iterator[str]:
    if not rule.whole.held:
        yield "never matched"
    elif rule.whole.failed is False:
        yield "matched each time"
    for part in rule.parts:
        if not all(part.sides):
            yield f"{part.name}: {_say_lacking(part)}"


def _say_lacking(part: PartCoverage) -> str:
    if part.held:
        return "held each time"
    return "never tried" if part.failed is False else "never held"


def show_score(score: Score, drafts: Mapping[Outcome, Mapping[str, Any]]) -> Iterator[str]:
    """Yield each mutant that nothing noticed, with the call of its draft, and the figures."""
    for each in score.among(Fate.MISSED, Fate.UNPROVEN):
        rule = each.mutant.rule
        yield one_line(f"{rule.source or 'code'}: {rule.id}: {each.mutant.what}")
        yield f"  {_show_call(drafts[each], each.line or {}) if each in drafts else _show_why(each)}"
    noticed, equal = len(score.among(Fate.NOTICED)), len(score.among(Fate.EQUAL))
    unknown = len(score.among(Fate.UNPROVEN))
    yield f"{noticed} of {count(score.total, 'mutant')} noticed ({score.percent:.1f} %)"
    if unknown:
        yield f"no call was found for {count(unknown, 'mutant')}, and no proof that there is none"
    if equal:
        yield f"not counted: {count(equal, 'mutant')}, with a proof that no decision changes"


def _show_call(draft: Mapping[str, Any], line: Line) -> str:
    """Return a call that would notice a mutant, and what the rules decide of it."""
    want = draft["want"]
    return one_line(f"{command_of(line)}  -> {want['verdict']} ({want['rule'] or 'no rule'})")


def _show_why(outcome: Outcome) -> str:
    return one_line(f"not proven: {', '.join(outcome.why)}")

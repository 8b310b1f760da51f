"""What was tried and noticed, as lines for people."""

from tests.unit.permitry_ops.coverage.conftest import PUSH, rules_of, shell

from permitry_ops.coverage.coverage import Coverage, PartCoverage, RuleCoverage
from permitry_ops.coverage.mutants import list_mutants
from permitry_ops.coverage.score import Fate, Outcome, Score
from permitry_ops.coverage.text import show_coverage, show_score


def part(name: str, *sides: bool) -> PartCoverage:
    """Return a part of which some sides were tried."""
    held, failed = (*sides, None)[:2]
    return PartCoverage(name, bool(held), failed)


def test_what_lacks_a_side_is_named() -> None:
    """A rule of which all was tried is not."""
    parts = (part("a", True, True), part("b", True, False), part("c", False, True), part("d", False, False))
    rules = (
        RuleCoverage("r", "f:1", part("", True, False), (*parts, part("e", False))),
        RuleCoverage("never", "f:2\x1b", part("", False, False), ()),
        RuleCoverage("all", "f:3", part("", True, True), parts[:1]),
    )
    assert list(show_coverage(Coverage(rules))) == [
        "f:1: r",
        "  matched each time",
        "  b: held each time",
        "  c: never held",
        "  d: never tried",
        "  e: never held",
        "f:2\\u001b: never",
        "  never matched",
        "2 of 3 rules matched, 9 of 17 sides tried (52.9 %)",
    ]


def test_what_is_not_noticed_comes_with_a_call_or_a_reason() -> None:
    """What does not count has a line of its kind."""
    (rule,) = rules_of(PUSH).rules
    first, second, third, *_ = list_mutants(rule)
    missed = Outcome(first, Fate.MISSED, line=shell("git push"))
    score = Score((missed, Outcome(second, Fate.UNPROVEN, why=("`a`", "`b`")), Outcome(third, Fate.EQUAL)))
    lines = list(show_score(score, {missed: {"want": {"verdict": "block", "rule": None}}}))
    assert lines == [
        "<text 1>:3: push: the rule is left out",
        "  permitry check --command 'git push'  -> block (no rule)",
        "<text 1>:3: push: it only asks",
        "  not proven: `a`, `b`",
        "0 of 2 mutants noticed (0.0 %)",
        "no call was found for 1 mutant, and no proof that there is none",
        "not counted: 1 mutant, with a proof that no decision changes",
    ]

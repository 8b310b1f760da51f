"""What became of mutants, and the figures."""

from tests.unit.permitry_ops.coverage.conftest import PUSH, rules_of, shell

from permitry_ops.coverage.mutants import list_mutants
from permitry_ops.coverage.score import Fate, Outcome, Score


def test_what_changes_no_decision_does_not_count() -> None:
    """What is not proven does."""
    (rule,) = rules_of(PUSH).rules
    mutants = list(list_mutants(rule))
    fates = (Fate.NOTICED, Fate.EQUAL, Fate.MISSED, Fate.UNPROVEN)
    score = Score(tuple(Outcome(mutant, fate) for mutant, fate in zip(mutants, fates, strict=False)))
    assert (score.total, round(score.percent, 1)) == (3, 33.3)
    assert [each.fate for each in score.among(Fate.MISSED, Fate.EQUAL)] == [Fate.EQUAL, Fate.MISSED]
    assert Score(()).percent == 100.0


def test_it_is_an_object() -> None:
    """The figures, and each mutant."""
    (rule,) = rules_of(PUSH).rules
    mutant, *_ = list_mutants(rule)
    found = Score((Outcome(mutant, Fate.MISSED, line=shell("git push")),)).to_dict()
    assert found.pop("mutants") == [
        {
            "rule": "push",
            "source": "<text 1>:3",
            "mutant": "the rule is left out",
            "fate": "missed",
            "by": None,
            "call": shell("git push"),
            "why": [],
        }
    ]
    assert found == {"noticed": 0, "equal": 0, "missed": 1, "unproven": 0, "percent": 0.0}

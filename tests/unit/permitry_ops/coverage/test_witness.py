"""A call that shows what a mistake in rules changes, or that there is none."""

from pathlib import Path

import pytest
from tests.unit.permitry_ops.coverage.conftest import PAY, PUSH, rules_of, shell

from permitry_ops.coverage.mutants import list_mutants
from permitry_ops.coverage.score import Fate, Outcome
from permitry_ops.coverage.witness import look
from permitry_ops.diff.side import Side

WORKSPACE = "/permitry-diff/workspace"


def look_at(text: str, what: str, seconds: float = 20.0) -> Outcome:
    """Return what is found of one mutant of the first rule in a text."""
    rules = rules_of(text)
    (mutant,) = [each for each in list_mutants(rules.rules[0]) if each.what == what]
    return look(mutant, Side.of(rules, WORKSPACE), seconds)


def test_a_call_is_found_for_each_mutant() -> None:
    """The two sides decide it otherwise; that of a lost pattern fits the pattern."""
    for text in (PAY, PUSH):
        rules = rules_of(text)
        for mutant in list_mutants(rules.rules[0]):
            found = look(mutant, Side.of(rules, WORKSPACE), 20.0)
            assert found.fate is Fate.MISSED
            assert found.line is not None
            verdicts = {Side.of(each, WORKSPACE).decide(found.line).verdict for each in (rules, mutant.within(rules))}
            assert len(verdicts) == 2
    assert look_at(PUSH, "without when.command `npm publish *`").line == shell("npm publish")
    assert look_at(PUSH, "without `unless`").line == shell("git push --dry-run")


def test_what_is_likely_is_tried_first() -> None:
    """The words of examples are those that people write."""
    rules = rules_of(PUSH)
    left_out, *_ = list_mutants(rules.rules[0])
    likely = [shell("ls"), shell("git push origin main")]
    assert look(left_out, Side.of(rules, WORKSPACE), 20.0, likely).line == likely[1]


def test_what_is_asked_about_anyway_shows_in_yolo_mode() -> None:
    """A restriction that asks makes no other difference."""
    line = look_at(PUSH.replace('"block"', '"confirm"'), "the rule is left out").line
    assert line == {**shell("git push"), "context": {"yolo_mode": True}}


def test_that_no_call_is_decided_otherwise_is_proven() -> None:
    """A pattern that another one contains."""
    text = PUSH.replace('"npm publish *"', '"git push origin"')
    assert look_at(text, "without when.command `git push origin`").fate is Fate.EQUAL


def test_what_is_not_searched_for_is_not_proven() -> None:
    """It says why."""
    found = look_at(PAY + "budget = { targets = 3 }\n", "`budget` is 6")
    assert (found.fate, found.line, found.why[0]) == (Fate.UNPROVEN, None, "`budget`")


def test_a_search_ends_when_its_time_is_up() -> None:
    """That a call was not found proves nothing then."""
    text = PUSH.replace('"npm publish *"', '"git push -f"')
    assert look_at(text, "without when.command `git push -f`", -1.0).fate is Fate.UNPROVEN


def test_the_home_folder_of_this_machine_is_not_in_a_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A case is for every machine."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for path in ("~/.ssh/key", "~"):
        text = f'schema = 1\n[[rule]]\nid = "r"\neffect = "block"\nwhen.path = "{path}"\n'
        found = look_at(text, "the rule is left out")
        assert found.line is not None
        assert found.line["arguments"]["path"] == path

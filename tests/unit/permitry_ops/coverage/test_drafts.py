"""Drafts of golden cases."""

import json
from pathlib import Path

import pytest
from tests.unit.permitry_ops.coverage.conftest import PUSH, rules_of, shell

from permitry.errors import ConfigError
from permitry.golden.case import read_case
from permitry.golden.check import check_case
from permitry.golden.deciders import Deciders
from permitry_ops.coverage.drafts import draft_case, make_drafts, write_drafts
from permitry_ops.coverage.judge import Judge
from permitry_ops.coverage.mutants import list_mutants
from permitry_ops.coverage.score import Fate, Outcome, Score


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    """Return what judges the mutants of the rules in a file."""
    path = tmp_path / "rules.toml"
    path.write_text(PUSH, encoding="utf-8")
    return Judge(rules_of(str(path)), [], {})


def test_a_draft_loads_when_its_reason_is_filled_in(judge: Judge, tmp_path: Path) -> None:
    """Then it holds, and it would notice the mutant."""
    left_out, *_ = list_mutants(judge.rules.rules[0])
    folder = tmp_path / "cases" / "drafts"
    draft = draft_case(judge, [judge.judge(left_out)], [str(tmp_path / "rules.toml")], folder)
    (path,) = write_drafts([draft], folder)
    assert draft["rules"] == ["../../rules.toml"]
    with pytest.raises(ConfigError, match="why"):
        read_case(path)
    path.write_text(path.read_text().replace('"why": ""', '"why": "pushes"'), encoding="utf-8")
    check_case(path, read_case(path), Deciders())
    assert judge.decide(shell("git push")).rule_id == draft["want"]["rule"] == "push"


def test_a_draft_is_the_same_whenever_it_is_made(judge: Judge, tmp_path: Path) -> None:
    """A file that is there stays: a human may have filled it in."""
    left_out, asks, *_ = list_mutants(judge.rules.rules[0])
    drafts = [draft_case(judge, [judge.judge(each)], ["permitry:base"], tmp_path) for each in (left_out, asks)]
    assert drafts[0] == drafts[1]
    assert drafts[0]["rules"] == ["permitry:base"]
    (path,) = write_drafts(drafts, tmp_path / "new")
    assert json.loads(path.read_text()) == drafts[0]
    path.write_text("mine", encoding="utf-8")
    assert write_drafts(drafts, tmp_path / "new") == []
    assert path.read_text() == "mine"


def test_calls_of_one_decision_are_rows_of_one_draft(judge: Judge, tmp_path: Path) -> None:
    """Each on a line of its own, and none twice; another decision has a draft of its own."""
    outcomes = [judge.judge(each) for each in list_mutants(judge.rules.rules[0])]
    drafts = make_drafts(judge, Score(tuple(outcomes)), [str(tmp_path / "rules.toml")], tmp_path)
    first, second = {each["id"]: each for each in drafts.values()}.values()
    assert (first["calls"], first["want"]["rule"]) == (["git push", "npm publish"], "push")
    assert second["want"]["rule"] is None
    assert "git push --dry-run" in second["calls"]
    path, _ = write_drafts([first, second], tmp_path)
    assert '  "calls": [\n    "git push",\n    "npm publish"\n  ],\n' in path.read_text()
    path.write_text(path.read_text().replace('"why": ""', '"why": "pushes"'), encoding="utf-8")
    check_case(path, read_case(path), Deciders())


def test_each_mutant_that_a_call_would_notice_has_a_draft(judge: Judge, tmp_path: Path) -> None:
    """The others have none."""
    outcomes = [judge.judge(each) for each in list_mutants(judge.rules.rules[0])]
    score = Score((*outcomes, Outcome(outcomes[0].mutant, Fate.UNPROVEN)))
    drafts = make_drafts(judge, score, ["permitry:base"], tmp_path)
    assert set(drafts) == set(outcomes)
    assert all(draft["why"] == "" for draft in drafts.values())

"""What cases and sessions try of the rules in files, and which mistakes they notice."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from tests.unit.permitry_ops.coverage.conftest import PUSH, shell

from permitry_ops.coverage.mutants import Mutant
from permitry_ops.coverage.report import Subject, report_coverage, report_mutants


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """Return a rule file that extends a shipped set."""
    path = tmp_path / "rules.toml"
    path.write_text(PUSH.replace("schema = 1", 'schema = 1\nextends = ["permitry:plan"]'), encoding="utf-8")
    return path


def test_rules_of_shipped_sets_count_where_one_is_named(rules: Path) -> None:
    """Who extends a set tests their own rules."""
    mine = Subject([str(rules)], [])
    assert [each.id for each in mine.select(mine.load()[0])] == ["push"]
    both = Subject([str(rules), "permitry:plan"], [])
    assert len(both.select(both.load()[0])) > 1


def test_the_calls_of_sessions_are_read(rules: Path, tmp_path: Path) -> None:
    """Each is named by its file and line."""
    session = tmp_path / "session.jsonl"
    session.write_text("".join(f"{json.dumps(shell(each))}\n" for each in ("git push", "ls")), encoding="utf-8")
    subject = Subject([str(rules)], [], [str(session)])
    _, probes, tables = subject.load()
    assert [probe.name for probe in probes] == [f"{session}:1", f"{session}:2"]
    assert "push" in tables
    assert report_coverage(subject).data["matched"] == 1


def test_mutants_are_passed_on_and_come_with_drafts(rules: Path, tmp_path: Path) -> None:
    """One for each call, though it may show several."""
    watched: list[str] = []

    def watch(mutants: Sequence[Mutant]) -> Iterable[Mutant]:
        watched.extend(each.what for each in mutants)
        return mutants

    report = report_mutants(Subject([str(rules)], []), tmp_path / "drafts", watch)
    assert len(watched) == len(report.data["mutants"]) == 6
    assert report.percent == 0.0
    ids = [each["id"] for each in report.drafts]
    assert len(ids) == len(set(ids)) < 6
    assert report.data["cases"] == report.drafts
    assert report.drafts[0]["rules"] == ["../rules.toml"]
    assert report.text.endswith("0 of 6 mutants noticed (0.0 %)")

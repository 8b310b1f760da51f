"""Codex's published cases about rule files, decided by its rules in the form of ours."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.peers.compared import (
    Answer,
    Case,
    Figures,
    check_page,
    compare,
    verdict,
)
from tests.peers.translate_codex import call_of, rule_file_of

from permitry.config.origin import Origin
from permitry.core.decision import Verdict
from permitry_hosts.importers.codex import EFFECTS

STRICTER = {
    **dict.fromkeys(
        ("codex-008", "codex-009"),
        "a pattern that names the shell does not cover what the shell runs",
    ),
    **dict.fromkeys(
        ("codex-024", "codex-027"),
        "a restriction on one path of a program counts for every other: copies are easy",
    ),
    **dict.fromkeys(
        ("codex-034", "codex-035"),
        "the restrictions of a project that is not trusted count",
    ),
}
"""Calls Codex lets run and we do not."""

_ANY_COMMAND = """
[[rule]]
id = "any-command"
effect = "allow"
when.command = ["*"]
"""


@pytest.fixture(scope="module")
def figures(published: Callable[[str], Any], tmp_path_factory: pytest.TempPathFactory) -> Figures:
    """Return how the verdicts compare."""
    kinds = ("execpolicy_check", "project_trust")
    cases = [case for case in published("codex.json")["cases"] if case["kind"] in kinds]
    return compare(_answers(cases, tmp_path_factory.mktemp("codex") / "rules.toml"))


def _answers(cases: list[Case], file: Path) -> Iterator[Answer]:
    for case in cases:
        file.write_text(_rules(case), encoding="utf-8")
        is_trusted = case["config"].get("project_trust", "trusted") == "trusted"
        origin = Origin(str(file), is_trusted=is_trusted)
        ours = max(verdict([origin], call_of(argv)) for argv in case["commands"])
        yield case["id"], (Verdict(EFFECTS[case["expected"]["decision"]]), ours)


def _rules(case: Case) -> str:
    """Return the rules of a case, and what it says of a command that no rule is about.

    That is left out where a rule matches in Codex, as it would hide whether it matches here.
    """
    config, expected = case["config"], case["expected"]
    text = rule_file_of(file["text"] for file in config.get("files", config.get("project_rules")))
    is_fallback = not expected.get("matched_prefix_rules")
    is_allowed = is_fallback and case["fallback_decision_when_no_rule_matches"] == "allow"
    return text + _ANY_COMMAND if is_allowed else text


def test_no_verdict_is_looser(figures: Figures) -> None:
    """Of a rule, a path, or a project."""
    assert figures.looser == set()


def test_every_stricter_verdict_is_listed(figures: Figures) -> None:
    """With the reason why ours is as safe, or safer."""
    assert figures.stricter == set(STRICTER)


def test_the_figures_are_those_of_the_docs(figures: Figures) -> None:
    """The page says what differs, and why."""
    check_page("Codex", figures)
    assert figures.same >= 25

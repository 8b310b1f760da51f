"""opencode's published cases, decided by its permissions in the form of ours."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.peers.compared import Answer, Case, Figures, check_page, compare, verdict
from tests.peers.translate_opencode import calls_of, rule_file_of

from permitry.core.decision import Verdict
from permitry_hosts.importers.opencode import EFFECTS

STRICTER = dict.fromkeys(
    ("opencode-020", "opencode-021"),
    "a permission to leave the workspace permits nothing by itself",
)
"""Requests opencode lets run and we do not."""

READING = {"opencode-068"}
"""Requests opencode asks about and we do not: without any rule, what only reads is not asked about."""

_KINDS = ("ask", "evaluate", "evaluate_config", "subagent_effective")


@pytest.fixture(scope="module")
def figures(published: Callable[[str], Any], tmp_path_factory: pytest.TempPathFactory) -> Figures:
    """Return how the verdicts compare, for every case that decides about a request."""
    cases = [case for case in published("opencode.json")["cases"] if case["kind"] in _KINDS]
    return compare(_answers(cases, tmp_path_factory.mktemp("opencode") / "rules.toml"))


def _answers(cases: list[Case], file: Path) -> Iterator[Answer]:
    for case in cases:
        file.write_text(rule_file_of(case), encoding="utf-8")
        ours = max(verdict([file], call) for call in calls_of(case))
        yield case["id"], (Verdict(EFFECTS[case["expected"]["decision"]]), ours)


def test_no_verdict_is_looser_but_of_what_only_reads(published: Callable[[str], Any], figures: Figures) -> None:
    """A command that lists a folder, under no rule at all."""
    assert figures.looser == READING
    (case,) = [case for case in published("opencode.json")["cases"] if case["id"] in READING]
    assert case["tool_call"]["patterns"] == ["ls"]


def test_every_stricter_verdict_is_listed(figures: Figures) -> None:
    """The last match decides there; here restrictions have exceptions, and permissions an order."""
    assert figures.stricter == set(STRICTER)


def test_the_figures_are_those_of_the_docs(figures: Figures) -> None:
    """The page says what differs, and why."""
    check_page("opencode", figures)
    assert figures.same >= 48

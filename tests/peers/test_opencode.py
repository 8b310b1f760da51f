"""opencode's published cases, decided by its permissions in the form of ours."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.peers.commands import EFFECTS
from tests.peers.compared import Answer, Case, Figures, check_page, compare, rule_file, verdict
from tests.peers.translate_opencode import TOOLS, calls_of, rules_of

from permitry.core.decision import Verdict

_KINDS = ("ask", "evaluate", "evaluate_config", "subagent_effective")


@pytest.fixture(scope="module")
def figures(published: Callable[[str], Any], tmp_path_factory: pytest.TempPathFactory) -> Figures:
    """Return how the verdicts compare, for every case that decides about a request."""
    cases = [case for case in published("opencode.json")["cases"] if case["kind"] in _KINDS]
    return compare(_answers(cases, tmp_path_factory.mktemp("opencode") / "rules.toml"))


def _answers(cases: list[Case], file: Path) -> Iterator[Answer]:
    for case in cases:
        file.write_text(rule_file(rules_of(case), TOOLS), encoding="utf-8")
        ours = max(verdict([file], call) for call in calls_of(case))
        yield case["id"], (Verdict(EFFECTS[case["expected"]["decision"]]), ours)


def test_every_verdict_is_the_same(figures: Figures) -> None:
    """The last match decides there; here restrictions have exceptions, and permissions an order."""
    check_page("opencode", figures)
    assert (figures.stricter, figures.looser) == (set(), set())

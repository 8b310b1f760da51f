"""Gemini CLI's published cases, decided by its rules in the form of ours.

Left out are cases in which a test replaced a part of Gemini CLI, and those in which a program of
the user's was asked whether a call is safe.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.peers.compared import (
    Answer,
    Case,
    Figures,
    Rule,
    check_page,
    compare,
    verdict,
)
from tests.peers.translate_gemini import MODES, call_of, rule_file_of

from permitry.actions.derive.unwrap import why_not_reading_all
from permitry.actions.reading.strict import read_strictly
from permitry.core.decision import Verdict
from permitry_hosts.importers import Row, Source
from permitry_hosts.importers.gemini import EFFECTS
from permitry_hosts.importers.gemini_settings import entries_of

STRICTER = {
    **dict.fromkeys(
        ("gemini-023", "gemini-103"),
        "it runs unasked because of a sandbox; there is no sandbox here that would hold it",
    ),
    **dict.fromkeys(
        ("gemini-003", "gemini-010", "gemini-220"),
        "a shell without a command: nothing says what it runs, and a permission is for commands",
    ),
    **dict.fromkeys(
        ("gemini-053", "gemini-061", "gemini-062"),
        "a pattern over the text of all arguments becomes a wider one in a denial",
    ),
    **dict.fromkeys(
        (f"gemini-{number:03}" for number in range(66, 80)),
        "a permission for the text of all arguments, or of nested ones, cannot be said, so it is left out",
    ),
    **dict.fromkeys(
        ("gemini-136", "gemini-140", "gemini-265"),
        "what a server says of its tools permits nothing, and takes nothing from a denial",
    ),
    **dict.fromkeys(
        ("gemini-161", "gemini-164"),
        "a question that depends on what a server says of its tools is no exception of a denial",
    ),
    **dict.fromkeys(
        ("gemini-155", "gemini-156"),
        "the call asks for more than the sandbox gives, in a form that Gemini CLI skips",
    ),
}
"""Calls Gemini CLI lets run and we do not."""

CHAINS = {"gemini-175", "gemini-177", "gemini-178", "gemini-179", "gemini-181"}
"""Chains Gemini CLI asks about and we do not: one command is permitted, and the others only read.
Gemini CLI runs each of those unasked when it comes alone."""

READING = {*CHAINS, "gemini-183"}
"""The same, and a substitution whose command only reads."""


@pytest.fixture(scope="module")
def gemini(published: Callable[[str], Any]) -> dict[str, Any]:
    """Return the published cases and the rules they use."""
    found: dict[str, Any] = published("gemini.json")
    return found


@pytest.fixture(scope="module")
def figures(gemini: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Figures:
    """Return how the verdicts compare."""
    real = [case for case in gemini["cases"] if case["reproduced_by_real_engine"]]
    cases = [case for case in real if "safety_checkers" not in case]
    file = tmp_path_factory.mktemp("gemini") / "rules.toml"
    return compare(_answers(cases, gemini["rulesets"], file))


def _answers(cases: list[Case], rules: Rule, file: Path) -> Iterator[Answer]:
    for case in cases:
        ours = _decided(case, rules, file)
        yield case["id"], (Verdict(EFFECTS[case["expected"]["decision"]]), ours)


def _decided(case: Case, rules: Rule, file: Path) -> Verdict:
    file.write_text(rule_file_of(rules[case["config"]["ruleset"]], case), encoding="utf-8")
    mode = MODES.get(case["mode"], case["mode"])
    return verdict(
        [file],
        call_of(case),
        mode=mode,
        yolo_mode=mode == "yolo",
        attended=not case["non_interactive"],
    )


def test_no_verdict_is_looser_but_of_what_only_reads(figures: Figures) -> None:
    """Each of them is a chain of the list."""
    assert figures.looser == READING


def test_chains_that_run_only_read(gemini: dict[str, Any], tmp_path: Path) -> None:
    """With a command that writes in the place of the last, they are asked about."""
    reading = [case for case in gemini["cases"] if case["id"] in CHAINS]
    assert len(reading) == len(CHAINS)
    for case in reading:
        command = case["tool_call"]["args"]["command"]
        assert why_not_reading_all(read_strictly(command)) is None
        writing = {"command": command[: read_strictly(command)[-1].start] + "touch written"}
        other = {**case, "tool_call": {**case["tool_call"], "args": writing}}
        ours = _decided(other, gemini["rulesets"], tmp_path / "rules.toml")
        assert ours is Verdict.CONFIRM, case["id"]


def test_every_stricter_verdict_is_listed(figures: Figures) -> None:
    """With the reason why ours is as safe, or safer."""
    assert figures.stricter == set(STRICTER)


def test_the_figures_are_those_of_the_docs(figures: Figures) -> None:
    """The page says what differs, and why."""
    check_page("Gemini CLI", figures)
    assert figures.same >= 244


def test_settings_become_the_rules_that_gemini_cli_makes_of_them(gemini: dict[str, Any]) -> None:
    """Tools, servers, decisions, modes and the order; what is in brackets is a prefix here and a pattern there."""
    cases = [case["config"] for case in gemini["cases"] if "settings" in case["config"]]
    assert cases
    for config in cases:
        entries = entries_of([Source("settings.json", json.dumps(config["settings"]))])
        (tables, recorded) = (
            [dict(entry.table) for entry in entries if not isinstance(entry, Row)],
            [rule for rule in gemini["rulesets"][config["ruleset"]] if rule.get("source", "").startswith("Settings (")],
        )
        ours = [_columns(table, 4 + table["priority"] / 1000, "commandPrefix" in table) for table in tables]
        theirs = [_columns(rule, rule["priority"], "argsPattern" in rule) for rule in recorded]
        assert sorted(ours) == sorted(theirs)


def _columns(rule: Rule, priority: float, has_pattern: bool) -> tuple[str, ...]:  # noqa: FBT001 -- one of the columns
    named = (rule["toolName"], rule.get("mcpName", ""), rule["decision"], *rule.get("modes", ()))
    return (f"{priority:.3f}", str(has_pattern), *named)

"""Claude Code's documented behaviour, sentence by sentence, against the same rules of ours.

A case says what is decided, or whether a rule matches the call. Where the rule does not match, what
counts is what is decided without it. Left out are the cases in which a hook answers: no rule does.
"""

from collections.abc import Callable, Iterator, Mapping
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
from tests.peers.translate_claude_code import MODES, call_of, rule_file_of

from permitry.config.origin import Origin
from permitry.core.decision import Verdict
from permitry_hosts.importers.claude_code import EFFECTS

LOOSER = {
    "claude-147": "a file is read, by a link that leads out of the workspace",
    "claude-200": "the command and its substitution only read, and neither can push",
}
STRICTER = {
    "claude-065": "`builtin` runs no program, and is not taken off",
    "claude-066": "`noglob` is known to another shell only, and is not taken off",
    "claude-150": "a host with a dot at its end is another name to some clients",
    "claude-184": "in plan mode nothing is written, where Claude Code asks",
    "claude-156": "a star at the end of a host cannot be said, so the permission is left out",
}
"""Calls Claude Code lets run and we do not."""


@pytest.fixture(scope="module")
def figures(published: Callable[[str], Any], tmp_path_factory: pytest.TempPathFactory) -> Figures:
    """Return how the verdicts compare."""
    cases = [case for case in published("claude_code.json")["cases"] if _is_about_rules(case)]
    return compare(_answers(cases, tmp_path_factory.mktemp("claude")))


def _is_about_rules(case: Case) -> bool:
    return "tool_call" in case and "hook_decision" not in case


def _answers(cases: list[Case], folder: Path) -> Iterator[Answer]:
    for case in cases:
        yield case["id"], (_theirs(case, folder), _ours(case, folder, _layers(case)))


def _layers(case: Case) -> list[tuple[str, Rule, bool]]:
    """Return the settings of a case: their scope, the lists, and whether they are trusted."""
    if case.get("kind") == "hook_if":
        return [("project", {"ask": [case["if"]], "allow": ["Bash"]}, True)]
    config = case["config"]
    if "permissions" in config:
        scope = case.get("context", {}).get("settings_scope", "project")
        return [(scope, config["permissions"], True)]
    trusted = {"user": True, "project": config.get("workspace_trusted", True)}
    here = [scope for scope in trusted if scope in config]
    return [(scope, config[scope]["permissions"], trusted[scope]) for scope in here]


def _theirs(case: Case, folder: Path) -> Verdict:
    expected = case["expected"]
    if "decision" in expected:
        return Verdict(EFFECTS[expected["decision"]])
    if "hook_runs" in expected:
        return Verdict.CONFIRM if expected["hook_runs"] else Verdict.ALLOW
    if not expected["rule_matches"]:
        return _ours(case, folder, [("project", {}, True)])
    (kind,) = case["config"]["permissions"]
    return Verdict(EFFECTS[kind])


def _ours(case: Case, folder: Path, layers: list[tuple[str, Rule, bool]]) -> Verdict:
    mode, context = case.get("mode", "default"), case.get("context", {})
    files: list[Origin] = []
    for scope, lists, is_trusted in layers:
        file = folder / f"{scope}.toml"
        file.write_text(rule_file_of(lists, scope), encoding="utf-8")
        files.append(Origin(str(file), is_trusted=is_trusted))
    root = _linked(folder, context.get("symlinks", {}))
    return verdict(
        files,
        call_of(case, root),
        home=root + context.get("home", "/home/ann"),
        has_disk=root != "",
        workspace=root + context.get("cwd", "/home/ann/project"),
        mode=MODES.get(mode, mode),
        yolo_mode=mode == "bypassPermissions",
        attended=mode != "dontAsk",
    )


def _linked(folder: Path, links: Mapping[str, str]) -> str:
    """Return the folder in which the links of a case lie, or nothing where it has none."""
    for link, target in links.items():
        for each in (link, target):
            Path(f"{folder}{each}").parent.mkdir(parents=True, exist_ok=True)
        if not Path(f"{folder}{link}").is_symlink():
            Path(f"{folder}{link}").symlink_to(f"{folder}{target}")
    return str(folder) if links else ""


def test_no_verdict_is_looser_but_of_what_only_reads(published: Callable[[str], Any], figures: Figures) -> None:
    """The rows are listed, each with the reason."""
    assert figures.looser == set(LOOSER)
    cases = {case["id"]: case for case in published("claude_code.json")["cases"]}
    assert cases["claude-147"]["tool_call"]["tool"] == "Read"
    assert cases["claude-200"]["tool_call"]["input"]["command"] == "echo $(date)"


def test_every_stricter_verdict_is_listed(figures: Figures) -> None:
    """With the reason why ours is as safe, or safer."""
    assert figures.stricter == set(STRICTER)


def test_the_figures_are_those_of_the_docs(figures: Figures) -> None:
    """The page says what differs, and why."""
    check_page("Claude Code", figures)
    assert figures.same >= 187

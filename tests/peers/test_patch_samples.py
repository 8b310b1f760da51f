"""The patches of two other agents, with what they do to files: no path they touch is missed."""

import json
from pathlib import Path
from typing import Any

import pytest

from permitry.actions.patches import hidden_patch, paths_of
from permitry.core.action import Access, Word

CASES = Path(__file__).resolve().parents[2] / ".." / "shared" / "cases" / "apply_patch_cases.jsonl"

ACCESS = {"add": Access.WRITE, "update": Access.WRITE, "delete": Access.DELETE}


@pytest.fixture(scope="module")
def cases() -> list[dict[str, Any]]:
    """Return all cases."""
    if not CASES.exists():
        pytest.skip("the shared cases are not here")
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


def of_hunks(hunks: list[dict[str, Any]]) -> set[tuple[Access, str]]:
    """Return what parsed hunks touch."""
    found = {(ACCESS[hunk["op"]], hunk["path"]) for hunk in hunks}
    moved = [hunk for hunk in hunks if hunk.get("move_to")]
    return (
        found | {(Access.DELETE, hunk["path"]) for hunk in moved} | {(Access.WRITE, hunk["move_to"]) for hunk in moved}
    )


def changed(case: dict[str, Any]) -> set[str]:
    """Return the files that are not as they were."""
    before, after = case["input_files"], case["expected_files"]
    return {name for name in {*before, *after} if before.get(name) != after.get(name)}


def is_padded(patch: str) -> bool:
    """Return whether a marker has blanks around it, or is where content does."""
    return any("***" in line and line != line.strip() for line in patch.split("\n"))


def test_every_changed_file_is_found(cases: list[dict[str, Any]]) -> None:
    """A file that a patch changed is among the paths found in it."""
    applied = [case for case in cases if case["kind"] in ("apply", "unified_diff") and case.get("expected_files")]
    assert sum(len(changed(case)) for case in applied) > 60
    for case in applied:
        found = {path.removeprefix("{cwd}/") for _, path in paths_of(case["patch"]).touched}
        assert changed(case) <= found, case["id"]


def test_ordinary_patches_leave_no_doubt(cases: list[dict[str, Any]]) -> None:
    """A patch that is applied, and has no odd markers, is read with certainty."""
    applied = [case for case in cases if case["kind"] in ("apply", "unified_diff") and not case.get("expected_error")]
    ordinary = [case for case in applied if changed(case) and not is_padded(case["patch"])]
    assert len(ordinary) > 40
    assert [case["id"] for case in ordinary if paths_of(case["patch"]).doubt is not None] == []


def test_parsed_hunks_are_what_is_found(cases: list[dict[str, Any]]) -> None:
    """What another parser finds is found; where no doubt is left, nothing else is."""
    parsed = [case for case in cases if case["kind"] == "parse" and case.get("expected_hunks")]
    assert len(parsed) > 10
    for case in parsed:
        reading = paths_of(case["patch"])
        wanted = of_hunks(case["expected_hunks"])
        assert wanted <= set(reading.touched), case["id"]
        assert reading.doubt is not None or wanted == set(reading.touched), case["id"]


def test_a_hidden_patch_is_found(cases: list[dict[str, Any]]) -> None:
    """A patch in an argument or a here-document of a call of `apply_patch` is found."""
    calls = [case for case in cases if case["kind"] == "invocation" and case["expected"] == "body"]
    assert len(calls) > 10
    for case in calls:
        command, _, body = case["argv"][-1].partition(" <<'PATCH'\n")
        words = case["argv"] if len(case["argv"]) == 2 else [command.split()[-1]]
        text = hidden_patch([Word(word) for word in words], body.removesuffix("PATCH") or None)
        assert set(paths_of(text or "").touched) == of_hunks(case["expected_hunks"]), case["id"]

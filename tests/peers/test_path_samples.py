"""The path samples with ground truth, each built on disk and asked as a permission asks."""

import json
from pathlib import Path
from typing import Any

import pytest

from permitry.actions.paths import read_path, roots_of
from permitry.conditions.match import Match
from permitry.conditions.path import PathPattern

SAMPLES = Path(__file__).resolve().parents[2] / ".." / "shared" / "cases" / "security" / "path_cases.jsonl"

OURS = {
    "PATH-108": True,  # percent signs are letters of a name; the one who decodes them later opens another file
    "PATH-120": False,  # a permission is read byte by byte; a restriction fires on `.ENV` as well
    "PATH-152": False,  # patterns are about real names, and the real name is `src/main.py`
}
"""What we say about the samples that are contested."""


@pytest.fixture(scope="module")
def samples() -> dict[str, dict[str, Any]]:
    """Return the samples by their id."""
    if not SAMPLES.exists():
        pytest.skip("the shared cases are not here")
    rows = [json.loads(line) for line in SAMPLES.read_text(encoding="utf-8").splitlines()]
    return {row["id"]: row for row in rows}


def build(row: dict[str, Any], top: Path) -> dict[str, Any]:
    """Return the sample with its placeholders filled in and its files made below `top`."""
    names = {"{WS}": "ws", "{OUT}": "out", "{LINKWS}": "link"}
    text = json.dumps(row)
    for mark, name in names.items():
        text = text.replace(mark, str(top / name))
    row = json.loads(text.replace("{WSNAME}", "ws"))
    workspace = top / "ws"
    for folder in (workspace, top / "out", *(workspace / name for name in row["setup"]["dirs"])):
        folder.mkdir(parents=True, exist_ok=True)
    for name in row["setup"]["files"]:
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text("x", encoding="utf-8")
    for name, target in row["setup"]["symlinks"].items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).symlink_to(target)
    return row


def holds(row: dict[str, Any], top: Path) -> bool:
    """Return our answer for one sample."""
    row = build(row, top)
    place = read_path(row["path"], [row["workspace_root"]], home=str(top / "home"))
    roots = roots_of(row["workspace_root"], str(top / "home"))
    return PathPattern(row["rule_glob"]).match_place(place, roots) is Match.YES


def test_every_core_sample_comes_out_right(samples: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    """A pattern covers a path exactly where the ground truth says so."""
    core = {name: row for name, row in samples.items() if row["tier"] == "core"}
    assert len(core) > 15
    answers = {name: holds(row, tmp_path / name) for name, row in core.items()}
    assert answers == {name: row["should_match"] for name, row in core.items()}


def test_the_contested_samples_have_our_answer(samples: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    """Where two answers can be defended, ours is listed with its reason."""
    contested = {name: row for name, row in samples.items() if row["tier"] == "contested"}
    assert {name: holds(row, tmp_path / name) for name, row in contested.items()} == OURS

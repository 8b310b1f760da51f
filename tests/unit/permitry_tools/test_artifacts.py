"""The tools `list_artifacts` and `read_artifact`, and the store behind them."""

import json
import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from permitry.core.call import ToolCall
from permitry.core.result import ToolResult
from permitry.dispatch.registry import ToolRegistry
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry_tools import artifacts
from permitry_tools.artifacts import FOLDER, ArtifactStore
from permitry_tools.workspace import Workspace

Use = Callable[..., ToolResult]


@pytest.fixture
def folder(root: Path) -> Path:
    """Return the folder the artifacts of the workspace are in."""
    return root.resolve() / FOLDER


@pytest.fixture
def store(folder: Path) -> ArtifactStore:
    """Return a store over that folder."""
    return ArtifactStore(folder)


@pytest.fixture
def registry(workspace: Workspace) -> ToolRegistry:
    """Return the two tools."""
    registry = ToolRegistry()
    artifacts.register(registry, workspace)
    return registry


def _put(folder: Path, name: str, *lines: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


# list_artifacts ---------------------------------------------------------------------------------------------------


def test_without_a_folder_there_are_none(use: Use) -> None:
    """Nor is one made."""
    assert use("list_artifacts") == ToolResult(True, "No artifacts found.")


def test_artifacts_are_listed_with_what_they_hold(folder: Path, use: Use) -> None:
    """Sorted by id; one that cannot be read says so, and what is not an artifact is skipped."""
    _put(folder, "b", '{"artifact_id": "x", "objective": "do\\nit"}')
    _put(folder, "a", '{"objective": "' + "y" * 200 + '"}')
    for name, head in (("c", "nojson"), ("d", "[1]"), ("e", '{"artifact_id": "e"}'), ("f", "[" * 30_000)):
        _put(folder, name, head)
    _put(folder, "no id", "{}")
    (folder / "g.txt").touch()
    assert use("list_artifacts").text.split("\n") == [
        "Artifacts (6):",
        f"- a: {'y' * 120}",
        "- b: do it",
        *(f"- {name}: (unreadable)" for name in "cdef"),
    ]


def test_a_long_list_is_cut_with_a_marker(folder: Path, use: Use) -> None:
    """Two hundred are shown, all are counted."""
    for number in range(203):
        _put(folder, f"{number:03}", '{"objective": "x"}')
    lines = use("list_artifacts").text.split("\n")
    assert (lines[0], lines[200], lines[201:]) == (
        "Artifacts (203):",
        "- 199: x",
        ["...[omitted 3 artifacts]..."],
    )


def test_a_list_is_never_too_long_for_an_answer(folder: Path, use: Use) -> None:
    """What is clipped is kept: a list that is would add to itself."""
    for number in range(150):
        _put(folder, f"{number:064}", '{"objective": "' + "x" * 120 + '"}')
    text = use("list_artifacts").text
    shown = text.count("- ")
    assert 14_000 < len(text) < 16_000
    assert text.endswith(f"x\n...[omitted {150 - shown} artifacts]...")


# read_artifact ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ({}, "Artifact a (lines 0-3 of 3):\n0\n1\n2"),
        ({"offset": 1}, "Artifact a (lines 1-3 of 3):\n1\n2"),
        ({"offset": 1, "limit": 1}, "Artifact a (lines 1-2 of 3):\n1"),
    ],
)
def test_a_part_of_an_artifact_is_read(folder: Path, use: Use, place: dict[str, int], expected: str) -> None:
    """Lines count from 0."""
    _put(folder, "a", "0", "1", "2")
    assert use("read_artifact", artifact_id="a", **place) == ToolResult(True, expected)


def test_reading_past_the_end_fails(folder: Path, use: Use) -> None:
    """The model is shown how long the artifact is."""
    _put(folder, "a", "0", "1")
    expected = "Artifact a has 2 lines, counted from 0; 2 is past its end."
    assert use("read_artifact", artifact_id="a", offset=2) == ToolResult(False, expected)


def test_an_empty_artifact_is_read(folder: Path, use: Use) -> None:
    """It has no lines."""
    _put(folder, "a")
    assert use("read_artifact", artifact_id="a").text == "Artifact a (lines 0-0 of 0):"


def test_as_many_lines_are_shown_as_fit(folder: Path, use: Use) -> None:
    """The head says how far the answer goes, so the model can go on from there."""
    _put(folder, "a", *["x" * 999] * 40)
    assert use("read_artifact", artifact_id="a").text.split("\n")[0] == "Artifact a (lines 0-15 of 40):"
    assert use("read_artifact", artifact_id="a", offset=30).text.split("\n")[0] == "Artifact a (lines 30-40 of 40):"
    _put(folder, "b", "x" * 15_001, "y")
    assert use("read_artifact", artifact_id="b").text.split("\n")[0] == "Artifact b (lines 0-1 of 2):"


@pytest.mark.parametrize("name", ["../secret", "..", ".", "a/b", "/etc/passwd", "a.jsonl", "x" * 65, "a\n", "ä", "a\0"])
def test_an_id_is_no_path(root: Path, folder: Path, use: Use, name: str) -> None:
    """Whatever the id, only the folder is read."""
    _put(folder, "a", "0")
    _put(root, "secret", "TOP")
    assert use("read_artifact", artifact_id=name) == ToolResult(False, f"Artifact '{name}' not found.")


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_only_a_file_of_the_folder_is_read(root: Path, folder: Path, use: Use, kind: str) -> None:
    """A link leads elsewhere, and a pipe would wait for ever."""
    _put(root, "secret", "TOP")
    folder.mkdir()
    if kind == "link":
        (folder / "a.jsonl").symlink_to(root / "secret.jsonl")
    elif kind == "folder":
        (folder / "a.jsonl").mkdir()
    else:
        os.mkfifo(folder / "a.jsonl")
    assert use("read_artifact", artifact_id="a") == ToolResult(False, "Artifact 'a' not found.")
    assert use("list_artifacts").text == "Artifacts (1):\n- a: (unreadable)"


def test_a_folder_that_is_a_link_is_none(folder: Path, outside: Path, use: Use) -> None:
    """It may lead anywhere."""
    _put(outside, "a", "0")
    folder.symlink_to(outside)
    assert use("list_artifacts").text == "No artifacts found."
    assert not use("read_artifact", artifact_id="a").ok


@pytest.mark.parametrize("arguments", [{}, {"artifact_id": ""}, {"artifact_id": None}])
def test_an_id_is_asked_for(use: Use, arguments: dict[str, str]) -> None:
    """In the words of the seed."""
    assert use("read_artifact", **arguments) == ToolResult(False, "read_artifact requires artifact_id")


def test_an_artifact_that_is_too_large_is_not_read(folder: Path, use: Use, monkeypatch: pytest.MonkeyPatch) -> None:
    """No one keeps that much."""
    monkeypatch.setattr(artifacts, "_MOST_BYTES", 3)
    _put(folder, "a", "012")
    assert use("read_artifact", artifact_id="a").text == "Artifact a is larger than 3 bytes."


# keep -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "one", "one\ntwo\n", "\n\n", "ä\u2028\r\n\0\x85", "x" * 9_001 + "\ny", "\ud800"])
def test_what_is_kept_can_be_put_together_again(store: ArtifactStore, folder: Path, text: str) -> None:
    """Every character is there; a long line comes in parts."""
    name = store.keep("run_shell", text, "main")
    head, *rows = map(json.loads, (folder / f"{name}.jsonl").read_text(encoding="utf-8").removesuffix("\n").split("\n"))
    assert head == {"artifact_id": name, "objective": "the whole answer of run_shell", "agent": "main"}
    lines: list[str] = []
    for row in rows:
        if isinstance(row, str):
            lines.append(row)
        elif row["line"] > len(lines):
            lines.append(row["part"])
        else:
            lines[-1] += row["part"]
    assert "\n".join(lines) == text
    assert all(len(str(row)) < 4_100 for row in rows)


def test_what_is_kept_is_listed_and_read(store: ArtifactStore, use: Use) -> None:
    """By the tools, under the id that was given for it."""
    name = store.keep("web_search", "one\ntwo", "main")
    assert use("list_artifacts").text == f"Artifacts (1):\n- {name}: the whole answer of web_search"
    expected = f'Artifact {name} (lines 1-3 of 3):\n"one"\n"two"'
    assert use("read_artifact", artifact_id=name, offset=1).text == expected


def test_an_agent_sees_what_was_kept_for_it(registry: ToolRegistry, store: ArtifactStore, folder: Path) -> None:
    """Not what was kept for another one, which may be allowed more; and what no one says anything about."""
    _put(folder, "recorded", '{"objective": "of another program"}')
    _put(folder, "odd", '{"objective": "x", "agent": ["helper"]}')
    session = Session(yolo_mode=True)
    names = {agent: store.keep("read_file", "secret", agent) for agent in ("main", "helper")}
    for agent, other in (("main", "helper"), ("helper", "main")):
        handler = ToolHandler(session if agent == "main" else session.child(agent), registry=registry)
        expected = handler.handle(ToolCall("list_artifacts")).text
        assert expected.startswith("Artifacts (2):\n")
        assert [name in expected for name in (names[agent], "recorded", names[other], "odd")] == [
            True,
            True,
            False,
            False,
        ]
        for name in (names[other], "odd"):
            refused = handler.handle(ToolCall("read_artifact", {"artifact_id": name}))
            assert refused == ToolResult(False, f"Artifact '{name}' not found.")
        for name in (names[agent], "recorded"):
            assert handler.handle(ToolCall("read_artifact", {"artifact_id": name})).ok is True
    assert store.list().startswith("Artifacts (4):\n")


def test_ids_cannot_be_guessed_and_files_not_read_by_others(store: ArtifactStore, folder: Path) -> None:
    """What was too long to show may be secret all the same."""
    names = {store.keep("a", "x", "main") for _ in range(20)}
    assert len(names) == 20
    assert all(len(name) == 32 for name in names)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_nothing_is_kept_behind_a_link(store: ArtifactStore, folder: Path, outside: Path) -> None:
    """The folder is where it was said to be, or nothing is written."""
    folder.symlink_to(outside)
    with pytest.raises(OSError, match=r"Not a directory|Too many levels"):
        store.keep("a", "x", "main")
    assert [path.name for path in outside.iterdir()] == ["secret.txt"]


@pytest.mark.parametrize("before", [None, "!*\n", "*.log\n"])
def test_git_does_not_take_what_is_kept(root: Path, before: str | None) -> None:
    """Secrets in a long answer are not committed by `git add -A`, whatever a repository has there; other files are."""
    kept = root / ".permitry" / "artifacts"
    kept.mkdir(parents=True)
    if before is not None:
        (kept / ".gitignore").write_text(before)
    ArtifactStore(kept).keep("run_shell", "password: hunter22", "main")
    (kept.parent / "rules.toml").write_text("schema = 1\n")
    for words in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", "-C", root, *words], check=True)
    added = subprocess.run(["git", "-C", root, "ls-files"], check=True, capture_output=True, text=True)
    assert added.stdout == ".permitry/rules.toml\n"


def test_what_git_takes_of_a_folder_of_the_user_is_for_the_user_to_say(tmp_path: Path) -> None:
    """Where no one has said it, what is kept there is left out; a link is not followed."""
    outside = tmp_path / "outside"
    outside.write_text("")
    for number, before in enumerate((None, "x\n", outside)):
        folder = tmp_path / f"kept{number}"
        folder.mkdir()
        if isinstance(before, str):
            (folder / ".gitignore").write_text(before)
        elif before is not None:
            (folder / ".gitignore").symlink_to(before)
        ArtifactStore(folder).keep("run_shell", "x", "main")
        assert ("*.jsonl" in (folder / ".gitignore").read_text()) == (before is None)
    own = tmp_path / ".permitry" / "artifacts"
    own.mkdir(parents=True)
    (own / ".gitignore").symlink_to(outside)
    ArtifactStore(own).keep("run_shell", "x", "main")
    assert (outside.read_text(), (own / ".gitignore").is_symlink()) == ("", False)


@pytest.mark.parametrize(("bounds", "left"), [({"most": 3}, 3), ({"size": 0}, 1), ({"size": 10**6}, 5)])
def test_the_oldest_make_room(folder: Path, bounds: dict[str, int], left: int) -> None:
    """What a user put there is neither counted nor removed."""
    _put(folder, "mine", '{"objective": "stay"}')
    (folder / f"{'a' * 32}.jsonl").mkdir()
    store = ArtifactStore(folder, **bounds)
    made = []
    for age in range(5):
        made.append(store.keep("tool", "x" * 100, "main"))
        os.utime(folder / f"{made[-1]}.jsonl", (age, age))
    assert [each for each in made if (folder / f"{each}.jsonl").exists()] == made[-left:]
    assert (folder / "mine.jsonl").exists()


def test_a_store_elsewhere_can_be_given(tmp_path: Path, workspace: Workspace) -> None:
    """What is kept need not lie where the agent works."""
    store, registry = ArtifactStore(tmp_path / "kept" / "here"), ToolRegistry()
    artifacts.register(registry, workspace, store)
    name = store.keep("a", "x", "main")
    assert store.list() == f"Artifacts (1):\n- {name}: the whole answer of a"
    assert not (workspace.root / FOLDER).exists()


def test_the_tools_only_read(registry: ToolRegistry) -> None:
    """Neither names a path."""
    assert all(spec.only_reads for spec in registry)
    assert [spec.name for spec in registry] == ["list_artifacts", "read_artifact"]

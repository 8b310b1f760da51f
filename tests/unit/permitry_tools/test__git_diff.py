"""The changes of a turn as git shows them: which git is run, what it may read, and what comes of one that fails."""

import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from permitry_tools import _git_diff
from permitry_tools.turn_diff import TurnDiffTracker

Begun = Callable[..., TurnDiffTracker]


def program(folder: Path, script: str) -> Path:
    """Write a program called `git`."""
    folder.mkdir()
    (folder / "git").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "git").chmod(0o755)
    return folder / "git"


def _changed(root: Path, tracker: TurnDiffTracker) -> str:
    (root / "new").write_text("new\n")
    return tracker.diff()


NEW = """diff --git a/new b/new
new file mode 100644
index 0000000..3e75765
--- /dev/null
+++ b/new
@@ -0,0 +1 @@
+new
"""


def test_a_program_of_the_workspace_is_not_git(
    root: Path, tmp_path: Path, begun: Begun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither by a folder of the search path, nor by a link from outside; the diff is made without it."""
    false = program(root / "bin", f"touch {tmp_path}/was-run")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "git").symlink_to(false)
    (tmp_path / "folder").symlink_to(root / "bin")
    monkeypatch.setenv("PATH", os.pathsep.join([f"{root}/bin", "work/bin", f"{tmp_path}/folder", f"{tmp_path}/links"]))
    monkeypatch.chdir(tmp_path)
    tracker = begun()
    assert _changed(root, tracker) == NEW
    assert not (tmp_path / "was-run").exists()


def test_git_is_looked_for_behind_the_workspace(
    root: Path, tmp_path: Path, begun: Begun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of the workspace that comes first in the search path, as with a virtual environment, is skipped."""
    program(root / "bin", f"touch {tmp_path}/was-run")
    monkeypatch.setenv("PATH", f"{root}/bin:work/bin:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    (root / "old").write_text("new\n")
    tracker = begun()
    (root / "old").unlink()
    assert "\nrename from old\nrename to new\n" in _changed(root, tracker)
    assert not (tmp_path / "was-run").exists()


@pytest.mark.parametrize("script", ["exit 1", "echo half; kill -9 $$", "exec sleep 20"])
def test_a_git_that_fails_is_not_needed(
    tmp_path: Path, root: Path, begun: Begun, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    """Or one that takes too long: the diff is made without it."""
    monkeypatch.setattr(_git_diff, "_LONGEST", 0.2)
    failing = program(tmp_path / "bin", script)
    monkeypatch.setattr(_git_diff, "find_git", lambda _: str(failing))
    assert _changed(root, begun()) == NEW


def test_there_is_no_place_for_a_repository(root: Path, begun: Begun, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the folder for temporary files is in the workspace, or cannot be used, git is not run."""
    monkeypatch.setattr(tempfile, "tempdir", str(root))
    monkeypatch.setattr(subprocess, "Popen", pytest.fail)
    assert _changed(root, begun()) == NEW
    (root / "new").unlink()
    monkeypatch.setattr(tempfile, "tempdir", "/proc/none")
    assert _changed(root, begun()) == NEW


def test_no_settings_of_others_count(root: Path, tmp_path: Path, begun: Begun, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither those of the workspace nor those of the user or the environment; nothing of them is run."""
    run = f"touch {tmp_path}/was-run"
    bad = f"[diff]\n\texternal = {run}\n\tnoprefix = true\n[core]\n\tfsmonitor = {run}\n"
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text(bad)
    (root / "HEAD").write_text("ref: refs/heads/main\n")
    (root / "config").write_text(bad)
    (root / ".gitattributes").write_text("* binary diff=x\n")
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(bad)
    for name, value in {
        "HOME": home, "XDG_CONFIG_HOME": home, "GIT_EXTERNAL_DIFF": run,
        "GIT_DIR": root / ".git", "GIT_DIFF_OPTS": "-u0", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "diff.noprefix",
        "GIT_CONFIG_VALUE_0": "true",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, str(value))
    before = sorted((each, each.stat().st_mtime_ns) for each in (root / ".git").rglob("*"))
    assert _changed(root, begun()) == NEW
    assert not (tmp_path / "was-run").exists()
    assert sorted((each, each.stat().st_mtime_ns) for each in (root / ".git").rglob("*")) == before


def test_nothing_is_left_behind(root: Path, tmp_path: Path, begun: Begun, monkeypatch: pytest.MonkeyPatch) -> None:
    """The repository is gone when the diff is there."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    assert _changed(root, begun()) == NEW
    assert list((tmp_path / "temporary").iterdir()) == []

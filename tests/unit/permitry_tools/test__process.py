"""Processes that tools run: captured, kept, and killed whole."""

import io
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
from tests.processes import is_gone
from tests.tables import for_each

from permitry.dispatch.cancel import SIGNAL, Cancellation, SetFor
from permitry.dispatch.events import Reporter
from permitry.errors import ToolError
from permitry_tools import _process
from permitry_tools._output import Output
from permitry_tools._process import Capture, ProcessGroup, _environment, folder_of, launch, run_group
from permitry_tools.artifacts import ArtifactStore
from permitry_tools.workspace import Workspace


def _captured(data: bytes, keep: int) -> Output:
    ours, theirs = os.pipe()
    capture = Capture(os.fdopen(ours, "rb", buffering=0), Output(keep, None))
    with io.FileIO(theirs, "wb") as pipe:
        for start in range(0, len(data), 7):
            pipe.write(data[start : start + 7])
    capture.finish()
    return capture.output


# What a command is given ------------------------------------------------------------------------------------------


@for_each(
    ("given", "at"),
    [({}, 0), ({"GIT_CONFIG_COUNT": "2", "GIT_CONFIG_KEY_1": "a.b"}, 2), ({"GIT_CONFIG_COUNT": "x"}, 0)],
)
def test_git_takes_no_folder_for_a_repository(given: dict[str, str], at: int) -> None:
    """What the environment says besides stays; of a setting that is there twice, git takes the last one."""
    made = _environment({"HOME": "/h", **given})
    assert made["GIT_CONFIG_COUNT"] == str(at + 1)
    assert (made[f"GIT_CONFIG_KEY_{at}"], made[f"GIT_CONFIG_VALUE_{at}"]) == ("safe.bareRepository", "explicit")
    assert (made["HOME"], made.get("GIT_CONFIG_KEY_1")) == ("/h", given.get("GIT_CONFIG_KEY_1"))


@for_each("given", [{}, {"GIT_NO_LAZY_FETCH": "0"}])
def test_git_is_reported_to_fetch_nothing_unasked(given: dict[str, str]) -> None:
    """Whatever the environment of permitry says."""
    assert _environment(given)["GIT_NO_LAZY_FETCH"] == "1"


def _git(folder: Path, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
    """Run git in a folder, as its author and without the user's configuration."""
    names = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = {**os.environ, **names, "GIT_CONFIG_GLOBAL": os.devnull, **more}
    return subprocess.run(["git", *words], cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def partial_clone(tmp_path: Path) -> Path:
    """Return a clone that lacks the first version of its file `f`; skip without a git that makes one."""
    source = tmp_path / "source"
    source.mkdir()
    _git(source, "init", "-q")
    _git(source, "config", "uploadpack.allowFilter", "true")
    for text in ("first", "second"):
        (source / "f").write_text(text, encoding="utf-8")
        _git(source, "add", "f")
        _git(source, "commit", "-qm", text)
    cloned = _git(tmp_path, "clone", "-q", "--filter=blob:none", source.as_uri(), "clone")
    if cloned.returncode:
        pytest.skip("this git makes no partial clone")
    return tmp_path / "clone"


def test_git_fetches_nothing_that_a_partial_clone_lacks(partial_clone: Path) -> None:
    """A command that reads would connect; git before 2.39.4 does not know the variable."""
    refused = _git(partial_clone, "show", "HEAD~1:f", **_environment({}))
    if refused.returncode == 0:
        pytest.skip("this git always fetches what is missing")
    assert "lazy fetching disabled" in refused.stderr
    assert _git(partial_clone, "show", "HEAD~1:f").stdout == "first"


# Output -----------------------------------------------------------------------------------------------------------


@for_each(
    ("data", "shown"),
    [
        (b"", ""),
        (b"abc", "abc"),
        (b"aaaaabbbbb", "aaaaabbbbb"),
        (b"aaaaa-bbbbb", "aaaaa\n...[1 characters left out]...\nbbbbb"),
        (b"aaaaa" + b"-" * 100 + b"bbbbb", "aaaaa\n...[100 characters left out]...\nbbbbb"),
    ],
)
def test_the_beginning_and_the_end_are_kept(data: bytes, shown: str) -> None:
    """What lies between is counted."""
    assert _captured(data, 5).take().text() == shown


def test_what_was_taken_is_not_shown_again() -> None:
    """Each piece of output is reported once; lines are counted over all."""
    output = _captured(b"a\nb\nc", 100)
    assert (output.take().text(), output.take().text(), output.lines) == ("a\nb\nc", "", 2)


def test_at_the_end_of_a_pipe_its_artifact_is_whole(tmp_path: Path) -> None:
    """Also of a command that is killed and never looked at again."""
    store = ArtifactStore(tmp_path / "kept")
    ours, theirs = os.pipe()
    Capture(os.fdopen(ours, "rb", buffering=0), Output(4, Reporter("run_shell", "c1", "main", artifacts=store)))
    with io.FileIO(theirs, "wb") as pipe:
        pipe.write(b"0123456789")
    until = time.monotonic() + 5
    while not (kept := "".join(path.read_text() for path in store.folder.glob("*.jsonl"))).endswith('"0123456789"\n'):
        assert time.monotonic() < until, kept
        time.sleep(0.01)


def test_characters_are_not_torn_apart() -> None:
    """Wherever a read of the pipe ends; what is not text is replaced."""
    assert _captured("äöü€".encode() * 50 + b"\xc3", 1000).take().text() == "äöü€" * 50 + "\ufffd"


# Groups -----------------------------------------------------------------------------------------------------------


def test_a_group_tells_how_it_ended(root: Path) -> None:
    """Its exit code, both outputs, and how many lines they have."""
    ended = run_group(ProcessGroup(["sh", "-c", "echo a; echo b; echo c >&2; exit 3"], root), 30)
    assert (ended.code, ended.is_cancelled) == (3, False)
    assert [(each.text(), each.lines) for each in ended.outputs] == [("a\nb\n", 2), ("c\n", 1)]


def test_both_outputs_may_be_one(root: Path) -> None:
    """In the order in which they were written."""
    group = ProcessGroup(["sh", "-c", "echo a; echo b >&2; echo c"], root, is_merged=True)
    assert [each.text() for each in run_group(group, 30).outputs] == ["a\nb\nc\n"]


def test_a_killed_group_is_over(root: Path) -> None:
    """Killing waits for the end, and may be asked for again."""
    group = ProcessGroup(["sleep", "60"], root)
    group.start()
    pid = group.started().pid
    assert group.code is None
    group.kill()
    group.kill()
    assert group.code == -signal.SIGKILL
    assert is_gone(pid)


def test_a_group_killed_before_its_start_is_not_started(root: Path) -> None:
    """Nothing runs after the end of everything."""
    group = ProcessGroup(["touch", "made"], root)
    group.kill()
    with pytest.raises(ToolError, match="ended before it was started"):
        group.start()
    assert not (root / "made").exists()


def test_a_group_killed_while_it_is_being_started_does_not_live(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when starting takes longer than anybody waits."""

    class Slow(ProcessGroup):
        def spawn(self) -> "subprocess.Popen[bytes]":
            may_go.wait()
            return super().spawn()

    monkeypatch.setattr(_process, "_GRACE", 0.01)
    may_go = threading.Event()
    group = Slow(["sleep", "60"], root)
    group.start()
    group.kill()
    assert not group.ended.is_set()
    may_go.set()
    assert group.ended.wait(30)
    assert group.code == -signal.SIGKILL


def test_what_raises_while_a_group_runs_ends_it(root: Path) -> None:
    """An interrupt, for example."""
    group = ProcessGroup(["sleep", "60"], root)
    with pytest.raises(KeyboardInterrupt), launch(group) as process:
        raise KeyboardInterrupt
    assert is_gone(process.pid)


def test_a_cancelled_call_ends_what_it_launched(root: Path) -> None:
    """Without anybody having to look."""
    cancellation = Cancellation()
    group = ProcessGroup(["sleep", "60"], root)
    with SetFor(SIGNAL, cancellation), launch(group) as process:
        cancellation.cancel()
        assert group.ended.wait(10)
    assert is_gone(process.pid)


def test_a_cancelled_group_has_no_exit_code(root: Path) -> None:
    """Its end is not its own."""
    cancellation = Cancellation()
    group = ProcessGroup(["sh", "-c", "echo a; exec sleep 60"], root)

    def cancel() -> None:
        group.started()
        while not group.captures[0].output.lines:
            time.sleep(0.01)
        cancellation.cancel()

    canceller = threading.Thread(target=cancel)
    canceller.start()
    with SetFor(SIGNAL, cancellation):
        ended = run_group(group, 60)
    canceller.join()
    assert (ended.code, ended.is_cancelled) == (None, True)
    assert [each.text() for each in ended.outputs] == ["a\n", ""]


def test_what_was_launched_may_outlive_its_call(root: Path) -> None:
    """A call that ends well leaves a job alone."""
    cancellation = Cancellation()
    group = ProcessGroup(["sleep", "60"], root)
    with SetFor(SIGNAL, cancellation), launch(group) as process:
        pass
    cancellation.cancel()
    os.kill(process.pid, 0)
    assert not group.ended.is_set()
    group.kill()


# Folders ----------------------------------------------------------------------------------------------------------


def test_a_folder_of_the_workspace_is_found(workspace: Workspace) -> None:
    """By a relative path; nothing means the root."""
    (workspace.root / "a").mkdir()
    assert folder_of(workspace, "a/../a") == workspace.root / "a"
    assert (folder_of(workspace, None), folder_of(workspace, "")) == (workspace.root, workspace.root)


@pytest.mark.parametrize("workdir", ["..", "/", "link", "missing", "file"])
def test_any_other_folder_is_refused(workspace: Workspace, outside: Path, workdir: str) -> None:
    """Commands start inside."""
    (workspace.root / "link").symlink_to(outside)
    (workspace.root / "file").write_text("", encoding="utf-8")
    with pytest.raises(ToolError):
        folder_of(workspace, workdir)

"""The bounds of a turn's diff: what is not read, not kept or not looked into is never silently left out."""

import errno
import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pytest
from tests.tables import for_each

from permitry_tools import _git_diff, _tree, turn_diff
from permitry_tools._tree import Contents, TurnBounds, is_before
from permitry_tools.turn_diff import TurnDiffTracker

Begun = Callable[..., TurnDiffTracker]


@pytest.fixture
def opening(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that has `action` done whenever something with one of these names is about to be opened."""
    opened = os.open

    def have_done(names: Collection[str], action: Callable[[str], object]) -> None:
        def do_and_open(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
            if path in names:
                action(path)
            return opened(path, flags, mode, dir_fd=dir_fd)

        monkeypatch.setattr(os, "open", do_and_open)

    return have_done


# Contents ------------------------------------------------------------------------------------------------------------


def test_large_files_differ(root: Path, begun: Begun) -> None:
    """A file past the bound is compared by its digest, even where size and times say nothing."""
    (root / "big").write_text("a" * 100)
    (root / "same").write_text("b" * 100)
    tracker = begun(TurnBounds(file_size=99))
    times = (root / "big").stat()
    (root / "big").write_text("c" * 100)
    os.utime(root / "big", ns=(times.st_atime_ns, times.st_mtime_ns))
    (root / "same").write_text("b" * 100)
    (root / "new").write_text("d" * 100)
    assert tracker.diff() == (
        "diff --git a/big b/big\nindex d690765..5a5d18e 100644\nBinary files a/big and b/big differ\n"
        "diff --git a/new b/new\nnew file mode 100644\nindex 0000000..d1b8213\n"
        "Binary files /dev/null and b/new differ\n"
        "...[too large to keep: big, new]...\n"
    )


@pytest.mark.parametrize("size", [0, 1, 15, 16, 2047, 2048, 262_143, 262_144, 1_000_000])
def test_contents_of_any_size_are_in_the_diff(root: Path, begun: Begun, size: int) -> None:
    """Git reads them as they were: what it shows is the one line that is new."""
    data = b"a\n" * (size // 2) + b"b" * (size % 2)
    (root / "a").write_bytes(data)
    tracker = begun()
    (root / "a").write_bytes(b"new\n" + data)
    changed = [line for line in tracker.diff().splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    assert changed == ["+new"]
    contents = Contents()
    contents.keep("a", data, 1_000_000)
    assert contents.data("a") == data


def test_many_files_are_compared_by_few_files(root: Path, begun: Begun, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git takes them from one: thousands would take seconds to write and to remove."""
    counts: list[int] = []
    popen = subprocess.Popen

    def counted(command: list[str], *, cwd: Path, **rest: Any) -> "subprocess.Popen[bytes]":  # noqa: ANN401 -- Popen's own
        counts.append(sum(each.is_file() for each in cwd.rglob("*")))
        return popen(command, cwd=cwd, **rest)

    monkeypatch.setattr(subprocess, "Popen", counted)
    tracker = begun()
    for number in range(200):
        (root / f"{number}").write_text(f"{number}\n")
    assert tracker.diff().count("\ndiff --git ") == 199
    assert max(counts) < 10


def test_the_mode_of_a_large_file(root: Path, begun: Begun) -> None:
    """It is shown as git shows it; the content needs not be known for it."""
    (root / "big").write_text("a" * 100)
    tracker = begun(TurnBounds(file_size=99))
    (root / "big").chmod(0o755)
    assert tracker.diff() == "diff --git a/big b/big\nold mode 100644\nnew mode 100755\n"


def test_what_is_not_read_is_compared_by_its_times(root: Path, begun: Begun) -> None:
    """Past the bytes that one look reads there is no digest."""
    for name in ("a", "b", "c"):
        (root / name).write_text(name * 60)
    tracker = begun(TurnBounds(read=100))
    os.utime(root / "c")
    assert tracker.diff() == (
        "diff --git a/c b/c\nBinary files a/c and b/c differ\n"
        "...[not read to the end, so compared by size and times: c]...\n"
    )


def test_a_turn_has_room_of_its_own(root: Path, begun: Begun) -> None:
    """Where the beginning has filled the bound, what the turn writes is still shown."""
    (root / "old").write_bytes(os.urandom(500))
    tracker = begun(TurnBounds(kept=600))
    (root / "new").write_text("new\n")
    (root / "large").write_bytes(os.urandom(900))
    text = tracker.diff()
    assert "\n+new\n" in text
    assert text.endswith("Binary files /dev/null and b/large differ\n...[too large to keep: large]...\n")


def test_what_is_not_there_any_more_is_forgotten(root: Path, begun: Begun, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long session keeps the contents of the files that there are."""
    contents = Contents()
    monkeypatch.setattr(turn_diff, "Contents", lambda: contents)
    tracker = begun()
    for number in range(5):
        (root / "file").write_text(str(number))
        assert f"+{number}" in tracker.diff()
        tracker.begin()
    assert len(contents.objects) <= 2


def test_a_long_diff_ends_with_a_whole_file(root: Path, begun: Begun) -> None:
    """And says that it is not all, with git and without."""
    tracker = begun(TurnBounds(text=450))
    for name in "abcd":
        (root / name).write_text(f"{name}é\n" * 20)
    text = tracker.diff()
    assert text.startswith("diff --git a/a b/a\n")
    assert text.endswith("+bé\n...[the diff is longer than 450 bytes; this is its beginning]...\n")


def test_a_long_diff_without_git(root: Path, begun: Begun, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bound holds."""
    monkeypatch.setattr(_git_diff, "find_git", lambda _: None)
    test_a_long_diff_ends_with_a_whole_file(root, begun)


def test_many_lines_without_git_differ(root: Path, begun: Begun, monkeypatch: pytest.MonkeyPatch) -> None:
    """Comparing them by ourselves would take long."""
    monkeypatch.setattr(_git_diff, "find_git", lambda _: None)
    (root / "long").write_text("x\n" * 20_001)
    tracker = begun()
    (root / "long").write_text("y\n")
    assert tracker.diff().endswith("\nBinary files a/long and b/long differ\n")


# Reading -------------------------------------------------------------------------------------------------------------


def test_unchanged_files_are_read_once(
    root: Path, begun: Begun, opening: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the end of the turn and in later turns only what looks different is read."""
    read: list[str] = []
    opening(("a", "b"), read.append)
    monkeypatch.setattr(_tree, "_RACY", 0)
    (root / "a").write_text("a")
    (root / "b").write_text("b")
    tracker = begun()
    (root / "b").write_text("bb")
    assert "+bb" in tracker.diff()
    tracker.begin()
    assert tracker.diff() == ""
    assert read == ["a", "b", "b"]


def test_a_file_that_changed_just_now_is_read_again(root: Path, begun: Begun, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have changed again within one tick of the clock: nothing that the system says of it shows that."""
    monkeypatch.setattr(_tree, "_stamp", lambda _: (1,))
    (root / "a").write_text("a")
    tracker = begun()
    (root / "a").write_text("b")
    assert "\n-a\n" in tracker.diff()


def test_a_file_that_changes_while_it_is_read(root: Path, begun: Begun, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no one content to show."""
    (root / "log").write_text("one\n")
    tracker = begun()
    read = os.read

    def growing(file: int, size: int) -> bytes:
        with (root / "log").open("a") as log:
            log.write("more\n")
        return read(file, size)

    monkeypatch.setattr(os, "read", growing)
    text = tracker.diff()
    tracker.begin()
    assert tracker.diff() == text
    assert text.endswith(
        "Binary files a/log and b/log differ\n...[not read to the end, so compared by size and times: log]...\n"
    )


def _refuse(_: str) -> None:
    raise PermissionError(errno.EACCES, "not permitted")


def test_what_cannot_be_read_is_named(root: Path, begun: Begun, opening: Callable[..., None]) -> None:
    """A file by its change, a folder as what may have changed; nothing below it counts as deleted."""
    (root / "closed").mkdir()
    (root / "closed" / "file").write_text("x")
    (root / "key").write_text("x")
    (root / "open").write_text("x\n")
    tracker = begun()
    opening(("closed", "key"), _refuse)
    (root / "key").write_text("y")
    (root / "open").write_text("y\n")
    text = tracker.diff()
    assert "-x\n+y\n" in text
    assert text.endswith("Binary files a/key and b/key differ\n...[cannot be read: closed, key]...\n")
    tracker.begin()
    assert tracker.diff() == ""


def test_what_is_neither_file_nor_link_is_no_content(root: Path, begun: Begun) -> None:
    """Git knows of none of them, and opening one could wait for ever."""
    tracker = begun()
    os.mkfifo(root / "fifo")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(os.path.relpath(root / "socket"))
    assert tracker.diff() == ""


# Folders -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", ["node_modules", "src/__pycache__", ".git", ".permitry/artifacts"])
def test_some_folders_are_left_out(root: Path, begun: Begun, folder: str) -> None:
    """Nothing in them is shown; where one looks different from outside, that is said."""
    (root / folder / "inner").mkdir(parents=True)
    tracker = begun()
    (root / folder / "inner" / "x").write_text("x")
    assert tracker.diff() == ""
    (root / folder / "x").write_text("x")
    assert tracker.diff() == f"...[left out by name: {folder}]...\n"


@pytest.mark.parametrize("path", [".permitry/rules.toml", "src/artifacts/x", ".gitignore", "build/x"])
def test_other_folders_are_not(root: Path, begun: Begun, path: str) -> None:
    """The rules of a project count as much as its code."""
    tracker = begun()
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text("x\n")
    assert "\n+x\n" in tracker.diff()


def test_many_left_out_folders_are_counted(root: Path, begun: Begun) -> None:
    """Ten of them are named."""
    tracker = begun()
    for number in range(12):
        (root / f"{number:02}" / "node_modules").mkdir(parents=True)
    assert tracker.diff().endswith("08/node_modules, 09/node_modules and 2 more]...\n")


def test_which_folders_are_left_out_is_a_bound(root: Path, begun: Begun) -> None:
    """A host may want to see others."""
    tracker = begun(TurnBounds(left_out={".git"}))
    (root / "node_modules").mkdir()
    (root / "node_modules" / "x").write_text("x\n")
    assert "+++ b/node_modules/x\n" in tracker.diff()


def test_past_the_bound_of_files_nothing_is_compared(root: Path, begun: Begun) -> None:
    """A new file before the bound does not make one behind it a deleted one."""
    (root / "f").mkdir()
    for name in ("a", "c", "f/a", "f/b"):
        (root / name).write_text("x\n")
    tracker = begun(TurnBounds(files=4))
    (root / "b").write_text("new\n")
    (root / "f" / "b").unlink()
    text = tracker.diff()
    assert text.count("diff --git") == 1
    assert text.endswith("\n+new\n...[too many files: what comes from f/a on was not compared]...\n")


def test_folders_that_are_not_reached_are_not_deleted(root: Path, begun: Begun) -> None:
    """Where the bound is reached among the folders of a folder, none of them has been looked into."""
    for name in "ab":
        (root / "x" / name).mkdir(parents=True)
        (root / "x" / name / "file").write_text(name)
    tracker = begun(TurnBounds(files=5))
    assert tracker.diff() == ""
    for name in "cde":
        (root / "x" / name).mkdir()
    assert tracker.diff() == "...[too many files: what comes from x/a/ on was not compared]...\n"


@for_each(("first", "second"), [("a", "b"), ("z", "a/a"), ("a/z", "b/a"), ("a/b", "a/b/c"), ("a/", "a/a"), ("z", "a/")])
def test_a_look_has_an_order(first: str, second: str) -> None:
    """Files come before folders."""
    assert is_before(first, second)
    assert not is_before(second, first)
    assert is_before(first, None)


def test_a_crowded_folder_is_not_looked_into(root: Path, begun: Begun) -> None:
    """Which of its files come first would take long to say."""
    (root / "many").mkdir()
    tracker = begun(TurnBounds(files=5))
    for number in range(6):
        (root / "many" / str(number)).write_text("x")
    assert tracker.diff() == "...[holds more than 5 files: many]...\n"


def test_a_root_that_is_not_looked_into_is_always_named(root: Path, outside: Path, begun: Begun) -> None:
    """Nothing is known of it: that it looks as before does not mean that nothing has changed."""
    (root / "a").touch()
    (root / "b").touch()
    assert begun(TurnBounds(files=1)).diff() == "...[holds more than 1 files: .]...\n"
    tracker = TurnDiffTracker(root)
    shutil.rmtree(root)
    root.symlink_to(outside)
    tracker.begin()
    assert tracker.diff() == "...[cannot be read: .]...\n"


def test_deep_folders_are_not_looked_into(root: Path, begun: Begun) -> None:
    """However deep they are."""
    tracker = begun()
    deep = root.joinpath(*["d"] * 150)
    deep.mkdir(parents=True)
    (deep / "x").write_text("x")
    assert tracker.diff() == f"...[deeper than 100 folders: {'/'.join(['d'] * 101)}]...\n"


# Nothing outside -----------------------------------------------------------------------------------------------------


def test_a_folder_that_becomes_a_link_is_not_followed(root: Path, outside: Path, begun: Begun) -> None:
    """The link is a change, and what it leads to is not read."""
    (root / "src").mkdir()
    (root / "src" / "secret.txt").write_text("mine\n")
    tracker = begun()
    shutil.rmtree(root / "src")
    (root / "src").symlink_to(outside)
    text = tracker.diff()
    assert "new file mode 120000" in text
    assert "secret\n" not in text.replace("src/secret.txt", "")


def test_a_folder_is_replaced_during_the_look(
    root: Path, outside: Path, begun: Begun, opening: Callable[..., None]
) -> None:
    """Between its listing and its opening: it cannot be read, and nothing below it is compared."""
    (root / "src").mkdir()
    (root / "src" / "secret.txt").write_text("mine\n")
    tracker = begun()

    def replace(_: str) -> None:
        shutil.rmtree(root / "src")
        (root / "src").symlink_to(outside)

    opening(("src",), replace)
    assert tracker.diff() == "...[cannot be read: src]...\n"


def test_a_file_is_replaced_during_the_look(
    root: Path, outside: Path, begun: Begun, opening: Callable[..., None]
) -> None:
    """By a link: what it leads to is not read."""
    (root / "a").write_text("mine\n")
    tracker = begun()

    def replace(_: str) -> None:
        (root / "a").unlink()
        (root / "a").symlink_to(outside / "secret.txt")

    opening(("a",), replace)
    assert tracker.diff().endswith("...[cannot be read: a]...\n")


def test_the_root_becomes_a_link(root: Path, outside: Path, begun: Begun) -> None:
    """It is the folder that was named, or nothing is read."""
    (root / "a").write_text("a")
    tracker = begun()
    shutil.rmtree(root)
    root.symlink_to(outside)
    assert tracker.diff() == "...[cannot be read: .]...\n"


def test_the_root_is_gone(root: Path, begun: Begun) -> None:
    """With all that was in it."""
    (root / "a").write_text("a")
    tracker = begun()
    shutil.rmtree(root)
    assert tracker.diff().startswith("diff --git a/a b/a\ndeleted file mode 100644\n")


def test_what_vanishes_while_it_is_opened_is_deleted(root: Path, begun: Begun, opening: Callable[..., None]) -> None:
    """A file or a folder that a command in the background removes."""
    (root / "f").mkdir()
    (root / "f" / "a").write_text("a")
    (root / "b").write_text("b")
    tracker = begun()
    opening(("b", "f"), lambda name: shutil.rmtree(root / name) if name == "f" else (root / name).unlink())
    assert tracker.diff().count("\ndeleted file mode 100644\n") == 2


def test_what_vanishes_after_it_was_listed_is_deleted(root: Path, begun: Begun, opening: Callable[..., None]) -> None:
    """Likewise."""
    (root / "a").write_text("a")
    (root / "b").write_text("b")
    tracker = begun()
    opening(("a",), lambda _: (root / "b").unlink())
    assert tracker.diff().startswith("diff --git a/b b/b\ndeleted file mode 100644\n")

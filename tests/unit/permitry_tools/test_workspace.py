"""The workspace: one folder that the file tools cannot leave."""

import errno
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from permitry.errors import ToolError
from permitry_tools.workspace import Workspace

_MOST = 1_000
_LEFTOVERS = ".permitry-*"


def _both(workspace: Workspace, path: str) -> list[Callable[[], object]]:
    return [lambda: workspace.read(path, _MOST), lambda: workspace.write(path, b"written")]


# Where a path is --------------------------------------------------------------------------------------------------


def test_a_workspace_needs_a_folder(tmp_path: Path) -> None:
    """A root that does not exist confines nothing."""
    with pytest.raises(FileNotFoundError):
        Workspace(tmp_path / "missing")


def test_the_root_is_where_it_really_is(root: Path, tmp_path: Path) -> None:
    """A root given through a link, as text, is resolved once."""
    (tmp_path / "link").symlink_to(root)
    assert Workspace(str(tmp_path / "link")).root == root.resolve()


@pytest.mark.parametrize("path", ["a.txt", "./a.txt", "sub/../a.txt", "sub/./../a.txt", "missing/../a.txt"])
def test_a_path_is_located_below_the_root(root: Path, workspace: Workspace, path: str) -> None:
    """Dots are followed as far as they stay inside."""
    (root / "sub").mkdir()
    assert workspace.locate(path) == Path("a.txt")


def test_an_absolute_path_inside_is_fine(root: Path, workspace: Workspace) -> None:
    """Models like to write whole paths."""
    assert workspace.locate(str(root.resolve() / "sub" / "a.txt")) == Path("sub/a.txt")


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "../secret.txt",
        "../outside/secret.txt",
        "sub/../../outside/secret.txt",
        "/",
        "//",
        "/secret.txt",
        "../work2/a",
    ],
)
def test_a_path_outside_is_refused(workspace: Workspace, outside: Path, path: str) -> None:
    """Neither `..` nor a whole path leads out, nor does a folder whose name begins like the root's."""
    assert outside.is_dir()
    with pytest.raises(ToolError, match="lies outside the workspace"):
        workspace.locate(path)


@pytest.mark.parametrize("path", ["", "\0", "a\0.txt", "a.txt\0/../../outside"])
def test_an_empty_path_or_a_nul_is_refused(workspace: Workspace, path: str) -> None:
    """What the system would cut off or misread is never tried."""
    with pytest.raises(ToolError, match="empty or holds a NUL"):
        workspace.locate(path)


def test_a_tilde_is_a_name(root: Path, workspace: Workspace) -> None:
    """No one's home is meant."""
    workspace.write("~/a.txt", b"here")
    assert (root / "~" / "a.txt").read_bytes() == b"here"


# Links ------------------------------------------------------------------------------------------------------------


def test_a_link_inside_is_followed(root: Path, workspace: Workspace) -> None:
    """A link to a file of the workspace is that file."""
    (root / "a.txt").write_bytes(b"old")
    (root / "link").symlink_to("a.txt")
    workspace.write("link", b"new")
    assert workspace.read("link", _MOST) == b"new"
    assert ((root / "a.txt").read_bytes(), (root / "link").is_symlink()) == (b"new", True)


@pytest.mark.parametrize("target", ["secret.txt", "."])
@pytest.mark.parametrize("is_absolute", [True, False])
def test_a_link_outside_is_refused(
    root: Path,
    workspace: Workspace,
    outside: Path,
    target: str,
    is_absolute: bool,  # noqa: FBT001 -- a table of flags
) -> None:
    """Neither a linked file nor a file below a linked folder can be read or written."""
    (root / "link").symlink_to(outside / target if is_absolute else Path("..", "outside", target))
    for path in ("link", "link/secret.txt", "link/new.txt"):
        for use in _both(workspace, path):
            with pytest.raises(ToolError, match=r"outside the workspace|cannot be used"):
                use()
    assert [each.name for each in outside.iterdir()] == ["secret.txt"]
    assert (outside / "secret.txt").read_text(encoding="utf-8") == "secret"


def test_a_chain_of_links_is_followed_to_its_end(root: Path, workspace: Workspace, outside: Path) -> None:
    """However many links, the last one counts."""
    (root / "one").symlink_to("two")
    (root / "two").symlink_to("sub/three")
    (root / "sub").mkdir()
    (root / "sub" / "three").symlink_to(outside / "secret.txt")
    for use in _both(workspace, "one"):
        with pytest.raises(ToolError, match="outside the workspace"):
            use()


def test_a_link_to_nowhere_outside_creates_nothing_there(root: Path, workspace: Workspace, outside: Path) -> None:
    """A dangling link is not a way to make a file outside."""
    (root / "link").symlink_to(outside / "new.txt")
    with pytest.raises(ToolError, match="outside the workspace"):
        workspace.write("link", b"written")
    assert not (outside / "new.txt").exists()


@pytest.mark.parametrize("path", ["one", "one/a.txt", "self", "self/../a.txt"])
def test_a_circle_of_links_ends(root: Path, workspace: Workspace, path: str) -> None:
    """A link that leads back to itself is an error, not an endless search."""
    (root / "one").symlink_to("two")
    (root / "two").symlink_to("one")
    (root / "self").symlink_to("self")
    with pytest.raises(ToolError, match=r"circle of links|cannot be used|no file"):
        workspace.read(path, _MOST)


def test_a_circle_of_links_is_reported_as_one(root: Path, workspace: Workspace) -> None:
    """The model learns what is wrong with the path."""
    (root / "self").symlink_to("self")
    with pytest.raises(ToolError, match="`self` runs in a circle of links, or changed"):
        workspace.read("self", _MOST)


def _swapping(monkeypatch: pytest.MonkeyPatch, swap: Callable[[], object]) -> None:
    """Make `swap` happen right after a path was located: the worst moment."""
    locate = Workspace.locate

    def located(self: Workspace, path: str) -> Path:
        found = locate(self, path)
        swap()
        return found

    monkeypatch.setattr(Workspace, "locate", located)


@pytest.mark.parametrize("turn", [0, 1])
def test_a_folder_swapped_for_a_link_leads_nowhere(
    root: Path, workspace: Workspace, outside: Path, monkeypatch: pytest.MonkeyPatch, turn: int
) -> None:
    """A folder that was checked and then replaced makes the call fail."""
    (root / "sub").mkdir()
    (root / "sub" / "secret.txt").write_bytes(b"harmless")

    def swap() -> None:
        shutil.rmtree(root / "sub")
        (root / "sub").symlink_to(outside)

    _swapping(monkeypatch, swap)
    with pytest.raises(ToolError):
        _both(workspace, "sub/secret.txt")[turn]()
    assert (outside / "secret.txt").read_bytes() == b"secret"
    assert len(list(outside.iterdir())) == 1


@pytest.mark.parametrize("turn", [0, 1])
def test_a_file_swapped_for_a_link_leads_nowhere(
    root: Path, workspace: Workspace, outside: Path, monkeypatch: pytest.MonkeyPatch, turn: int
) -> None:
    """A file that was checked and then replaced is neither read nor written through."""
    (root / "a.txt").write_bytes(b"harmless")

    def swap() -> None:
        (root / "a.txt").unlink()
        (root / "a.txt").symlink_to(outside / "secret.txt")

    _swapping(monkeypatch, swap)
    with pytest.raises(ToolError, match=r"changed while it was opened|not a regular file"):
        _both(workspace, "a.txt")[turn]()
    assert (outside / "secret.txt").read_bytes() == b"secret"


def test_a_hard_link_is_not_written_through(root: Path, workspace: Workspace, outside: Path) -> None:
    """A file that also has a name outside is replaced by a new one, and the other name keeps the old."""
    os.link(outside / "secret.txt", root / "a.txt")
    workspace.write("a.txt", b"written")
    assert (root / "a.txt").read_bytes() == b"written"
    assert (outside / "secret.txt").read_bytes() == b"secret"


# What can be read -------------------------------------------------------------------------------------------------


def test_a_file_is_read_up_to_the_limit(root: Path, workspace: Workspace) -> None:
    """No more bytes than asked for."""
    (root / "a.txt").write_bytes(b"0123456789")
    assert workspace.read("a.txt", 4) == b"0123"
    assert workspace.read("a.txt", 100) == b"0123456789"


@pytest.mark.parametrize("path", ["missing", "sub/missing", "missing/a.txt"])
def test_a_missing_file_is_reported_without_its_whole_path(workspace: Workspace, root: Path, path: str) -> None:
    """The model gets back the path it gave, and learns nothing of the rest."""
    with pytest.raises(ToolError) as caught:
        workspace.read(path, _MOST)
    assert str(caught.value) == f"There is no file `{path}`."
    assert str(root) not in str(caught.value)


@pytest.mark.parametrize("path", [".", "sub", "sub/", "./sub/."])
def test_a_folder_is_no_file(root: Path, workspace: Workspace, path: str) -> None:
    """Neither the root nor a folder below can be read or replaced."""
    (root / "sub").mkdir()
    with pytest.raises(ToolError, match="is a folder, not a file"):
        workspace.read(path, _MOST)
    with pytest.raises(ToolError, match="is not a regular file"):
        workspace.write(path, b"written")


def test_a_file_is_no_folder(root: Path, workspace: Workspace) -> None:
    """A path through a file fails in the system's words."""
    (root / "a.txt").write_bytes(b"old")
    for use in _both(workspace, "a.txt/b.txt"):
        with pytest.raises(ToolError, match="cannot be used: Not a directory"):
            use()


def test_a_pipe_is_refused_without_waiting(root: Path, workspace: Workspace) -> None:
    """Reading a FIFO no one writes to would wait for ever."""
    os.mkfifo(root / "pipe")
    for use in _both(workspace, "pipe"):
        with pytest.raises(ToolError, match="is not a regular file"):
            use()
    assert stat.S_ISFIFO((root / "pipe").stat().st_mode)


def test_a_device_is_refused() -> None:
    """An endless file is not read, even in a workspace that holds it."""
    devices = Workspace(Path(os.devnull).parent)
    with pytest.raises(ToolError, match="is not a regular file"):
        devices.read(Path(os.devnull).name, _MOST)


def test_a_name_that_is_too_long_is_reported(workspace: Workspace) -> None:
    """The system's limit is an error of the call."""
    for use in _both(workspace, "x" * 300):
        with pytest.raises(ToolError, match="cannot be used: File name too long"):
            use()


@pytest.mark.parametrize(
    ("path", "wanted"),
    [("a.txt", True), ("sub", True), (".", True), ("link", True), ("missing", False), ("sub/b.txt", False)],
)
def test_a_workspace_knows_what_is_there(root: Path, workspace: Workspace, path: str, *, wanted: bool) -> None:
    """A file, a folder, or what a link leads to; nothing is opened for it."""
    (root / "a.txt").touch(mode=0)
    (root / "sub").mkdir()
    (root / "link").symlink_to("a.txt")
    (root / "dangling").symlink_to("missing")
    assert workspace.has(path) is wanted
    assert not workspace.has("dangling")


def test_nothing_is_reported_of_what_is_outside(workspace: Workspace, outside: Path) -> None:
    """Not even whether it is there."""
    assert outside.is_dir()
    for path in ("../outside/secret.txt", "../outside/missing"):
        with pytest.raises(ToolError, match="lies outside the workspace"):
            workspace.has(path)


# What can be written ----------------------------------------------------------------------------------------------


def test_missing_folders_are_made(root: Path, workspace: Workspace) -> None:
    """A file may be put where no folder is yet, and next to others later."""
    workspace.write("one/two/a.txt", b"a")
    workspace.write("one/two/b.txt", b"b")
    assert [each.name for each in sorted((root / "one" / "two").iterdir())] == ["a.txt", "b.txt"]


@pytest.mark.parametrize("mode", [0o600, 0o755, 0o444])
def test_an_existing_file_keeps_its_permissions(root: Path, workspace: Workspace, mode: int) -> None:
    """A script stays executable, a secret stays one."""
    (root / "a.sh").write_bytes(b"old")
    (root / "a.sh").chmod(mode)
    workspace.write("a.sh", b"new")
    assert (root / "a.sh").read_bytes() == b"new"
    assert stat.S_IMODE((root / "a.sh").stat().st_mode) == mode


def test_a_private_file_is_private_while_it_is_written(
    root: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The temporary file is never more readable than the one it replaces, and complete only with its permissions."""
    seen: list[tuple[int, int]] = []
    fchmod = os.fchmod

    def watched(file: int, mode: int) -> None:
        seen.append((stat.S_IMODE(os.fstat(file).st_mode), os.fstat(file).st_size))
        fchmod(file, mode)

    monkeypatch.setattr(os, "fchmod", watched)
    (root / "a").touch()
    (root / "a").chmod(0o640)
    workspace.write("a", b"secret")
    [(mode, size)] = seen
    assert (mode & 0o077, size) == (0, 0)


def test_a_new_file_has_the_permissions_of_any_new_file(root: Path, workspace: Workspace) -> None:
    """It is not made private because its temporary form could be."""
    workspace.write("a", b"new")
    (root / "b").touch()
    assert (root / "a").stat().st_mode == (root / "b").stat().st_mode


@pytest.mark.parametrize("step", ["replace", "fchmod"])
def test_a_failing_write_leaves_the_old_file(
    root: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Wherever it fails, the old content is there, and nothing else."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (root / "a.txt").write_bytes(b"old")
    monkeypatch.setattr(os, step, fail)
    with pytest.raises(ToolError, match="cannot be used: No space left on device"):
        workspace.write("a.txt", b"new")
    assert (root / "a.txt").read_bytes() == b"old"
    assert list(root.glob(_LEFTOVERS)) == []


def test_an_interrupted_write_leaves_nothing_behind(
    root: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in the middle cleans up, too."""

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        workspace.write("a.txt", b"new")
    assert list(root.iterdir()) == []


def test_a_write_that_cannot_begin_leaves_nothing_behind(
    root: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When not even the temporary file can be made, there is none to remove."""
    opened = os.open

    def no_new_files(name: str, flags: int, *rest: Any, **more: Any) -> int:  # noqa: ANN401 -- os.open's own
        if flags & os.O_CREAT:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return opened(name, flags, *rest, **more)

    monkeypatch.setattr(os, "open", no_new_files)
    with pytest.raises(ToolError, match="cannot be used: Permission denied"):
        workspace.write("a.txt", b"new")
    assert list(root.iterdir()) == []


def test_the_old_file_is_whole_until_the_new_one_is(
    root: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the moment of the exchange, the old content is in place and the new one is complete."""
    seen: list[tuple[bytes, bytes]] = []
    replace = os.replace

    def watched(temporary: str, name: str, **folders: int) -> None:
        seen.append(((root / name).read_bytes(), (root / temporary).read_bytes()))
        replace(temporary, name, **folders)

    (root / "a.txt").write_bytes(b"old")
    monkeypatch.setattr(os, "replace", watched)
    workspace.write("a.txt", b"new" * 1000)
    assert seen == [(b"old", b"new" * 1000)]


# Names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["line\nbreak.txt", " blank ", "-rf", "*", "ä€😀.txt", "\\..\\a"])
def test_odd_names_are_names(root: Path, workspace: Workspace, name: str) -> None:
    """A name that a shell would misread is written and read back."""
    workspace.write(name, b"odd")
    assert workspace.read(name, _MOST) == b"odd"
    assert [each.name for each in root.iterdir()] == [name]


@pytest.mark.parametrize(
    ("name", "listed"),
    [("a\nb", "a\\nb"), ("a\rb", "a\\rb"), ("a\x1b[2Kb", "a\\x1b[2Kb"), ("a\u2028b", "a\\u2028b"), ("ä b", "ä b")],
)
def test_a_name_that_would_not_stand_on_one_line_is_spelled_out(
    root: Path, workspace: Workspace, name: str, listed: str
) -> None:
    """One name is one line, and plays no tricks on a terminal."""
    (root / name).touch()
    assert list(workspace.files()) == [listed]


def test_the_files_are_listed_in_order(root: Path, workspace: Workspace) -> None:
    """Files of a folder come first, sorted; then the folders, sorted."""
    for name in ("b.txt", "z/y.txt", "a.txt", "m/n/o.txt"):
        workspace.write(name, b"")
    assert list(workspace.files()) == ["a.txt", "b.txt", "m/n/o.txt", "z/y.txt"]
    assert root.is_dir()


def test_git_is_left_out_at_every_depth(root: Path, workspace: Workspace) -> None:
    """The inside of a repository is not a part of the work."""
    for name in (".git/config", "sub/.git/HEAD", "sub/a.txt", ".gitignore"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"")
    assert list(workspace.files()) == [".gitignore", "sub/a.txt"]


def test_the_listing_does_not_follow_links_to_folders(root: Path, workspace: Workspace, outside: Path) -> None:
    """What lies behind a link is not listed."""
    (root / "link").symlink_to(outside)
    (root / "circle").symlink_to(root)
    assert list(workspace.files()) == []


def test_an_undecodable_name_is_listed_as_text(root: Path, workspace: Workspace) -> None:
    """Bytes that are not UTF-8 show as replacement characters, so that every result can be written as JSON."""
    try:
        (root / os.fsdecode(b"caf\xe9.txt")).write_bytes(b"")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    assert list(workspace.files()) == ["caf\ufffd.txt"]

"""Bringing back: what was there before, and nothing that has changed since."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.undo.conftest import Keep

from permitry.errors import UndoError
from permitry.undo import restoration
from permitry.undo.inspection import Limits
from permitry.undo.restoration import plan, restore
from permitry.undo.vault import Vault

_RESTORE = """
import sys
from pathlib import Path
from permitry.undo.restoration import restore
from permitry.undo.vault import Vault
print("ready", flush=True)
restore(Vault(Path(sys.argv[1])), sys.argv[2])
"""

Tree = dict[str, tuple[object, ...]]


def tree_of(work: Path) -> Tree:
    """Return the contents, modes, links and times of files below a folder."""
    found: Tree = {}
    for path in sorted(work.rglob("*")):
        status = path.lstat()
        name, mode, names = str(path.relative_to(work)), status.st_mode, status.st_nlink
        if path.is_symlink():
            found[name] = (mode, str(path.readlink()))
        elif path.is_file():
            found[name] = (mode, names, status.st_mtime_ns, path.read_bytes())
        else:
            found[name] = (mode,)
    return found


def _remove(work: Path) -> None:
    shutil.rmtree(work / "d")


def _replace_by_a_file(work: Path) -> None:
    shutil.rmtree(work / "d")
    (work / "d").write_text("file")


def _replace_by_a_link(work: Path) -> None:
    shutil.rmtree(work / "d")
    (work / "d").symlink_to("a")


def _change(work: Path) -> None:
    (work / "d" / "x").write_text("other")
    (work / "d" / "link").unlink()
    (work / "d" / "link").symlink_to("elsewhere")
    (work / "d" / "new").mkdir()
    (work / "d" / "new" / "file").write_text("new")


def _separate(work: Path) -> None:
    (work / "d" / "y").unlink()
    (work / "d" / "y").write_text("x\n")


def _lock(work: Path) -> None:
    (work / "d" / "x").chmod(0o400)
    (work / "d").chmod(0o500)


def _add(work: Path) -> None:
    (work / "d" / "x").unlink()
    (work / "d" / "x").mkdir()
    (work / "d" / "x" / "z").write_text("z")


@pytest.mark.parametrize("happens", [_remove, _replace_by_a_file, _replace_by_a_link, _change, _separate, _lock, _add])
def test_whatever_a_call_did_is_undone_and_done_again(
    vault: Vault, keep: Keep, work: Path, happens: Callable[[Path], None]
) -> None:
    """Undoing the undo is the state after the call; and that again is the one before it."""
    before, name = tree_of(work), keep("d")
    happens(work)
    vault.ended(name)
    after = tree_of(work)
    assert before != after
    undone = restore(vault, name)
    assert tree_of(work) == before
    again = restore(vault, undone)
    assert tree_of(work) == after
    restore(vault, again)
    assert tree_of(work) == before
    assert [entry.undoes for entry in vault.entries()] == ["", name, undone, again]


def test_what_was_made_is_removed_with_its_folders(vault: Vault, keep: Keep, work: Path) -> None:
    """Those that were there before stay."""
    before, name = tree_of(work), keep("n/m/file")
    (work / "n" / "m").mkdir(parents=True)
    (work / "n" / "m" / "file").write_text("new")
    vault.ended(name)
    restore(vault, name)
    assert tree_of(work) == before


def test_a_file_of_which_only_the_mode_changed_stays_the_same_file(vault: Vault, keep: Keep, work: Path) -> None:
    """Programs that have it open keep it."""
    (work / "a").chmod(0o640)
    name, inode = keep("a"), (work / "a").stat().st_ino
    (work / "a").chmod(0o777)
    vault.ended(name)
    restore(vault, name)
    status = (work / "a").stat()
    assert (status.st_ino, status.st_mode & 0o777) == (inode, 0o640)


def test_the_time_of_a_link_comes_back(vault: Vault, keep: Keep, work: Path) -> None:
    """Of one that leads where it did as well."""
    link = work / "d" / "link"
    os.utime(link, ns=(5, 10**18), follow_symlinks=False)
    for makes_another in (False, True):
        entry = keep("d")
        if makes_another:
            link.unlink()
            link.symlink_to("../a")
        os.utime(link, follow_symlinks=False)
        vault.ended(entry)
        restore(vault, entry)
        assert (link.lstat().st_mtime_ns, str(link.readlink())) == (10**18, "../a")


def test_a_sparse_file_comes_back_as_one(vault: Vault, keep: Keep, work: Path) -> None:
    """With holes at its end, its beginning and in between; one that was full of zeros stays full."""
    (work / "s").write_bytes(b"")
    with (work / "s").open("r+b") as file:
        file.seek(3_000_000)
        file.write(b"middle")
        file.truncate(8_000_001)
    (work / "z").write_bytes(bytes(100_000))
    before = {name: ((work / name).read_bytes(), (work / name).stat().st_blocks) for name in "sz"}
    entry = keep("s", "z")
    for name in "sz":
        (work / name).unlink()
    vault.ended(entry)
    restore(vault, entry)
    for name in "sz":
        content, blocks = before[name]
        assert (work / name).read_bytes() == content
        assert ((work / name).stat().st_blocks < len(content) // 512) == (blocks < len(content) // 512)


def test_what_has_changed_since_is_refused(vault: Vault, keep: Keep, work: Path) -> None:
    """By anyone, in any of the paths; nothing is changed then, unless it is forced."""
    before, name = tree_of(work), keep("a", "d", "n")
    (work / "a").write_text("of the call")
    vault.ended(name)
    for number in range(4):
        (work / "d" / f"mine{number}").write_text("mine")
    changed = tree_of(work)
    with pytest.raises(UndoError, match=r"changed since: .*d/mine0.*and 1 more; use --force"):
        restore(vault, name)
    assert tree_of(work) == changed
    undone = restore(vault, name, force=True)
    assert tree_of(work) == before
    restore(vault, undone)
    assert tree_of(work) == changed


def test_where_the_end_of_the_call_is_not_known_it_is_refused(vault: Vault, keep: Keep, work: Path) -> None:
    """What is there now may be of others."""
    before, name = tree_of(work), keep("a")
    (work / "a").write_text("of the call")
    assert plan(vault, vault.find(name)).conflicts == (str(work / "a"),)
    with pytest.raises(UndoError, match="not known how the call ended"):
        restore(vault, name)
    restore(vault, name, force=True)
    assert tree_of(work) == before


def test_nothing_is_undone_twice(vault: Vault, keep: Keep, work: Path) -> None:
    """The error says what to undo instead."""
    name = keep("a")
    (work / "a").unlink()
    vault.ended(name)
    undone = restore(vault, name)
    with pytest.raises(UndoError, match=f"undo `{undone}`"):
        restore(vault, name)


def test_a_folder_that_became_a_link_is_not_followed(vault: Vault, keep: Keep, work: Path) -> None:
    """What the agent put in its place leads nowhere: nothing outside is changed."""
    name = keep("d/link")
    (work / "d" / "link").unlink()
    vault.ended(name)
    (work / "d").rename(work / "old")
    (work / "outside").mkdir()
    (work / "d").symlink_to("outside")
    with pytest.raises(UndoError, match="is not what it was"):
        restore(vault, name, force=True)
    assert list((work / "outside").iterdir()) == []


def test_what_cannot_be_written_is_reported_and_can_be_tried_again(
    vault: Vault, keep: Keep, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second try goes on where the first has stopped, without force."""
    before, name = tree_of(work), keep("d")
    shutil.rmtree(work / "d")
    vault.ended(name)
    with monkeypatch.context() as broken:
        broken.setattr(restoration, "content_of", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
        with pytest.raises(UndoError, match="No space left; try again"):
            restore(vault, name)
    assert not (work / "d" / "x").exists()
    undone = restore(vault, name)
    assert tree_of(work) == before
    restore(vault, undone)
    assert not (work / "d").exists()


def test_what_has_changed_since_an_interrupt_is_kept_as_well(
    vault: Vault, keep: Keep, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is replaced with force only, and comes back when that is undone."""
    before, name = tree_of(work), keep("d")
    shutil.rmtree(work / "d")
    vault.ended(name)
    _interrupted(vault, name, monkeypatch)
    (work / "d").mkdir(exist_ok=True)
    (work / "d" / "x").write_text("by hand\n")
    with pytest.raises(UndoError, match="changed since"):
        restore(vault, name)
    undone = restore(vault, name, force=True)
    assert tree_of(work) == before
    restore(vault, undone)
    assert (work / "d" / "x").read_text() == "by hand\n"


def _interrupted(vault: Vault, name: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Begin to restore, and return the token of the names that were used."""
    with monkeypatch.context() as broken:
        broken.setattr(restoration, "content_of", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
        with pytest.raises(UndoError, match="try again"):
            restore(vault, name)
    return vault.find(name).tokens[-1]


def test_what_is_too_large_by_now_can_be_moved_away(vault: Vault, keep: Keep, work: Path) -> None:
    """It is not replaced without a copy."""
    name, small = keep("a"), Vault(vault.folder, Limits(size=1_000))
    (work / "a").write_text("x" * 2_000)
    small.ended(name)
    with pytest.raises(UndoError, match=r"with `.*/a` it is more than 1000 bytes; move it away, and use --force"):
        restore(small, name, force=True)
    (work / "a").rename(work / "large")
    restore(small, name, force=True)
    assert (work / "a").read_text() == "a\n"


def test_what_is_in_the_way_of_a_name_stops_no_undo(
    vault: Vault, keep: Keep, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent may see the names of a try that was interrupted; the next one uses others, and removes no folder."""
    before, name = tree_of(work), keep("a")
    (work / "a").unlink()
    vault.ended(name)
    token = _interrupted(vault, name, monkeypatch)
    folder, left = work / f".permitry-undo-{token}-0", work / f".permitry-undo-{token}-1"
    folder.mkdir()
    (folder / "of the agent").touch()
    left.write_text("half of it")
    restore(vault, name)
    assert not left.exists()
    shutil.rmtree(folder)
    assert tree_of(work) == before
    assert vault.find(name).tokens[1:] != (token,)


def test_files_with_names_like_its_own_are_left_alone(vault: Vault, keep: Keep, work: Path) -> None:
    """They are of the user, or of another undo."""
    names = ("d/.permitry-undo-1-0", "d/.permitry-undo-0123456789abcdef-0", ".permitry-undo-1-0")
    for each in names:
        (work / each).write_text("mine")
    before, name = tree_of(work), keep("d", "a")
    (work / "d" / "x").unlink()
    (work / "d" / "y").unlink()
    (work / "a").unlink()
    vault.ended(name)
    restore(vault, name)
    assert tree_of(work) == before


def test_a_damaged_copy_is_not_brought_back(vault: Vault, keep: Keep, work: Path) -> None:
    """Nothing takes the place of what is there."""
    name = keep("a")
    (work / "a").write_text("now")
    vault.ended(name)
    (vault.path(name) / "copies").write_bytes(b"b\n")
    with pytest.raises(UndoError, match="damaged"):
        restore(vault, name)
    assert (work / "a").read_text() == "now"
    assert sorted(path.name for path in work.iterdir()) == ["a", "d"]


@pytest.mark.parametrize("delay", [0.0, 0.002, 0.005, 0.01, 0.02, 0.05])
def test_what_is_killed_while_it_restores_goes_on_later(vault: Vault, keep: Keep, work: Path, delay: float) -> None:
    """Nothing is lost, nothing is left over, and what had changed in between is not taken for its own."""
    for number in range(100):
        (work / "d" / f"f{number}").write_bytes(os.urandom(20_000))
    before, name = tree_of(work), keep("d")
    shutil.rmtree(work / "d")
    (work / "d").write_text("of the call")
    vault.ended(name)
    after = tree_of(work)
    with subprocess.Popen([sys.executable, "-c", _RESTORE, str(vault.folder), name], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        threading.Event().wait(delay)
        process.send_signal(signal.SIGKILL)
    if not vault.find(name).is_undone:
        restore(vault, name)
    assert tree_of(work) == before
    restore(vault, vault.find(name).undone_by)
    assert tree_of(work) == after

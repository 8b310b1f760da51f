"""The vault: all of an entry or nothing, bounded, and no id twice."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import attrs
import pytest
from tests.unit.undo.conftest import CALL, Keep

from permitry.actions.changes import Change
from permitry.errors import UndoError
from permitry.undo import vault as module
from permitry.undo.inspection import Limits
from permitry.undo.vault import Vault

_KEEP = """
import sys
from pathlib import Path
from permitry.core.call import ToolCall
from permitry.actions.changes import Change
from permitry.undo.vault import Vault
vault = Vault(Path(sys.argv[1]))
print("ready", flush=True)
while True:
    vault.keep(ToolCall("t", {}), [Change(sys.argv[2], True)])
"""


def test_an_entry_says_what_was_kept(vault: Vault, keep: Keep, work: Path) -> None:
    """For which call, when, and what was there."""
    entry = vault.find(keep("a", "n"))
    assert (entry.id, entry.at, entry.session, entry.tool, entry.digest) == ("1", 1_000.0, "s", "bash", CALL.digest)
    assert [Path(node.path).name for node in entry.before] == ["a", "n"]
    assert entry.changes == (Change(str(work / "a"), True), Change(str(work / "n"), True))
    assert (entry.after, entry.undoes, entry.undone_by, entry.is_undone) == (None, "", "", False)
    assert vault.entries() == [entry]


def test_only_the_user_may_read_it(vault: Vault, keep: Keep) -> None:
    """Whatever the mode of what is kept."""
    keep("d")
    modes = [path.stat().st_mode & 0o077 for path in (vault.folder, *vault.folder.rglob("*"))]
    assert set(modes) == {0}


def test_no_id_comes_twice(vault: Vault, keep: Keep) -> None:
    """Also not once its entry is gone."""
    assert [keep("a"), keep("a")] == ["1", "2"]
    assert vault.prune(-1.0) == 2
    assert keep("a") == "3"
    (vault.folder / "last").unlink()
    assert keep("a") == "4"


def test_after_the_call_its_result_is_noted(vault: Vault, keep: Keep, work: Path) -> None:
    """What cannot be looked at stays unknown, and an entry that is gone is no error."""
    known, unknown = keep("a"), keep("d")
    (work / "a").write_text("new\n")
    vault.ended(known)
    os.mkfifo(work / "d" / "pipe")
    vault.ended(unknown)
    vault.ended("99")
    after = vault.find(known).after
    assert after is not None
    assert after[0].size == 4
    assert vault.find(unknown).after is None


@pytest.mark.parametrize("name", ["99", "x", "../1", ""])
def test_what_is_no_entry_is_an_error(vault: Vault, name: str) -> None:
    """No name leads out of the vault."""
    with pytest.raises(UndoError, match="entry"):
        vault.find(name)


def test_a_damaged_entry_keeps_no_other_from_being_listed(vault: Vault, keep: Keep) -> None:
    """By itself it is an error; and it counts as large as it may be."""
    damaged, other = keep("a"), keep("a")
    (vault.path(damaged) / "kept.json").write_text("{}\n[]\n")
    with pytest.raises(UndoError, match="damaged"):
        vault.find(damaged)
    assert [entry.id for entry in vault.entries()] == [other]
    full = attrs.evolve(vault, limits=Limits(size=10_000, total=10_000))
    with pytest.raises(UndoError, match="too large"):
        full.keep(CALL, [Change("/nowhere")])


def test_an_empty_vault_has_no_entries(vault: Vault) -> None:
    """Listing makes no folder."""
    assert vault.entries() == []
    assert not vault.folder.exists()


def test_a_full_vault_keeps_nothing_more(vault: Vault, work: Path) -> None:
    """Nothing is left of what did not fit, and there is room again once the oldest is gone."""
    small = attrs.evolve(vault, limits=Limits(total=3_000))
    (work / "a").write_bytes(b"x" * 1_000)
    change = [Change(str(work / "a"))]
    assert [small.keep(CALL, change), small.keep(CALL, change)] == ["1", "2"]
    with pytest.raises(UndoError, match="--prune"):
        small.keep(CALL, change)
    assert sorted(path.name for path in vault.folder.iterdir()) == ["1", "2", "last", "lock"]
    assert small.prune(size=1_500) == 1
    assert small.keep(CALL, change) == "4"


def test_old_entries_are_removed(vault: Vault) -> None:
    """With the next one; those from before the clock was set back stay."""
    now = [0.0]
    aging = attrs.evolve(vault, clock=lambda: now[0], limits=Limits(age=100.0))
    for at in (0.0, 50.0, 101.0, 20.0):
        now[0] = at
        aging.keep(CALL, [Change("/nowhere")])
    assert [entry.id for entry in vault.entries()] == ["2", "3", "4"]


@pytest.mark.parametrize("path", ["", "/1", "/.."])
def test_the_vault_does_not_keep_itself(vault: Vault, keep: Keep, path: str) -> None:
    """Nor a folder above it: that would have no end, and undoing it would take all else away."""
    keep("a")
    with pytest.raises(UndoError, match="copies that are kept"):
        vault.keep(CALL, [Change(os.path.normpath(f"{vault.folder}{path}"), True)])


@pytest.mark.parametrize("made", ["folder", "building"])
def test_where_nothing_can_be_written_nothing_is_kept(
    vault: Vault, work: Path, made: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk, or a folder that is none; the error says so."""
    if made == "folder":
        vault.folder.parent.write_text("")
    else:
        monkeypatch.setattr(module, "write_new", lambda *_, **__: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(UndoError, match="kept"):
        vault.keep(CALL, [Change(str(work / "a"))])
    assert vault.entries() == []


def test_threads_take_turns(vault: Vault, work: Path) -> None:
    """Each gets an entry of its own."""
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(vault.keep(CALL, [Change(str(work / "d"), True)])))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(int, found)) == list(range(1, 9))
    assert len(vault.entries()) == 8


@pytest.mark.parametrize("delay", [0.0, 0.01, 0.03])
def test_what_is_killed_while_it_keeps_leaves_whole_entries(vault: Vault, work: Path, delay: float) -> None:
    """Each entry has all that it should, and the next one removes what was not finished."""
    for number in range(50):
        (work / "d" / f"f{number}").write_bytes(os.urandom(5_000))
    words = [sys.executable, "-c", _KEEP, str(vault.folder), str(work / "d")]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        threading.Event().wait(delay)
        process.send_signal(signal.SIGKILL)
    vault.keep(CALL, [Change(str(work / "d"), True)])
    names = {path.name for path in vault.folder.iterdir()} - {"last", "lock"}
    assert names == {entry.id for entry in vault.entries()}
    for entry in vault.entries():
        assert entry.before == vault.entries()[-1].before
        assert json.loads((vault.path(entry.id) / "kept.json").read_text().splitlines()[0])["size"] > 250_000

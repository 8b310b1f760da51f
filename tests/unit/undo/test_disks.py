"""Real file systems, each mounted where no other process sees it: full ones, and such as share the blocks of copies."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.tables import for_each

_PRIVATE = (["unshare", "--mount"], ["unshare", "--mount", "--map-root-user"])
_COMMON = """
import os, subprocess, sys
from pathlib import Path
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.actions.changes import Change
from permitry.errors import UndoError
from permitry.guard.guard import Guard
from permitry.guard.outcome import Ask, Permit
from permitry.guard.session import Session
from permitry.undo.restoration import restore
from permitry.undo.vault import Vault

disk, mount, source = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
subprocess.run(["mount", *mount.split(), source, disk], check=True)

def refused(work, undo, *words):
    try:
        undo(*words)
    except UndoError as error:
        assert "No space left" in str(error), error
        return True
    return False
"""
_FULL = """
work, vault = disk.parent / "work", Vault(disk / "undo")
work.mkdir()
for name in ("small", "large", "other"):
    (work / name).write_bytes(os.urandom(1_000 if name == "small" else 700_000))
contents = {path.name: path.read_bytes() for path in work.iterdir()}
rules = 'schema = 1\\n[[rule]]\\nid = "k"\\neffect = "allow"\\nkeep = true\\ntools = ["@shell"]\\n'
guard = Guard(load_policy(rules), Session(workspace=str(work)), undo=vault)

def removed(name):
    outcome = guard.check(guard.call("bash", {"command": f"rm {name}"}))
    if isinstance(outcome, Permit):
        with outcome:
            (work / name).unlink()
    else:
        assert isinstance(outcome, Ask) and "No space left" in outcome.decision.reason, outcome
    return isinstance(outcome, Permit)

assert removed("large")
assert not removed("other")
with (disk / "filler").open("wb", buffering=0) as filler:
    try:
        while filler.write(b"x" * 4096):
            pass
    except OSError:
        pass
assert not removed("small")
assert {path.name for path in work.iterdir()} == {"small", "other"}
assert [entry.id for entry in vault.entries()] == ["1"]
assert refused(work, restore, vault, "1")
assert not (work / "large").exists()
(disk / "filler").unlink()
restore(vault, "1")
assert {path.name: path.read_bytes() for path in work.iterdir()} == contents
assert removed("small")
# Of what was not kept, nothing is left.
assert {path.name for path in vault.folder.iterdir()} - {"last", "lock"} == {each.id for each in vault.entries()}
assert len(vault.entries()) == 3
"""
_FULL_TREE = """
work, vault = disk / "work", Vault(disk.parent / "undo")
work.mkdir()
(work / "a").write_bytes(os.urandom(600_000))
before = (work / "a").read_bytes()
name = vault.keep(ToolCall("bash"), [Change(str(work / "a"))])
(work / "a").unlink()
vault.ended(name)
(work / "mine").write_bytes(os.urandom(700_000))
assert refused(work, restore, vault, name)
assert [path.name for path in work.iterdir()] == ["mine"]
(work / "mine").unlink()
restore(vault, name)
assert (work / "a").read_bytes() == before
assert [path.name for path in work.iterdir()] == ["a"]
"""
_SHARED = """
import array, fcntl, struct
def extents(path):
    head = struct.pack("=QQLLLL", 0, 2**64 - 1, 1, 0, 256, 0)
    given = array.array("B", head + bytes(56 * 256))
    with open(path, "rb") as file:
        fcntl.ioctl(file, 0xC020660B, given)
    count = struct.unpack_from("=QQLLLL", given)[3]
    return [struct.unpack_from("=QQQQQLLLL", given, 32 + 56 * number)[5] for number in range(count)]

def used():
    os.sync()
    status = os.statvfs(disk)
    return (status.f_blocks - status.f_bfree) * status.f_frsize

work, vault = disk / "work", Vault(disk / "undo")
work.mkdir()
(work / "a").write_bytes(os.urandom(32_000_000))
before, taken = (work / "a").read_bytes(), used()
name = vault.keep(ToolCall("bash"), [Change(str(work / "a"))])
flags = extents(vault.path(name) / "clone-0")
assert flags and all(each & 0x2000 for each in flags), flags
assert used() - taken < 4_000_000, used() - taken
(work / "a").write_bytes(b"of the call")
vault.ended(name)
restore(vault, name)
assert (work / "a").read_bytes() == before
"""


def _run(script: str, disk: Path, mount: str, source: str = "none") -> None:
    """Run a script in a mount namespace of its own, in which the file system is at `disk`; skip where none can be."""
    disk.mkdir()
    reasons = []
    for words in _PRIVATE:
        mounting = [*words, "mount", *mount.split(), source, str(disk)]
        tried = subprocess.run(mounting, capture_output=True, text=True, check=False)
        reasons.append(tried.stderr.strip())
        if tried.returncode == 0:
            command = [*words, sys.executable, "-c", _COMMON + script, str(disk), mount, source]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            return
    pytest.skip(f"this user cannot mount it: {reasons}")


def test_a_full_disk_keeps_nothing_and_permits_nothing(tmp_path: Path) -> None:
    """What needs no room goes on; once there is room again all that was kept comes back."""
    _run(_FULL, tmp_path / "disk", "-t tmpfs -o size=1m")


def test_what_does_not_fit_is_not_restored_in_part(tmp_path: Path) -> None:
    """It comes back once there is room, without force."""
    _run(_FULL_TREE, tmp_path / "disk", "-t tmpfs -o size=1m")


@for_each("kind", ["btrfs", "xfs"])
def test_a_copy_shares_its_blocks_where_the_file_system_can(tmp_path: Path, kind: str) -> None:
    """As the file system itself says, and by how little room it takes."""
    make = shutil.which(f"mkfs.{kind}", path="/usr/sbin:/sbin:/usr/bin")
    if make is None:
        pytest.skip(f"mkfs.{kind} is not installed")
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(400 * 1024 * 1024)
    subprocess.run([make, "-q", image], check=True, capture_output=True)
    _run(_SHARED, tmp_path / "disk", "-o loop", str(image))

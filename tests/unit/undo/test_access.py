"""What a call leaves behind so that its user cannot read it comes back all the same."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

_NOBODY = 65_534
# As a user whom modes keep out; what is loaded later may lie where that one must not look.
_SCRIPT = """
import encodings.ascii, fcntl, json, os, secrets, shutil, sys, traceback
from pathlib import Path
from permitry.core.call import ToolCall
from permitry.actions.changes import Change
from permitry.undo.restoration import restore
from permitry.undo.vault import Vault

base, cases = Path(sys.argv[1]), json.loads(sys.argv[2])
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)

def made(work):
    (work / "d" / "e").mkdir(parents=True)
    for name in ("a", "d/x", "d/e/f"):
        (work / name).write_text(name)

def tree(work):
    return {str(p): (p.lstat().st_mode, p.is_file() and p.read_text()) for p in sorted(work.rglob("*"))}

for number, (path, is_tree, steps) in enumerate(cases):
    work, vault = base / str(number), Vault(base / "vault")
    made(work)
    before = tree(work)
    entry = vault.keep(ToolCall("bash", {"n": number}), [Change(str(work / path), is_tree)])
    for name, mode in steps:
        if mode is None:
            (work / name).write_text("changed")
        else:
            (work / name).chmod(int(mode, 8))
    vault.ended(entry)
    try:
        undoing = restore(vault, entry)
        assert tree(work) == before, (tree(work), before)
        restore(vault, undoing)
        for name, mode in reversed(dict(steps).items()):
            if mode is not None:
                assert (work / name).lstat().st_mode & 0o777 == int(mode, 8), name
                (work / name).chmod(0o700)
    except Exception:
        print("case", cases[number])
        traceback.print_exc(file=sys.stdout)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder of a user who is not root."""
    made = Path(tempfile.mkdtemp(prefix="permitry-"))
    if os.geteuid() == 0:
        os.chown(made, _NOBODY, _NOBODY)
    yield made
    subprocess.run(["chmod", "-R", "u+rwx", made], check=True)
    shutil.rmtree(made)


def test_modes_that_keep_the_user_out_are_taken_back(folder: Path) -> None:
    """Of a file, a folder, and all that is in one; also where the content has changed, and the undo is undone."""
    cases = [
        ("a", False, [("a", "000")]), ("a", False, [("a", "200")]), ("a", False, [("a", None), ("a", "000")]),
        ("d", False, [("d", "000")]), ("d", True, [("d", "000")]), ("d", True, [("d", "600")]),
        ("d", True, [("d", "300")]), ("d", True, [("d/x", "000"), ("d", "000")]),
        ("d", True, [("d/e/f", "000"), ("d/e", "000"), ("d/x", "000"), ("d", "000")]),
        ("d", True, [("d/e/f", None), ("d/e/f", "044"), ("d/e", "111"), ("d", "500")]),
    ]  # fmt: skip
    command = [sys.executable, "-c", _SCRIPT.replace("NOBODY", str(_NOBODY)), str(folder), json.dumps(cases)]
    found = subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder)
    assert (found.stdout, found.stderr) == ("", "")

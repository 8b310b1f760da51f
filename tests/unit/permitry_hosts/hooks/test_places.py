"""The place of the resident is one of the user and of the installation."""

import subprocess
import sys
from pathlib import Path

import pytest

from permitry_hosts.hooks import places
from permitry_hosts.hooks.places import base_python, place


def test_it_is_in_the_state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of its own, under a short name."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert place().parent == tmp_path / "permitry/resident"
    assert len(place().name) == 12


def test_another_installation_has_another_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have other rules, and read them in another way."""
    found = {place()}
    monkeypatch.setattr("sys.executable", "/opt/other/bin/python")
    found.add(place())
    monkeypatch.setattr(places, "PACKAGE", Path("/opt/\udcff"))
    found.add(place())
    assert len(found) == 3


def test_the_base_python_is_this_one_without_its_environment() -> None:
    """With the modules that the client needs."""
    code = "import sys, _blake2, _signal, _socket, posix; print(sys.version_info[:2])"
    done = subprocess.run([base_python(), "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(sys.version_info[:2])

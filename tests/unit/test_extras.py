"""Packages that an extra brings."""

import shlex
import sys

import pytest

from permitry.extras import missing


def test_the_command_installs_where_permitry_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """`pip` alone may be that of another environment; a folder with a space is one word to a shell."""
    monkeypatch.setattr(sys, "executable", "/home/ann/my env/bin/python")
    said, _, command = missing("uvicorn", "inbox").partition(": ")
    assert said == "the package uvicorn is missing; install it with"
    assert shlex.split(command) == ["/home/ann/my env/bin/python", "-m", "pip", "install", "permitry[inbox]"]

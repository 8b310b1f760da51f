"""Packages that an extra brings."""

import shlex
import sys

import pytest

from permitry.errors import PermitryError
from permitry.extras import load, missing


def test_the_command_installs_where_permitry_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """`pip` alone may be that of another environment; a folder with a space is one word to a shell."""
    monkeypatch.setattr(sys, "executable", "/home/ann/my env/bin/python")
    said, _, command = missing("uvicorn", "inbox").partition(": ")
    assert said == "the package uvicorn is missing; install it with"
    assert shlex.split(command) == ["/home/ann/my env/bin/python", "-m", "pip", "install", "permitry[inbox]"]


def test_what_is_built_on_permitry_is_found_by_name() -> None:
    """A package of an extra that is missing is named, with the command; without an extra it is an error of ours."""
    assert load("permitry.extras:missing") is missing
    with pytest.raises(
        PermitryError, match=r"the package no_such_thing is missing; install it with: .*permitry\[inbox\]"
    ):
        load("no_such_thing:name", "inbox")
    with pytest.raises(ModuleNotFoundError):
        load("no_such_thing:name")

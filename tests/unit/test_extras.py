"""Packages that an extra brings."""

import importlib
import shlex
import sys
from pathlib import Path

import pytest

import permitry.extras
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


def test_a_module_has_its_earlier_name_for_one_release() -> None:
    """It is the same module, and the warning is about who imports it."""
    with pytest.warns(
        DeprecationWarning, match="`permitry.adapters.plain` is now `permitry_hosts.adapters.plain`"
    ) as told:
        plain = importlib.import_module("permitry.adapters.plain")
    assert plain is importlib.import_module("permitry_hosts.adapters.plain")
    assert len(told) == 1


def test_every_earlier_name_leads_to_a_module() -> None:
    """Each file says the place of one that is there."""
    source = Path(permitry.extras.__file__).parent
    renamed = [each for each in source.rglob("*.py") if "rename(__name__" in each.read_text(encoding="utf-8")]
    assert len(renamed) == 8
    for path in renamed:
        new = path.read_text(encoding="utf-8").rpartition('rename(__name__, "')[2].partition('"')[0]
        assert source.parent.joinpath(*new.split(".")).with_suffix(".py").is_file()

"""Which store and which record a command means."""

import argparse
from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.cli.stores import find_store, record_from, record_to_read, store_from
from permitry.config.layers import default_store
from permitry.errors import PermitryError

Out = pytest.CaptureFixture[str]
SERVER = "postgresql://u:hunter22@127.0.0.1/db"


@for_each(
    ("store", "record", "means"),
    [
        (None, None, (None, None)),
        ("a.db", None, ("a.db", "a.db")),
        (None, "b.db", ("b.db", "b.db")),
        (None, SERVER, (SERVER, SERVER)),
        (None, "c.jsonl", (None, "c.jsonl")),
        ("a.db", "b.db", ("a.db", "b.db")),
        (SERVER, "c.jsonl", (SERVER, "c.jsonl")),
    ],
)
def test_one_name_is_that_of_both(store: str | None, record: str | None, means: tuple[str | None, str | None]) -> None:
    """Unless it is that of a plain file; without any name it is the default store."""
    options = argparse.Namespace(store=store, record=record)
    default = str(default_store())
    assert (store_from(options), record_from(options)) == tuple(each or default for each in means)


def test_a_store_that_is_named_has_to_be_there(tmp_path: Path) -> None:
    """The default one is made when it is opened; whether a server has one is seen then, too."""
    there, missing = tmp_path / "a.db", tmp_path / "b.db"
    there.touch()
    for name in (str(there), SERVER):
        assert find_store(argparse.Namespace(store=name)) == name
    assert find_store(argparse.Namespace(store=None)) == str(default_store())
    with pytest.raises(PermitryError, match="there is no store"):
        find_store(argparse.Namespace(store=str(missing)))


def test_older_records_are_pointed_out_once_and_where_they_are_not_read(capsys: Out) -> None:
    """No one has to know that there was a plain file before."""
    options = argparse.Namespace(record=None)
    assert record_to_read(options) == str(default_store())
    assert capsys.readouterr().err == ""
    before = default_store().with_name("audit.jsonl")
    before.parent.mkdir(parents=True)
    before.touch()
    assert record_to_read(options) == str(default_store())
    assert record_to_read(argparse.Namespace(record=str(before))) == str(before)
    assert capsys.readouterr().err.count(str(before)) == 1

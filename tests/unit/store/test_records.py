"""Where a record is kept, by its name."""

import sys

import pytest
from tests.tables import for_each

from permitry.errors import StoreError
from permitry.store.records import is_address, is_store, record_name, recorder_at


def test_the_name_says_which_kind_it_is() -> None:
    """A store ends in `.db`, or is an address."""
    assert is_store("postgresql://h/db")
    assert is_store("postgres://h/a.jsonl")
    assert not is_address("postgresql.db")
    assert is_store("a/b.db")
    assert not is_store("a/b.jsonl")
    assert not is_store("db")


@for_each("address", ["postgresql://u:p@h:5/db?password=p", "postgresql://h:5/db", "postgres://u@h:5/db"])
def test_what_an_address_is_called_has_no_password(address: str) -> None:
    """Nor anything else that only the server needs."""
    assert record_name(address) == f"{address.partition(':')[0]}://h:5/db"
    assert record_name("a@b?c.jsonl") == "a@b?c.jsonl"


def test_an_address_needs_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says which."""
    monkeypatch.setitem(sys.modules, "permitry_ops.postgres", None)
    monkeypatch.delitem(sys.modules, "psycopg", raising=False)
    with pytest.raises(StoreError, match=r"permitry\[postgres\]"):
        recorder_at("postgresql://127.0.0.1:1/db")

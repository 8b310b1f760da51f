"""The rules behind the versions of a policy, in every store."""

import contextlib
import itertools
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.store.conftest import Place, body

from permitry.audit.rule_files import RuleFile
from permitry.store.chain import BrokenChainError, Head, link
from permitry.store.migrations import MIGRATIONS, WITH_POLICIES
from permitry.store.policies import PolicyUses
from permitry.store.sqlite import SqliteStore

FILES = (RuleFile("rules.toml", "schema = 1\n"), RuleFile("permitry:base", "# base\n", "shipped"))


def keep(place: Place, version: str, *, at: str = "2026-11-01") -> None:
    """Keep rules under a version."""
    fields: dict[str, object] = {
        "event": "policy",
        "policy_version": version,
        "files": [each.to_dict() for each in FILES],
    }
    fields |= {"code_rules": ["c"], "lists": [], "whole": True}
    place.store.keep_policy(version, FILES, json.dumps({"at": at, **fields}))


def test_rules_are_kept_once(place: Place) -> None:
    """With one record, which names them."""
    assert not place.store.has_policy("v1")
    keep(place, "v1")
    keep(place, "v1")
    assert place.store.has_policy("v1")
    assert [(each.version, each.files) for each in place.store.policies()] == [("v1", FILES)]
    assert place.store.verify() == 6


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE rule_file SET text = 'other' WHERE digest <> ''",
        "DELETE FROM rule_file",
        "DELETE FROM policy",
        "UPDATE policy SET number = 1",
        "UPDATE policy SET version = 'v2'",
    ],
)
def test_a_change_is_found(place: Place, statement: str) -> None:
    """Of a text, and of what says which record names it."""
    keep(place, "v1")
    place.change(statement)
    with pytest.raises(BrokenChainError, match=r"v1|v2"):
        place.store.verify()


def test_versions_without_rules_are_named(place: Place) -> None:
    """As older stores have them; that is no failure."""
    keep(place, "v1")
    place.store.append(body(6, policy_version="v1"), body(7, policy_version="v0"))
    uses = PolicyUses()
    assert (place.store.verify((), uses), uses.unkept) == (8, ["v0"])


def test_an_argument_of_a_call_is_no_version(place: Place) -> None:
    """Whatever its name is."""
    place.store.append(body(6, arguments={"policy_version": "v9", "event": "policy"}))
    place.store.append(body(7, arguments={"policy_version": "v8"}))
    uses = PolicyUses()
    assert (place.store.verify((), uses), uses.unkept) == (7, [])


def test_what_is_pruned_takes_its_rules_along(place: Place) -> None:
    """Unless a record that stays names them: then they are recorded once more, at that time."""
    keep(place, "v1")
    keep(place, "v2")
    place.store.append(json.dumps({"at": "2026-12-01", "event": "decided", "policy_version": "v2"}))
    counts = place.store.prune("2026-11-30", json.dumps({"at": "2026-12-02", "event": "pruned"}))
    assert "behind" not in counts
    assert [(each.version, each.at, each.files) for each in place.store.policies()] == [("v2", "2026-11-01", FILES)]
    uses = PolicyUses()
    assert (place.store.verify((), uses), uses.unkept) == (3, [])
    place.store.append(json.dumps({"at": "2026-12-04", "event": "decided", "policy_version": "v2"}))
    place.store.prune("2026-12-03", json.dumps({"at": "2026-12-05", "event": "pruned"}))
    assert [(each.version, each.at) for each in place.store.policies()] == [("v2", "2026-11-01")]


def test_texts_go_with_the_last_policy_that_has_them(place: Place) -> None:
    """Those that another one has stay."""
    keep(place, "v1")
    place.store.append(json.dumps({"at": "2026-12-01", "event": "decided"}))
    place.store.prune("2026-11-30", json.dumps({"at": "2026-12-02", "event": "pruned"}))
    with place.store.read() as connection:
        assert list(connection.execute("SELECT text FROM rule_file")) == []
    assert place.store.policies() == []
    assert place.store.verify() == 2


def test_each_record_that_stays_is_read_once(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anyone has to wait; what came meanwhile is read then."""
    keep(place, "v1")
    place.store.append(*(json.dumps({"at": "2026-12-01", "event": "decided"}) for _ in range(4)))
    read: list[int] = []
    monkeypatch.setattr(PolicyUses, "take", note_numbers(read, place))
    place.store.prune("2026-11-30", json.dumps({"at": "2026-12-02", "event": "pruned"}))
    assert read == [7, 8, 9, 10, 11]


def note_numbers(read: list[int], place: Place) -> Callable[[PolicyUses, int, str], None]:
    """Return what notes the numbers of records, and adds one when it has read four."""

    def take(uses: PolicyUses, number: int, _body: str) -> None:
        uses.through = number
        read.append(number)
        if number == 10:
            place.store.append(json.dumps({"at": "2026-12-01", "event": "decided"}))

    return take


def test_nothing_is_read_where_no_rules_are_kept(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a store of an earlier permitry."""
    monkeypatch.setattr(PolicyUses, "take", None)
    assert place.store.prune("2026-11-03", json.dumps({"at": "2026-12-02", "event": "pruned"}))["records"] == 2


def test_a_store_of_an_earlier_form_has_no_rules(tmp_path: Path) -> None:
    """It is read as it is, and gets the tables when it is opened to be written to."""
    path = tmp_path / "old.db"
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        for statement in itertools.chain.from_iterable(MIGRATIONS[: WITH_POLICIES - 1]):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {WITH_POLICIES - 1}")
        record = link(Head(), body(1, policy_version="v0"))
        connection.execute("INSERT INTO record (number, body, hash) VALUES (?, ?, ?)", record)
        connection.execute("UPDATE chain SET number = ?, hash = ?", (record.number, record.hash))
    for is_read_only in (True, False):
        with contextlib.closing(SqliteStore(path, is_read_only=is_read_only)) as store:
            uses = PolicyUses()
            assert (store.policies(), store.verify((), uses), uses.unkept) == ([], 1, ["v0"])
    with contextlib.closing(SqliteStore(path)) as store:
        store.keep_policy(
            "v1", FILES, body(2, event="policy", policy_version="v1", files=[], code_rules=[], lists=[], whole=True)
        )
        assert (store.verify(), len(store.policies())) == (2, 1)

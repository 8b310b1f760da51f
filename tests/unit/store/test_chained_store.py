"""What was changed is found, in every store."""

import contextlib
import json
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.store.conftest import Place, body

from permitry.errors import StoreError
from permitry.store.chain import BrokenChainError, Head
from permitry.store.migrations import MIGRATIONS
from permitry.store.records import is_address, store_at

ZERO = bytes(32)
CHANGES: dict[str, tuple[str, tuple[object, ...], int]] = {
    "edited": ("UPDATE record SET body = '{}' WHERE number = 3", (), 3),
    "no object": ("UPDATE record SET body = '[]' WHERE number = 3", (), 3),
    "hash": ("UPDATE record SET hash = ? WHERE number = 3", (ZERO,), 3),
    "deleted": ("DELETE FROM record WHERE number = 3", (), 3),
    "first": ("DELETE FROM record WHERE number = 1", (), 1),
    "last": ("DELETE FROM record WHERE number = 5", (), 5),
    "all": ("DELETE FROM record", (), 1),
    "renumbered": ("UPDATE record SET number = 9 WHERE number = 5", (), 5),
    "added": ("INSERT INTO record (number, body, hash) VALUES (6, '{}', ?)", (ZERO,), 6),
    "head": ("UPDATE chain SET hash = ?", (ZERO,), 5),
    "shortened": ("UPDATE chain SET number = 4", (), 5),
    "lengthened": ("UPDATE chain SET number = 6", (), 6),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_was_changed_is_found(place: Place, name: str) -> None:
    """By the number of the first record that is not as it was."""
    statement, values, number = CHANGES[name]
    place.change(statement, *values)
    with pytest.raises(BrokenChainError) as caught:
        place.store.verify()
    assert caught.value.number == number


def test_a_record_that_is_not_a_text_is_found(place: Place) -> None:
    """SQLite keeps any value in any column."""
    if not is_address(place.address):
        place.change("UPDATE record SET body = x'7b7d' WHERE number = 3")
        with pytest.raises(BrokenChainError, match="not a text") as caught:
            place.store.verify()
        assert caught.value.number == 3


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(st.lists(st.sampled_from(["swap", "edit", "delete"]), min_size=1, max_size=3), st.data())
def test_no_change_of_records_is_missed(new_place: Callable[[], Place], kinds: list[str], data: st.DataObject) -> None:
    """However they are changed: the records are other ones, or in another order, or there are fewer."""
    place = new_place()
    place.store.append(*map(body, range(8)))
    before = list(place.store.records())
    for kind in kinds:
        first, second = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 8))
        match kind:
            case "swap":
                for number, other in ((first, -1), (second, first), (-1, second)):
                    if number != other:
                        place.change("UPDATE record SET number = ? WHERE number = ?", other, number)
            case "edit":
                place.change("UPDATE record SET body = ? WHERE number = ?", body(first, x=second), first)
            case _:
                place.change("DELETE FROM record WHERE number BETWEEN ? AND ?", first, second)
    if list(place.store.records()) == before:
        assert place.store.verify() == 8
    else:
        with pytest.raises(BrokenChainError):
            place.store.verify()
    place.store.close()


def test_a_whole_chain_that_is_written_again_is_found_by_what_was_noted_elsewhere(
    place: Place, new_place: Callable[[], Place]
) -> None:
    """The store alone cannot show it."""
    noted = place.store.head
    assert place.store.verify([noted]) == 5
    place.store.append(body(6))
    assert place.store.verify([noted, place.store.head]) == 6
    other = new_place().store
    other.append(*map(body, range(1, 4)))
    assert other.verify() == 3
    with pytest.raises(BrokenChainError, match="noted elsewhere"):
        other.verify([noted])
    other.append(*map(body, range(9)))
    with pytest.raises(BrokenChainError, match="noted elsewhere") as caught:
        other.verify([noted])
    assert caught.value.number == 5
    for heads in ([noted, Head(5, bytes(32))], [Head(5, bytes(32)), noted]):
        with pytest.raises(BrokenChainError, match="noted elsewhere"):
            place.store.verify(heads)


def test_old_records_are_forgotten_and_the_chain_holds(place: Place) -> None:
    """What was forgotten is on the record, with its last hash."""
    store = place.store
    third = list(store.records())[2]
    assert store.prune("2026-11-04", body(9, event="pruned")) == {"records": 3, "questions": 0, "grants": 0}
    assert [record.number for record in store.records()] == [4, 5, 6]
    note = json.loads(list(store.records())[-1].body)
    assert (note["event"], note["up_to"], note["records"], note["hash"]) == ("pruned", 3, 3, third.hash.hex())
    assert store.verify() == 3
    assert not any(store.prune("2026-11-04", body(9, event="pruned")).values())
    assert store.verify([Head(3, third.hash)]) == 3
    place.change("DELETE FROM record WHERE number = 4")
    place.change("UPDATE chain SET first = 5")
    with pytest.raises(BrokenChainError):
        store.verify()


def test_records_that_are_gone_without_a_word_are_found(place: Place) -> None:
    """Also where the place at which the chain begins was moved."""
    record = list(place.store.records())[1]
    place.change("DELETE FROM record WHERE number <= 2")
    place.change("UPDATE chain SET first = 3, before = ?", record.hash)
    with pytest.raises(BrokenChainError, match="no record says why"):
        place.store.verify()


def test_closed_questions_and_ended_grants_are_forgotten_with_the_records(new_place: Callable[[], Place]) -> None:
    """What can still be answered, taken or used stays, and the last question, by which a clock is judged."""
    place = new_place()
    for name, asked_at, answer, closed_at in (
        ("old", 10, "{}", 20), ("open", 11, None, None), ("answered", 12, "{}", None), ("new", 13, None, 2e9),
        ("last", 14, "", 21),
    ):  # fmt: skip
        place.change(_QUESTION, name, asked_at, answer, closed_at)
    for name, deadline, uses_left, revoked_at in (
        ("old", 10, None, None), ("used", None, 0, None), ("revoked", None, None, 10), ("new", 2e9, 1, None),
        ("ever", None, 1, None),
    ):  # fmt: skip
        place.change(_GRANT, name, deadline, uses_left, revoked_at)
    assert place.store.prune("2026-11-04", body(9, event="pruned")) == {"records": 0, "questions": 1, "grants": 3}
    with place.store.read() as connection:
        left = [{name for (name,) in connection.execute(f"SELECT id FROM {table}").fetchall()} for table in _TABLES]  # noqa: S608 -- ours
    assert left == [{"open", "answered", "new", "last"}, {"new", "ever"}]
    (note,) = (json.loads(record.body) for record in place.store.records())
    assert (note["event"], note["questions"], note["grants"]) == ("pruned", 1, 3)
    assert place.store.verify() == 1
    assert not any(place.store.prune("2026-11-04", body(9, event="pruned")).values())
    assert place.store.verify() == 1


_TABLES = "question", "permission_grant"
_QUESTION = """INSERT INTO question (session, agent, call_id, digest, redacted, decision, approvers, above, deadline,
    boot, steady, id, asked_at, answer, closed_at) VALUES ('', '', '', '', '', '', '', '', 0, '', 0, ?, ?, ?, ?)"""
_GRANT = """INSERT INTO permission_grant (rule, reason, granted_by, made_at, boot, steady, id, deadline, uses_left,
    revoked_at) VALUES ('', '', '', 0, '', 0, ?, ?, ?, ?)"""


def test_nothing_is_written_to_a_form_that_another_process_has_made(new_place: Callable[[], Place]) -> None:
    """Though the store was open before: it is of a newer permitry by now."""
    place = new_place()
    place.store.append(body(1))
    is_file = not is_address(place.address)
    place.change("PRAGMA user_version = 99" if is_file else "UPDATE version SET number = 99")
    with pytest.raises(StoreError, match="newer"):
        place.store.append(body(2))
    with pytest.raises(StoreError, match="newer"), place.store.change() as connection:
        connection.execute("DELETE FROM question")
    with pytest.raises(StoreError, match="newer"):
        place.store.prune("2026-12-01", body(9, event="pruned"))
    now = str(len(MIGRATIONS))
    place.change(("PRAGMA user_version = N" if is_file else "UPDATE version SET number = N").replace("N", now))
    assert place.store.append(body(2)) == 2


def test_one_that_is_opened_to_read_is_not_changed(new_place: Callable[[], Place]) -> None:
    """It is read and verified, and nothing is written to it; one that is not there is not made."""
    place = new_place()
    place.store.append(body(1), body(2))
    with contextlib.closing(store_at(place.address, is_read_only=True)) as store:
        assert ([each.number for each in store.records()], store.verify(), store.head.number) == ([1, 2], 2, 2)
        place.store.append(body(3))
        assert store.verify() == 3
        for change in (lambda: store.append(body(4)), lambda: store.prune("2026-12-01", body(9))):
            with pytest.raises(StoreError, match="for reading only"):
                change()
        with pytest.raises(StoreError, match="for reading only"), store.change():
            pass


def test_a_time_that_is_too_late_stops_no_pruning_unseen(new_place: Callable[[], Place]) -> None:
    """How many older records are left is said, and up to where a human has to say that the clock was wrong."""
    place = new_place()
    times = ("2026-11-01", "2099-01-01", "2026-11-02", "2026-11-03", "2026-11-09")
    place.store.append(*(json.dumps({"at": time, "event": "decided"}) for time in times))
    note = body(9, event="pruned")
    assert place.store.prune("2026-11-04", note) == {
        "records": 1, "questions": 0, "grants": 0, "stopped_at": 2, "behind": 2
    }  # fmt: skip
    assert place.store.prune("2026-11-04", note, through=2) == {"records": 3, "questions": 0, "grants": 0}
    assert next(each.number for each in place.store.records()) == 5
    place.store.verify()

"""What every store does: nothing is lost, nothing is changed unseen, and writers wait for each other."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest
from tests.unit.store.conftest import Place, body

from permitry.errors import StoreError
from permitry.store.migrations import NAMES


def test_what_is_added_is_found_in_order(place: Place) -> None:
    """With numbers without a gap, also by another store of the same records."""
    assert place.store.append(body(5)) == 6
    other = place.open()
    for each in (place.store, other):
        assert [(record.number, record.body) for record in each.records()] == [(n + 1, body(n)) for n in range(6)]
        assert each.verify() == 6
        assert each.head.number == 6
    other.close()


def test_records_are_asked_for_by_what_they_say(place: Place) -> None:
    """By number, time, and the values of some fields."""

    def found(**wanted: object) -> list[int]:
        return [record.number for record in place.store.records(**wanted)]

    assert found(after=3) == [4, 5]
    assert found(last=2) == [4, 5]
    assert found(last=0) == []
    assert found(equal={"tool": ("t2",), "event": ("decided",)}) == [3]
    assert found(equal={"tool": ("t2",), "event": ("asked",)}) == []
    assert found(equal={"tool": ("t2", "t4")}) == [3, 5]
    assert found(other={"tool": ("t2", "t4")}) == [1, 2, 4]
    assert found(before=4) == [1, 2, 3]
    assert found(before=4, last=1, other={"tool": ("t2",)}) == [2]
    assert found(times=("2026-11-02", "2026-11-04")) == [2, 3]
    place.store.append("{}")
    assert found(last=1) == found(last=1, other={"tool": ("t2",)}) == [6]
    for asked in ("equal", "other"):
        with pytest.raises(TypeError, match="body"):
            found(**{asked: {"body": ("x",)}})


def test_all_names_can_be_asked_for(place: Place) -> None:
    """With any text in them that a model may think of."""
    names = [name for name in NAMES if name != "at"]
    for text in ("x", "ä 𝄞", "a'b\"c\\d", "null\0byte", "%s ? {}", "\ud800"):
        number = place.store.append(json.dumps(dict.fromkeys(names, text)))
        if text != "\ud800" and "\0" not in text:
            assert [each.number for each in place.store.records(equal=dict.fromkeys(names, (text,)))] == [number]
    assert place.store.verify() == 11


def test_all_or_none_of_what_is_added_together_is_kept(place: Place) -> None:
    """A text that cannot be written is no reason to keep the one before it."""
    with pytest.raises(StoreError):
        place.store.append(body(5), "no JSON")
    assert place.store.head.number == 5
    assert place.store.append() == 5
    assert place.store.append(body(6)) == 6
    assert place.store.verify() == 6


ADDING = """
import sys
from permitry.store.records import store_at
store = store_at(sys.argv[1])
store.patience = 60
for number in range(50): store.append("{}")
"""


def test_processes_get_numbers_of_their_own(new_place: Callable[[], Place]) -> None:
    """No record is lost, and the chain is one."""
    place = new_place()
    processes = [subprocess.Popen([sys.executable, "-c", ADDING, place.address]) for _ in range(4)]
    assert [process.wait(120) for process in processes] == [0] * 4
    assert place.store.verify() == 200


def test_a_forked_process_has_a_connection_of_its_own(place: Place) -> None:
    """That of its parent goes on."""
    process = os.fork()
    if not process:
        try:
            place.store.append(body(9))
        finally:
            os._exit(0)
    os.waitpid(process, 0)
    assert place.store.append(body(10)) == 7
    assert place.store.verify() == 7


def test_a_process_that_is_killed_leaves_whole_records(new_place: Callable[[], Place]) -> None:
    """All that it said were kept, and no half."""
    place = new_place()
    code = ADDING.replace("for number in range(50): store.append", "while True: twice")
    code = code.replace("\nwhile", "\ntwice = lambda body: print(store.append(body, body), flush=True)\nwhile")
    for _ in range(3):
        command = [sys.executable, "-c", code, place.address]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            said = [int(process.stdout.readline()) for _ in range(20)]
            os.kill(process.pid, signal.SIGKILL)
            said += [int(line) for line in process.stdout.read().splitlines() if line]
        assert place.store.verify() >= said[-1]
        assert place.store.head.number % 2 == 0


def test_a_reader_holds_up_no_writer(place: Place) -> None:
    """It sees what there was when it began."""
    reading = place.store.records()
    assert next(reading).number == 1
    since = time.monotonic()
    place.store.append(body(6))
    assert time.monotonic() - since < place.store.patience / 2
    assert [record.number for record in reading] == [2, 3, 4, 5]


def test_a_closed_store_keeps_nothing(place: Place) -> None:
    """Closing twice is fine."""
    place.store.close()
    place.store.close()
    with pytest.raises(StoreError, match="closed"):
        place.store.append(body(6))

"""Law 7 in every store: no run without a record, whatever happens to the processes that record."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from permitry.cli.records import RecordFilter, records_at
from permitry.core.call import ToolCall
from permitry.handler import ToolHandler
from permitry.store.records import is_address, store_at
from tests.postgres import Cluster
from tests.storing import handler_of

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return where a store is to be, of each kind."""
    return str(tmp_path / "a.db") if request.param == "sqlite" else str(request.getfixturevalue("postgres").new())


def _started(*arguments: object) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.storing", *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def _verified(address: str) -> int:
    store = store_at(address)
    try:
        return store.verify()
    finally:
        store.close()


def _check(address: str, ran: Sequence[str]) -> int:
    """Check that each call that ran was decided and started on record, and once; return how many have no end."""
    records = list(records_at(address, RecordFilter()))
    events: dict[str, list[str]] = {}
    for record in records:
        if record["event"] != "policy":
            events.setdefault(record["call_id"], []).append(record["event"])
    assert _verified(address) == len(records)
    assert len(set(ran)) == len(ran)
    for call in ran:
        assert events[call][0] == "decided", call
        assert events[call].count("started") == 1, call
    for call, seen in events.items():
        assert seen in _WHOLE or any(seen == whole[: len(seen)] for whole in _WHOLE), (call, seen)
    return sum("started" in seen and "finished" not in seen for seen in events.values())


_WHOLE = (
    ["decided", "started", "finished"],
    ["decided", "asked", "answered", "started", "finished"],
    ["decided"],
)


@pytest.mark.parametrize("count", [20, pytest.param(500, marks=pytest.mark.large)])
def test_a_process_that_is_killed_ran_nothing_without_a_record(address: str, tmp_path: Path, count: int) -> None:
    """At random moments, two sessions at a time: what ran was decided and started on record, and the chain is whole."""
    note = tmp_path / "ran"
    process = _started("kill", address, note, count, 7)
    assert process.wait(1200) == 0
    assert process.stdout is not None
    process.stdout.close()
    ran = note.read_text().splitlines()
    assert ran
    open_ends = _check(address, ran)
    assert open_ends <= count
    if count > 100:
        assert open_ends, "no session was killed while its tool ran"


@pytest.mark.parametrize("count", [25, pytest.param(2_000, marks=pytest.mark.large)])
def test_eight_processes_lose_no_record(address: str, count: int) -> None:
    """Nor wait for each other for ever."""
    store_at(address).close()
    processes = [_started("fill", address, count) for _ in range(8)]
    said = [process.communicate(timeout=1800)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 8
    assert sum(len(json.loads(each)) for each in said) == 8 * count
    # One more is that of the rules, which all have.
    assert _verified(address) == 8 * count * 3 + 1
    assert not _check(address, [])


# What happens to the store --------------------------------------------------------------------------------------------


def _handled(handler: ToolHandler, number: int) -> str:
    return handler.handle(ToolCall("look", {"call": f"c{number}"}, call_id=f"c{number}")).text


def test_calls_are_blocked_while_the_database_is_away(tmp_path: Path, own_postgres: Cluster) -> None:
    """With a reason; afterwards they run again, and nothing that was on record is lost."""
    address, note = own_postgres.new(), tmp_path / "ran"
    handler = handler_of(address, note)
    assert _handled(handler, 0) == "done"
    for number, mode in enumerate(("fast", "immediate"), 1):
        own_postgres.stop(mode)
        assert _handled(handler, 10 * number).startswith("The call could not be recorded, so it did not run.")
        own_postgres.start()
        assert _handled(handler, number) == "done"
    assert note.read_text().split() == ["c0", "c1", "c2"]
    assert not _check(address, ["c0", "c1", "c2"])
    assert is_address(address)
    handler.recorder.close()  # type: ignore[attr-defined]  # of a record in a store

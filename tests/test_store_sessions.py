"""Laws 5, 6 and 7 in every store: sessions of mixed calls that are killed, and processes that race."""

import contextlib
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from permitry.channels.clock import Moment
from permitry.cli.records import RecordFilter, records_at
from permitry.core.call import ToolCall
from permitry.guard.ledgers import grants_at, questions_at
from permitry.guard.outcome import Pending
from permitry.store.records import store_at
from tests.mixing import SESSIONS, USES, add_grant, form_of, handler_of

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 3_000


def _started(*arguments: object) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.mixing", *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _raced(*commands: Iterable[object]) -> list[Any]:
    """Return what processes print that begin at the same moment."""
    processes = [_started(*command) for command in commands]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    return [_said(process) for process in processes]


def _said(process: "subprocess.Popen[str]") -> Any:  # noqa: ANN401 -- JSON
    said, _ = process.communicate(timeout=LIMIT)
    assert not process.returncode
    return json.loads(said)


def _rows(address: str, query: str) -> list[dict[str, Any]]:
    with contextlib.closing(store_at(address)) as store, store.read() as connection:
        rows = connection.execute(query)
        return [dict(zip((column[0] for column in rows.description), row, strict=True)) for row in rows]


def _records(address: str) -> list[dict[str, Any]]:
    records = list(records_at(address, RecordFilter()))
    with contextlib.closing(store_at(address)) as store:
        assert store.verify() == len(records)
    return [each for each in records if each["event"] != "policy"]


# Sessions that are killed ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [24, pytest.param(500, marks=pytest.mark.large)])
def test_sessions_that_are_killed_do_nothing_twice_and_forget_nothing(address: str, tmp_path: Path, count: int) -> None:
    """Nor anything without a record, while questions are answered and grants are used in other processes."""
    assert _said(_started("kill", address, tmp_path, count, 7)) == count
    ran = Counter(line.rpartition(" ")[0] for line in (tmp_path / "ran").read_text().splitlines() if "begins" in line)
    records, questions = _records(address), _rows(address, "SELECT * FROM question")
    _check_recorded(records, ran)
    _check_answered(questions, ran, kills=count)
    _check_asked(records, questions, tmp_path)
    _check_granted(address, records, ran)
    assert {name.partition(" ")[0] for name in ran} == {"look", "send", "write"}


def _check_recorded(records: list[dict[str, Any]], ran: Mapping[str, int]) -> None:
    """Each run was permitted on record, and then started on record."""
    permits, starts = Counter[str](), Counter[str]()
    for record in records:
        name = f"{record['tool']} {record['call_id']}"
        if record["event"] == "started":
            starts[name] += 1
            assert starts[name] <= permits[name], record
        elif record.get("verdict") == "allow" or record.get("approved"):
            permits[name] += 1
    for name, times in ran.items():
        assert times <= starts[name.replace("edited-", "")], name


def _check_answered(questions: list[dict[str, Any]], ran: Mapping[str, int], kills: int) -> None:
    """Each approval let its call run at most once, as it was approved; a rejection none. No answer is left over."""
    lost = 0
    for question in questions:
        assert question["closed_at"] is not None
        answer = json.loads(question["answer"])
        tool, call = ("write" if form_of(question["call_id"]) == "write" else "send"), question["call_id"]
        as_made, as_edited = ran.get(f"{tool} {call}", 0), ran.get(f"{tool} edited-{call}", 0)
        if tool == "write":
            due = answer["approved"], bool(answer["arguments"])
            assert as_made <= (due == (True, False)), call
            assert as_edited <= (due == (True, True)), call
            lost += answer["approved"] and not as_made + as_edited
    # One that was killed between its answer and its run does not run later.
    assert lost <= kills


def _check_asked(records: list[dict[str, Any]], questions: list[dict[str, Any]], folder: Path) -> None:
    """Each call was asked about once over all restarts, and each question that is on record was kept."""
    keys = Counter((each["session"], each["call_id"]) for each in questions)
    assert set(keys.values()) == {1}
    kept = {each["id"] for each in questions}
    assert {each["pending_id"] for each in records if each["event"] == "asked"} <= kept
    writes = [
        (session, call)
        for session in SESSIONS
        for call in (folder / f"made-{session}").read_text().split()
        if form_of(call) == "write"
    ]
    assert set(writes) <= keys.keys()


def _check_granted(address: str, records: list[dict[str, Any]], ran: Mapping[str, int]) -> None:
    """No grant permitted more calls than it had uses; and what was sent was granted, as each such answer is a no."""
    uses = Counter(each["rule"] for each in records if str(each.get("rule")).startswith("grant-"))
    assert max(uses.values()) <= USES
    grants = grants_at(address).store.all()
    taken = sum(USES - grant["uses_left"] for grant in grants)
    sent = sum(times for name, times in ran.items() if name.startswith("send"))
    assert sent <= uses.total() <= taken == USES * len(grants)


# Processes that race --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [25, pytest.param(2_000, marks=pytest.mark.large)])
def test_eight_processes_share_the_uses_of_a_grant(address: str, count: int) -> None:
    """Exactly as many calls run as it has uses; no record is lost, and none waits for ever."""
    uses = 3 * count
    add_grant(address, uses)
    said = _raced(*[("use", address, count)] * 8)
    assert sum(said) == uses
    assert [grant["uses_left"] for grant in grants_at(address).store.all()] == [0]
    events = Counter((each["event"], each.get("verdict")) for each in _records(address))
    assert events["started", None] == events["finished", None] == events["decided", "allow"] == uses
    assert events["decided", "confirm"] == 8 * count - uses


@pytest.mark.parametrize("count", [21, pytest.param(501, marks=pytest.mark.large)])
def test_of_several_approvers_one_answers_and_of_several_processes_one_runs_the_call(address: str, count: int) -> None:
    """Each question exactly once, as the store says as well; also where several processes go on with one session."""
    calls = [f"s-{6 * number + 1}" for number in range(count)]
    handler = handler_of(address, "s")
    assert all(isinstance(handler.begin(ToolCall("write", {"call": call}, call_id=call)), Pending) for call in calls)
    handler.recorder.close()  # type: ignore[attr-defined]  # of a record in a store
    names = [f"approver {number}" for number in range(4)]
    said = _raced(*[("race", address, name) for name in names])
    won = {question: name for name, each in zip(names, said, strict=True) for question in each}
    assert sum(map(len, said)) == len(won) == count
    assert {each["id"]: each["answered_by"] for each in _rows(address, "SELECT * FROM question")} == won
    assert not questions_at(address).open(Moment.now())
    ran = Counter(call for each in _raced(*[("claim", address, "s", *calls)] * 4) for call in each)
    assert set(ran.values()) == {1}
    assert len(ran) == sum(number % 3 < 2 for number in range(count))

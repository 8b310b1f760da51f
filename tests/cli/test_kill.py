"""What is left when `permitry run` is killed in the middle of a session."""

import json
import os
import subprocess
import sys
from typing import NamedTuple

import pytest

LENGTH = 5_000


class Left(NamedTuple):
    """What a killed session leaves: its output, its record, and the lines its commands wrote."""

    output: str
    record: str
    effects: list[str]

    def ids(self, event: str) -> list[str]:
        """Return the call ids of the whole records of an event."""
        records = [json.loads(line) for line in self.record.split("\n")[:-1]]
        return [each["call_id"] for each in records if each["event"] == event]


@pytest.fixture(scope="module", params=[1, 20])
def left(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Left:
    """Return what is left of a long session that was killed after some results."""
    folder = tmp_path_factory.mktemp("killed")
    session, record, workspace = folder / "session.jsonl", folder / "record.jsonl", folder / "workspace"
    workspace.mkdir()
    calls = ({"id": f"c{i}", "name": "run_shell", "arguments": {"command": f"echo c{i} >>log"}} for i in range(LENGTH))
    session.write_text("".join(f"{json.dumps(call)}\n" for call in calls))
    words = ["run", str(session), "--rules", "permitry:base", "--mode", "yolo", "--json", "--record", str(record)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    program = subprocess.Popen(
        [sys.executable, "-m", "permitry", *words, "--workspace", str(workspace)],
        stdout=subprocess.PIPE,
        env=environment,
    )
    with program as process:
        assert process.stdout is not None
        first = b"".join(process.stdout.readline() for _ in range(request.param))
        process.kill()
        output = (first + process.stdout.read()).decode()
    return Left(output, record.read_text(), (workspace / "log").read_text().split())


def test_what_was_printed_is_whole(left: Left) -> None:
    """Every result that got out is a whole line of JSON, and they are the first ones, in order."""
    lines = left.output.splitlines()
    assert left.output.endswith("\n")
    assert [json.loads(line)["id"] for line in lines] == [f"c{i}" for i in range(len(lines))]
    assert len(lines) < LENGTH


def test_what_was_printed_is_recorded(left: Left) -> None:
    """Every result that got out has a record of its end under the same id."""
    printed = [json.loads(line)["id"] for line in left.output.splitlines()]
    assert left.ids("finished")[: len(printed)] == printed


def test_at_most_one_call_is_open(left: Left) -> None:
    """At most the last call is on record as started without an end, and it is the one that was being run."""
    started, finished = left.ids("started"), left.ids("finished")
    assert started[: len(finished)] == finished
    assert len(started) - len(finished) in (0, 1)


def test_only_the_last_record_may_be_cut(left: Left) -> None:
    """Every line of the record is whole, but for one the kill cut in two."""
    *whole, _ = left.record.split("\n")
    assert all(json.loads(line)["at"] for line in whole)


def test_nothing_ran_without_a_record(left: Left) -> None:
    """Whatever a command left in the workspace was on record as started before."""
    assert set(left.effects) <= set(left.ids("started"))
    assert len(left.effects) >= len(left.output.splitlines())

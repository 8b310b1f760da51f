"""A session being guarded, where the command line cannot easily reach: fatal ends, and ids."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from permitry.channels.channel import CallbackChannel
from permitry.channels.response import ToolConfirmationResponse
from permitry.cli.guard import SessionGuard
from permitry.cli.main import ExitCode
from permitry.core.call import ToolCall
from permitry.core.spec import ToolSpec, ToolTraits
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import AuditError, CallError, FatalToolError
from permitry.handler import ToolHandler

Outcome = tuple[int, str, str]
Objects = Callable[[str], list[dict[str, Any]]]

LOOK = '{"id": "a", "name": "look", "arguments": {}}'


class FailingAt:
    """A recorder that cannot keep one kind of event."""

    def __init__(self, event: str) -> None:
        self.event = event

    def record(self, event: str, _: ToolCall, /, **__: object) -> None:
        """Refuse the event."""
        if event == self.event:
            raise AuditError("the disk is gone")


@pytest.fixture
def ran() -> list[str]:
    """Return the names of the tools that ran."""
    return []


@pytest.fixture
def registry(ran: list[str]) -> ToolRegistry:
    """Return a registry with the tools `look` and `burst`, both known to only read."""

    def look(_: dict[str, Any]) -> tuple[bool, str]:
        ran.append("look")
        return True, "seen"

    def burst(_: dict[str, Any]) -> tuple[bool, str]:
        ran.append("burst")
        raise FatalToolError("no way on")

    tools = ToolRegistry()
    for name, run in (("look", look), ("burst", burst)):
        tools.register(ToolSpec(name, traits=ToolTraits(read_only=True)), run)
    return tools


@pytest.mark.parametrize("event", ["started", "finished"])
def test_a_record_that_breaks_ends_the_session(
    registry: ToolRegistry,
    ran: list[str],
    capsys: pytest.CaptureFixture[str],
    objects: Objects,
    event: str,
) -> None:
    """When the start or the end of a run cannot be recorded, whatever follows does not run."""
    guard = SessionGuard(ToolHandler(registry=registry, recorder=FailingAt(event)), "r", is_quiet=True)
    guard.line(1, LOOK)
    guard.line(2, LOOK)
    first, second = objects(capsys.readouterr().out)
    assert ran == (["look"] if event == "finished" else [])
    assert (guard.exit_code, guard.failure) == (ExitCode.FAILED, "the disk is gone")
    assert first["content"] == "The session cannot go on."
    assert second["content"] == "Nothing runs any more: the session is over."


def test_a_fatal_tool_ends_the_session(
    registry: ToolRegistry, ran: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A tool after which the run cannot go on ends the session, and a human is shown why."""
    guard = SessionGuard(ToolHandler(registry=registry), "record.jsonl")
    guard.line(1, '{"name": "burst", "arguments": {}}')
    guard.line(2, LOOK)
    guard.summarize()
    assert (ran, guard.exit_code) == (["burst"], ExitCode.FAILED)
    assert (
        "the session ended early: no way on\nquestions: asked at the terminal\n"
        "rules: the built-in ones\nrecorded in record.jsonl\n" in capsys.readouterr().err
    )


def test_a_failure_before_the_run_ends_the_session(
    registry: ToolRegistry, ran: list[str], capsys: pytest.CaptureFixture[str], objects: Objects
) -> None:
    """An error of permitry's own while a call is judged is reported under its id, and whatever follows does not run."""

    def lost(_: object) -> ToolConfirmationResponse:
        raise AuditError("the answers are gone")

    registry.register(ToolSpec("write"), lambda _: (True, "done"))
    handler = ToolHandler(registry=registry, channel=CallbackChannel(lost))
    guard = SessionGuard(handler, "r", queues=True, is_quiet=True)
    for line in ('{"id": "w", "name": "write", "arguments": {}}', LOOK):
        guard.line(1, line)
    first, second = objects(capsys.readouterr().out)
    assert (first["id"], first["content"]) == ("w", "The session cannot go on.")
    assert second["content"] == "Nothing runs any more: the session is over."
    assert (ran, guard.rows[0].outcome, guard.exit_code) == ([], "failed", ExitCode.FAILED)


def test_a_call_that_is_not_a_call_is_answered_after_the_end(
    registry: ToolRegistry, capsys: pytest.CaptureFixture[str], objects: Objects
) -> None:
    """A call no one understands is answered as such, also when the session is over."""
    guard = SessionGuard(ToolHandler(registry=registry, recorder=FailingAt("started")), "r", is_quiet=True)
    guard.line(1, LOOK)
    guard.line(2, '{"name": "look", "arguments": []}')
    assert objects(capsys.readouterr().out)[1]["content"].startswith("The call was not understood: ")


def test_a_name_that_is_none_is_harmless(registry: ToolRegistry, capsys: pytest.CaptureFixture[str]) -> None:
    """The name of a call that is not a valid call reaches the terminal spelled out."""
    guard = SessionGuard(ToolHandler(registry=registry), "r")
    guard.line(1, '{"name": "a\\u001b[2J\\u202e", "arguments": {"text": "\\u001b[2J"}}')
    guard.line(2, '{"name": "look", "arguments": {"text": "\\u001b[2J"}}')
    err = capsys.readouterr().err
    assert err.replace("\n", "").isprintable()
    assert err.count("\\u001b[2J") == 2


@pytest.mark.parametrize("name", [None, 7, ["read_file"], {}])
def test_a_name_is_a_text(cli: Callable[..., Outcome], guarding: list[str], objects: Objects, name: object) -> None:
    """A call whose name is not text is not understood, rather than taken for a tool of that spelling."""
    line = json.dumps({"name": name, "arguments": {}})
    _, out, _ = cli(*guarding, "--json", "--unattended", "block", stdin=line)
    assert objects(out)[-1]["summary"]["calls"][0]["outcome"] == "not understood"
    assert cli("check", "--rules", "permitry:base", "--call", line)[0] == 4


def test_bad_lines_are_listed_at_the_end(registry: ToolRegistry, capsys: pytest.CaptureFixture[str]) -> None:
    """A human reads the numbers of all lines that could not be read."""
    guard = SessionGuard(ToolHandler(registry=registry), "r")
    guard.line(3, "{")
    guard.line(7, CallError("the line is not UTF-8 text"))
    guard.summarize()
    assert "lines that could not be read: 3, 7\n" in capsys.readouterr().err
    assert guard.exit_code is ExitCode.INVALID


def test_the_most_telling_exit_code_wins(registry: ToolRegistry) -> None:
    """An interrupt tells more than a failure, that more than bad lines, and those more than open questions."""
    guard, seen = SessionGuard(ToolHandler(registry=registry), "r"), []
    changes: list[tuple[str, object]] = [
        ("queued", [ToolCall("look")]), ("bad_lines", [1]), ("failure", "x"), ("interrupted", True)
    ]  # fmt: skip
    for name, value in changes:
        seen.append(guard.exit_code)
        setattr(guard, name, value)
    assert [*seen, guard.exit_code] == [0, 3, 4, 1, 130]


def test_an_id_that_looks_like_a_repeat_is_an_id(
    registry: ToolRegistry, capsys: pytest.CaptureFixture[str], objects: Objects
) -> None:
    """A call whose own id is that of another call's repeat runs as well."""
    guard = SessionGuard(ToolHandler(registry=registry), "r", is_quiet=True)
    for call_id in ("a", "a", "a#2", "a", "a#2"):
        guard.line(1, f'{{"id": "{call_id}", "name": "look", "arguments": {{}}}}')
    assert [line["content"] for line in objects(capsys.readouterr().out)] == ["seen"] * 5
    assert len({row.call_id for row in guard.rows}) == 5


def test_the_summary_names_the_rules(
    registry: ToolRegistry, capsys: pytest.CaptureFixture[str], objects: Objects
) -> None:
    """A program and a human are both told which rule files decided."""
    files = ("mine.toml", "permitry:base")
    SessionGuard(ToolHandler(registry=registry), "r", files, is_quiet=True).summarize()
    assert objects(capsys.readouterr().out)[0]["summary"]["rules"] == list(files)
    SessionGuard(ToolHandler(registry=registry), "r", files).summarize()
    assert "\nrules: mine.toml, permitry:base\n" in capsys.readouterr().err


def test_a_summary_without_a_channel_of_answers_has_no_unused_ones(
    registry: ToolRegistry, capsys: pytest.CaptureFixture[str], objects: Objects, tmp_path: Path
) -> None:
    """Only written answers can be left over."""
    guard = SessionGuard(ToolHandler(registry=registry), str(tmp_path), is_quiet=True)
    guard.summarize()
    assert objects(capsys.readouterr().out)[0]["summary"]["unused_answers"] == []


def test_no_result_is_printed_among_what_a_human_reads(
    registry: ToolRegistry, ran: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The story alone; where the results are to be had is said at its end."""
    guard = SessionGuard(ToolHandler(registry=registry), "r", prints=False)
    guard.line(1, LOOK)
    guard.line(2, CallError("it is broken"))
    guard.summarize()
    out, err = capsys.readouterr()
    assert (ran, out) == (["look"], "")
    assert "allow   look" in err
    assert err.endswith("see them with --json, or in a file with > FILE\n")


def test_the_file_of_the_results_is_named(tmp_path: Path) -> None:
    """Where standard output is one."""
    code = (
        "from permitry.cli.guard import SessionGuard; from permitry.handler import ToolHandler; "
        "SessionGuard(ToolHandler(), 'r').summarize()"
    )
    with (tmp_path / "results").open("wb") as file:
        done = subprocess.run([sys.executable, "-c", code], stdout=file, stderr=subprocess.PIPE, text=True, check=True)
    assert done.stderr.endswith(f"results for the model: {tmp_path}/results\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.endswith("recorded in r\n")

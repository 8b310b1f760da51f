"""`permitry run`: a session in, results out in the same shape and order, and what happened on standard error."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

import pytest
from tests.postgres import Cluster

from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.cli.prompt import TerminalChannel
from permitry.cli.records import RecordFilter, records_at
from permitry.config.reload import PolicyReloader
from permitry.core.call import ToolCall
from permitry.errors import AuditError
from permitry.guard.session import Session

Outcome = tuple[int, str, str]
Lines = list[dict[str, Any]]
Objects = Callable[[str], Lines]
Recorded = Callable[[], Lines]
Write = Callable[..., list[str]]

ASKS = "needs the user's confirmation, and got none; it did not run."


def call(name: str, call_id: str | None = None, **arguments: object) -> dict[str, Any]:
    """Return a call in the plain shape."""
    plain = {"name": name, "arguments": arguments}
    return plain if call_id is None else {"id": call_id, **plain}


def digest(line: dict[str, Any]) -> str:
    """Return the digest of a call in the plain shape."""
    return ToolCall(line["name"], line["arguments"]).digest


def stream(*messages: object) -> str:
    """Return messages as a session."""
    return "".join(f"{json.dumps(message)}\n" for message in messages)


@pytest.fixture
def answered(guarding: list[str], tmp_path: Path) -> Write:
    """Return a function that gives the words of a session whose answers are written down."""

    def words(*answers: object) -> list[str]:
        path = tmp_path / "answers.jsonl"
        path.write_text(stream(*answers))
        return [*guarding, "--json", "--answers", str(path)]

    return words


@pytest.fixture
def alone(guarding: list[str]) -> list[str]:
    """Return the words of a session no one watches, which prints JSON only."""
    return [*guarding, "--json", "--unattended", "block"]


# Shapes -------------------------------------------------------------------------------------------------------------

READS = {"name": "list_files", "arguments": "{}"}
SHAPES = [
    (
        {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": READS}]},
        {"role": "tool", "tool_call_id": "c1", "content": "(no files)"},
    ),
    (
        {"choices": [{"message": {"role": "assistant", "tool_calls": [{"id": "c1", "function": READS}]}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "(no files)"},
    ),
    (
        {"type": "function_call", "call_id": "c1", "name": "list_files", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "(no files)"},
    ),
    (
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "list_files", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "(no files)"}]},
    ),
    (
        {"id": "c1", "name": "list_files", "arguments": {}},
        {"id": "c1", "name": "list_files", "ok": True, "content": "(no files)"},
    ),
    ({"name": "list_files", "arguments": {}}, {"name": "list_files", "ok": True, "content": "(no files)"}),
]


@pytest.mark.parametrize(("message", "result"), SHAPES, ids=range(len(SHAPES)))
def test_a_result_has_the_shape_of_its_call(
    cli: Callable[..., Outcome], alone: list[str], objects: Objects, message: object, result: object
) -> None:
    """Each provider's message is answered in that provider's own shape."""
    code, out, _ = cli(*alone, stdin=stream(message))
    assert (code, objects(out)[0]) == (0, result)


def test_every_call_of_a_message_is_answered_in_order(
    cli: Callable[..., Outcome], alone: list[str], objects: Objects
) -> None:
    """A message with several calls gives one result each, in the order of the calls, blocked ones included."""
    names = ("read_file", "git_push", "list_files")
    blocks = [{"type": "tool_use", "id": name, "name": name, "input": {}} for name in names]
    _, out, _ = cli(*alone, stdin=stream({"role": "assistant", "content": blocks}))
    assert [line["content"][0]["tool_use_id"] for line in objects(out)[:-1]] == list(names)


def test_messages_without_calls_are_passed_over(
    cli: Callable[..., Outcome], alone: list[str], objects: Objects
) -> None:
    """What the user, the system and the tools said asks for nothing."""
    roles = [{"role": role, "content": "hello"} for role in ("system", "user", "assistant", "tool")]
    code, out, _ = cli(*alone, stdin=stream(*roles))
    assert (code, [list(line) for line in objects(out)]) == (0, [["summary"]])


# Lines --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [b'{"name": "list_f', b"\xff", b"[1]", b"{}", b'{"a": 1, "a": 2}', b'{"name": NaN}'])
def test_a_bad_line_is_reported_and_the_rest_goes_on(
    cli: Callable[..., Outcome], alone: list[str], objects: Objects, bad: bytes
) -> None:
    """A half-written line is an error with its number on both streams; the calls around it run; the exit code is 4."""
    good = stream(call("list_files")).encode()
    code, out, err = cli(*alone, stdin=good + b"\n" + bad + b"\n" + good)
    first, error, last, end = objects(out)
    assert (code, first["ok"], last["ok"], end["summary"]["bad_lines"]) == (4, True, True, [3])
    assert (list(error), error["error"]["line"]) == (["error"], 3)
    assert err == f"permitry: line 3: {error['error']['message']}\n"


def test_a_half_written_last_line_is_reported(cli: Callable[..., Outcome], alone: list[str], objects: Objects) -> None:
    """A session that breaks off in the middle of a line keeps the results before it."""
    code, out, _ = cli(*alone, stdin=stream(call("list_files")) + '{"name": "write_fi')
    assert (code, objects(out)[0]["ok"], objects(out)[1]["error"]["line"]) == (4, True, 2)


def test_a_call_that_is_not_a_call_is_answered(cli: Callable[..., Outcome], alone: list[str], objects: Objects) -> None:
    """A model that wrote broken arguments is shown that, under the id of its call."""
    function = {"name": "read_file", "arguments": '{"path": '}
    _, out, _ = cli(*alone, stdin=stream({"tool_calls": [{"id": "c9", "function": function}]}))
    result, end = objects(out)
    assert result["tool_call_id"] == "c9"
    assert result["content"].startswith("The call was not understood: not valid JSON")
    assert end["summary"]["calls"][0]["outcome"] == "not understood"


def test_calls_with_one_id_each_run(
    cli: Callable[..., Outcome], alone: list[str], objects: Objects, recorded: Recorded
) -> None:
    """Models that number their calls again in every message lose none, and the record tells the calls apart."""
    _, out, _ = cli(*alone, stdin=stream(*[call("list_files", "call_0")] * 3))
    assert [line["content"] for line in objects(out)[:-1]] == ["(no files)"] * 3
    finished = [line["call_id"] for line in recorded() if line["event"] == "finished"]
    assert finished == ["call_0", "call_0#2", "call_0#3"]


def test_calls_without_an_id_are_named_by_their_place(
    cli: Callable[..., Outcome], alone: list[str], objects: Objects
) -> None:
    """A call without an id is known by line and number in the summary and in the record."""
    _, out, _ = cli(*alone, stdin=stream({"role": "user"}, call("list_files"), call("list_files")))
    assert [row["call_id"] for row in objects(out)[-1]["summary"]["calls"]] == ["2.1", "3.1"]


def test_a_number_is_a_fair_id(
    cli: Callable[..., Outcome], alone: list[str], objects: Objects, recorded: Recorded
) -> None:
    """A program may number its calls: the result carries the number as it came."""
    _, out, _ = cli(*alone, stdin=stream({"id": 7, "name": "list_files", "arguments": {}}))
    assert objects(out)[0] == {"id": 7, "name": "list_files", "ok": True, "content": "(no files)"}
    assert {line["call_id"] for line in recorded()[1:]} == {"7"}


# Output -------------------------------------------------------------------------------------------------------------


def test_json_is_results_and_then_the_summary(
    cli: Callable[..., Outcome], alone: list[str], objects: Objects, record: Path
) -> None:
    """With `--json` standard output is JSON lines, the last one the summary, and standard error is silent."""
    code, out, err = cli(
        *alone, stdin=stream(call("list_files", "a"), call("git_push", "b"), call("run_shell", "c", command="make"))
    )
    *results, end = objects(out)
    assert (code, err, [line["id"] for line in results]) == (0, "", ["a", "b", "c"])
    summary = end["summary"]
    assert summary["verdicts"] == {"allow": 1, "block": 1, "confirm": 1}
    rows = [(row["call_id"], row["rule"], row["outcome"]) for row in summary["calls"]]
    outcomes = ("ran", "blocked", "not answered")
    assert rows == list(zip("abc", ("read-only", "block-publish", "ask-shell"), outcomes, strict=True))
    assert all(row["seconds"] >= 0 for row in summary["calls"])
    assert summary["record"] == str(record)


def test_a_human_gets_a_count_on_standard_error(cli: Callable[..., Outcome], guarding: list[str], record: Path) -> None:
    """Without `--json` standard output is results only; what each call became was said when it did."""
    session = stream(call("list_files"), call("git_push"))
    _, out, err = cli(*guarding, "--unattended", "block", stdin=session)
    assert len(out.splitlines()) == 2
    _, rows = err.split("permitry: what happened")
    wanted = [["calls", "verdict", "what", "became", "of", "them"], ["1", "allow", "ran"], ["1", "block", "blocked"]]
    assert [line.split() for line in rows.splitlines()[1:4]] == wanted
    assert err.endswith(f"recorded in {record}\n")


def test_a_record_in_postgresql_is_named_without_its_user(
    cli: Callable[..., Outcome], guarding: list[str], postgres: Cluster
) -> None:
    """Nor with a password, wherever people see it."""
    address = postgres.new()
    secret = address.replace("postgres@", "postgres:hunter2@")
    code, out, err = cli(*guarding, "--record", secret, "--unattended", "block", stdin=stream(call("list_files")))
    shown = address.replace("postgres@", "").partition("?")[0]
    assert code == 0
    assert err.endswith(f"recorded in {shown}\n")
    assert "hunter2" not in out + err
    _, records, _ = cli("audit", "query", "--record", address, "--json")
    events = [json.loads(line)["event"] for line in records.splitlines()]
    assert events == ["policy", "session", "decided", "started", "finished"]
    assert "hunter2" not in records


def test_a_human_sees_each_call_as_it_happens(cli: Callable[..., Outcome], guarding: list[str]) -> None:
    """Each call is reported with verdict, tool, text, rule and outcome; of a block, what the model is shown."""
    session = stream(call("read_file", path="a\nb"), call("git_push"))
    _, _, err = cli(*guarding, "--unattended", "block", stdin=session)
    ran, blocked, shown, *_ = err.splitlines()
    assert ran == "allow   read_file a\\nb [read-only: the tool only reads] ran, failed"
    assert blocked == "block   git_push  [block-publish: publishes what cannot be taken back] blocked"
    assert shown.startswith("        shown to the model: The call of `git_push` was blocked. ")


def test_a_failing_tool_is_reported_as_such(cli: Callable[..., Outcome], alone: list[str], objects: Objects) -> None:
    """A tool that ran and failed is neither a success nor a block."""
    _, out, _ = cli(*alone, stdin=stream(call("read_file", path="none.txt")))
    result, end = objects(out)
    assert (result["ok"], end["summary"]["calls"][0]["outcome"]) == (False, "ran, failed")


def test_results_come_one_by_one(
    processes: Callable[..., subprocess.Popen[bytes]], alone: list[str], say: Callable[..., str]
) -> None:
    """As a co-process it answers each call before the next line is written."""
    process = processes(*alone, bufsize=0)
    names = ("list_files", "git_push", "list_files")
    answers = [say(process, json.dumps(call(name, name))) for name in names]
    assert [json.loads(answer)["id"] for answer in answers] == list(names)
    out, _ = process.communicate(timeout=120)
    assert (list(json.loads(out)), process.returncode) == (["summary"], 0)


# No one there -------------------------------------------------------------------------------------------------------


def test_unattended_blocks_what_needs_a_human(
    cli: Callable[..., Outcome], alone: list[str], objects: Objects, workspace: Path
) -> None:
    """`--unattended block` runs nothing that needs confirmation, tells the model, and ends well."""
    code, out, _ = cli(
        *alone, stdin=stream(call("write_file", path="a", content="x"), call("run_shell", command="touch b"))
    )
    assert code == 0
    assert all(ASKS in line["content"] for line in objects(out)[:-1])
    assert list(workspace.iterdir()) == []


def test_without_a_terminal_no_one_is_there(
    processes: Callable[..., subprocess.Popen[bytes]], guarding: list[str], objects: Objects
) -> None:
    """Without a terminal and without `--unattended` a question is not answered, rather than waited for."""
    process = processes(*guarding, "--json", start_new_session=True)
    out, _ = process.communicate(stream(call("write_file", path="a", content="x")).encode(), timeout=20)
    assert ASKS in objects(out.decode())[0]["content"]


def test_unattended_queues_for_later(
    cli: Callable[..., Outcome], guarding: list[str], objects: Objects, workspace: Path
) -> None:
    """`--unattended queue` leaves the question open, goes on with the rest, and exits with 3."""
    session = stream(call("write_file", "w", path="a", content="x"), call("list_files", "l"))
    code, out, _ = cli(*guarding, "--json", "--unattended", "queue", stdin=session)
    waits, reads, end = objects(out)
    assert (code, waits["ok"], reads["ok"], list(workspace.iterdir())) == (3, False, True, [])
    assert "waits for the user's confirmation" in waits["content"]
    assert [(each["call_id"], each["tool"]) for each in end["summary"]["queued"]] == [("w", "write_file")]
    assert end["summary"]["calls"][0]["outcome"] == "queued"


def test_a_queued_call_is_approved_by_its_digest(
    cli: Callable[..., Outcome], guarding: list[str], workspace: Path, tmp_path: Path
) -> None:
    """The line a human is given for a queued call, put into a file, lets exactly that call run in a second session."""
    session = stream(call("write_file", path="a", content="x"), call("write_file", path="b", content="x"))
    code, _, err = cli(*guarding, "--unattended", "queue", stdin=session)
    assert code == 3
    assert f"queued: write_file (2.1) {ToolCall('write_file', {'path': 'b', 'content': 'x'}).canonical}" in err
    assert err.count("to approve it, run this call alone again") == 2
    lines = [line.partition("and this line: ")[2] for line in err.splitlines() if "and this line: " in line]
    (tmp_path / "answers.jsonl").write_text(lines[1])
    again = [*guarding, "--unattended", "queue", "--answers", str(tmp_path / "answers.jsonl")]
    assert cli(*again, stdin=session)[0] == 3
    assert [path.name for path in workspace.iterdir()] == ["b"]


# Answers ------------------------------------------------------------------------------------------------------------

WRITE = call("write_file", "w", path="a", content="x")
APPROVAL = {"digest": digest(WRITE), "approved": True}
INSTEAD = {"call_id": "w", "tool": "write_file", "approved": True, "arguments": {"path": "b", "content": "y"}}


@pytest.mark.parametrize("binding", [{}, {"call_id": "w"}, {"tool": "write_file"}])
def test_an_answer_is_for_its_call(
    cli: Callable[..., Outcome], answered: Write, workspace: Path, binding: dict[str, str]
) -> None:
    """An approval lets the call with its digest run, and no other: not with other arguments under the same id."""
    others = (call("write_file", call_id, path="b", content="x") for call_id in ("w", "v"))
    cli(*answered({**APPROVAL, **binding}), stdin=stream(*others, call("write_file", path="a", content="y")))
    assert list(workspace.iterdir()) == []
    cli(*answered({**APPROVAL, **binding}), stdin=stream(WRITE))
    assert [path.name for path in workspace.iterdir()] == ["a"]


@pytest.mark.parametrize("rest", [{}, {"tool": "write_file"}, {"skip_future": True}])
def test_a_call_id_alone_lets_nothing_run(
    cli: Callable[..., Outcome], answered: Write, workspace: Path, record: Path, rest: dict[str, object]
) -> None:
    """The model chooses the ids, so an approval of one is not a valid answer, and the session does not begin."""
    code, out, err = cli(*answered({"call_id": "w", "approved": True, **rest}), stdin=stream(WRITE))
    assert (code, out) == (4, "")
    assert "an approval is bound to one call: `digest` is missing (or `call_id`, `tool` and `arguments`)" in err
    assert (record.exists(), list(workspace.iterdir())) == (False, [])


@pytest.mark.parametrize("binding", [{"call_id": "w"}, {"digest": digest(WRITE)}])
def test_a_no_may_name_the_id(
    cli: Callable[..., Outcome], answered: Write, objects: Objects, binding: dict[str, str]
) -> None:
    """A rejection needs less: whatever has that id does not run."""
    _, out, _ = cli(*answered({**binding, "approved": False}), stdin=stream(WRITE))
    assert objects(out)[-1]["summary"]["calls"][0]["outcome"] == "declined"


@pytest.mark.parametrize("binding", [{"call_id": "other"}, {"digest": "0" * 64}, {"tool": "run_shell"}])
def test_an_answer_for_something_else_does_not_count(
    cli: Callable[..., Outcome], answered: Write, objects: Objects, workspace: Path, binding: dict[str, str]
) -> None:
    """An answer for another id, digest or tool leaves the question unanswered, and is reported as unused."""
    _, out, err = cli(*answered({**APPROVAL, **binding}), stdin=stream(WRITE))
    result, end = objects(out)
    assert (result["ok"], ASKS in result["content"], list(workspace.iterdir())) == (False, True, [])
    assert (end["summary"]["unused_answers"], err) == ([1], "")


def test_unused_answers_are_reported(cli: Callable[..., Outcome], answered: Write) -> None:
    """A human reads the lines of the answers that no question asked for."""
    words = answered({"call_id": "none", "approved": False}, APPROVAL, {"digest": "0", "approved": False})
    words.remove("--json")
    assert "answers that no question asked for: lines 1, 3\n" in cli(*words, stdin=stream(WRITE))[2]


def test_an_answer_counts_once(cli: Callable[..., Outcome], answered: Write, objects: Objects, workspace: Path) -> None:
    """The same call made twice needs two answers."""
    _, out, _ = cli(*answered(APPROVAL), stdin=stream(WRITE, WRITE))
    assert [line["ok"] for line in objects(out)[:-1]] == [True, False]
    assert (workspace / "a").read_text() == "x"


def test_a_no_is_reported_with_its_guidance(cli: Callable[..., Outcome], answered: Write, objects: Objects) -> None:
    """A rejection does not run, and the human's words reach the model."""
    answer = {"call_id": "w", "approved": False, "instructions": "Use docs/."}
    _, out, _ = cli(*answered(answer), stdin=stream(WRITE))
    assert "The user says: Use docs/." in objects(out)[0]["content"]


def test_always_is_remembered(cli: Callable[..., Outcome], answered: Write, workspace: Path) -> None:
    """After an approval with `skip_future` the tool is not asked about again."""
    cli(*answered({**APPROVAL, "skip_future": True}), stdin=stream(WRITE, call("write_file", path="b", content="x")))
    assert sorted(path.name for path in workspace.iterdir()) == ["a", "b"]


def test_edited_arguments_run_instead(cli: Callable[..., Outcome], answered: Write, workspace: Path) -> None:
    """An approval with arguments runs those, and not the model's own."""
    cli(*answered(INSTEAD), stdin=stream(WRITE))
    assert {path.name: path.read_text() for path in workspace.iterdir()} == {"b": "y"}


def test_edited_arguments_are_recorded(
    cli: Callable[..., Outcome], guarding: list[str], tmp_path: Path, recorded: Callable[[], list[dict[str, Any]]]
) -> None:
    """The record holds the arguments that ran, not only those the model wrote."""
    (tmp_path / "answers.jsonl").write_text(json.dumps(INSTEAD))
    line = json.dumps({"id": "w", "name": "write_file", "arguments": {"path": "a", "content": "x"}})
    cli(*guarding, "--answers", tmp_path / "answers.jsonl", stdin=line)
    assert [each["arguments"]["path"] for each in recorded() if each["event"] == "decided"] == ["a", "b"]


def test_an_abort_ends_the_session(
    cli: Callable[..., Outcome], answered: Write, objects: Objects, workspace: Path
) -> None:
    """After an abort nothing runs, not even what needs no confirmation, and every call is still answered."""
    session = stream(WRITE, call("list_files"), call("list_files"))
    _, out, _ = cli(*answered({**APPROVAL, "abort": True}), stdin=session)
    results = objects(out)[:-1]
    assert [line["ok"] for line in results] == [False] * 3
    assert results[1]["content"] == "Nothing runs any more: the user ended the session."
    assert list(workspace.iterdir()) == []


def test_every_bad_answer_is_located(cli: Callable[..., Outcome], answered: Write, record: Path) -> None:
    """All problems of an answers file are reported at once with their lines, and nothing runs or is recorded."""
    words = answered({"approved": True}, APPROVAL, {"call_id": "a", "aproved": True}, [])
    code, out, err = cli(*words, stdin=stream(WRITE))
    assert (code, out) == (4, "")
    assert [f"answers.jsonl:{line}:1: " in err for line in (1, 2, 3, 4)] == [True, False, True, True]
    assert not record.exists()


@pytest.mark.parametrize("content", [None, b"\xff"])
def test_answers_that_cannot_be_read_end_the_run(
    cli: Callable[..., Outcome], guarding: list[str], tmp_path: Path, content: bytes | None
) -> None:
    """A missing answers file, and one that is not text, are invalid input."""
    path = tmp_path / "answers.jsonl"
    if content is not None:
        path.write_bytes(content)
    code, out, err = cli(*guarding, "--answers", path, stdin=stream(WRITE))
    assert (code, out) == (4, "")
    assert err.startswith(f"permitry: cannot read the answers `{path}`: ")


# Options ------------------------------------------------------------------------------------------------------------


def test_the_session_may_be_a_file(
    cli: Callable[..., Outcome], alone: list[str], objects: Objects, tmp_path: Path
) -> None:
    """The session is a file when one is named."""
    path = tmp_path / "session.jsonl"
    path.write_text(stream(call("list_files")))
    alone[1] = str(path)
    assert objects(cli(*alone)[1])[0]["ok"] is True


def test_a_missing_session_is_invalid_input(cli: Callable[..., Outcome], alone: list[str]) -> None:
    """A session that is not there exits with 4."""
    alone[1] = "missing.jsonl"
    assert cli(*alone) == (4, "", "permitry: cannot read `missing.jsonl`: No such file or directory\n")
    words = ["run", "-", "--answers", "missing.jsonl"]
    assert cli(*words) == (4, "", "permitry: cannot read the answers `missing.jsonl`: No such file or directory\n")


def test_a_missing_workspace_is_invalid_input(cli: Callable[..., Outcome], record: Path) -> None:
    """A workspace that is not a directory is refused before anything is read or recorded."""
    code, out, err = cli("run", "--workspace", "nowhere", "--record", record, stdin=stream(WRITE))
    assert (code, out) == (4, "")
    assert err == "permitry: the workspace `nowhere` is not a directory; make it, or name another with --workspace\n"
    assert not record.exists()


def test_a_mode_reaches_the_rules(cli: Callable[..., Outcome], alone: list[str], objects: Objects) -> None:
    """`--mode plan` blocks what is not known to only read; `--mode yolo` does not ask."""
    for mode, rule in (("plan", "plan-mode"), ("yolo", "yolo"), ("default", None)):
        _, out, _ = cli(*alone, "--mode", mode, stdin=stream(WRITE))
        assert objects(out)[-1]["summary"]["calls"][0]["rule"] == rule


def test_a_template_reaches_the_rules(cli: Callable[..., Outcome], alone: list[str], workspace: Path) -> None:
    """`--template edit` lets its tools run unasked."""
    cli(*alone, "--template", "edit", stdin=stream(WRITE))
    assert (workspace / "a").read_text() == "x"


def test_an_unknown_template_is_refused(cli: Callable[..., Outcome], alone: list[str]) -> None:
    """A template no rule file defines is invalid input, with the nearest name."""
    code, out, err = cli(*alone, "--template", "edti", stdin=stream(WRITE))
    assert (code, out) == (4, "")
    assert err == "permitry: unknown template `edti`; did you mean `edit`?\n"


def test_an_agent_reaches_the_rules(
    cli: Callable[..., Outcome], objects: Objects, workspace: Path, tmp_path: Path
) -> None:
    """`--agent` is what `when.agent` compares with."""
    path = tmp_path / "rules.toml"
    rule = 'id = "helpers-write"\neffect = "allow"\ntools = ["write_file"]\nwhen.agent = "helper-*"\n'
    path.write_text(f"schema = 1\n[[rule]]\n{rule}")
    places = ["--rules", path, "--workspace", workspace, "--record", tmp_path / "record.jsonl"]
    words = ["run", *places, "--json", "--unattended", "block"]
    rules = [
        objects(cli(*words, *agent, stdin=stream(WRITE))[1])[-1]["summary"]["calls"][0]["rule"]
        for agent in ((), ("--agent", "helper-1"))
    ]
    assert rules == [None, "helpers-write"]


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch) -> list[Session]:
    """Return the sessions of all runs, as they are at their ends."""
    seen: list[Session] = []
    monkeypatch.setattr("permitry_ops.cli.run.SessionGuard.summarize", lambda guard: seen.append(guard.handler.session))
    return seen


def test_the_session_is_what_the_options_say(
    cli: Callable[..., Outcome], alone: list[str], workspace: Path, sessions: list[Session]
) -> None:
    """Agent, mode, workspace and template, which rules may look at, come from the options."""
    cli(*alone, "--agent", "helper", "--mode", "plan", "--template", "edit")
    (session,) = sessions
    assert (session.agent, session.mode, session.workspace) == ("helper", "plan", str(workspace.resolve()))
    assert session.active_template is not None
    assert session.active_template.name == "edit"


def test_a_mode_no_rule_knows_is_refused(cli: Callable[..., Outcome], alone: list[str]) -> None:
    """A misspelt `plan` would be a session without plan mode."""
    code, out, err = cli(*alone, "--mode", "Plan")
    assert (code, out) == (4, "")
    assert "unknown mode `Plan`; did you mean `plan`?" in err


def test_a_session_with_answers_is_attended(
    cli: Callable[..., Outcome], answered: Write, alone: list[str], sessions: list[Session]
) -> None:
    """Written answers are someone's; without them, and without a terminal, no one is there."""
    for words in (answered(), alone):
        cli(*words)
    assert [session.attended for session in sessions] == [True, False]


@pytest.mark.parametrize("words", [("--unattended", "block"), ("--unattended", "queue"), ("--answers", "/dev/null")])
def test_no_one_is_looked_for_where_no_one_is_asked(
    cli: Callable[..., Outcome], guarding: list[str], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """With written answers, and unattended, no terminal is opened."""
    monkeypatch.setattr("permitry.cli.prompt.open_terminal", lambda: pytest.fail("a terminal was opened"))
    assert cli(*guarding, *words)[0] == 0


def test_the_workspace_finds_the_project(
    cli: Callable[..., Outcome], objects: Objects, workspace: Path, record: Path
) -> None:
    """Without `--rules` the layers are searched from the workspace, not from the current folder."""
    (workspace / ".permitry").mkdir()
    rule = 'schema = 1\n[[rule]]\nid = "no-lists"\neffect = "block"\ntools = ["list_files"]\n'
    (workspace / ".permitry/rules.toml").write_text(rule)
    words = ("run", "--workspace", workspace, "--record", record, "--json", "--unattended", "block")
    _, out, _ = cli(*words, stdin=stream(call("list_files")))
    assert objects(out)[-1]["summary"]["calls"][0]["rule"] == "no-lists"


def test_the_record_has_a_place_of_its_own(cli: Callable[..., Outcome], guarding: list[str], home: Path) -> None:
    """Without `--record` the record is in the store in the user's state folder, for its owner's eyes only."""
    cli(*guarding[:-2], "--unattended", "block", stdin=stream(call("list_files")))
    path = home / "permitry" / "permitry.db"
    assert path.stat().st_mode & 0o777 == 0o600
    events = [each["event"] for each in records_at(path, RecordFilter())]
    assert events == ["policy", "session", "decided", "started", "finished"]


def test_a_record_is_appended_to(cli: Callable[..., Outcome], alone: list[str], recorded: Recorded) -> None:
    """A second session adds to the record of the first, under an id of its own."""
    for _ in range(2):
        cli(*alone, stdin=stream(call("list_files")))
    assert [line["event"] for line in recorded()] == ["session", "decided", "started", "finished"] * 2
    first, second = ({line["session"] for line in part} for part in (recorded()[:4], recorded()[4:]))
    assert (len(first), len(second), first & second) == (1, 1, set())


def test_a_record_begins_with_the_session(
    cli: Callable[..., Outcome], alone: list[str], recorded: Recorded, workspace: Path
) -> None:
    """Before any call the record says where, as whom, in which mode and under which rules the session worked."""
    cli(*alone, "--mode", "plan", "--agent", "helper", "--template", "review", "--principal", "shop")
    [begun] = recorded()
    reported = {
        "event": "session",
        "workspace": str(workspace),
        "agent": "helper",
        "principal": "shop",
        "mode": "plan",
        "template": "review",
    }
    assert begun.items() >= reported.items()
    assert begun["rules"][0] == "permitry:coding-agent"
    assert begun["policy_version"]


# The record and the workspace ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("inside", ["record.jsonl", "new/record.jsonl", "../workspace/record.jsonl"])
def test_a_record_in_the_workspace_is_refused(
    cli: Callable[..., Outcome], guarding: list[str], workspace: Path, inside: str
) -> None:
    """What the tools could replace is not a record; nothing is made there, and nothing runs."""
    guarding[-1] = str(workspace / inside)
    code, out, err = cli(*guarding, "--mode", "yolo", stdin=stream(WRITE))
    assert (code, out) == (4, "")
    assert err.startswith(f"permitry: the record `{guarding[-1]}` lies in the workspace")
    assert list(workspace.iterdir()) == []


def test_a_record_that_is_a_link_into_the_workspace_is_refused(
    cli: Callable[..., Outcome], guarding: list[str], workspace: Path, record: Path
) -> None:
    """Where the record is written counts, not what it is called."""
    record.symlink_to(workspace / "audit.jsonl")
    assert "lies in the workspace" in cli(*guarding, stdin=stream(WRITE))[2]
    assert list(workspace.iterdir()) == []


def test_a_link_out_of_the_workspace_is_refused(
    cli: Callable[..., Outcome], guarding: list[str], workspace: Path, record: Path
) -> None:
    """The tools could turn the link elsewhere before the next session."""
    (workspace / "record").symlink_to(record)
    guarding[-1] = str(workspace / "record")
    assert "lies in the workspace" in cli(*guarding, stdin=stream(WRITE))[2]
    assert not record.exists()


def test_a_record_with_a_second_name_is_refused(
    cli: Callable[..., Outcome], guarding: list[str], workspace: Path, record: Path
) -> None:
    """A hard link in the workspace is the record itself."""
    record.touch()
    (workspace / "record").hardlink_to(record)
    assert "lies in the workspace" in cli(*guarding, stdin=stream(WRITE))[2]


@pytest.mark.parametrize("linked", ["workspace", "record"])
def test_a_link_to_the_workspace_is_the_workspace(
    cli: Callable[..., Outcome], guarding: list[str], workspace: Path, tmp_path: Path, linked: str
) -> None:
    """A folder with two names is one folder, whichever of the two each option is given."""
    (tmp_path / "link").symlink_to(workspace)
    place, record = (tmp_path / "link", workspace) if linked == "workspace" else (workspace, tmp_path / "link")
    guarding[-3:] = [str(place), "--record", str(record / "record.jsonl")]
    assert cli(*guarding, stdin=stream(WRITE))[0] == 4
    assert list(workspace.iterdir()) == []


def test_a_relative_record_is_in_the_current_folder(
    cli: Callable[..., Outcome], guarding: list[str], workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Started from within the workspace, a bare name is refused."""
    monkeypatch.chdir(workspace)
    guarding[-3:] = [".", "--record", "record.jsonl"]
    assert "lies in the workspace" in cli(*guarding, stdin=stream(WRITE))[2]


def test_the_default_store_may_not_lie_in_the_workspace_either(
    cli: Callable[..., Outcome], guarding: list[str], home: Path
) -> None:
    """The one who works in his home folder names a store of his own."""
    home.mkdir()
    guarding[-3:] = [str(home)]
    assert "permitry.db` lies in the workspace" in cli(*guarding, stdin=stream(WRITE))[2]
    assert list(home.iterdir()) == []


def test_a_record_next_to_the_workspace_is_fine(cli: Callable[..., Outcome], alone: list[str], workspace: Path) -> None:
    """A name that begins like the workspace's is another place."""
    alone[alone.index("--record") + 1] = f"{workspace}.jsonl"
    assert cli(*alone, stdin=stream(call("list_files")))[0] == 0
    assert len(Path(f"{workspace}.jsonl").read_text().splitlines()) == 4


# When things go wrong -----------------------------------------------------------------------------------------------


def test_without_a_record_nothing_starts(cli: Callable[..., Outcome], guarding: list[str], tmp_path: Path) -> None:
    """A record that cannot be opened ends the run before the first call."""
    guarding[-1] = str(tmp_path)
    code, out, err = cli(*guarding, stdin=stream(call("list_files")))
    assert (code, out) == (4, "")
    assert err.startswith(f"permitry: cannot write the record `{tmp_path}`: ")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_with_a_full_disk_nothing_runs(cli: Callable[..., Outcome], guarding: list[str], workspace: Path) -> None:
    """A record that cannot be written ends the run before the first call, whatever the rules say."""
    guarding[-1] = "/dev/full"
    code, out, err = cli(*guarding, "--json", "--mode", "yolo", stdin=stream(WRITE, call("list_files")))
    assert (code, out) == (4, "")
    assert err.startswith("permitry: cannot write the record `/dev/full`: ")
    assert list(workspace.iterdir()) == []


def test_a_session_whose_record_breaks_fails(
    cli: Callable[..., Outcome], alone: list[str], objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When nothing can be recorded any more the session fails: who looks at the exit code must notice."""

    def full(*_: object, **__: object) -> None:
        raise AuditError("the disk is full")

    monkeypatch.setattr("permitry.audit.record.JsonlRecorder.record", full)
    code, out, _ = cli(*alone, stdin=stream(call("list_files")))
    assert (code, objects(out)[0]["ok"]) == (1, False)
    assert objects(out)[-1]["summary"]["failure"] is not None


@pytest.fixture
def rewritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, list[str]]:
    """Return a rule file that permits, and the texts it is given before each line of the next session but the first."""
    file, texts = tmp_path / "changing.toml", list[str]()
    file.write_text('schema = 1\n[[rule]]\nid = "a"\neffect = "allow"\ntools = ["list_files"]\n')

    def lines(_: object) -> Any:  # noqa: ANN401 -- what the real function yields
        yield 1, stream(call("list_files"))
        for number, text in enumerate(texts, 2):
            file.write_text(text)
            yield number, stream(call("list_files"))

    monkeypatch.setattr("permitry_ops.cli.run.number_lines", lines)
    monkeypatch.setattr("permitry_ops.cli.run._APART", 0)
    return file, texts


_BLOCKS = 'schema = 1\n[[rule]]\nid = "b"\neffect = "block"\ntools = ["list_files"]\n'


def test_rules_that_change_are_taken_over_and_recorded(
    cli: Callable[..., Outcome], alone: list[str], recorded: Recorded, rewritten: tuple[Path, list[str]]
) -> None:
    """They count at once; what came, what went and both versions are in the record, and so is what was wrong."""
    file, texts = rewritten
    texts += [_BLOCKS, _BLOCKS, "schema = 2\n"]
    cli(*alone, "--rules", str(file))
    events = [event for event in recorded() if event["event"] in ("decided", "reloaded")]
    assert [event.get("verdict", "reloaded") for event in events] == [
        "allow", "reloaded", "block", "block", "reloaded", "block",
    ]  # fmt: skip
    first, second = (event for event in events if event["event"] == "reloaded")
    assert (first["added"], first["removed"]) == ({str(file): ["b"]}, {str(file): ["a"]})
    assert [events[0]["policy_version"], events[2]["policy_version"]] == [
        first["version_before"],
        first["policy_version"],
    ]
    assert (first["problems"], second["added"]) == ([], {})
    assert second["problems"] == [f"{file}:1: `schema` is 2; this version reads 1"]


def test_rules_with_mistakes_block_until_they_are_right(
    cli: Callable[..., Outcome],
    alone: list[str],
    objects: Objects,
    recorded: Recorded,
    rewritten: tuple[Path, list[str]],
) -> None:
    """The session goes on, and the record has the calls that did not run."""
    file, texts = rewritten
    texts += ["schema = 1\n[[rule]]\n", file.read_text()]
    code, out, _ = cli(*alone, "--rules", str(file))
    summary = objects(out)[-1]["summary"]
    assert (code, summary["verdicts"], summary["failure"]) == (0, {"allow": 2, "block": 1}, None)
    blocked = next(event for event in recorded() if event.get("verdict") == "block")
    assert (blocked["rule"], f"{file}:2" in blocked["reason"]) == ("rule-files", True)


def test_a_reload_that_cannot_be_recorded_ends_the_session(
    cli: Callable[..., Outcome],
    alone: list[str],
    objects: Objects,
    rewritten: tuple[Path, list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing is decided by rules of which the record does not know."""

    def full(*_: object, **__: object) -> None:
        raise AuditError("the disk is full")

    monkeypatch.setattr("permitry.audit.record.JsonlRecorder.reloaded", full)
    file, texts = rewritten
    texts += [_BLOCKS]
    code, out, _ = cli(*alone, "--rules", str(file))
    assert (code, objects(out)[-1]["summary"]["failure"]) == (1, "the disk is full")
    assert objects(out)[-1]["summary"]["verdicts"] == {"allow": 1, "block": 1}


def test_rules_that_do_not_rest_end_the_session(
    cli: Callable[..., Outcome],
    alone: list[str],
    objects: Objects,
    rewritten: tuple[Path, list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing is decided by rules of which it is not known whether they still hold."""
    file, texts = rewritten
    texts += [_BLOCKS]
    settle = PolicyReloader.settle
    monkeypatch.setattr(PolicyReloader, "settle", lambda reloader: settle(reloader, within=-1.0))
    code, out, _ = cli(*alone, "--rules", str(file))
    assert (code, objects(out)[-1]["summary"]["verdicts"]) == (1, {"allow": 1, "block": 1})
    assert "faster than they can be read" in objects(out)[-1]["summary"]["failure"]


def test_an_interrupt_keeps_what_was_done(
    cli: Callable[..., Outcome], alone: list[str], objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C between two lines prints the summary of what ran and exits with 130."""

    def interrupted(_: object) -> Any:  # noqa: ANN401 -- what the real function yields
        yield 1, stream(call("list_files"))
        raise KeyboardInterrupt

    monkeypatch.setattr("permitry_ops.cli.run.number_lines", interrupted)
    code, out, _ = cli(*alone)
    assert code == 130
    assert objects(out)[-1]["summary"]["verdicts"] == {"allow": 1}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_the_tool_that_runs(
    *,
    processes: Callable[..., subprocess.Popen[bytes]],
    answered: Write,
    recorded: Recorded,
    workspace: Path,
    objects: Objects,
    number: signal.Signals,
) -> None:
    """A signal while a command runs ends command and session; output, summary and record say how it went."""
    long = call("run_shell", "long", command="echo tick; echo $$ >pid; mv pid begun; sleep 60; touch ended")
    process = processes(*answered({"digest": digest(long), "approved": True}), bufsize=0)
    assert process.stdin is not None
    process.stdin.write(stream(long).encode())
    while not (workspace / "begun").exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(number)
    out, _ = process.communicate(timeout=120)
    result, end = objects(out.decode())
    assert (process.returncode, result["id"], result["ok"]) == (130, "long", False)
    assert result["content"] == (
        "The session was interrupted during this call; it may have run in part. What it wrote until then:\ntick"
    )
    [row] = end["summary"]["calls"]
    assert (row["tool"], row["verdict"], row["outcome"]) == ("run_shell", "confirm", "approved, interrupted")
    with pytest.raises(ProcessLookupError):
        os.kill(int((workspace / "begun").read_text()), 0)
    assert [line["event"] for line in recorded()][-2:] == ["started", "finished"]


# A human at the keyboard, in process --------------------------------------------------------------------------------


def test_a_block_that_is_written_while_a_human_thinks_counts(
    cli: Callable[..., Outcome],
    guarding: list[str],
    workspace: Path,
    typing: Callable[[str], tuple[TextIO, Callable[[], str]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The yes that follows meets the rules as they are then."""
    file = workspace.parent / "changing.toml"
    file.write_text("schema = 1\n")
    terminal, _ = typing("y\n")

    ask = TerminalChannel.ask

    def slowly(channel: TerminalChannel, request: ToolConfirmationRequest) -> ToolConfirmationResponse | None:
        answer = ask(channel, request)
        file.write_text(_BLOCKS.replace("list_files", "write_file"))
        return answer

    monkeypatch.setattr("permitry.cli.prompt.open_terminal", lambda: terminal)
    monkeypatch.setattr(TerminalChannel, "ask", slowly)
    _, out, _ = cli(*guarding, "--rules", str(file), stdin=stream(WRITE))
    assert "was blocked" in out
    assert not (workspace / "a").exists()


def test_a_terminal_is_asked(
    cli: Callable[..., Outcome],
    guarding: list[str],
    workspace: Path,
    typing: Callable[[str], tuple[TextIO, Callable[[], str]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With a terminal and neither answers nor `--unattended`, the human is asked there."""
    terminal, shown = typing("x\ny\n")
    monkeypatch.setattr("permitry.cli.prompt.open_terminal", lambda: terminal)
    cli(*guarding, stdin=stream(WRITE))
    assert (workspace / "a").read_text() == "x"
    assert "? write_file  no rule allows this call" in shown()
    assert "decided by  no rule" in shown()


def test_what_the_user_wrote_is_heard(
    cli: Callable[..., Outcome], alone: list[str], objects: Objects, tmp_path: Path
) -> None:
    """And calls that ran are kept, so that rules know where a value comes from."""
    rules = tmp_path / "own-rules.toml"
    rules.write_text(
        'schema = 1\n[[rule]]\nid = "writes"\neffect = "allow"\ntools = ["write_file"]\n'
        'when.args.path.from = ["user", "call:write_file#content"]\n'
    )
    words = [str(rules) if word == "permitry:coding-agent" else word for word in alone]
    said = {"role": "user", "content": "Write notes.txt, please."}
    first, second = (call("write_file", path=path, content="b.txt") for path in ("notes.txt", "b.txt"))
    for messages, wanted in (
        ([first, second], [False, False]),
        ([said, second], [False]),
        ([said, first, second], [True, True]),
    ):
        _, out, _ = cli(*words, stdin=stream(*messages))
        rows = [row for each in objects(out) if "summary" in each for row in each["summary"]["calls"]]
        assert [row["verdict"] == "allow" for row in rows] == wanted


def test_an_image_follows_the_results_of_its_line(
    cli: Callable[..., tuple[int, str, str]], guarding: list[str], workspace: Path
) -> None:
    """In chat completions, which have no place for it: behind the results of all calls, in a message of the user."""
    (workspace / "dot.gif").write_bytes(b"GIF89a...")
    calls = [
        {"id": name, "function": {"name": "view_image", "arguments": json.dumps({"path": path})}}
        for name, path in (("a", "dot.gif"), ("b", "other.gif"))
    ]
    message = {"role": "assistant", "tool_calls": calls}
    _, out, _ = cli(*guarding, "--unattended", "block", "--mode", "yolo", stdin=json.dumps(message))
    first, second, third = map(json.loads, out.splitlines())
    assert (first["tool_call_id"], second["tool_call_id"], third["role"]) == ("a", "b", "user")
    assert first["content"].endswith("[image/gif, 9 bytes: in a message of the user that follows]")
    assert third["content"][1]["image_url"]["url"].startswith("data:image/gif;base64,")

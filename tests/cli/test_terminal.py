"""The real program behind a real terminal: what a human sees and types, and what follows."""

import json
import os
import pty
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from permitry.cli.prompt import open_terminal

Outcome = tuple[int, str, str, str]
Objects = Callable[[str], list[dict[str, Any]]]
Talk = Callable[..., Outcome]

QUESTION = "[q]uit: "
AS_EDITED = "back to the first: "
GUIDANCE = "(empty for nothing) "
WRITE = {"id": "w", "name": "write_file", "arguments": {"path": "a.txt", "content": "new\n"}}
AGAIN = {"id": "v", "name": "write_file", "arguments": {"path": "b.txt", "content": "new\n"}}
SHELL = {"id": "s", "name": "run_shell", "arguments": {"command": "touch c.txt"}}


@pytest.fixture
def talk(at_terminal: Callable[..., Outcome], guarding: list[str]) -> Talk:
    """Return a function that runs a session of calls, given on standard input, with a dialogue at the terminal."""

    def talked(*dialogue: tuple[str, str], calls: list[dict[str, Any]]) -> Outcome:
        session = "".join(f"{json.dumps(call)}\n" for call in calls).encode()
        return at_terminal([*guarding, "--json"], *dialogue, session=session)

    return talked


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that makes `$EDITOR` of Python code, in which `path` is the file to edit."""

    def made(code: str) -> None:
        script = tmp_path / "editor"
        script.write_text(f"#!{sys.executable}\nimport pathlib, sys\npath = pathlib.Path(sys.argv[-1])\n{code}\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("EDITOR", str(script))

    return made


def test_yes_runs_the_call(talk: Talk, objects: Objects, workspace: Path) -> None:
    """After a yes the call runs; the question and its diff in colour are on the terminal, and nowhere else."""
    (workspace / "a.txt").write_text("old\n")
    read = {"id": "r", "name": "read_file", "arguments": {"path": "a.txt"}}
    code, out, err, seen = talk((QUESTION, "y\n"), calls=[read, WRITE])
    assert (code, err, objects(out)[1]["ok"]) == (0, "", True)
    assert (workspace / "a.txt").read_text() == "new\n"
    lines = {line.rstrip("\r").partition("m")[2]: line for line in seen.split("\n") if line.startswith("\x1b[")}
    old, new = (next(line for line in lines if word in line) for word in ("-old", "+new"))
    assert lines[old].split("m")[0] != lines[new].split("m")[0]


def test_no_tells_the_model_why(talk: Talk, objects: Objects, workspace: Path) -> None:
    """After a no nothing runs, and the guidance is in the model's result; the session goes on."""
    calls = [WRITE, {"id": "l", "name": "list_files", "arguments": {}}]
    code, out, _, _ = talk((QUESTION, "n\n"), (GUIDANCE, "Use docs/.\n"), calls=calls)
    declined, listed, end = objects(out)
    assert (code, declined["ok"], listed["content"]) == (0, False, "(no files)")
    assert "The user says: Use docs/." in declined["content"]
    assert (end["summary"]["calls"][0]["outcome"], list(workspace.iterdir())) == ("declined", [])


def test_always_asks_once(talk: Talk, workspace: Path) -> None:
    """After an always for all calls of a tool its next one runs without a question."""
    _, _, _, seen = talk((QUESTION, "a\n"), ("always what?", "4\n"), calls=[WRITE, AGAIN])
    assert seen.count(QUESTION) == 1
    assert sorted(path.name for path in workspace.iterdir()) == ["a.txt", "b.txt"]


def test_always_is_not_offered_by_a_restriction(talk: Talk, workspace: Path) -> None:
    """Where a restriction asks, always is not offered, and typing it decides nothing."""
    secret = {**SHELL, "arguments": {"command": "touch .env"}}
    _, _, _, seen = talk((QUESTION, "a\n"), (QUESTION, "y\n"), calls=[secret])
    assert "[a]lways" not in seen
    assert [path.name for path in workspace.iterdir()] == [".env"]


def test_edit_runs_the_edited_call(talk: Talk, editor: Callable[[str], None], workspace: Path) -> None:
    """What the editor leaves is what runs."""
    editor("path.write_text(path.read_text().replace('a.txt', 'edited.txt'))")
    talk((QUESTION, "e\n"), (AS_EDITED, "y\n"), calls=[WRITE])
    assert [path.name for path in workspace.iterdir()] == ["edited.txt"]


@pytest.mark.parametrize("code", ["sys.exit(1)", "path.write_text('{')"])
def test_a_failed_edit_is_asked_again(talk: Talk, editor: Callable[[str], None], workspace: Path, code: str) -> None:
    """An editor that fails, or leaves what is not JSON, leads back to the question."""
    editor(code)
    _, _, _, seen = talk((QUESTION, "e\n"), (QUESTION, "n\n"), (GUIDANCE, "\n"), calls=[WRITE])
    assert "not used: " in seen
    assert list(workspace.iterdir()) == []


def test_explain_shows_the_rules(talk: Talk) -> None:
    """Explain tells rule, place and reason, and asks again."""
    _, _, _, seen = talk((QUESTION, "x\n"), (QUESTION, "n\n"), (GUIDANCE, "\n"), calls=[SHELL])
    assert "decided by  ask-shell  (permission, permitry:coding:" in seen
    assert "390 confirm ask-shell" in seen


def test_quit_ends_the_session(talk: Talk, objects: Objects, workspace: Path) -> None:
    """After a quit no one is asked any more and nothing runs, not even reading."""
    calls = [WRITE, AGAIN, {"id": "l", "name": "list_files", "arguments": {}}]
    _, out, _, seen = talk((QUESTION, "q\n"), calls=calls)
    assert seen.count(QUESTION) == 1
    assert [line["ok"] for line in objects(out)[:-1]] == [False] * 3
    assert list(workspace.iterdir()) == []


def test_a_wrong_letter_is_asked_again(talk: Talk, workspace: Path) -> None:
    """A letter that is not offered, and an empty line, decide nothing."""
    _, _, _, seen = talk((QUESTION, "j\n"), (QUESTION, "\n"), (QUESTION, "y\n"), calls=[WRITE])
    assert seen.count("please answer with one of the letters in brackets") == 2
    assert [path.name for path in workspace.iterdir()] == ["a.txt"]


def test_the_end_of_input_is_no_answer(talk: Talk, objects: Objects, workspace: Path) -> None:
    """Who closes the keyboard's input has not answered, and the call does not run."""
    _, out, _, _ = talk((QUESTION, "\x04"), calls=[WRITE])
    assert "got none; it did not run" in objects(out)[0]["content"]
    assert list(workspace.iterdir()) == []


@pytest.mark.parametrize(
    "dialogue",
    [
        ((QUESTION, "\x03"),),
        ((QUESTION, "s\n"), (QUESTION, "\x03")),
        ((QUESTION, "x\n"), (QUESTION, "ye\x03")),
        ((QUESTION, "n\n"), (GUIDANCE, "Use do\x03")),
    ],
)
def test_an_interrupt_at_the_question_ends_the_session(
    talk: Talk, objects: Objects, workspace: Path, record: Path, dialogue: tuple[tuple[str, str], ...]
) -> None:
    """Ctrl-C at the question ends the session with 130; result, summary and record say that nothing ran."""
    code, out, _, _ = talk(*dialogue, calls=[WRITE, AGAIN])
    result, end = objects(out)
    assert (code, result["id"], result["ok"]) == (130, "w", False)
    assert result["content"] == "The session was interrupted at the question about this call; it did not run."
    [row] = end["summary"]["calls"]
    assert (row["call_id"], row["verdict"], row["outcome"]) == ("w", "confirm", "interrupted at the question")
    events = [json.loads(line) for line in record.read_text().splitlines()]
    assert [each["event"] for each in events] == ["session", "decided", "asked", "interrupted"]
    assert (events[-1]["pending_id"], events[-1]["error"]) == (events[-2]["pending_id"], "KeyboardInterrupt")
    assert list(workspace.iterdir()) == []


def test_after_an_interrupt_every_call_of_the_message_has_a_result(talk: Talk, objects: Objects) -> None:
    """A model that made three calls at once is informed of each; the next message is not read."""
    calls = [
        {"type": "tool_use", "id": each["id"], "name": each["name"], "input": each["arguments"]}
        for each in (WRITE, AGAIN, SHELL)
    ]
    message = {"role": "assistant", "content": calls}
    _, out, _, seen = talk((QUESTION, "y\n"), (QUESTION, "\x03"), calls=[message, WRITE])
    *results, end = objects(out)
    shown = [block["content"] for each in results for block in each["content"]]
    assert (len(shown), seen.count(QUESTION)) == (3, 2)
    assert shown[2] == "Nothing runs any more: the session was interrupted."
    outcomes = ["approved, ran", "interrupted at the question", "session over"]
    assert [row["outcome"] for row in end["summary"]["calls"]] == outcomes
    assert [row["call_id"] for row in end["summary"]["calls"]] == [each["id"] for each in calls]


def test_the_terminal_is_opened_for_both_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The controlling terminal is read and written through one object, though a terminal cannot seek."""
    master, slave = pty.openpty()
    name, opened = os.ttyname(slave), os.open
    monkeypatch.setattr("os.open", lambda path, *rest: opened(name if path == "/dev/tty" else path, *rest))
    terminal = open_terminal()
    assert terminal is not None
    with terminal:
        terminal.write("? ")
        terminal.flush()
        os.write(master, b"yes\n")
        assert (terminal.readline(), os.read(master, 2)) == ("yes\n", b"? ")
    os.close(master)
    os.close(slave)


def test_a_long_command_is_shown_to_its_end(talk: Talk) -> None:
    """A command is shown in full before a human approves it."""
    hidden = {"id": "s", "name": "run_shell", "arguments": {"command": f"echo{' ' * 300}; touch evil"}}
    _, _, _, seen = talk((QUESTION, "n\n"), (GUIDANCE, "\n"), calls=[hidden])
    assert "touch evil" in seen


# Plans ------------------------------------------------------------------------------------------------------------

PLAN = {"id": "p", "name": "present_plan", "arguments": {"plan": "1. write a.txt\n2. stop"}}
LEAVE = "leave plan mode with this plan? [y]es/"


@pytest.fixture
def plan(at_terminal: Callable[..., Outcome], guarding: list[str]) -> Talk:
    """Return a function that runs a session of calls in plan mode, with a dialogue at the terminal."""

    def talked(*dialogue: tuple[str, str], calls: list[dict[str, Any]]) -> Outcome:
        session = "".join(f"{json.dumps(call)}\n" for call in calls).encode()
        return at_terminal([*guarding, "--json", "--mode", "plan"], *dialogue, session=session)

    return talked


def test_a_plan_that_is_approved_ends_plan_mode(
    plan: Talk, objects: Objects, workspace: Path, recorded: Callable[[], list[dict[str, Any]]]
) -> None:
    """It is shown whole; the calls after it are decided in the default mode; the answer is on record."""
    code, out, _, seen = plan((LEAVE, "y\n"), (QUESTION, "y\n"), calls=[WRITE, PLAN, AGAIN])
    blocked, presented, written, _ = objects(out)
    assert (code, blocked["ok"], presented["ok"], written["ok"]) == (0, False, True, True)
    assert "carry it out" in presented["content"]
    assert "plan: 1. write a.txt\r\n      2. stop" in seen
    assert [path.name for path in workspace.iterdir()] == ["b.txt"]
    lines = [(each["event"], each.get("approved"), each.get("mode")) for each in recorded() if each.get("call_id")]
    assert lines[1:6] == [
        ("decided", None, "plan"), ("started", None, None), ("asked", None, None), ("answered", True, None),
        ("finished", None, None),
    ]  # fmt: skip
    assert lines[6] == ("decided", None, "default")


def test_a_plan_that_is_declined_stays_one(plan: Talk, objects: Objects, workspace: Path) -> None:
    """The model hears what the human said."""
    code, out, _, _ = plan((LEAVE, "n\n"), (GUIDANCE, "One file.\n"), calls=[PLAN, AGAIN])
    presented, blocked, _ = objects(out)
    assert (code, presented["ok"], blocked["ok"], list(workspace.iterdir())) == (0, False, False, [])
    assert "The user says: One file." in presented["content"]
    assert "Plan mode" in blocked["content"] or "plan" in blocked["content"]


def test_the_session_may_be_ended_at_its_plan(plan: Talk, objects: Objects, workspace: Path) -> None:
    """Nothing runs any more."""
    code, out, _, _ = plan((LEAVE, "q\n"), calls=[PLAN, AGAIN])
    assert (code, list(workspace.iterdir())) == (130, [])
    assert "the user ended the session" in objects(out)[1]["content"]


def test_the_editor_works_on_the_terminal(
    talk: Talk, editor: Callable[[str], None], objects: Objects, workspace: Path
) -> None:
    """What the editor prints is not a result, and what it reads is not a line of the session."""
    change = "path.write_text(path.read_text().replace('new', 'newer'))"
    editor(f"print('an editor'); {change}; sys.exit(sys.stdin.readline() != 'quit editor\\n')")
    edit = ((QUESTION, "e\n"), ("an editor", "quit editor\n"), (AS_EDITED, "y\n"))
    _, out, _, seen = talk(*edit, (QUESTION, "y\n"), calls=[WRITE, AGAIN])
    assert [line["ok"] for line in objects(out)[:-1]] == [True, True]
    assert "an editor" in seen
    assert sorted(path.name for path in workspace.iterdir()) == ["a.txt", "b.txt"]


def test_a_wide_change_is_shown_to_its_end(talk: Talk) -> None:
    """A line of a diff that is wider than the terminal is folded, not cut: what hides at its end would run unseen."""
    hidden = {"id": "w", "name": "write_file", "arguments": {"path": "a.sh", "content": f"{'x' * 300} evil\n"}}
    _, _, _, seen = talk((QUESTION, "n\n"), (GUIDANCE, "\n"), calls=[hidden])
    assert "evil" in seen.partition("+++")[2]


def test_what_was_typed_ahead_is_no_answer(talk: Talk, workspace: Path) -> None:
    """An answer typed before its question could be read does not count."""
    _, _, _, seen = talk((QUESTION, "y\ny\n"), (QUESTION, "q\n"), calls=[WRITE, AGAIN])
    assert seen.count(QUESTION) == 2
    assert [path.name for path in workspace.iterdir()] == ["a.txt"]

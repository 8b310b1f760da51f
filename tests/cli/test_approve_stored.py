"""`permitry approve` and a store: questions are listed, shown, and answered at a terminal."""

import contextlib
import io
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

import attrs
import pytest
from tests.tables import for_each
from tests.unit.channels.stored_calls import change

from permitry.channels.clock import Moment
from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.cli.approve import time_left
from permitry.cli.main import main
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.texts import one_line
from permitry.guard.grants import Grant
from permitry.guard.guard import Guard
from permitry.guard.ledgers import grants_at, ledger_at, questions_at
from permitry.guard.outcome import Ask, Permit, Refusal
from permitry.guard.session import Session

Out = pytest.CaptureFixture[str]
Typing = Callable[[str], tuple[TextIO, Callable[[], str]]]
Typed = Callable[[str], Callable[[], str]]
ASKS = """
schema = 1
[[rule]]
id = "ask-make"
effect = "confirm"
when.command = "make *"
reason = "makes something"
"""
CALL = ToolCall("run_shell", {"command": "make x && rm y", "token": "hunter22"}, call_id="c1")


@pytest.fixture
def guard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Guard:
    """Return a guard whose questions are in the store of the user, asked by a process elsewhere."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return Guard(load_policy(ASKS), session=Session(id="s1"), ledger=ledger_at(tmp_path / "permitry/permitry.db"))


@pytest.fixture
def asked(guard: Guard, tmp_path: Path) -> str:
    """Return the id of an open question."""
    ask = guard.check(CALL)
    assert isinstance(ask, Ask)
    elsewhere(tmp_path)
    return ask.id


def elsewhere(folder: Path, call_id: str = "c1") -> None:
    """Make the questions about a call those of another process."""
    with contextlib.closing(sqlite3.connect(folder / "permitry/permitry.db")) as connection, connection:
        connection.execute("UPDATE question SET above = '[4000000]' WHERE call_id = ?", (call_id,))


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, typing: Typing) -> Typed:
    """Return a function that has a human type at the terminal, and returns what shows what was on it."""

    def type_(text: str) -> Callable[[], str]:
        terminal, shown = typing(text)
        monkeypatch.setattr(terminal, "close", lambda: None)
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        monkeypatch.setattr("permitry.cli.approve.open_terminal", lambda: terminal)
        return shown

    return type_


def test_a_question_is_listed_without_its_secrets(asked: str, capsys: Out) -> None:
    """With its id, the time that is left, and the agent."""
    assert main(["approve"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{asked}  60 min  main  run_shell")
    assert "make x && rm y" in out
    assert "hunter22" not in out


def test_a_question_is_shown_as_a_terminal_shows_it(asked: str, guard: Guard, typed: Typed, capsys: Out) -> None:
    """With all that the call would do, one line a command; the answer counts once."""
    shown = typed("y\n")
    assert main(["approve", asked]) == 0
    assert capsys.readouterr().out == "session: s1\nagent:   main\napproved, once\n"
    for part in ("makes something (rule `ask-make`", "what it would do:", "confirm make x", "confirm rm y", "hunter22"):
        assert part in shown()
    assert isinstance(guard.check(CALL), Permit)
    assert main(["approve", asked]) == 4
    assert "is not open; `permitry approve` lists those that are" in capsys.readouterr().err


def test_a_question_is_explained_by_the_rule_that_asked(asked: str, typed: Typed) -> None:
    """Not by the built-in rules, which have not decided."""
    shown = typed("x\nn\n\n")
    assert main(["approve", asked]) == 0
    assert "decided by  ask-make  (restriction" in shown()
    assert "reason      makes something" in shown()
    assert "no rule" not in shown()
    assert "near misses" not in shown()


def test_a_question_is_explained_by_all_rules_that_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: Typed
) -> None:
    """Each with its place and its reason, and once; none that only may apply."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    also = '[[rule]]\nid = "ask-rm"\neffect = "confirm"\nwhen.command = "rm *"\nreason = "removes it"\n'
    never = '[[rule]]\nid = "ask-x"\neffect = "confirm"\nwhen.command = "* x9"\nreason = "x"\n'
    rules = load_policy(ASKS + also + never)
    ask = Guard(rules, session=Session(id="s1"), ledger=ledger_at(tmp_path / "permitry/permitry.db")).check(CALL)
    assert isinstance(ask, Ask)
    elsewhere(tmp_path)
    shown = typed("x\nn\n\n")
    assert main(["approve", ask.id]) == 0
    _, asked_by, rest = shown().partition("asked by as well\n")
    first, second, *_ = rest.splitlines()
    assert asked_by
    assert {"makes something", "removes it"} >= {first.rpartition(": ")[2]}
    assert (first.startswith("    ask-"), second) == (True, "  actions")


def test_a_list_at_a_terminal_has_a_line_for_each(asked: str, capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the call is."""
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert main(["approve"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(asked)
    assert max(map(len, out.splitlines())) <= 60


@for_each(
    ("seconds", "shown"),
    [(-1, "0 s"), (119.4, "119 s"), (899, "15 min"), (7_199, "120 min"), (28_799, "8 h"), (7 * 86_400, "7 d")],
)
def test_a_time_is_in_the_unit_that_fits(seconds: float, shown: str) -> None:
    """A grant for eight hours is not one for 28,800 seconds to its reader."""
    assert time_left(seconds) == shown


def test_it_is_shown_where_values_came_from(guard: Guard, typed: Typed, tmp_path: Path) -> None:
    """The process that shows the question has heard nothing; what it says draws nothing on the terminal."""
    rules = 'schema = 1\n[[rule]]\nid = "pays"\neffect = "allow"\ntools = ["pay"]\nwhen.args.to.from = ["user"]\n'
    asks = attrs.evolve(guard, policy=load_policy(rules))
    asks.session.heard("Pay AT11.")
    asks.session.returned(ToolCall("look", {}), {"\x1b[2J": "DE22"})
    ask = asks.check(ToolCall("pay", {"to": "DE22"}, call_id="p1"))
    assert isinstance(ask, Ask)
    elsewhere(tmp_path, "p1")
    shown = typed("n\n\n")
    assert main(["approve", ask.id]) == 0
    assert '`to` = "DE22" occurs in look #1, field ' in shown()
    assert "not in the user's messages" in shown()
    assert "\x1b[2J" not in shown()


@pytest.mark.parametrize(
    ("text", "said"), [("n\nUse ninja.\n", "Use ninja."), ("n\n\n", "no reason"), ("q\n", "declined")]
)
def test_a_no_is_one(asked: str, guard: Guard, typed: Typed, text: str, said: str) -> None:
    """With guidance, without, or for the whole session."""
    typed(text)
    assert main(["approve", asked]) == 0
    outcome = guard.check(CALL)
    assert isinstance(outcome, Refusal)
    assert said in outcome.text
    assert outcome.ends_session is (text == "q\n")


@pytest.mark.parametrize(("words", "text"), [(["--respond", "3 files"], ""), ([], "r\n3 files\n")])
def test_a_human_answers_in_place_of_the_tool(
    asked: str, guard: Guard, typed: Typed, capsys: Out, *, words: list[str], text: str
) -> None:
    """With a key, or on the command line, which asks nothing more; at a terminal in either case."""
    assert main(["approve", asked, *words]) == 4
    typed(text)
    assert main(["approve", asked, *words]) == 0
    assert capsys.readouterr().out.endswith("\nresponded\n")
    outcome = guard.check(CALL)
    assert isinstance(outcome, Refusal)
    assert (outcome.text, outcome.is_error) == ("3 files", False)


def test_a_response_is_for_one_question(capsys: Out) -> None:
    """Not for all that are open."""
    assert main(["approve", "--respond", "x"]) == 4
    assert "needs its id" in capsys.readouterr().err


def test_the_end_of_input_is_not_an_answer(asked: str, guard: Guard, typed: Typed, capsys: Out) -> None:
    """The question stays open."""
    typed("")
    assert main(["approve", asked]) == 4
    assert "stays open" in capsys.readouterr().err
    assert isinstance(guard.check(CALL), Ask)


def test_of_two_approvers_the_first_counts(
    asked: str, guard: Guard, typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one hears of it."""
    (row,) = questions_at(tmp_path / "permitry/permitry.db").open(Moment.now())
    store = questions_at(tmp_path / "permitry/permitry.db")
    typed("y\n")

    def faster(request: ToolConfirmationRequest) -> ToolConfirmationResponse:
        assert store.answer(request.pending_id or "", row["digest"], '{"approved": false}', "bob", Moment.now())
        return ToolConfirmationResponse(True)

    monkeypatch.setattr("permitry.cli.approve.TerminalChannel.ask", lambda _, request: faster(request))
    assert main(["approve", asked]) == 4
    assert isinstance(guard.check(CALL), Refusal)


def test_only_a_human_at_a_terminal_answers(
    asked: str, guard: Guard, typed: Typed, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Standard input and a terminal of one's own are both needed."""
    assert main(["approve", asked]) == 4
    typed("y\n")
    monkeypatch.setattr("permitry.cli.approve.open_terminal", lambda: None)
    assert main(["approve", asked]) == 4
    assert capsys.readouterr().err.count("at a terminal") == 2
    assert isinstance(guard.check(CALL), Ask)


def test_no_one_below_the_asker_answers(guard: Guard, typed: Typed, capsys: Out) -> None:
    """It could be the agent."""
    ask = guard.check(CALL)
    assert isinstance(ask, Ask)
    typed("y\n")
    assert main(["approve", ask.id]) == 4
    assert "in another terminal" in capsys.readouterr().err
    assert isinstance(guard.check(CALL), Ask)


def test_a_process_of_an_earlier_start_is_another_one(asked: str, typed: Typed, tmp_path: Path) -> None:
    """Its number says nothing."""
    with contextlib.closing(sqlite3.connect(tmp_path / "permitry/permitry.db")) as connection, connection:
        connection.execute("UPDATE question SET boot = 'before', above = ?", (f"[{os.getpid()}]",))
    typed("y\n")
    assert main(["approve", asked]) == 0


def test_a_long_question_is_one_short_line_in_the_list(guard: Guard, capsys: Out) -> None:
    """An agent must not push the others off the screen; where it is answered, all of it is shown."""
    guard.check(ToolCall("write_file", {"path": "a", "content": "x" * 500_000}, call_id="c9"))
    assert main(["approve"]) == 0
    assert len(capsys.readouterr().out) < 400


@pytest.mark.parametrize("damage", ["decision = '{'", 'redacted = \'{"tool": "t", "arguments": []}\''])
def test_a_damaged_question_is_named_and_keeps_no_other_from_being_listed(
    asked: str, guard: Guard, capsys: Out, tmp_path: Path, damage: str
) -> None:
    """It cannot be answered."""
    guard.check(CALL.with_id("c2"))
    with contextlib.closing(sqlite3.connect(tmp_path / "permitry/permitry.db")) as connection, connection:
        connection.execute(f"UPDATE question SET {damage} WHERE id = ?", (asked,))  # noqa: S608 -- written above
    assert main(["approve"]) == 0
    out, err = capsys.readouterr()
    assert out.count("\n") == 1
    assert f"`{asked}` is damaged" in err
    assert main(["approve", asked]) == 4


def test_a_store_is_named(asked: str, capsys: Out, tmp_path: Path) -> None:
    """One that is not there is an error, and is not made."""
    other = tmp_path / "other.db"
    assert main(["approve", "--store", str(other)]) == 4
    assert not other.exists()
    questions_at(other)
    assert main(["approve", "--store", str(other)]) == 0
    assert capsys.readouterr().out == "no question is open\n"
    assert main(["approve", "--store", str(tmp_path / "permitry/permitry.db")]) == 0
    assert asked in capsys.readouterr().out


def test_a_store_of_each_kind_is_named(address: str, typed: Typed, capsys: Out) -> None:
    """Its questions are listed, and answered."""
    guard = Guard(load_policy(ASKS), session=Session(id="s1"), ledger=ledger_at(address))
    ask = guard.check(CALL)
    assert isinstance(ask, Ask)
    change(address, "UPDATE question SET above = '[4000000]'")
    typed("y\n")
    assert main(["approve", "--store", address]) == 0
    assert capsys.readouterr().out.startswith(f"{ask.id}  60 min  main  run_shell")
    assert main(["approve", ask.id, "--store", address]) == 0
    assert isinstance(guard.check(CALL), Permit)


@pytest.mark.parametrize("words", [("approve",), ("grants", "list"), ("run", "-", "--unattended", "wait")])
def test_a_store_that_is_away_is_an_error_without_its_password(
    words: tuple[str, ...], capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is done."""
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert main([*words, "--store", "postgresql://u:hunter22@127.0.0.1:1/db"]) == 4
    out, err = capsys.readouterr()
    assert "cannot open the store" in err
    assert "hunter22" not in out + err


# Texts of an attacker ------------------------------------------------------------------------------------------------

STEERING = {*map(chr, (*range(9), *range(11, 32), *range(127, 160)))} | {"\u202e", "\u2066", "\u200b", "\ufeff"}
HOSTILE = [
    "\x1b[2J\x1b]0;x\x07", "\x9b2J", "\r approve", "\u202etxt.exe\u2066", "a\u200bb\ufeff", "\x00 end",
    "[red]x[/red]", "[/]", "[link=http://e.example]y[/link]", ":skull:", "'; DROP TABLE question; --",
    "%s {0} \\N{BELL}",
]  # fmt: skip
"""What steers a terminal, hides, is markup of `rich`, or would be read as something else on its way."""


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_shown_as_text_and_answered(address: str, typed: Typed, capsys: Out, text: str) -> None:
    """In the name, an argument, a command, the agent and the session: nothing steers, nothing is left out."""
    # PostgreSQL keeps no zero byte in a name: there, such a session can ask nothing, and its calls are blocked.
    name = text.replace("\x00", "")
    session = Session(id=f"s{name}", agent=f"a{name}")
    call = ToolCall("run_shell", {"command": f"make '{text}'", f"k{text}": [text]}, call_id="c1")
    guard = Guard(load_policy(ASKS), session=session, ledger=ledger_at(address))
    ask = guard.check(call)
    assert isinstance(ask, Ask)
    change(address, "UPDATE question SET above = '[4000000]'")
    assert main(["approve", "--store", address]) == 0
    listed = capsys.readouterr().out
    shown = typed("s\ny\n")
    assert main(["approve", ask.id, "--store", address]) == 0
    out = capsys.readouterr().out
    assert listed.count("\n") == 1
    assert not STEERING & {*listed, *out, *shown()}
    for each in (listed, out, shown()):
        assert one_line(name).strip() in each.replace("\\\\", "\\")
    assert isinstance(guard.check(call), Permit)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_name_of_a_tool_is_refused_or_shown_as_text(
    address: str, typed: Typed, capsys: Out, text: str
) -> None:
    """Also in the grant of that very call."""
    guard = Guard(load_policy(ASKS), session=Session(id="s1"), ledger=ledger_at(address), grants=grants_at(address))
    call = guard.call(f"mcp:x/{text}", {}, call_id="c1")
    ask = guard.check(call)
    if isinstance(ask, Refusal):
        return
    assert isinstance(ask, Ask)
    assert isinstance(call, ToolCall)
    change(address, "UPDATE question SET above = '[4000000]'")
    shown = typed("y\n")
    assert main(["approve", ask.id, "--store", address]) == 0
    grants_at(address).store.add(attrs.evolve(Grant.of_call(call.tool, call.digest, None), reason=text).row())
    assert main(["grants", "list", "--store", address]) == 0
    assert not STEERING & {*capsys.readouterr().out, *shown()}

"""`permitry approve`: the questions of a hook are listed, shown, and answered at a terminal."""

import itertools
import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TextIO

import pytest
from tests.unit.permitry_hosts.hooks.payloads import command

from permitry.channels.ancestors import ancestors
from permitry.cli.main import main
from permitry_hosts.hooks.answering import Options, answer
from permitry_hosts.hooks.host import Reply

Out = pytest.CaptureFixture[str]
Call = Callable[..., Reply]
Typing = Callable[[str], tuple[TextIO, Callable[[], str]]]
ASK = """
schema = 1
extends = ["permitry:tools-codex"]
[[rule]]
id = "ask-make"
effect = "confirm"
when.command = "make *"
reason = "makes something"
"""
_FOREIGN = 4_000_000


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Return a function that asks the hook of Codex about a command, as a process elsewhere would."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "rules.toml").write_text(ASK)

    def ask(text: str = "make x", *, process: int = _FOREIGN) -> Reply:
        options = Options([str(tmp_path / "rules.toml")], process=process)
        return answer("codex", json.dumps(command("codex", text)).encode(), options, {"PWD": "/p"})

    return ask


@pytest.fixture
def approve(typing: Typing, monkeypatch: pytest.MonkeyPatch, capsys: Out) -> Callable[..., tuple[int, str]]:
    """Return a function that answers the first question that is listed; the result has what is printed and shown."""

    def run(typed: str) -> tuple[int, str]:
        terminal, shown = typing(typed)
        monkeypatch.setattr(terminal, "close", lambda: None)
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        monkeypatch.setattr("permitry.cli.approve.open_terminal", lambda: terminal)
        assert main(["approve"]) == 0
        code = main(["approve", capsys.readouterr().out.split()[0]])
        return code, "".join(capsys.readouterr()) + shown()

    return run


def test_a_question_is_listed_and_shown(call: Call, approve: Callable[..., tuple[int, str]], capsys: Out) -> None:
    """The model is shown how the user answers it; the user is shown what asks, why, and where."""
    reply = call("make \x1b[2J")
    assert main(["approve"]) == 0
    listed = capsys.readouterr().out
    assert f"permitry approve {listed.split()[0]}` in another" in reply.out
    assert "\x1b" not in listed
    code, shown = approve("y\n")
    assert code == 0
    assert "codex:s1" in shown
    assert "makes something" in shown
    assert "in `/home/ann/project`" in shown
    assert "approved, once" in shown


@pytest.mark.parametrize(
    ("typed", "reply"), [("y\n", None), ("n\n\n", "declined"), ("n\nUse ninja.\n", "Use ninja."), ("q\n", "declined")]
)
def test_a_call_that_is_made_again_finds_its_answer(
    call: Call, approve: Callable[..., tuple[int, str]], typed: str, reply: str | None
) -> None:
    """It counts once: after that the call is asked about again."""
    call()
    assert approve(typed)[0] == 0
    out = call().out
    assert (out == "") is (reply is None)
    assert reply is None or reply in out
    assert "permitry approve" in call().out


def test_no_one_below_the_host_answers(call: Call, approve: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
    """An agent that has a terminal is below its host: below the process that started the hook, or the one above it."""
    # The host is above this process, as it would be above a hook and above a command of the agent.
    near = [os.getpid(), *itertools.islice(ancestors(os.getpid()), 1)]
    # Where these tests were started in the background, and left alone, there is no process above them.
    for number, process in enumerate(each for each in near if any(ancestors(each))):
        call(f"make {number}", process=process)
        code, said = approve("y\n")
        assert code != 0
        assert "answer it in another terminal" in said
        with closing(sqlite3.connect(tmp_path / "permitry/permitry.db")) as store, store:
            store.execute("UPDATE question SET closed_at = 1")


def test_the_terminal_of_the_user_may_be_above_both(call: Call, tmp_path: Path) -> None:
    """Only the nearest two processes are those of the host."""
    call(process=os.getpid())
    with closing(sqlite3.connect(tmp_path / "permitry/permitry.db")) as store:
        ((above,),) = store.execute("SELECT above FROM question")
    assert json.loads(above) == list(ancestors(os.getpid()))[:2]


def test_only_a_human_at_a_terminal_answers(call: Call, capsys: Out) -> None:
    """Not a program that pipes in a yes."""
    call()
    main(["approve"])
    assert main(["approve", capsys.readouterr().out.split()[0]]) == 4
    assert "at a terminal" in capsys.readouterr().err


def test_a_damaged_question_hides_no_other(call: Call, capsys: Out, tmp_path: Path) -> None:
    """It is reported, and its call stays blocked."""
    call("make a")
    with closing(sqlite3.connect(tmp_path / "permitry/permitry.db")) as store, store:
        store.execute("UPDATE question SET shown = '{'")
    call("make b")
    assert main(["approve"]) == 0
    out, err = capsys.readouterr()
    assert "make b" in out
    assert "make a" not in out
    assert "is damaged" in err
    assert "deny" in call("make a").out

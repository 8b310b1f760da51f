"""`permitry approve` and the files of hooks: questions are listed, shown, and answered at a terminal."""

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest
from tests.unit.hooks.payloads import command

from permitry.cli.main import main
from permitry.confirm.response import ToolConfirmationResponse
from permitry.hooks.answering import Options, answer
from permitry.hooks.host import Reply
from permitry.hooks.waiting import Question, Questions

Out = pytest.CaptureFixture[str]
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


def _open(questions: Questions) -> list[Question]:
    """Return the questions that are open, oldest first."""
    found = (questions.find(name) for name in questions.names())
    return [question for question in found if question is not None]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home folder, in which the rules are compiled once."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def call(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Reply]:
    """Return a function that asks the hook of Codex about a command, as a process elsewhere would."""
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "rules.toml").write_text(ASK)

    def ask(text: str = "make x", wait: float = 0) -> Reply:
        options = Options([str(tmp_path / "rules.toml")], record=str(tmp_path / "r.jsonl"), wait=wait, process=_FOREIGN)
        return answer("codex", json.dumps(command("codex", text)).encode(), options, {"PWD": "/p"})

    return ask


@pytest.fixture
def questions(tmp_path: Path) -> Questions:
    """Return the questions of the user."""
    return Questions(tmp_path / "permitry/questions")


def _typed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda _: text)


def test_a_question_is_listed_and_shown(
    call: Callable[..., Reply], capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is shown how the user answers it."""
    assert main(["approve"]) == 0
    assert capsys.readouterr().out == "no question is open\n"
    reply = call("make \x1b[2J")
    assert main(["approve"]) == 0
    listed = capsys.readouterr().out
    name = listed.split()[0]
    assert f"permitry approve {name}" in reply.out
    assert "codex  Bash command='make \\x1b[2J'" in listed
    _typed(monkeypatch, "y")
    assert main(["approve", name]) == 0
    shown = capsys.readouterr().out
    assert "reason:  makes something" in shown
    assert "approved, once" in shown


@pytest.mark.parametrize(
    ("typed", "reply"),
    [("y", None), ("YES", None), ("n", "declined"), ("", "declined"), ("Use ninja.", "Use ninja.")],
)
def test_a_call_that_is_made_again_finds_its_answer(
    call: Callable[..., Reply],
    questions: Questions,
    monkeypatch: pytest.MonkeyPatch,
    typed: str,
    reply: str | None,
) -> None:
    """It counts once: after that the question is open again."""
    call()
    (question,) = _open(questions)
    _typed(monkeypatch, typed)
    assert main(["approve", question.id]) == 0
    out = call().out
    assert (out == "") is (reply is None)
    assert reply is None or reply in out
    assert "permitry approve" in call().out


def test_another_call_does_not_find_it(call: Callable[..., Reply], questions: Questions) -> None:
    """An answer is for one call, whatever its rule."""
    call()
    (question,) = _open(questions)
    questions.answer(question, ToolConfirmationResponse(True))
    assert "permitry approve" in call("make y").out


@pytest.mark.parametrize("approved", [True, False])
def test_a_hook_may_wait_for_its_answer(call: Callable[..., Reply], questions: Questions, *, approved: bool) -> None:
    """The call is not made twice then."""

    def respond() -> None:
        end = time.monotonic() + 20
        while not (found := _open(questions)) and time.monotonic() < end:
            time.sleep(0.05)
        questions.answer(found[0], ToolConfirmationResponse(approved, instructions="Not today."))

    human = threading.Thread(target=respond)
    human.start()
    out = call(wait=30).out
    human.join()
    assert (out == "") is approved
    assert ("Not today." in out) is not approved


def test_what_is_not_answered_is_refused(call: Callable[..., Reply]) -> None:
    """In time."""
    assert "No one can be asked here" in call(wait=0.2).out


def test_an_answer_lifts_no_block(call: Callable[..., Reply], questions: Questions, tmp_path: Path) -> None:
    """A restriction that is there by now counts."""
    call()
    questions.answer(_open(questions)[0], ToolConfirmationResponse(True))
    (tmp_path / "rules.toml").write_text(ASK.replace("confirm", "block"))
    assert "was blocked" in call().out


def test_a_permission_makes_no_run_of_a_no(call: Callable[..., Reply], questions: Questions, tmp_path: Path) -> None:
    """What was asked about stays a question, whatever the rules say by now."""
    call()
    (tmp_path / "rules.toml").write_text(ASK.replace("confirm", "allow"))
    assert "permitry approve" in call().out
    questions.answer(_open(questions)[0], ToolConfirmationResponse(False, instructions="Never."))
    assert "Never." in call().out
    assert call().out == ""


def test_only_a_human_at_a_terminal_answers(call: Callable[..., Reply], questions: Questions, capsys: Out) -> None:
    """A program that the agent has started has none."""
    call()
    assert main(["approve", _open(questions)[0].id]) == 4
    assert "at a terminal" in capsys.readouterr().err


def test_no_one_below_the_host_answers(
    call: Callable[..., Reply], questions: Questions, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    """It could be the agent."""
    call()
    question = _open(questions)[0]
    questions.open(attrs.evolve(question, above=[_FOREIGN, os.getppid()]))
    _typed(monkeypatch, "y")
    assert main(["approve", question.id]) == 4
    assert "in another terminal" in capsys.readouterr().err
    questions.open(attrs.evolve(question, above=[_FOREIGN, _FOREIGN, os.getppid()]))
    assert main(["approve", question.id]) == 0


@pytest.mark.parametrize("name", ["nothing", "../x", "a/b", ""])
def test_an_unknown_question_is_an_error(call: Callable[..., Reply], capsys: Out, name: str) -> None:
    """A name leads out of no folder."""
    call()
    assert main(["approve", name]) == 4
    assert "is not open" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"until": "x"}', '{"until": 1e999}', "[" * 99_999, "\udcff", "link", "arguments"]
)
def test_a_damaged_question_hides_no_other(
    call: Callable[..., Reply], questions: Questions, monkeypatch: pytest.MonkeyPatch, capsys: Out, text: str
) -> None:
    """It is reported, and the others are listed and answered."""
    call()
    question = _open(questions)[0]
    path = questions.folder / "0bad.question"
    if text == "link":
        path.symlink_to("nowhere")
    elif text == "arguments":
        path.write_text(json.dumps({**attrs.asdict(question), "arguments": [1]}))
    else:
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert main(["approve"]) == 0
    shown = capsys.readouterr()
    assert question.id in shown.out
    assert "`0bad` is damaged" in shown.err
    assert main(["approve", "0bad"]) == 4
    _typed(monkeypatch, "y")
    assert main(["approve", question.id]) == 0

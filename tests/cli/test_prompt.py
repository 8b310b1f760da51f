"""The confirmation channel of a terminal."""

import io
import json
import os
import pty
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

import attrs
import pytest
from tests.tables import for_each

from permitry.channels.request import ConfirmationRequestFactory, ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.cli.prompt import TerminalChannel, edit_in_editor, open_terminal
from permitry.config.default import create_default_authorization_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.explanation import Explanation
from permitry.core.origin import Origin

Typing = Callable[[str], tuple[TextIO, Callable[[], str]]]
Response = ToolConfirmationResponse | None

CALL = ToolCall("write_file", {"path": "a.txt", "content": "äöü"}, call_id="w")
QUESTION = "run it? [y]es/[n]o/"


def explain(call: ToolCall) -> Explanation:
    """Return what the built-in rules say."""
    return create_default_authorization_policy().explain(call, AuthContext())


@pytest.fixture
def request_() -> ToolConfirmationRequest:
    """Return a question that offers to remember the answer."""
    return ConfirmationRequestFactory().create(CALL, explain(CALL).decision)


@pytest.fixture
def ask(typing: Typing, request_: ToolConfirmationRequest) -> Callable[..., tuple[Response, str]]:
    """Return a function that asks someone who types `typed`: the answer, and what was on the terminal."""

    def answered(
        typed: str, edit: Callable[[str], str] = str, request: ToolConfirmationRequest = request_
    ) -> tuple[Response, str]:
        terminal, shown = typing(typed)
        response = TerminalChannel(terminal, explain, edit).ask(request)
        return response, shown()

    return answered


Ask = Callable[..., tuple[Response, str]]


@pytest.mark.parametrize("typed", ["y\n", "yes\n", "Y\n", " YES \n"])
def test_yes_runs_it(ask: Ask, typed: str) -> None:
    """Yes approves this call, and nothing else."""
    response, shown = ask(typed)
    assert response == ToolConfirmationResponse(approved=True)
    assert shown.splitlines()[-1].startswith(QUESTION)


@pytest.mark.parametrize(("typed", "said"), [("n\nUse b.txt.\n", "Use b.txt."), ("no\n\n", ""), ("N\n", "")])
def test_no_asks_for_guidance(ask: Ask, typed: str, said: str) -> None:
    """No declines with the human's words, which may be none."""
    response, shown = ask(typed)
    assert response == ToolConfirmationResponse(approved=False, instructions=said)
    assert shown.endswith("what should the agent do instead? (empty for nothing) ")


@pytest.mark.parametrize("typed", ["a\n", "always\n"])
def test_always_is_remembered(ask: Ask, typed: str) -> None:
    """Always approves, and asks to be remembered."""
    assert ask(typed)[0] == ToolConfirmationResponse(approved=True, skip_future=True)


@pytest.mark.parametrize("typed", ["a\n", "always\n"])
def test_always_is_not_offered_where_it_would_not_count(
    ask: Ask, request_: ToolConfirmationRequest, typed: str
) -> None:
    """When a restriction asks, always is neither shown nor taken."""
    response, shown = ask(f"{typed}n\n\n", request=attrs.evolve(request_, suggested_grants=()))
    assert response == ToolConfirmationResponse(approved=False)
    assert "lways" not in shown.replace("please answer with one of the letters", "")
    assert shown.count("please answer with one of the letters in brackets\n") == 1


@pytest.mark.parametrize("typed", ["q\n", "quit\n"])
def test_quit_ends_the_session(ask: Ask, typed: str) -> None:
    """Quit declines and aborts."""
    assert ask(typed)[0] == ToolConfirmationResponse(approved=False, abort=True)


@pytest.mark.parametrize("typed", ["r\n3 files\n", "RESPOND\n3 files\n", "r\n\nr\n3 files\n"])
def test_respond_answers_in_place_of_the_tool(ask: Ask, typed: str) -> None:
    """Without a text, the question is put again."""
    assert ask(typed)[0] == ToolConfirmationResponse(approved=False, result="3 files")


def test_a_plan_has_no_result(ask: Ask, request_: ToolConfirmationRequest) -> None:
    """It is approved or not."""
    response, shown = ask("r\ny\n", request=attrs.evolve(request_, is_plan=True))
    assert response == ToolConfirmationResponse(approved=True)
    assert "espond" not in shown


@pytest.mark.parametrize("typed", ["", "x\n", "r\n", "maybe\n"])
def test_the_end_of_input_is_no_answer(ask: Ask, typed: str) -> None:
    """Who leaves has not answered."""
    assert ask(typed)[0] is None


@pytest.mark.parametrize("wrong", ["\n", "j\n", "yn\n", "yes please\n", "1\n"])
def test_anything_else_is_asked_again(ask: Ask, wrong: str) -> None:
    """A wrong or empty answer decides nothing: the question is put again."""
    response, shown = ask(f"{wrong}y\n")
    assert response == ToolConfirmationResponse(approved=True)
    assert shown.count(QUESTION) == 2


def test_explain_shows_the_rules_and_asks_again(ask: Ask) -> None:
    """Explain prints the decision in full; the call waits."""
    response, shown = ask("x\nexplain\ny\n")
    assert response == ToolConfirmationResponse(approved=True)
    assert shown.count("  decided by  no rule  (default)\n") == 2


@pytest.mark.parametrize("typed", ["s\n", "show\n"])
def test_show_all_leaves_nothing_out(ask: Ask, request_: ToolConfirmationRequest, typed: str) -> None:
    """A long argument and a long diff are shortened at first; show all prints them to their ends, and asks again."""
    preview = "".join(f"+line {i}\n" for i in range(300))
    long = attrs.evolve(request_, call=ToolCall("x", {"command": f"{'a' * 1_000} evil {'a' * 1_000}"}), preview=preview)
    _, before = ask("n\n\n", request=long)
    response, after = ask(f"{typed}n\n\n", request=long)
    assert response == ToolConfirmationResponse(approved=False)
    for end in ("a evil a", "+line 299"):
        assert (end in before, end in after) == (False, True)
    assert after.count(QUESTION) == 2


@pytest.mark.parametrize("eager", ["y", "yes", "a", "always"])
def test_what_is_not_shown_is_not_approved(ask: Ask, request_: ToolConfirmationRequest, eager: str) -> None:
    """While something is shortened neither yes nor always counts; after show all both do."""
    long = attrs.evolve(request_, call=ToolCall("x", {"command": "a" * 1_000}))
    response, shown = ask(f"{eager}\n", request=long)
    assert response is None
    assert shown.count("not all of it is shown yet: press s first\n") == 1
    response, shown = ask(f"{eager}\ns\n{eager}\n", request=long)
    assert response is not None
    assert response.approved
    assert "a" * 1_000 in shown


@for_each(("after", "is_shown"), [("", True), ("+more\n", True), ("-b\n", False)])
def test_a_text_that_the_diff_shows_is_shown(
    ask: Ask, request_: ToolConfirmationRequest, after: str, *, is_shown: bool
) -> None:
    """A long file need not be shown twice; one whose lines are elsewhere in the diff is not shown."""
    lines = [f"line {number} of a long file" for number in range(60)]
    added = "".join(f"+{line}\n" for line in lines)
    preview = f"--- /dev/null\n+++ b/a\n@@ -0,0 +1,60 @@\n{added}{after}"
    if not is_shown:
        preview = preview.replace("+line 30 of", "+line 31 of")
    call = ToolCall("write_file", {"path": "a", "content": "\n".join(lines) + "\n"})
    response, shown = ask("y\n", request=attrs.evolve(request_, call=call, preview=preview))
    assert (response is not None) is is_shown
    assert ("press s first" in shown) is not is_shown


def test_what_was_typed_before_the_question_is_no_answer(request_: ToolConfirmationRequest) -> None:
    """A `y` that was in the terminal's queue is dropped; what is typed at the question counts."""
    master, slave = pty.openpty()
    shown = b""

    def human() -> None:
        nonlocal shown
        while b"[q]uit: " not in shown:
            shown += os.read(master, 65_536)
        os.write(master, b"q\n")

    os.write(master, b"y\n")
    with io.TextIOWrapper(io.FileIO(slave, "w+"), encoding="utf-8", line_buffering=True) as terminal:
        typist = threading.Thread(target=human, daemon=True)
        typist.start()
        response = TerminalChannel(terminal, explain, str).ask(request_)
        typist.join()
    os.close(master)
    assert response is not None
    assert (response.approved, response.abort) == (False, True)


def test_a_question_that_is_left_takes_no_line(request_: ToolConfirmationRequest) -> None:
    """It was answered elsewhere; the next line is for the next question."""
    master, slave = pty.openpty()
    with io.TextIOWrapper(io.FileIO(slave, "w+"), encoding="utf-8", line_buffering=True) as terminal:
        channel, first = TerminalChannel(terminal, explain, str), attrs.evolve(request_, pending_id="one")
        timer = threading.Timer(0.3, lambda: channel.leave(first))
        timer.start()
        assert channel.ask(first) is None
        timer.join()
        shown = b""
        while b"this was answered elsewhere\r\n" not in shown:
            shown += os.read(master, 65_536)

        def human() -> None:
            shown = b""
            while b"[q]uit: " not in shown:
                shown += os.read(master, 65_536)
            os.write(master, b"y\n")

        typist = threading.Thread(target=human, daemon=True)
        typist.start()
        response = channel.ask(attrs.evolve(request_, pending_id="two"))
        typist.join()
    os.close(master)
    assert response is not None
    assert response.is_approval


def test_the_question_shows_the_call(ask: Ask) -> None:
    """Tool, reason and arguments stand above the question."""
    assert ask("y\n")[1].startswith("\n? write_file  no rule allows this call\n  path: a.txt\n  content: äöü\n")


def test_edit_runs_what_was_edited(ask: Ask) -> None:
    """Edit hands out the arguments as readable JSON, and approves the call with what comes back."""
    handed = []

    def edit(text: str) -> str:
        handed.append(text)
        return text.replace("a.txt", "b.txt")

    response, shown = ask("e\ny\n", edit)
    assert handed == [json.dumps(CALL.to_dict(), indent=2, ensure_ascii=False) + "\n"]
    assert response == ToolConfirmationResponse(approved=True, arguments={"path": "b.txt", "content": "äöü"})
    end = "  what it would do:\n    confirm write b.txt  [no rule]\n"
    assert shown.endswith(
        f"  path: b.txt\n  content: äöü\n{end}run the call as edited? [y]es/[n]o, back to the first: "
    )
    assert shown.count(QUESTION) == 1


@pytest.mark.parametrize("second", ["n\n", "\n", "a\n"])
def test_an_edited_call_is_asked_about_once_more(ask: Ask, second: str) -> None:
    """Without a yes to the edited call the first question is put again, and the first call is what it is about."""
    response, shown = ask(f"e\n{second}y\n", lambda text: text.replace("a.txt", "b.txt"))
    assert response == ToolConfirmationResponse(approved=True)
    assert shown.count(QUESTION) == 2


def test_an_edited_call_is_shown_in_full_with_its_own_change(typing: Typing, request_: ToolConfirmationRequest) -> None:
    """Before the second question is what the edited call would do, not what the first one would have done."""
    terminal, shown = typing("e\ny\n")
    edited = json.dumps({"path": "b.txt", "content": "a" * 1_000})
    channel = TerminalChannel(terminal, explain, lambda _: edited, lambda call: f"+++ {call.arguments['path']}")
    channel.ask(attrs.evolve(request_, preview="+++ a.txt"))
    after = shown().partition("[q]uit: ")[2]
    assert "+++ b.txt" in after
    assert "+++ a.txt" not in after
    assert "a" * 1_000 in after


def test_where_values_came_from_is_said_of_the_call_as_it_was(ask: Ask, request_: ToolConfirmationRequest) -> None:
    """Those of an edited call came from the human."""
    request = attrs.evolve(request_, origins=(Origin("path", '"a.txt"', ("look #1",), is_said=False),))
    _, shown = ask("e\ny\n", lambda text: text.replace("a.txt", "b.txt"), request)
    before, _, after = shown.partition("[q]uit")
    assert '`path` = "a.txt" occurs in look #1; not in the user\'s messages' in before
    assert "look #1" not in after


def test_an_edit_that_changes_nothing_is_asked_again(ask: Ask) -> None:
    """An editor closed without a change is not an approval."""
    response, shown = ask("e\nn\n\n")
    assert response == ToolConfirmationResponse(approved=False)
    assert shown.count("nothing changed\n") == 1
    assert "as edited" not in shown
    assert shown.count(QUESTION) == 2


@pytest.mark.parametrize("text", ["{", "[]", '"x"', '{"a": NaN}', '{"a": 1, "a": 2}', ""])
def test_an_edit_that_is_no_object_is_asked_again(ask: Ask, text: str) -> None:
    """What an editor left that cannot be arguments is not used, and the question is put again."""
    response, shown = ask("edit\nn\n\n", lambda _: text)
    assert response == ToolConfirmationResponse(approved=False)
    assert "not used: " in shown
    assert shown.count(QUESTION) == 2


@pytest.mark.parametrize("error", [FileNotFoundError("no vi"), subprocess.CalledProcessError(1, "vi")])
def test_an_editor_that_fails_is_asked_again(ask: Ask, error: Exception) -> None:
    """An editor that is not there or fails changes nothing, and the question is put again."""

    def edit(_: str) -> str:
        raise error

    response, shown = ask("e\ny\n", edit)
    assert response == ToolConfirmationResponse(approved=True)
    assert f"not used: {error}\n" in shown


# The editor ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def editor(tmp_path: Path) -> Callable[[str], str]:
    """Return a function that makes an editor of Python code, in which `path` is the file to edit."""

    def made(code: str) -> str:
        script = tmp_path / "an editor"
        script.write_text(f"#!{sys.executable}\nimport pathlib, sys\npath = pathlib.Path(sys.argv[-1])\n{code}\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        return f"'{script}' --wait"

    return made


@pytest.mark.parametrize("variable", ["VISUAL", "EDITOR"])
def test_the_users_editor_edits(editor: Callable[[str], str], monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    """`$VISUAL` or `$EDITOR`, options included, gets a file with the text; what it leaves there is returned."""
    monkeypatch.setenv(variable, editor("path.write_text(path.read_text() + sys.argv[1], encoding='utf-8')"))
    assert edit_in_editor("äöü ") == "äöü --wait"


def test_visual_comes_before_editor(editor: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    """`$VISUAL` wins when both are set."""
    monkeypatch.setenv("VISUAL", editor("path.write_text('visual')"))
    monkeypatch.setenv("EDITOR", "false")
    assert edit_in_editor("") == "visual"


def test_the_text_is_no_one_elses(editor: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The file lies in a folder only its owner may enter, and is gone afterwards."""
    code = "path.write_text(f'{path} {oct(path.parent.stat().st_mode)[-3:]}')"
    monkeypatch.setenv("EDITOR", editor(code))
    path, mode = edit_in_editor("").split(" ")
    assert mode == "700"
    assert not Path(path).parent.exists()


@for_each(("command", "error"), [("false", subprocess.CalledProcessError), ("/nowhere/editor", FileNotFoundError)])
def test_a_failing_editor_raises(monkeypatch: pytest.MonkeyPatch, command: str, error: type[Exception]) -> None:
    """An editor that fails, or is not there, is an error: the text is not taken as edited."""
    monkeypatch.setenv("EDITOR", command)
    with pytest.raises(error):
        edit_in_editor("text")


def test_vi_is_the_last_resort(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without both variables the editor is vi."""
    (tmp_path / "vi").write_text('#!/bin/sh\necho vi >"$1"\n')
    (tmp_path / "vi").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert edit_in_editor("") == "vi\n"


def test_without_a_terminal_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process without a controlling terminal has no one to ask, which is not an error."""

    def refused(*_: object, **__: object) -> None:
        raise OSError("no such device")

    monkeypatch.setattr("builtins.open", refused)
    monkeypatch.setattr("os.open", refused)
    assert open_terminal() is None

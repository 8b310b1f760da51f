"""The edges of the command line: closed streams, odd files, invisible characters, readers that leave."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

import pytest
from tests.tables import for_each

from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.cli import render
from permitry.cli.prompt import TerminalChannel
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.policy import AuthorizationPolicy

Outcome = tuple[int, str, str]
Objects = Callable[[str], list[dict[str, Any]]]

RULE = 'schema = 1\n[[rule]]\nid = "no"\neffect = "block"\ntools = ["lift"]\n'
ESCAPE = "\\u001b[2J\\u202e\\u200b\\nallow   forged"


def is_harmless(text: str) -> bool:
    """Return whether a terminal shows every character of `text` as it is."""
    return all(char.isprintable() or char in "\n\t" for char in text)


# test_run.py --------------------------------------------------------------------------------------------------------


def test_an_error_in_a_line_is_harmless(cli: Callable[..., Outcome], guarding: list[str]) -> None:
    """What is in a line that cannot be read does not steer the terminal, nor forge a line of its own."""
    _, _, err = cli(*guarding, "--unattended", "block", stdin=f'{{"{ESCAPE}": 1, "{ESCAPE}": 2}}\n')
    assert is_harmless(err)
    assert not any(line.startswith("allow") for line in err.splitlines())


def test_a_result_gets_out_although_no_one_reads_the_rest(
    processes: Callable[..., subprocess.Popen[bytes]], guarding: list[str], workspace: Path
) -> None:
    """A tool that ran has a result, also when standard error is closed at the other end."""
    reading, writing = os.pipe()
    process = processes(*guarding, "--mode", "yolo", stderr=writing)
    os.close(writing)
    os.close(reading)
    line = {"id": "w", "name": "write_file", "arguments": {"path": "a", "content": "x"}}
    out, _ = process.communicate(json.dumps(line).encode(), timeout=20)
    assert (workspace / "a").exists()
    assert b'"ok": true' in out


def test_instructions_may_hold_any_line_end(
    cli: Callable[..., Outcome], guarding: list[str], tmp_path: Path, objects: Objects
) -> None:
    """A line of the answers ends with a line feed; U+2028 and U+0085 are text, as they are in JSON."""
    answer = {"call_id": "w", "approved": False, "instructions": "one\u2028two\u0085three"}
    (tmp_path / "answers.jsonl").write_text(json.dumps(answer, ensure_ascii=False))
    line = json.dumps({"id": "w", "name": "write_file", "arguments": {"path": "a", "content": "x"}})
    _, out, _ = cli(*guarding, "--json", "--answers", tmp_path / "answers.jsonl", stdin=line)
    assert "one\u2028two\u0085three" in objects(out)[0]["content"]


# test_guard.py ------------------------------------------------------------------------------------------------------


def test_a_long_id_may_be_used_again(cli: Callable[..., Outcome], guarding: list[str], objects: Objects) -> None:
    """Two calls with one id of the greatest length each run, and the session goes on."""
    line = json.dumps({"id": "x" * 256, "name": "list_files", "arguments": {}})
    _, out, _ = cli(*guarding, "--json", "--unattended", "block", stdin=f"{line}\n{line}\n{line}\n")
    assert [each["ok"] for each in objects(out)[:-1]] == [True] * 3


# test_check.py and test_explain.py ----------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ['{"id": 1e999, "name": "x", "arguments": {}}', '{"id": -1e999}'])
def test_an_answer_is_json_whatever_the_id(cli: Callable[..., Outcome], objects: Objects, line: str) -> None:
    """A number too large for JSON's readers does not come back as `Infinity`."""
    code, out, _ = cli("check", "--rules", "permitry:base", "--json", "--call", line)
    assert (code, objects(out)[0]["verdict"]) == (4, "block")


@pytest.mark.parametrize("command", ["check", "explain"])
def test_rules_of_others_do_not_steer_the_terminal(
    cli: Callable[..., Outcome], asked: Callable[..., str], tmp_path: Path, command: str
) -> None:
    """A project's rule file is someone else's text: its reasons and messages are shown spelled out."""
    path = tmp_path / "rules.toml"
    path.write_text(f'{RULE}reason = "{ESCAPE}"\nmessage = "{ESCAPE}"\n')
    _, out, _ = cli(command, "--rules", path, "--call", asked("lift"))
    assert is_harmless(out)
    assert not any(line.startswith("allow") for line in out.splitlines())


def test_an_error_in_a_call_forges_no_answer(cli: Callable[..., Outcome]) -> None:
    """The error of an invalid line stays on its line."""
    _, out, _ = cli("check", "--rules", "permitry:base", "--call", f'{{"{ESCAPE}": 1, "{ESCAPE}": 2}}')
    assert not any(line.startswith("allow") for line in out.splitlines())


# test_main.py and test_inputs.py ------------------------------------------------------------------------------------


def test_a_short_output_ends_quietly_with_its_reader(processes: Callable[..., subprocess.Popen[bytes]]) -> None:
    """An output that is still buffered when its reader has left ends with 1 and no complaint."""
    reading, writing = os.pipe()
    os.close(reading)
    process = processes("schema", stdout=writing)
    os.close(writing)
    assert process.wait(20) == 1
    assert process.stderr is not None
    assert process.stderr.read() == b""


def test_a_closed_input_is_invalid_input(
    cli: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A process started without standard input gets a message, not a traceback."""
    del cli
    from permitry.cli.main import main  # noqa: PLC0415 -- only this test calls it without an input

    monkeypatch.setattr(sys, "stdin", None)
    assert main(["check", "--rules", "permitry:base", "--calls", "-"]) == 4
    assert capsys.readouterr().err == "permitry: standard input is closed\n"


# test_test.py -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", [None, b"two\n", b"\xff\n"])
def test_a_bad_index_fails_and_the_rest_is_tested(
    cli: Callable[..., Outcome], tmp_path: Path, objects: Objects, index: bytes | None
) -> None:
    """A folder whose index does not fit is one failure among the others, in the format that was asked for."""
    (tmp_path / "cases").mkdir()
    if index is not None:
        (tmp_path / "cases" / "index.txt").write_bytes(index)
    code, out, err = cli("test", "--json", tmp_path / "cases", tmp_path / "none.json")
    assert (code, err) == (1, "")
    assert [each["ok"] for each in objects(out)][-2:] == [False, False]


# test_prompt.py and test_render.py ----------------------------------------------------------------------------------


@pytest.mark.parametrize("editor", ["vi 'open", "cp /bin/sh"])
def test_an_editor_no_one_can_use_is_asked_again(
    typing: Callable[[str], tuple[TextIO, Callable[[], str]]], monkeypatch: pytest.MonkeyPatch, editor: str
) -> None:
    """An `$EDITOR` that cannot be split, and a file that is not text afterwards, lead back to the question."""
    from permitry.cli.prompt import edit_in_editor  # noqa: PLC0415 -- goes to the imports of test_prompt.py

    monkeypatch.setenv("EDITOR", editor)
    terminal, _ = typing("e\ny\n")
    call = ToolCall("write_file", {"path": "a"})
    channel = TerminalChannel(terminal, lambda call: AuthorizationPolicy().explain(call, AuthContext()), edit_in_editor)
    assert channel.ask(ToolConfirmationRequest(call)) == ToolConfirmationResponse(approved=True)


def test_the_name_of_an_argument_forges_no_line() -> None:
    """A line feed in an argument's name does not begin a line of its own in the question."""
    asked = ToolConfirmationRequest(ToolCall("run_shell", {"x\n  command: ls\n? y": "", "command": "rm -rf ."}))
    stream = io.StringIO()
    render.request(render.console_on(stream), asked)
    assert [line.split(":")[0] for line in stream.getvalue().splitlines() if ": " in line] == [
        "  x\\n  command",
        "  command",
    ]


@for_each("char", "\u3164\u115f\u2800\ufe0f\u034f\U000e0100")
def test_what_takes_no_ink_is_spelled_out(char: str) -> None:
    """Fillers, selectors and joiners that are letters or signs by name, and show nothing, become their number."""
    assert render.visible(f"a{char}b") == f"a\\u{ord(char):04x}b"

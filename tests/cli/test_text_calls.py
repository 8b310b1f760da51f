"""`permitry run --text-calls`: calls that stand in the text of a message are guarded like any other."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., tuple[int, str, str]]
Objects = Callable[[str], list[dict[str, Any]]]
Run = Callable[..., list[dict[str, Any]]]


def called(name: str, **arguments: object) -> str:
    """Return a call as a model writes it."""
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


WRITE = called("write_file", path="a.txt", content="x")
BROKEN = "<tool_call>{'name': 'write_file', 'arguments': {'path': 'a.txt', 'content': 'x'}}</tool_call>"


@pytest.fixture
def run(cli: Cli, guarding: list[str], objects: Objects) -> Run:
    """Return a function that runs a session of messages, in which everything that may be allowed is."""

    def ran(*messages: object, words: tuple[str, ...] = ("--text-calls", "--mode", "yolo")) -> list[dict[str, Any]]:
        code, out, _ = cli(*guarding, "--unattended", "block", *words, stdin="\n".join(map(json.dumps, messages)))
        shown = objects(out)
        assert code == (4 if any("error" in each for each in shown) else 0)
        return shown

    return ran


def said(text: str, **rest: object) -> dict[str, object]:
    """Return a message of the assistant."""
    return {"role": "assistant", "content": text, **rest}


def test_a_call_in_a_text_runs(run: Run, workspace: Path) -> None:
    """Its result has the plain shape."""
    (result,) = run(said(f"I write it. {WRITE}"))
    assert result == {"name": "write_file", "ok": True, "content": "Wrote 1 chars to a.txt"}
    assert (workspace / "a.txt").read_text() == "x"


def test_without_the_option_text_is_text(run: Run, workspace: Path) -> None:
    """No result, and nothing runs."""
    assert run(said(WRITE), words=("--mode", "yolo")) == []
    assert list(workspace.iterdir()) == []


def test_a_call_is_judged_like_any_other(run: Run, workspace: Path) -> None:
    """Asked about, blocked in plan mode, blocked by a rule."""
    push = called("run_shell", command="git push")
    asked = run(said(WRITE), words=("--text-calls",))
    planned = run(said(WRITE), words=("--text-calls", "--mode", "plan"))
    (pushed,) = run(said(push))
    assert "needs the user's confirmation" in asked[0]["content"]
    assert "Plan mode is on" in planned[0]["content"]
    assert "Publishing is left to the user" in pushed["content"]
    assert list(workspace.iterdir()) == []


@pytest.mark.parametrize("name", ["nowhere", "deep_analysis", "retrieve_documents", "mcp:calc/add"])
def test_a_tool_that_is_not_there_is_refused(run: Run, name: str) -> None:
    """Whether no one knows its name, or it is a shipped tool without what it needs; a text is not a way around."""
    (result,) = run(said(called(name, query="a")))
    assert result["ok"] is False
    assert result["content"].startswith(f"The call of `{name}` was blocked.")


@pytest.mark.parametrize(
    "message",
    [
        said(f"<think>{WRITE}</think>done"),
        said(f"{WRITE}</think>done"),
        said("done", reasoning_content=WRITE),
        {"role": "assistant", "content": [{"type": "thinking", "thinking": WRITE}, {"type": "text", "text": "done"}]},
        {"role": "user", "content": WRITE},
        {"role": "tool", "tool_call_id": "c", "content": WRITE},
        {"role": "system", "content": WRITE},
        said(f"Write `{WRITE}` to have it."),
        said(f"{BROKEN}</think>done"),
    ],
    ids=["thought", "ends thinking", "reasoning", "block", "user", "tool", "system", "quoted", "broken thought"],
)
def test_what_is_not_a_call_runs_nothing(run: Run, workspace: Path, message: dict[str, object]) -> None:
    """Thinking, quotations, and what others said."""
    assert run(message) == []
    assert list(workspace.iterdir()) == []


@pytest.mark.parametrize("text", [BROKEN, WRITE[:-15]], ids=["broken", "cut off"])
def test_a_broken_call_is_answered_with_an_error(run: Run, workspace: Path, text: str) -> None:
    """Nothing of it runs; what is next to it does, and the exit code tells."""
    (shown,) = run(said(text))
    assert shown["error"]["line"] == 1
    assert shown["error"]["message"].startswith("a call in the text was not understood: ")
    assert list(workspace.iterdir()) == []
    first, second = run(said(f"{BROKEN}\n{WRITE}"))
    assert ("error" in first, second["ok"]) == (True, True)


def test_a_broken_call_is_reported_on_standard_error(cli: Cli, guarding: list[str]) -> None:
    """With its line, and in the summary once."""
    lines = [said("hello"), said(f"{BROKEN} {BROKEN}")]
    words = ("--unattended", "block", "--text-calls")
    code, _, shown = cli(*guarding, *words, stdin="\n".join(map(json.dumps, lines)))
    assert code == 4
    assert shown.count("permitry: line 2: a call in the text was not understood: ") == 2
    assert "lines that could not be read: 2\n" in shown


def test_a_message_with_calls_is_not_searched(run: Run, workspace: Path) -> None:
    """The provider has read it; what else is there is what the model says about it."""
    call = {"id": "c", "type": "function", "function": {"name": "list_files", "arguments": "{}"}}
    assert [result["tool_call_id"] for result in run(said(WRITE, tool_calls=[call]))] == ["c"]
    assert list(workspace.iterdir()) == []


def test_several_calls_run_in_order(run: Run, workspace: Path, recorded: Callable[[], list[dict[str, Any]]]) -> None:
    """Each has an id of its own in the record, and its origin."""
    edit = called("edit_file", path="a.txt", old_text="x", new_text="y")
    results = run(said(f"{WRITE}{edit}"), said(edit.replace("y", "z").replace('"x"', '"y"')))
    assert [result["name"] for result in results] == ["write_file", "edit_file", "edit_file"]
    assert (workspace / "a.txt").exists()
    decided = [line for line in recorded() if line["event"] == "decided"]
    assert [line["call_id"] for line in decided] == ["1.1", "1.2", "2.1"]


def test_ids_that_come_back_are_reported_apart(run: Run, recorded: Callable[[], list[dict[str, Any]]]) -> None:
    """Some formats number their calls again in every message."""
    call = "<|tool_calls_section_begin|><|tool_call_begin|>functions.list_files:0<|tool_call_argument_begin|>{}"
    text = f"{call}<|tool_call_end|><|tool_calls_section_end|>"
    assert [result["id"] for result in run(said(text), said(text))] == ["functions.list_files:0"] * 2
    decided = [line["call_id"] for line in recorded() if line["event"] == "decided"]
    assert decided == ["functions.list_files:0", "functions.list_files:0#2"]


def test_bare_json_is_a_call_only_of_a_known_tool(run: Run) -> None:
    """Anything else is data that a model talks about."""
    assert run(said('{"name": "Ann", "arguments": {"age": 3}}')) == []
    assert [result["ok"] for result in run(said('{"name": "list_files", "arguments": {}}'))] == [True]


def test_arguments_written_as_text_get_their_types(run: Run, workspace: Path) -> None:
    """From the schema of the tool."""
    (workspace / "a.txt").write_text("one\ntwo\n")
    text = (
        "<tool_call>\n<function=read_file>\n<parameter=path>\na.txt\n</parameter>\n"
        "<parameter=offset>\n2\n</parameter>\n<parameter=hashline>\nfalse\n</parameter>\n</function>\n</tool_call>"
    )
    assert [result["content"] for result in run(said(text))] == ["# a.txt\n2|two"]

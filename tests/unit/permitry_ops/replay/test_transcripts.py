"""Lines of transcripts."""

import json
from typing import Any

import pytest
from tests.tables import for_each
from tests.whole_calls import policy_of

from permitry.core.call import ToolCall
from permitry.errors import CallError
from permitry_ops.replay.replay import Recording, replay
from permitry_ops.replay.tally import Tally
from permitry_ops.replay.transcripts import Entry, entry_of

_RULES = """schema = 1
extends = ["permitry:tools-claude-code"]

[[rule]]
id = "pays"
effect = "allow"
tools = ["pay"]
when.args.to.from = ["user", "find#iban"]

[[rule]]
id = "runs"
effect = "allow"
tools = ["find"]

[[rule]]
id = "sources"
effect = "allow"
tools = ["Write"]
when.path = ["src/**"]

[[rule]]
id = "no-writing"
effect = "block"
tools = ["Write"]
when.mode = ["plan"]

[[rule]]
id = "docs"
effect = "allow"
tools = ["mcp:docs/search"]
"""
_COMMON = {"sessionId": "s1", "uuid": "u", "parentUuid": None, "cwd": "/w", "version": "2.1.330", "isSidechain": False}


def _user(content: object, **more: object) -> dict[str, Any]:
    return {**_COMMON, "type": "user", "message": {"role": "user", "content": content}, **more}


def _model(name: str, call_id: str = "t1", **arguments: object) -> dict[str, Any]:
    block = {"type": "tool_use", "id": call_id, "name": name, "input": arguments}
    message = {"id": "m1", "type": "message", "role": "assistant", "content": [block]}
    return {**_COMMON, "type": "assistant", "message": message}


def _replayed(*lines: object, folder: str | None = None) -> Tally:
    numbered = [(number, json.dumps(line)) for number, line in enumerate(lines, 1)]
    return replay(numbered, policy_of(_RULES), recording=Recording("t", folder=folder))


_PAYS = _model("pay", to="AT11")


@for_each(
    ("more", "verdict"),
    [
        ({"turnOrigin": "human"}, "allow"),
        ({"turnOrigin": "sdk", "origin": {"kind": "human"}}, "allow"),
        ({}, "confirm"),
        ({"turnOrigin": "task_notification"}, "confirm"),
        ({"turnOrigin": "human", "origin": {"kind": "task-notification"}}, "confirm"),
        ({"turnOrigin": "human", "origin": None}, "confirm"),
        *[({"turnOrigin": "human", key: True}, "confirm") for key in ("isMeta", "isSidechain", "textNotTyped")],
    ],
)
def test_only_what_is_certainly_the_users_is_heard(more: dict[str, object], verdict: str) -> None:
    """As for the hook: other texts look like the user's."""
    assert _replayed(_user("Pay AT11.", **more), _PAYS).verdicts == {verdict: 1}


def test_a_text_that_may_be_the_users_is_missed() -> None:
    """So that nothing relies on its absence; not so the words to a sub-agent, and those of the host."""
    assert entry_of(_user("hello")).is_unsure
    assert entry_of(_user("hello", isSidechain=True)) == Entry(folder="/w")


def test_results_are_kept() -> None:
    """Structured ones as a hook is given them; a text with them is the host's; failed ones are not kept."""
    result = {"type": "tool_result", "tool_use_id": "t0", "content": "found it"}
    found = [_model("find", "t0"), _user([result], toolUseResult={"iban": "AT11"}), _PAYS]
    assert _replayed(*found).verdicts == {"allow": 2}
    found[1] = _user([result], toolUseResult="found it")
    assert _replayed(*found).verdicts == {"allow": 1, "confirm": 1}
    found[1] = _user([{**result, "is_error": True}], toolUseResult={"iban": "AT11"})
    assert _replayed(*found).verdicts == {"allow": 1, "confirm": 1}


def test_the_session_is_in_the_mode_of_the_host() -> None:
    """From the message on that says so."""
    write = _model("Write", file_path="/w/src/a.py", content="")
    plan = _user("hello", permissionMode="plan")
    assert _replayed(write, plan, write, {**plan, "permissionMode": "default"}, write).verdicts == {
        "allow": 2,
        "block": 1,
    }
    assert entry_of({**plan, "permissionMode": "bypassPermissions"}).mode == "yolo"
    assert _replayed({**plan, "permissionMode": "Plan"}, write).bad


def test_the_workspace_is_where_the_agent_worked() -> None:
    """As the first entry says; of plain messages it is the one that is given."""
    write = {"file_path": "/w/src/a.py", "content": ""}
    assert _replayed(_model("Write", **write), folder="/other").verdicts == {"allow": 1}
    plain = {"name": "Write", "arguments": write}
    assert _replayed(plain, folder="/other").verdicts == {"confirm": 1}
    assert _replayed(plain, folder="/w").verdicts == {"allow": 1}


def test_a_tool_of_a_server_has_the_name_that_a_hook_gives_it() -> None:
    """Where its name is clear."""
    (call,) = entry_of(_model("mcp__docs__search", q="a")).calls
    assert isinstance(call, ToolCall)
    assert (call.tool, call.call_id) == ("mcp:docs/search", "t1")
    assert _replayed(_model("mcp__docs__search", q="a"), _model("mcp__a__b__c")).verdicts == {"allow": 1, "confirm": 1}


@for_each(
    "line",
    [
        {"type": "summary", "summary": "A talk", "leafUuid": "u"},
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
        {**_COMMON, "type": "system", "subtype": "turn_duration"},
        {"type": "queue-operation", "operation": "enqueue", "sessionId": "s1", "content": "hello"},
    ],
)
def test_entries_that_are_no_messages_say_nothing(line: object) -> None:
    """They are about the session."""
    assert entry_of(line) == Entry()


@for_each("line", [{**_COMMON, "type": "assistant"}, {"type": "summary"}, {"tool": "x"}, 7])
def test_what_is_neither_message_nor_entry_is_refused(line: object) -> None:
    """A call must not vanish."""
    with pytest.raises(CallError):
        entry_of(line)


def test_a_call_that_cannot_be_read_is_reported() -> None:
    """With its place."""
    entry = _model("Bash")
    entry["message"]["content"][0]["input"] = "ls"
    tally = _replayed(entry)
    assert (tally.calls, len(tally.bad)) == (0, 1)

"""What Claude Code, Codex, Gemini and Copilot have in common."""

from typing import Any

import pytest
from tests.tables import for_each
from tests.unit.permitry_hosts.hooks.payloads import captured

from permitry.errors import CallError
from permitry_hosts.hooks.claude_like import (
    agent_in,
    call_key,
    command_hook,
    hook_entries,
    read_call,
    read_event,
    read_prompt,
    report_entries,
)
from permitry_hosts.hooks.host import Kind
from permitry_hosts.hooks.hosts import host_named

_KINDS = {"Before": Kind.BEFORE, "PostToolUse": Kind.AFTER, "Prompt": Kind.PROMPT}
_EVENT: dict[str, Any] = {"hook_event_name": "Before", "cwd": "/c", "session_id": "s"}


def test_an_event_is_in_the_folder_of_the_agent() -> None:
    """That is the workspace as well where the host names none; an event that is not known is refused."""
    event = read_event({**_EVENT, "turn": "t"}, _KINDS, None, turn="turn")
    assert (event.kind, event.name, event.session, event.turn) == (Kind.BEFORE, "Before", "s", "t")
    assert (event.folder, event.workspace, read_event(_EVENT, _KINDS, "/w").workspace) == ("/c", "/c", "/w")
    with pytest.raises(CallError, match="the event `Other` is not known"):
        read_event({**_EVENT, "hook_event_name": "Other"}, _KINDS, None)


def test_what_is_written_to_a_sub_agent_is_not_the_users() -> None:
    """Another agent wrote it."""
    event = read_event({**_EVENT, "hook_event_name": "Prompt"}, _KINDS, None)
    assert read_prompt(event, {"prompt": "hi"}).text == "hi"
    assert read_prompt(event, {"prompt": "hi", "agent_id": "a"}).text is None


@for_each(("name", "result"), [("Before", None), ("PostToolUse", "done")])
def test_a_call_has_its_server_its_mode_and_what_it_returned(name: str, result: str | None) -> None:
    """If it ran well: another event has no result."""
    event = read_event({**_EVENT, "hook_event_name": name}, _KINDS, None)
    payload = {
        "tool_name": "mcp__notes__keep", "tool_input": {"a": 1}, "tool_response": "done", "tool_use_id": "c",
        "permission_mode": "bypassPermissions",
    }  # fmt: skip
    call = read_call(event, payload)
    assert (call.server, call.tool, call.arguments, call.call_id) == ("notes", "keep", {"a": 1}, "c")
    assert (call.mode, call.agent, call.result) == ("yolo", "main", result)


def test_entries_name_a_command_for_each_event() -> None:
    """For every tool; what is only reported is entered alike by two hosts."""
    hook = command_hook("x", 5, onFailure="block")
    assert hook_entries(hook, "A", "B", matcher=".") == {key: {"matcher": ".", "hooks": [hook]} for key in "AB"}
    assert report_entries("x", 5)["UserPromptSubmit"] == {"hooks": [{"type": "command", "command": "x", "timeout": 5}]}


def test_the_key_of_a_call_names_the_sub_agent() -> None:
    """An id that is absent stays absent."""
    assert call_key({"tool_use_id": "c1"}) == "c1"
    assert call_key({"tool_use_id": "c1", "agent_id": "a1"}) == "a1/c1"
    assert call_key({"agent_id": "a1"}) is None


@for_each(("payload", "agent"))
def test_a_sub_agent_is_not_the_main_one(payload: dict[str, str], agent: str) -> None:
    """Whatever its kind is called, and if it has none."""
    assert agent_in(payload) == agent
    for name in ("claude-code", "codex"):
        assert host_named(name).read({**captured(name).payload, **payload}, {"PWD": "/p"}).agent == agent

"""Cursor: events for single kinds of tools."""

from typing import Any

import pytest
from tests.tables import for_each
from tests.unit.permitry_hosts.hooks.payloads import FOLDER, Captured

from permitry.errors import CallError
from permitry_hosts.hooks.host import Effect, Reply, Verb
from permitry_hosts.hooks.hosts.cursor import HOST

CAPTURED = Captured(
    {
        "conversation_id": "s1", "generation_id": "g1", "model": "m", "hook_event_name": "preToolUse",
        "cursor_version": "1.0.32", "workspace_roots": [FOLDER], "user_email": None, "transcript_path": None,
        "tool_name": "Shell", "tool_input": {"command": "?"}, "tool_use_id": "k1", "cwd": FOLDER,
    },
    {"permission": "deny", "user_message": "NO", "agent_message": "NO"},
    silent={},
    session=("conversation_id",),
    prompt={"hook_event_name": "beforeSubmitPrompt"},
)  # fmt: skip

REST = {key: value for key, value in CAPTURED.payload.items() if not key.startswith("tool_")}


@for_each(
    ("name", "parts", "call"),
    [
        ("beforeShellExecution", {"command": "ls", "sandbox": False}, (None, "Shell", {"command": "ls"})),
        ("beforeReadFile", {"file_path": "/a", "content": "x"}, (None, "Read", {"file_path": "/a"})),
        (
            "beforeMCPExecution",
            {"tool_name": "pay", "tool_input": '{"sum": 1}', "mcp_server_name": "bank"},
            ("bank", "pay", {"sum": 1}),
        ),
        ("beforeMCPExecution", {"tool_name": "pay", "mcp_server_name": "bank"}, ("bank", "pay", {})),
    ],
)
def test_each_event_is_a_call(name: str, parts: dict[str, Any], call: tuple[str | None, str, object]) -> None:
    """Of a tool by the name that it has in the other ones."""
    event = HOST.read({**REST, "hook_event_name": name, **parts}, {})
    assert (event.server, event.tool, event.arguments) == call


def test_a_tool_of_an_unknown_server_is_refused() -> None:
    """It could be one that a rule names."""
    with pytest.raises(CallError):
        HOST.read({**REST, "hook_event_name": "beforeMCPExecution", "tool_name": "pay", "url": "u"}, {})


@for_each("roots", [None, [], [7], "x"])
def test_a_payload_without_a_folder_is_refused(roots: object) -> None:
    """Paths could lead anywhere."""
    with pytest.raises(CallError):
        HOST.read({**CAPTURED.payload, "workspace_roots": roots, "cwd": None}, {})


@for_each("verb", [Verb.ASK, Verb.SILENCE])
def test_no_opinion_is_a_document(verb: Verb) -> None:
    """Nothing at all would count as a failure."""
    assert HOST.write(Effect(verb), HOST.read(CAPTURED.payload, {})) == Reply("{}")

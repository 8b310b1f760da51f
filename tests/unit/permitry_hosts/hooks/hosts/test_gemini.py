"""Gemini CLI: servers, folders, and no questions."""

import pytest
from tests.unit.permitry_hosts.hooks.payloads import FOLDER, Captured, as_text

from permitry.errors import CallError
from permitry_hosts.hooks.host import Effect, Reply, Verb
from permitry_hosts.hooks.hosts.gemini import HOST

CAPTURED = Captured(
    {
        "session_id": "s1", "transcript_path": "/t", "cwd": FOLDER, "hook_event_name": "BeforeTool",
        "timestamp": "2026-11-20T04:20:02.557Z", "tool_name": "run_shell_command", "tool_input": {"command": "?"},
    },
    {"decision": "deny", "reason": "NO", "systemMessage": "NO"},
    prompt={"hook_event_name": "BeforeAgent"},
    after=lambda result: {
        "hook_event_name": "AfterTool",
        "tool_response": {"llmContent": [{"text": as_text(result), "type": "text"}]},
    },
    own="glob",
)  # fmt: skip
PAYLOAD = CAPTURED.payload
SERVER = {"tool_name": "mcp_a_b_pay", "mcp_context": {"server_name": "a_b", "tool_name": "pay"}}


def test_a_question_is_never_asked() -> None:
    """Without a terminal it waits for ever."""
    event = HOST.read(PAYLOAD, {})
    assert not event.can_ask
    assert HOST.write(Effect(Verb.ASK, "why"), event) == Reply()


def test_its_shell_reads_no_file_at_the_start() -> None:
    """What such a file prints comes before the document, and lets the call run."""
    (entry,) = HOST.settings.entries("x", 30)["BeforeTool"]["hooks"]
    assert entry["env"] == {"BASH_ENV": "", "SHLVL": "9"}
    assert entry["timeout"] == 30_000


def test_the_server_of_a_tool_is_read() -> None:
    """Its context names it."""
    event = HOST.read({**PAYLOAD, **SERVER}, {"GEMINI_PROJECT_DIR": "/home/ann"})
    assert (event.server, event.tool, event.workspace) == ("a_b", "pay", "/home/ann")
    del SERVER["mcp_context"]["tool_name"]  # type: ignore[attr-defined]  # a table
    assert HOST.read({**PAYLOAD, **SERVER}, {}).tool == "mcp_a_b_pay"


def test_a_context_that_is_none_is_refused() -> None:
    """The call could be that of a server."""
    with pytest.raises(CallError):
        HOST.read({**PAYLOAD, "mcp_context": "a_b"}, {})

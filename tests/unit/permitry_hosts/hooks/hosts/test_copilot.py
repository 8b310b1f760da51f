"""Copilot CLI: two forms of payload, and its event permissionRequest."""

import json

from tests.tables import for_each
from tests.unit.permitry_hosts.hooks.payloads import FOLDER, Captured, as_text

from permitry_hosts.hooks.host import Effect, Kind, Reply, Verb
from permitry_hosts.hooks.hosts.copilot import HOST

CAPTURED = Captured(
    {
        "sessionId": "s1", "timestamp": 1795148853635, "cwd": FOLDER, "toolName": "bash",
        "toolArgs": {"command": "?", "description": "x"},
    },
    {"permissionDecision": "deny", "permissionDecisionReason": "NO"},
    tool=("toolName",),
    arguments=("toolArgs",),
    session=("sessionId",),
    event=("hookName",),
    after=lambda result: {"toolResult": {"resultType": "success", "textResultForLlm": as_text(result)}},
    own="view",
)  # fmt: skip
PAYLOAD = CAPTURED.payload
# What a hook gets that is written for the events of Claude Code.
LIKE_CLAUDE = {
    "hook_event_name": "PreToolUse", "session_id": "s1", "timestamp": "2026-11-23T08:06:31.588Z",
    "cwd": "/home/ann/project", "tool_name": "Bash", "tool_input": {"command": "make"},
}  # fmt: skip
REQUEST = {
    "hookName": "permissionRequest", "sessionId": "s1", "timestamp": 1795421191902, "cwd": "/home/ann/project",
    "toolName": "bash", "toolInput": {"command": "make"}, "permissionSuggestions": [],
}  # fmt: skip


def test_arguments_may_come_as_text() -> None:
    """They are read as JSON."""
    event = HOST.read({**PAYLOAD, "toolArgs": '{"command": "make"}'}, {"COPILOT_PROJECT_DIR": "/home/ann"})
    assert (event.arguments, event.workspace) == ({"command": "make"}, "/home/ann")


def test_the_form_of_claude_has_the_names_of_its_tools() -> None:
    """The tools are declared by the set of that host."""
    assert HOST.wrote(LIKE_CLAUDE)
    event = HOST.read(LIKE_CLAUDE, {})
    assert (event.kind, event.tool) == (Kind.BEFORE, "Bash")
    assert HOST.shipped(event) == ("permitry:hooks", "permitry:tools-claude-code")
    prompt = {**LIKE_CLAUDE, "hook_event_name": "UserPromptSubmit"}
    assert HOST.read(prompt, {}).kind is Kind.PROMPT


def test_a_message_of_the_user_is_no_call() -> None:
    """It has no tool."""
    rest = {key: PAYLOAD[key] for key in ("sessionId", "timestamp", "cwd")}
    assert HOST.read({**rest, "prompt": "go"}, {}).kind is Kind.PROMPT


@for_each("verb", [Verb.ALLOW, Verb.DENY, Verb.ASK, Verb.SILENCE])
def test_a_request_for_permission_is_answered_or_left_to_the_user(verb: Verb) -> None:
    """A question is what the host is about to ask."""
    event = HOST.read(REQUEST, {})
    assert event.kind is Kind.PERMISSION
    answered = Reply(json.dumps({"behavior": verb.value, "message": "why"}))
    assert HOST.write(Effect(verb, "why"), event) == (answered if verb in (Verb.ALLOW, Verb.DENY) else Reply())

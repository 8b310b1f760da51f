"""Claude Code: who is asked, what mode it is in, and its event PermissionRequest."""

import json
from typing import Any

from tests.tables import for_each
from tests.unit.permitry_hosts.hooks.payloads import CLAUDE, SPECIFIC, Captured, report_result

from permitry_hosts.hooks.host import Effect, Kind, Reply, Verb
from permitry_hosts.hooks.hosts.claude_code import HOST

CAPTURED = Captured(
    {
        **CLAUDE, "prompt_id": "p1", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": "?", "description": "x"}, "tool_use_id": "toolu_1",
    },
    {"hookSpecificOutput": SPECIFIC},
    prompt={"hook_event_name": "UserPromptSubmit"},
    turn="prompt_id",
    after=report_result,
)  # fmt: skip
PAYLOAD = CAPTURED.payload
ATTENDED = {"CLAUDE_CODE_SESSION_ATTENDED": "1", "CLAUDE_PROJECT_DIR": "/home/ann"}


def _request(**more: Any) -> dict[str, Any]:  # noqa: ANN401 -- parts of a payload
    return {**PAYLOAD, "hook_event_name": "PermissionRequest", **more}


@for_each(
    ("mode", "environ", "can_ask"),
    [
        ("default", ATTENDED, True),
        ("acceptEdits", ATTENDED, True),
        ("default", {}, False),
        ("default", {"CLAUDE_CODE_SESSION_ATTENDED": "0"}, False),
        ("default", {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}, False),
        ("default", {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli", "CLAUDE_CODE_SESSION_ATTENDED": "0"}, False),
        ("default", {"CLAUDE_CODE_ENTRYPOINT": "mcp"}, False),
        ("default", {"CLAUDE_CODE_ENTRYPOINT": "claude-code-github-action"}, False),
        ("default", {"CLAUDE_CODE_ENTRYPOINT": "sdk-of-tomorrow"}, False),
        ("default", {"CLAUDE_CODE_ENTRYPOINT": "sdk-ts", "CLAUDE_CODE_SESSION_ATTENDED": "0"}, True),
        ("auto", {"CLAUDE_CODE_ENTRYPOINT": "sdk-py"}, True),
        ("bypassPermissions", ATTENDED, False),
        ("bypassPermissions", {"CLAUDE_CODE_ENTRYPOINT": "sdk-ts"}, False),
        ("dontAsk", ATTENDED, False),
    ],
)
def test_it_asks_where_a_human_is_asked(mode: str, environ: dict[str, str], *, can_ask: bool) -> None:
    """Or a program that was started by its SDK; not where it would let the call run, or refuse it in its own words."""
    event = HOST.read({**PAYLOAD, "permission_mode": mode}, environ)
    assert event.can_ask is can_ask
    assert event.is_attended is (environ == ATTENDED)


@for_each(
    ("given", "mode"),
    [("default", "default"), ("plan", "plan"), ("bypassPermissions", "yolo"), ("acceptEdits", "acceptEdits")],
)
def test_its_modes_are_ours(given: str, mode: str) -> None:
    """One that we have no word for keeps its own."""
    assert HOST.read({**PAYLOAD, "permission_mode": given}, {}).mode == mode


@for_each(
    ("path", "mode"),
    [
        ("/home/bob/.claude/plans/a.md", "default"),
        ("/home/ann/.claude/plans/a.md", "default"),
        ("/home/ann/.claude/plans/a.sh", "plan"),
        ("/home/ann/.claude/plans/../a.md", "plan"),
        ("/home/ann/plans/a.md", "plan"),
        ("/srv/x/.claude/plans/a.md", "plan"),
        ("sub/.claude/plans/../../../src/.claude/plans/a.md", "plan"),
        (None, "plan"),
    ],
)
def test_in_plan_mode_the_plan_may_be_written(path: str | None, mode: str) -> None:
    """That is what the mode is for; plans are below the home folder, or the project."""
    payload = {**PAYLOAD, "permission_mode": "plan", "tool_name": "Write", "tool_input": {"file_path": path}}
    assert HOST.read(payload, {**ATTENDED, "HOME": "/home/bob"}).mode == mode


@for_each("tool", ["Agent", "Skill", "WebFetch", "NotebookEdit", "mcp__a__Write"])
def test_no_other_call_leaves_plan_mode_by_naming_a_plan(tool: str) -> None:
    """Arguments that a tool does not have are the model's to add."""
    call = {"tool_name": tool, "tool_input": {"file_path": "/home/ann/.claude/plans/a.md"}}
    assert HOST.read({**PAYLOAD, **call, "permission_mode": "plan"}, ATTENDED).mode == "plan"


def test_folders_servers_and_sub_agents_are_read() -> None:
    """The project is that of the session; the agent may be elsewhere."""
    server = {"tool_name": "mcp__a__b__pay", "mcp_server": {"name": "a__b", "source": "user"}}
    event = HOST.read({**PAYLOAD, **server, "agent_id": "a1", "agent_type": "reviewer"}, ATTENDED)
    assert (event.workspace, event.folder) == ("/home/ann", "/home/ann/project")
    assert (event.server, event.tool, event.agent, event.call_id) == ("a__b", "pay", "reviewer", "a1/toolu_1")


@for_each(
    ("verb", "decision"),
    [
        (Verb.ALLOW, {"behavior": "allow"}),
        (Verb.DENY, {"behavior": "deny", "message": "NO"}),
        (Verb.ASK, None),
        (Verb.SILENCE, None),
    ],
)
def test_a_request_for_permission_is_answered_or_left_to_the_user(verb: Verb, decision: dict[str, str] | None) -> None:
    """A question is what the host is about to ask."""
    event = HOST.read(_request(permission_suggestions=[]), {})
    assert event.kind is Kind.PERMISSION
    reply = HOST.write(Effect(verb, "NO"), event)
    if decision is None:
        assert reply == Reply()
    else:
        output = {"hookEventName": "PermissionRequest", "decision": decision}
        assert json.loads(reply.out) == {"hookSpecificOutput": output}


def test_an_answer_before_a_call_may_ask() -> None:
    """With the reason, which the human is shown."""
    reply = HOST.write(Effect(Verb.ASK, "why"), HOST.read(PAYLOAD, ATTENDED))
    output = {"hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": "why"}
    assert json.loads(reply.out) == {"hookSpecificOutput": output}

"""Cline: a command is replaced by its refusal; other calls end the run."""

import json
import subprocess

import pytest
from tests.tables import for_each
from tests.unit.permitry_hosts.hooks.payloads import FOLDER, Captured

from permitry.errors import CallError
from permitry_hosts.hooks.host import Effect, Verb
from permitry_hosts.hooks.hosts.cline import HOST

CAPTURED = Captured(
    {
        "clineVersion": "", "hookName": "tool_call", "timestamp": "2026-11-20T04:29:47.515Z", "taskId": "s1",
        "workspaceRoots": [FOLDER], "userId": "u", "agent_id": "agent_1", "parent_agent_id": None, "iteration": 1,
        "tool_call": {"id": "k1", "name": "run_commands", "input": {"commands": ["?"]}},
        "preToolUse": {"toolName": "run_commands", "parameters": {"commands": "[]"}},
    },
    {"cancel": False, "overrideInput": {"commands": ["printf '%s\\n' NO >&2; exit 1"]}},
    silent={"cancel": False},
    tool=("tool_call", "name"),
    arguments=("tool_call", "input"),
    session=("taskId",),
    event=("hookName",),
    permits=False,
    has_folder=False,
)  # fmt: skip
PAYLOAD = CAPTURED.payload


@for_each(
    ("tool", "arguments"), [("run_commands", {"commands": ["ls", "rm x"]}), ("execute_command", {"command": "ls"})]
)
def test_the_replacement_fails_with_the_reason(tool: str, arguments: dict[str, object]) -> None:
    """Whatever is in the reason, nothing of it is run."""
    reason = 'it\'s $(touch x) `touch y` "no" %s \\n'
    event = HOST.read({**PAYLOAD, "tool_call": {"id": "k", "name": tool, "input": arguments}}, {})
    (value,) = json.loads(HOST.write(Effect(Verb.DENY, reason), event).out)["overrideInput"].values()
    (line,) = value if isinstance(value, list) else [value]
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"{reason}\n")


@for_each("given", ['{"path": "a"}', {"path": "a"}])
def test_a_tool_of_a_server_is_named_by_both(given: object) -> None:
    """So that rules about servers hold; its arguments may be JSON text."""
    call = {"id": "k", "name": "use_mcp_tool"}
    inner = {"server_name": "fs", "tool_name": "read", "arguments": given}
    event = HOST.read({**PAYLOAD, "tool_call": {**call, "input": inner}}, {})
    assert (event.server, event.tool, event.arguments) == ("fs", "read", {"path": "a"})
    for broken in (
        {"tool_name": "read"},
        {"server_name": "fs"},
        {**inner, "arguments": "{"},
        {**inner, "arguments": [1]},
    ):
        with pytest.raises(CallError):
            HOST.read({**PAYLOAD, "tool_call": {**call, "input": broken}}, {})


def test_a_tool_of_a_server_is_cancelled_whatever_its_name() -> None:
    """It would be run with the replaced command."""
    inner = {"server_name": "fs", "tool_name": "execute_command", "arguments": "{}"}
    event = HOST.read({**PAYLOAD, "tool_call": {"id": "k", "name": "use_mcp_tool", "input": inner}}, {})
    assert json.loads(HOST.write(Effect(Verb.DENY, "NO"), event).out) == {"cancel": True, "errorMessage": "NO"}


def test_another_call_is_cancelled() -> None:
    """There is nothing to replace it by."""
    call = {"id": "k", "name": "write_to_file", "input": {"path": "a"}}
    event = HOST.read({**PAYLOAD, "tool_call": call, "parent_agent_id": "agent_0"}, {})
    assert event.agent == "sub-agent"
    assert json.loads(HOST.write(Effect(Verb.DENY, "NO"), event).out) == {"cancel": True, "errorMessage": "NO"}


def test_a_failure_is_a_document() -> None:
    """It looks at no exit code."""
    reply = HOST.fail("oh")
    assert (reply.code, json.loads(reply.out)) == (0, {"cancel": True, "errorMessage": "oh"})


@for_each("roots", [None, [], [7]])
def test_a_payload_without_a_folder_is_refused(roots: object) -> None:
    """Paths could lead anywhere."""
    with pytest.raises(CallError):
        HOST.read({**PAYLOAD, "workspaceRoots": roots}, {})

"""Cline: a command is replaced by its refusal; other calls end the run."""

import json
import subprocess

import pytest
from tests.unit.hooks.payloads import PAYLOADS

from permitry.errors import CallError
from permitry.hooks.cline import HOST
from permitry.hooks.host import Effect, Verb

PAYLOAD = PAYLOADS["cline"]


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("roots", [None, [], [7]])
def test_a_payload_without_a_folder_is_refused(roots: object) -> None:
    """Paths could lead anywhere."""
    with pytest.raises(CallError):
        HOST.read({**PAYLOAD, "workspaceRoots": roots}, {})

"""The payloads of real hosts, captured in November 2026, are read by their own hooks."""

import json
from pathlib import Path

import pytest
from tests.tables import for_each

from permitry_hosts.hooks.host import Kind
from permitry_hosts.hooks.hosts import HOSTS, host_named

CASES = Path(__file__).resolve().parents[2] / ".." / "shared" / "cases" / "hosts"
FILES = {
    "claude-code": ("claude_code_2.1.327_PreToolUse.stdin.json", "rm a.txt"),
    "codex": ("codex_0.169.0_PreToolUse.stdin.json", "echo DENY"),
    "gemini": ("gemini_cli_0.61.0_BeforeTool.stdin.json", "rm a.txt"),
    "copilot": ("copilot_cli_1.0.102_preToolUse.stdin.json", "echo DENY"),
    "cline": ("cline_3.0.65_tool_call.stdin.json", "echo LIMIT99"),
    "opencode": ("opencode_1.18.33_tool.execute.before.json", "echo DENY"),
}
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the shared folder with the hosts' payloads is not there")


@for_each("name", FILES)
def test_a_captured_payload_is_read(name: str) -> None:
    """By its own host alone."""
    file, command = FILES[name]
    payload = json.loads((CASES / file).read_text(encoding="utf-8"))
    assert [host for host in HOSTS if host_named(host).wrote(payload)] == [name]
    event = host_named(name).read(payload, {"PWD": "/home/user/project"})
    assert (event.kind, event.workspace) == (Kind.BEFORE, "/home/user/project")
    assert command in json.dumps(dict(event.arguments))


def test_a_captured_request_for_permission_is_read() -> None:
    """It has no id of a call."""
    payload = json.loads((CASES / "claude_code_2.1.327_PermissionRequest.stdin.json").read_text(encoding="utf-8"))
    assert [host for host in HOSTS if host_named(host).wrote(payload)] == ["claude-code"]
    event = host_named("claude-code").read(payload, {})
    assert (event.kind, event.tool, event.call_id) == (Kind.PERMISSION, "Write", None)

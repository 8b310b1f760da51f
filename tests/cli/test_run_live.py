"""A session as its user and its model see it: calls that cannot work, and tools that say what they do."""

import json
import os
import pty
import select
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

MALFORMED: list[tuple[dict[str, Any], str]] = [
    ({"name": "read_file", "arguments": {}}, "read_file requires path"),
    ({"name": "run_shell", "arguments": {}}, "run_shell requires command"),
    ({"name": "apply_patch", "arguments": {"patch": "garbage"}}, "The first line of the patch must be"),
    ({"name": "exec_command", "arguments": {"command": "ls"}}, "`cmd` is missing; `command` is not an argument"),
    ({"type": "local_shell_call", "call_id": "5", "action": {"type": "exec", "command": "ls"}}, "must be a list"),
    ({"type": "custom_tool_call", "call_id": "6", "name": "apply_patch"}, "has one text, `input`"),
    ({"type": "function_call", "call_id": "7", "name": "edit_file", "arguments": "{"}, "not valid JSON"),
    ({"name": "write_file", "arguments": {"path": "a"}}, "`content` is missing"),
    ({"name": "shell", "arguments": {"command": 5}}, "`command` must be a list or a text"),
    ({"name": "local_shell", "arguments": {"command": ["ls"], "user": "root"}}, "`user` must be absent"),
]


def test_calls_that_cannot_work_are_errors_and_no_questions(
    cli: Callable[..., tuple[int, str, str]], workspace: Path, record: Path
) -> None:
    """Each says what is wrong, no one is asked, and the session ends well."""
    (workspace / "a.txt").write_text("hello\n", encoding="utf-8")
    lines = [call for call, _ in MALFORMED] + [{"name": "read_file", "arguments": {"path": "a.txt"}}]
    words = ["--workspace", workspace, "--record", record, "--unattended", "block", "--json"]
    stdin = "".join(f"{json.dumps(line)}\n" for line in lines)
    code, out, _ = cli("run", "-", "--rules", "permitry:base", *words, stdin=stdin)
    *answers, good, end = map(json.loads, out.splitlines())
    shown = [answer.get("content", answer.get("output")) for answer in answers]
    assert [(text, words) for text, (_, words) in zip(shown, MALFORMED, strict=True) if words not in text] == []
    assert (code, good["ok"], end["summary"]["verdicts"]) == (0, True, {"allow": 1, "block": len(MALFORMED)})
    assert {row["event"] for row in map(json.loads, record.read_text(encoding="utf-8").splitlines())} & {
        "asked"
    } == set()


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="there are no terminals here")
def test_a_tool_is_seen_printing(
    processes: Callable[..., subprocess.Popen[bytes]], workspace: Path, record: Path
) -> None:
    """On a terminal each line is there while the command still runs."""
    line = json.dumps({"name": "run_shell", "arguments": {"command": "echo one; sleep 2; echo two"}})
    ours, theirs = pty.openpty()
    process = processes(
        *("run", "-", "--rules", "permitry:base", "--workspace", workspace, "--record", record, "--mode", "yolo"),
        stderr=theirs,
        bufsize=0,
    )
    os.close(theirs)
    assert process.stdin is not None
    process.stdin.write(f"{line}\n".encode())
    first = _shown(ours, "| one")
    assert "  | one" in first
    assert "two" not in first
    assert process.poll() is None
    assert "  | two" in _shown(ours, "| two")
    process.stdin.close()
    assert process.wait(20) == 0
    os.close(ours)


def _shown(terminal: int, end: str) -> str:
    """Return what a terminal shows, up to `end`."""
    text, begun = "", time.monotonic()
    while end not in text and time.monotonic() - begun < 20:
        if select.select([terminal], [], [], 1)[0]:
            text += os.read(terminal, 4096).decode(errors="replace")
    return text

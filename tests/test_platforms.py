"""Other systems than Linux: without what only POSIX has, deciding goes on, and nothing more is permitted."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import permitry.actions.folders
from permitry.cli.main import ExitCode, actions_of, whole_parser
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from tests.tables import for_each

SCRIPT = Path(__file__).with_name("without_posix.py")
SOURCE = Path(__file__).resolve().parents[1] / "src"
RULES = """schema = 1
[[rule]]
id = "look-up"
effect = "allow"
tools = ["lookup"]
match = ["lookup"]
[[rule]]
id = "sources"
effect = "allow"
when.path = ["**", "/**", "~/**", "C:/**"]
"""
BLOCK = '[[rule]]\nid = "keys"\neffect = "block"\nwhen.path = "~/.ssh/**"\n'
COMMANDS = sorted(next(action.choices for action in actions_of(whole_parser()) if isinstance(action.choices, dict)))
NEEDS_POSIX = {"approve", "grants", "hook", "run", "setup"}
API = """
from permitry import Approve, ArgumentRole, CallbackChannel, ToolCall, ToolHandler, ToolRegistry, ToolSpec, load_policy
from permitry.audit.record import JsonlRecorder, user_name

tools = ToolRegistry()
tools.register(ToolSpec("lookup", roles={"url": ArgumentRole.URL}), lambda args: (True, f"page {args['url']}"))


@tools.tool
def add(a: int, b: int) -> int:
    "Add two numbers."
    return a + b


handler = ToolHandler(
    policy=load_policy("rules.toml"),
    registry=tools,
    channel=CallbackChannel(lambda request: Approve()),
    recorder=JsonlRecorder("record.jsonl"),
)
print(handler.handle(ToolCall("lookup", {"url": "https://example.com"})).text)
print(handler.handle(ToolCall("add", {"a": 1, "b": 2})).text)
"""


def run(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run a command, or with `-c` a program, in a folder with a rule file."""
    (folder / "rules.toml").write_text(RULES, encoding="utf-8")
    (folder / "stricter.toml").write_text(RULES + BLOCK, encoding="utf-8")
    return subprocess.run(
        [sys.executable, str(SCRIPT), *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@for_each(
    ("words", "code", "shown"),
    [
        (("check", "--rules", "rules.toml", "--call", '{"name": "lookup", "arguments": {}}'), 0, "allow   lookup"),
        (("check", "--call", '{"name": "read_file", "arguments": {"path": "C:/a"}}'), 3, "confirm read_file"),
        (("explain", "--rules", "rules.toml", "--call", '{"name": "lookup", "arguments": {}}'), 0, "look-up"),
        (("lint", "--rules", "rules.toml"), 1, "sources"),
        (("test", "--rules", "rules.toml"), 0, "1 passed, 0 failed"),
        (("diff", "rules.toml", "stricter.toml"), 0, "Nothing more is allowed"),
        (("diff", "stricter.toml", "rules.toml"), 1, "keys"),
    ],
)
def test_rules_are_read_tested_and_compared(tmp_path: Path, words: tuple[str, ...], code: int, shown: str) -> None:
    """As anywhere else."""
    done = run(tmp_path, *words)
    assert (done.returncode, done.stderr) == (code, "")
    assert shown in done.stdout


def test_the_python_api_runs_tools(tmp_path: Path) -> None:
    """With an answer, and a record in a file."""
    done = run(tmp_path, "-c", API)
    assert (done.stdout, done.stderr) == ("page https://example.com\n3\n", "")
    lines = (tmp_path / "record.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["event"] for line in lines].count("finished") == 2


@pytest.mark.apart
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_runs_or_says_what_it_needs(tmp_path: Path, command: str) -> None:
    """No traceback; and a hook that cannot run blocks."""
    done = run(tmp_path, command, "--help")
    if command not in NEEDS_POSIX:
        assert (done.returncode, done.stderr) == (ExitCode.OK, "")
        return
    assert done.returncode == ExitCode.INVALID
    assert done.stderr.startswith(
        f"permitry: `permitry {command}` runs on Linux and macOS: this Python has no module `"
    )


def test_a_hook_without_posix_blocks(tmp_path: Path) -> None:
    """Exit code 2 alone says to all hosts that the call must not run."""
    assert run(tmp_path, "hook", "claude-code").returncode == ExitCode.BLOCKED


def test_nothing_is_trusted_where_files_have_no_owner(tmp_path: Path) -> None:
    """A project's permissions do not count, and cannot be made to."""
    rules = tmp_path / ".permitry/rules.toml"
    rules.parent.mkdir()
    rules.write_text(RULES, encoding="utf-8")
    done = run(tmp_path, "trust")
    assert done.returncode == ExitCode.INVALID
    assert "must be yours" in done.stderr
    done = run(tmp_path, "check", "--call", '{"name": "lookup", "arguments": {}}')
    assert done.returncode == ExitCode.NEEDS_CONFIRMATION
    assert "the project is not trusted" in done.stderr


@for_each(
    "path",
    [
        "C:\\Users\\ann\\.ssh\\id", "C:/Users/ann/.ssh/id", "C:id", "\\\\host\\share\\a", "//host/share/a", "/etc/a",
        "src/a", "src\\a", "src/.env.", "notes.txt:hidden", "~/.ssh/id", "NUL", "PROGRA~1/a",
    ],
)  # fmt: skip
@for_each("workspace", ["C:\\work", "C:/work", None])
def test_paths_with_drives_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, workspace: str | None, path: str
) -> None:
    """No rule about paths permits one, and a restriction asks, as it may be the one that it is about."""
    monkeypatch.setattr(permitry.actions.folders, "_HAS_DRIVES", True)
    for text, mode in ((RULES, False), (RULES + BLOCK, True)):
        rules = tmp_path / "rules.toml"
        rules.write_text(text, encoding="utf-8")
        policy = load_policy(rules)
        decision = policy.decide(
            ToolCall("write_file", {"path": path}), AuthContext(workspace=workspace, yolo_mode=mode)
        )
        assert decision.verdict is Verdict.CONFIRM, decision

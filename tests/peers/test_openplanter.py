"""The recorded calls of the tools of seed 000: the same words and the same files, but for what is listed here.

All 29 scenarios of the recording are run. A step that differs on purpose is in `DIFFERENCES` with its reason.
"""

import base64
import copy
import functools
import json
import re
import socket
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple, TypeAlias

import attrs
import pytest
from tests.tables import for_each

from permitry.core.call import ToolCall
from permitry.core.result import ToolResult
from permitry.dispatch.registry import ToolRegistry
from permitry.dispatch.scope import CallScope
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry_tools import ToolServices, files, workspace_tools
from permitry_tools._reading import line_hash
from permitry_tools._spec import tool
from permitry_tools.artifacts import FOLDER, ArtifactStore
from permitry_tools.delegate import AgentTask, Delegation

Scenario: TypeAlias = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / ".." / "shared" / "cases" / "openplanter_tool_golden.jsonl"

FAILURE = re.compile(
    r"\w+ requires |File not found: |Path (is a directory|escapes)|BLOCKED: |edit_file failed: |Hash mismatch "
    r"|Line \d+ out of range|Invalid anchor |End line |Unknown edit |Artifact '.*' not found|The arguments do not fit: "
    r"|Unsupported image format: |Blocked by runtime policy: |No background job |\[job \d+ finished, exit_code=[^0]"
    r"|\$ (?s:.*?)\n\[(exit_code=[^0]|timeout )|apply_patch verification failed: |Web search failed: |Fetch URL "
    r"failed: |Subtask tool not available |Max recursion depth reached; |The call of `\w+` was blocked\. "
)
"""How an answer begins when the call has failed; the recording says it in words only."""


class Difference(NamedTuple):
    """Why a step differs, what is answered, and the files that are there afterwards next to the recorded ones.

    The answer is a text, what makes it from the recorded one, or None for the same. In it `{cwd}` is the workspace and
    `{tools}` are the names of all tools.
    """

    reason: str
    ours: str | Callable[[str], str] | None = None
    left: Mapping[str, str] = MappingProxyType({})


HASH = "A line's hash sees blanks and has four digits"
GLOB = "A glob is honoured without ripgrep"
ORDER = "Files come sorted, and are counted after the languages"
STRICT = "A number is not read out of a text"
CLIP = "Lines are shown whole, and a marker has no number"
ESCAPE = "A path that leads outside is reported, not raised"
ARTIFACT = "An artifact's id is not a path"
HERE_DOCUMENT = "A here-document is read, not forbidden"
TIMEOUT = "A timeout out of bounds is refused"
HEAD_AND_TAIL = "Head and tail of a long answer are shown, and the whole is kept"
PATCH = "A patch is that of Codex"
WHOLE = "A patch is made as a whole or not at all"
WEB = "The web needs no service"
UNKNOWN = "An unknown tool is answered with those there are"


def _sorted(recorded: str) -> str:
    shown = json.loads(recorded)
    shown["files"].sort(key=lambda file: file["path"])
    return json.dumps(shown, indent=2)


_BAD = '{\n      "path": "bad.py",\n      "language": "python",\n      "lines": 1,\n      "symbols": []\n    }'
_LINES = ("1:396a|alpha", "2:0463|beta", "3:a240|  gamma delta")
_A_TXT = "\n".join(("# a.txt", *_LINES))
_MISMATCH = "\n  ".join(("Hash mismatch at line 2: expected zz, got 0463. Current context:", *_LINES))
_NO_PATCH = "apply_patch verification failed: Invalid patch: The first line of the patch must be '*** Begin Patch'"
_PRINTED = '$ printf "%0.sx" $(seq 1 300)\n[exit_code=0]\n[stdout]\n'
_ARTIFACT_ID = "0123456789abcdef" * 2
_LEFT_OUT = f"\n...[283 characters left out; the whole is the artifact {_ARTIFACT_ID}]...\n"
_KEPT = "\n".join(
    (
        f'{{"artifact_id": "{_ARTIFACT_ID}", "objective": "the whole answer of run_shell", "agent": "main"}}',
        r'"$ printf \"%0.sx\" $(seq 1 300)"', '"[exit_code=0]"', '"[stdout]"', f'"{"x" * 300}"', '"[stderr]"', '""', "",
    )
)  # fmt: skip

DIFFERENCES: Mapping[str, Difference] = {
    "op-002/2": Difference(GLOB, "src/x.py"),
    "op-005/1": Difference(ORDER, _sorted),
    "op-005/2": Difference(ORDER, _sorted),
    "op-005/3": Difference(ORDER, '{\n  "root": "{cwd}",\n  "files": [\n    ' + _BAD + '\n  ],\n  "total": 3\n}'),
    "op-005/4": Difference(
        STRICT, "The arguments do not fit: `max_files` must be a whole number."
    ),
    "op-006/1": Difference(HASH, _A_TXT),
    "op-006/6": Difference(ESCAPE, "Path escapes workspace: ../etc/passwd"),
    "op-006/7": Difference(ESCAPE, "Path escapes workspace: /etc/passwd"),
    "op-007/1": Difference(CLIP, f"# a.txt\n1:8a03|{'x' * 50}\n...[truncated 50 chars]..."),
    "op-009/3": Difference(HASH, _A_TXT),
    "op-009/7": Difference(ESCAPE, "Path escapes workspace: ../x"),
    "op-011/1": Difference(HASH),
    "op-012/1": Difference(HASH),
    "op-013/1": Difference(HASH),
    "op-014/1": Difference(HASH, _MISMATCH),
    "op-014/3": Difference(HASH, "Invalid anchor format: 'two' (expected N:HHHH)"),
    "op-014/4": Difference(HASH),
    "op-014/7": Difference(HASH),
    "op-015/1": Difference(HASH),
    "op-016/1": Difference(HASH),
    "op-017/3": Difference(HERE_DOCUMENT, "$ cat <<EOF\nx\nEOF\n[exit_code=0]\n[stdout]\nx\n\n[stderr]\n"),
    "op-018/2": Difference(
        TIMEOUT, "The arguments do not fit: `timeout` must be greater than or equal to 1."
    ),
    "op-018/3": Difference(
        TIMEOUT, "The arguments do not fit: `timeout` must be less than or equal to 600."
    ),
    "op-019/1": Difference(
        HEAD_AND_TAIL,
        f"{_PRINTED}{_LEFT_OUT}{'x' * 17}\n[stderr]\n",
        {f"{FOLDER}/{_ARTIFACT_ID}.jsonl": _KEPT},
    ),
    "op-020/11": Difference(STRICT, "The arguments do not fit: `job_id` must be a whole number."),
    "op-023/4": Difference(ARTIFACT, "Artifact '../secret' not found."),
    "op-024/1": Difference(PATCH, "Success. Updated the following files:\nA n/b.txt\nM a.txt\n"),
    "op-024/2": Difference(PATCH, _NO_PATCH),
    "op-024/3": Difference(PATCH, _NO_PATCH),
    "op-024/4": Difference(PATCH, "Success. Updated the following files:\nM a.txt\n"),
    "op-024/5": Difference(PATCH, "apply_patch verification failed: The path `../x` lies outside the workspace."),
    "op-024/6": Difference(
        WHOLE, "apply_patch verification failed: Failed to delete file nope", {"a.txt": "one\n2\n"}
    ),
    "op-025/2": Difference(
        WEB,
        "Web search failed: no search service is configured; "
        "the host sets `WebSettings(search_endpoint=…)`.",
    ),
    "op-025/5": Difference(WEB, "Fetch URL failed: `http://a`: the host `a` was not found."),
    "op-029/1": Difference(
        UNKNOWN, "The call of `frobnicate` was blocked. There is no tool `frobnicate`. Tools: {tools}."
    ),
}  # fmt: skip


# The recording ----------------------------------------------------------------------------------------------------


def _recorded() -> list[Scenario]:
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()] if CASES.exists() else []


SCENARIOS = _recorded()


def _steps(scenario: Scenario) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each step with its name, such as `op-006/1`."""
    number = "-".join(scenario["id"].split("-")[:2])
    yield from ((f"{number}/{count}", step) for count, step in enumerate(scenario["steps"], 1))


def _bytes(content: str | dict[str, str]) -> bytes:
    return content.encode() if isinstance(content, str) else base64.b64decode(content["base64"])


def _folder(root: Path) -> dict[str, bytes]:
    # Ours keep what is too long for an answer out of the repository.
    found = (path for path in root.rglob("*") if path.is_file() and path != root / FOLDER / ".gitignore")
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


# Hashes -----------------------------------------------------------------------------------------------------------


def _recorded_hash(line: str) -> str:
    return f"{zlib.crc32(''.join(line.split()).encode()) & 0xFF:02x}"


def _with_our_anchors(arguments: dict[str, Any], root: Path) -> dict[str, Any]:
    """Return the arguments with the anchors that fit the file as it is now written our way."""
    if not isinstance(arguments.get("edits"), list) or not (root / arguments["path"]).is_file():
        return arguments
    lines = (root / arguments["path"]).read_text(encoding="utf-8").splitlines()
    ours = {f"{n}:{_recorded_hash(line)}": f"{n}:{line_hash(line)}" for n, line in enumerate(lines, 1)}
    arguments = copy.deepcopy(arguments)
    for edit in arguments["edits"]:
        for place in (edit, edit.get("replace_lines", {})):
            place.update({key: ours.get(value, value) for key, value in place.items() if isinstance(value, str)})
        if "content" in edit:
            # A copied anchor: its digits need not fit, only look like those of an anchor.
            edit["content"] = re.sub(r"^(\d+:)([0-9a-f]{2})\|", r"\1\2\2|", edit["content"])
    return arguments


# Running ----------------------------------------------------------------------------------------------------------


@attrs.frozen
class _Unused:
    """The agent of the original, which no recorded call starts."""

    def run(self, task: AgentTask, scope: CallScope) -> str:
        """Fail."""
        raise AssertionError((task, scope))


def _registry(scenario: Scenario, root: Path, monkeypatch: pytest.MonkeyPatch) -> ToolRegistry:
    """Return the shipped tools, set as those of the scenario were."""
    config = scenario["config"]
    if "max_file_chars" in config:
        # There the text of the file is counted, here the whole answer.
        monkeypatch.setattr(files, "_MOST_SHOWN", config["max_file_chars"] + 60)
    if "max_shell_output_chars" in config:
        limited = functools.partial(tool, output_limit=config["max_shell_output_chars"])
        monkeypatch.setattr("permitry_tools.shell.run_shell.tool", limited)
    monkeypatch.setattr("permitry_tools.artifacts.secrets", SimpleNamespace(token_hex=lambda _: _ARTIFACT_ID))
    monkeypatch.setattr(socket, "getaddrinfo", _no_host)
    # There every task needs criteria, unless that is switched off.
    settings = Delegation(
        config.get("recursive", True),
        config.get("max_depth", 4),
        needs_criteria=config.get("acceptance_criteria", True),
    )
    services = ToolServices(artifacts=ArtifactStore(root / FOLDER), delegation=settings, runner=_Unused())
    return workspace_tools(root, services)


def _no_host(*_: object, **__: object) -> None:
    raise socket.gaierror("no name is looked up here")


def _answered(handle: Callable[[], ToolResult], wanted: str) -> ToolResult:
    """Return the answer to a call, `pid=…` instead of numbers; a job that is not as far yet is looked at again."""
    until = time.monotonic() + 10
    while True:
        result = handle()
        result = attrs.evolve(result, text=re.sub(r"\bpid=[1-9]\d*", "pid={pid}", result.text))
        is_early = result.text != wanted and re.match(r"\[job \d+ still running", result.text)
        if not is_early or time.monotonic() > until:
            return result
        time.sleep(0.05)


# The tests --------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not SCENARIOS, reason="the folder `shared` is not beside this checkout")
@for_each("scenario", SCENARIOS, ids=lambda each: str(each["id"]))
def test_the_recorded_calls_are_answered_as_recorded(
    scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every answer word for word, whether it is a failure, and every file afterwards."""
    root = tmp_path.resolve() / "work"
    root.mkdir()
    for name, content in scenario["files"].items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(_bytes(content))
    files_after = {name: _bytes(content) for name, content in scenario["files_after"].items()}
    scope = CallScope(scenario["config"].get("depth", 0))
    with _registry(scenario, root, monkeypatch) as registry:
        tools = ", ".join(sorted(each.name for each in registry))
        handler = ToolHandler(Session(yolo_mode=True), registry=registry)
        for name, step in _steps(scenario):
            arguments = _with_our_anchors(step["args"], root)
            difference = DIFFERENCES.get(name)
            assert arguments == step["args"] or difference is not None, f"{name} is called in another way"
            wanted = _wanted(step, difference).replace("{cwd}", str(root)).replace("{tools}", tools)
            result = _answered(functools.partial(handler.handle, ToolCall(step["tool"], arguments), scope), wanted)
            assert result.text == wanted, name
            assert result.ok is not bool(FAILURE.match(wanted)), name
            files_after |= {} if difference is None else {path: _bytes(text) for path, text in difference.left.items()}
    assert _folder(root) == files_after


def _wanted(step: dict[str, Any], difference: Difference | None) -> str:
    recorded = step["observation"]
    if difference is None or difference.ours is None:
        return str(recorded)
    assert difference.ours != recorded, "this difference is none"
    return difference.ours if isinstance(difference.ours, str) else difference.ours(recorded)


@pytest.mark.skipif(not SCENARIOS, reason="the folder `shared` is not beside this checkout")
def test_the_whole_recording_is_run() -> None:
    """None is skipped in silence, and a difference no one meets any more is taken off the list."""
    names = [name for scenario in SCENARIOS for name, _ in _steps(scenario)]
    assert (len(SCENARIOS), len(names), len(set(names))) == (29, 106, 106)
    assert set(DIFFERENCES) <= set(names)

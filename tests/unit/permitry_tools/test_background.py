"""The tools `run_shell_bg`, `check_shell_bg` and `kill_shell_bg`."""

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.processes import is_gone

from permitry.core.call import ToolCall
from permitry.core.decision import Verdict
from permitry.core.result import ToolResult
from permitry.dispatch.registry import ToolRegistry
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry_tools import _process, background, workspace_tools
from permitry_tools.workspace import Workspace

Use = Callable[..., ToolResult]


@pytest.fixture
def registry(root: Path) -> Iterator[ToolRegistry]:
    """Yield a registry of the tools; it is closed in the end."""
    registry = ToolRegistry()
    background.register(registry, Workspace(root))
    yield registry
    registry.close()


def _soon(use: Use, job: int, shown: str) -> ToolResult:
    """Return the first answer about a job that holds `told`."""
    for _ in range(1000):
        result = use("check_shell_bg", job_id=job)
        if shown in result.text:
            return result
        time.sleep(0.01)
    pytest.fail(f"never shown: {shown}")


def _started(result: ToolResult) -> int:
    """Return the process of a job that was started."""
    found = re.fullmatch(r"Background job started: job_id=\d+, pid=(\d+)", result.text)
    assert found is not None, result.text
    return int(found[1])


def test_a_job_runs_on(use: Use) -> None:
    """The call answers at once; the output is there while the job runs."""
    pid = _started(use("run_shell_bg", command="echo one; echo two >&2; sleep 60"))
    assert _soon(use, 1, "two") == ToolResult(True, f"[job 1 still running, pid={pid}]\none\ntwo\n")
    assert _soon(use, 1, "one").text.endswith("\none\ntwo\n")


@pytest.mark.parametrize(("code", "ok"), [(0, True), (7, False)])
def test_a_job_that_finished_is_reported_once(use: Use, code: int, ok: bool) -> None:  # noqa: FBT001 -- a column of the table
    """With its exit code and its output; then it is forgotten."""
    use("run_shell_bg", command=f"echo done; exit {code}")
    assert _soon(use, 1, "finished") == ToolResult(ok, f"[job 1 finished, exit_code={code}]\ndone\n")
    assert use("check_shell_bg", job_id=1) == ToolResult(False, "No background job with id 1")


def test_a_killed_jobis_gone(use: Use) -> None:
    """The process as well as its number."""
    pid = _started(use("run_shell_bg", command="sleep 60"))
    assert use("kill_shell_bg", job_id=1) == ToolResult(True, "Background job 1 killed.")
    assert is_gone(pid)
    for tool in ("check_shell_bg", "kill_shell_bg"):
        assert use(tool, job_id=1) == ToolResult(False, "No background job with id 1")


def test_what_a_job_left_behind_ends_with_it(root: Path, use: Use) -> None:
    """A job that is over has no processes."""
    os.mkfifo(root / "alive")
    alive = os.open(root / "alive", os.O_RDONLY | os.O_NONBLOCK)
    use("run_shell_bg", command="(touch ready; exec sleep 60) >alive & until [ -e ready ]; do sleep 0.02; done")
    _soon(use, 1, "finished, exit_code=0")
    for _ in range(500):
        with contextlib.suppress(BlockingIOError):
            assert os.read(alive, 1) == b""
            break
        time.sleep(0.01)
    else:
        pytest.fail("it lives")
    os.close(alive)


def test_closing_the_registry_kills_all_jobs(registry: ToolRegistry, use: Use) -> None:
    """They do not outlive the agent, and none is started afterwards."""
    pids = [_started(use("run_shell_bg", command="trap '' TERM INT HUP; sleep 60")) for _ in range(3)]
    registry.close()
    assert all(is_gone(pid) for pid in pids)
    assert use("run_shell_bg", command="sleep 60").text == "The tools are closed; nothing is started any more."


def test_jobs_belong_to_their_registry(tmp_path: Path, registry: ToolRegistry) -> None:
    """Another agent's jobs are out of reach; numbers begin again."""
    other = ToolRegistry()
    background.register(other, Workspace(tmp_path))
    uses = [ToolHandler(Session(yolo_mode=True), registry=each).handle for each in (registry, other)]
    _started(uses[0](ToolCall("run_shell_bg", {"command": "sleep 60"})))
    assert uses[1](ToolCall("check_shell_bg", {"job_id": 1})).text == "No background job with id 1"
    assert "job_id=1" in uses[1](ToolCall("run_shell_bg", {"command": "sleep 60"})).text
    other.close()


def test_there_are_only_so_many_jobs(use: Use) -> None:
    """One more is refused until one is over and reported."""
    for _ in range(16):
        _started(use("run_shell_bg", command="sleep 60"))
    assert use("run_shell_bg", command="true").text.startswith("There are 16 background jobs; ")
    use("kill_shell_bg", job_id=5)
    assert "job_id=17" in use("run_shell_bg", command="true").text


def test_the_output_of_a_job_is_bounded(use: Use, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its beginning and its end are kept."""
    monkeypatch.setattr(_process, "KEEP", 4)
    use("run_shell_bg", command="printf aaaa%050dzzzz 0")
    assert _soon(use, 1, "finished").text.endswith("]\naaaa\n...[50 characters left out]...\nzzzz")


def test_the_long_output_of_a_job_is_kept_whole_and_counted_right(root: Path) -> None:
    """There is one marker, which names the artifact with all of it."""
    command = "for i in $(seq 100000); do echo 0123456789abcdef; done"
    with workspace_tools(root) as registry:
        handler = ToolHandler(Session(yolo_mode=True), registry=registry)
        handler.handle(ToolCall("run_shell_bg", {"command": command}))
        text = _soon(lambda tool, **given: handler.handle(ToolCall(tool, given)), 1, "finished").text
        marker = r"\n\.\.\.\[(\d+) characters left out; the whole is the artifact (\w+)\]\.\.\.\n"
        head, count, artifact, tail = re.split(marker, text.partition("\n")[2])
        assert len(head) + int(count) + len(tail) == 1_700_000
        kept = handler.handle(ToolCall("read_artifact", {"artifact_id": artifact, "offset": 99_990})).text
        assert kept.startswith(f"Artifact {artifact} (lines 99990-100002 of 100002):")


def test_a_job_that_cannot_be_started_is_not_kept(root: Path, use: Use) -> None:
    """It is reported, and has no number."""
    root.rmdir()
    assert use("run_shell_bg", command="true").text.startswith("The command cannot be started: ")
    assert use("check_shell_bg", job_id=1).text == "No background job with id 1"


# Arguments and declarations ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "argument"), [("run_shell_bg", "command"), ("check_shell_bg", "job_id"), ("kill_shell_bg", "job_id")]
)
def test_what_is_required_is_reported(use: Use, tool: str, argument: str) -> None:
    """In one short sentence."""
    assert use(tool) == ToolResult(False, f"{tool} requires {argument}")


@pytest.mark.parametrize("job", ["x", "1", 1.5, True, [1]])
def test_the_number_of_a_job_is_a_number(use: Use, job: object) -> None:
    """Anything else is reported, and the tool does not crash."""
    for tool in ("check_shell_bg", "kill_shell_bg"):
        assert use(tool, job_id=job).text == "The arguments do not fit: `job_id` must be a whole number."


def test_programs_for_a_terminal_are_refused(use: Use) -> None:
    """As with `run_shell`."""
    assert use("run_shell_bg", command="top").text.startswith("BLOCKED: Interactive terminal programs")


@pytest.mark.parametrize(
    ("tool", "arguments", "verdict"),
    [
        ("run_shell_bg", {"command": "ls"}, Verdict.ALLOW),
        ("run_shell_bg", {"command": "rm a"}, Verdict.CONFIRM),
        ("check_shell_bg", {"job_id": 1}, Verdict.ALLOW),
        ("kill_shell_bg", {"job_id": 1}, Verdict.CONFIRM),
    ],
)
def test_only_looking_is_free(
    registry: ToolRegistry, root: Path, tool: str, arguments: dict[str, Any], verdict: Verdict
) -> None:
    """A job is judged by its command; its output may be looked at."""
    handler = ToolHandler(Session(workspace=str(root)), registry=registry)
    assert handler.decide(ToolCall(tool, arguments)).verdict is verdict


@pytest.mark.parametrize(
    "command",
    [
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nEOF\n", "cat p | apply_patch",
        "cd sub && applypatch <<'EOF'\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nEOF\n",
        "apply_patch <p && echo done", "apply_patch 'x' &", "X=1 apply_patch <p", "bash -c 'apply_patch <p'",
        "timeout 5 apply_patch <p", "apply_patch <p || true",
    ],
)  # fmt: skip
def test_a_patch_is_for_another_tool(use: Use, command: str) -> None:
    """No job applies one itself, and a shell would report the missing program in its output alone."""
    refused = use("run_shell_bg", command=command)
    assert refused.ok is False
    assert "There is no program `apply" in refused.text
    assert "Use the tool `apply_patch`" in refused.text
    assert not use("check_shell_bg", job_id=1).ok


def test_a_program_for_patches_is_run_in_the_background(
    use: Use, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where one is installed, the shell of a job finds it."""
    (tmp_path / "apply_patch").write_text("#!/bin/sh\necho mine\n", encoding="utf-8")
    (tmp_path / "apply_patch").chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    use("run_shell_bg", command="apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nEOF\n")
    assert _soon(use, 1, "mine").ok

"""The recorded sessions replay exactly: the same results, and the same files afterwards."""

import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import attrs
import pytest

from permitry.cli.main import main
from tests.tables import for_each

SESSIONS = Path(__file__).resolve().parents[2] / "golden" / "sessions"

pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("git", "python3"))), reason="the recorded sessions run git and python3"
)


@attrs.frozen
class Replay:
    """What a replayed session printed and left behind."""

    code: int
    out: str
    err: str
    workspace: Path
    record: Path

    def events(self) -> list[tuple[str, str]]:
        """Return event and call id of every record after the one of the session."""
        _, *lines = map(json.loads, self.record.read_text().splitlines())
        return [(line["event"], line["call_id"]) for line in lines]


def replay(folder: Path, name: str, *words: str) -> Replay:
    """Run a recorded session with its answers on a copy of its workspace."""
    workspace = shutil.copytree(SESSIONS / name / "workspace", folder / "workspace")
    places = ["--workspace", str(workspace), "--record", str(folder / "record.jsonl")]
    files = [str(SESSIONS / name / "session.jsonl"), "--answers", str(SESSIONS / name / "answers.jsonl")]
    with pytest.MonkeyPatch.context() as patch:
        out, err = io.StringIO(), io.StringIO()
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        # The user's own git configuration could sign, hook or template what the session commits.
        for variable, value in (("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1"), ("COLUMNS", "160")):
            patch.setenv(variable, value)
        code = main(["run", *files, "--rules", "permitry:coding-agent", *places, *words])
    return Replay(code, out.getvalue(), err.getvalue(), workspace, folder / "record.jsonl")


def recorded(name: str) -> str:
    """Return the results as they were recorded."""
    return (SESSIONS / name / "results.jsonl").read_text()


def rows(replay: Replay) -> list[list[str]]:
    """Return tool, verdict and rule of each call, as a run says them when it happens."""
    said = re.findall(r"^(allow|confirm|block) +(\S+) .*\[(no rule|[a-z-]+)[:\]][^\[]*$", replay.err, re.MULTILINE)
    return [[tool, verdict, rule] for verdict, tool, rule in said]


@pytest.fixture(scope="module")
def bug_fix(tmp_path_factory: pytest.TempPathFactory) -> Replay:
    """Return the replay of the bug fix."""
    return replay(tmp_path_factory.mktemp("bug-fix"), "bug-fix")


@pytest.fixture(scope="module")
def plan_mode(tmp_path_factory: pytest.TempPathFactory) -> Replay:
    """Return the replay of the session in plan mode."""
    return replay(tmp_path_factory.mktemp("plan-mode"), "plan-mode", "--mode", "plan")


def test_the_bug_fix_gives_the_recorded_results(bug_fix: Replay) -> None:
    """Line for line what was recorded, and all went well."""
    assert bug_fix.out == recorded("bug-fix")
    assert bug_fix.code == 0


def test_the_bug_is_fixed(bug_fix: Replay) -> None:
    """The edits are on the disk, and the check of the repository passes."""
    assert "sum(price * count for price, count in lines)" in (bug_fix.workspace / "invoice.py").read_text()
    assert "Done: the total counts." in (bug_fix.workspace / "NOTES.md").read_text()
    check = [sys.executable, "-B", "check_invoice.py"]
    assert subprocess.run(check, cwd=bug_fix.workspace, capture_output=True, check=False).stdout == b"ok\n"


def test_the_history_holds_the_edited_message(bug_fix: Replay) -> None:
    """The history the user kept has two commits, the second with the message the user wrote; nothing is left open."""
    git = ["git", "-C", str(bug_fix.workspace)]
    log = subprocess.run([*git, "log", "--format=%s %an"], capture_output=True, check=True, text=True)
    status = subprocess.run([*git, "status", "--porcelain"], capture_output=True, check=True, text=True)
    assert log.stdout == "Count each line of an invoice agent\nStart agent\n"
    assert status.stdout == ""


def test_the_bug_fix_shows_every_verdict(bug_fix: Replay) -> None:
    """One session holds calls that were allowed, asked about and blocked, by the rules that should."""
    told = rows(bug_fix)
    assert ["list_files", "allow", "read-only"] in told
    assert ["run_shell", "confirm", "ask-shell"] in told
    assert ["edit_file", "confirm", "no rule"] in told
    assert ["edit_file", "allow", "ignore-list"] in told
    assert told[-1] == ["git_push", "block", "block-publish"]


def test_the_bug_fix_is_recorded(bug_fix: Replay) -> None:
    """What ran has a start and an end on record; what was declined or blocked has none."""
    events = bug_fix.events()
    ran = [call_id for event, call_id in events if event == "finished"]
    assert [call_id for event, call_id in events if event == "started"] == ran
    calls = [json.loads(line)["tool_call_id"] for line in recorded("bug-fix").splitlines()]
    assert ran == [call for call in calls if call not in ("call_clean", "call_key", "call_push")]


def test_every_recorded_answer_is_used(bug_fix: Replay) -> None:
    """No answer is left over, so each is bound to a call that asks."""
    assert "answers that no question asked for" not in bug_fix.err


def test_the_plan_gives_the_recorded_results(plan_mode: Replay) -> None:
    """Line for line what was recorded, and all went well."""
    assert plan_mode.out == recorded("plan-mode")
    assert plan_mode.code == 0


def test_the_plan_changes_nothing(plan_mode: Replay) -> None:
    """Not one file of the workspace is changed, added or gone."""
    before = SESSIONS / "plan-mode" / "workspace"

    def contents(folder: Path) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    assert contents(plan_mode.workspace) == contents(before)
    assert "port = 80\n" in (plan_mode.workspace / "settings.ini").read_text()


def test_plan_mode_never_asks(plan_mode: Replay) -> None:
    """Reading is allowed, writing is blocked, and no question is put."""
    assert {(verdict, rule) for _, verdict, rule in rows(plan_mode)} == {("allow", "read-only"), ("block", "plan-mode")}
    assert "asked" not in dict(plan_mode.events())


@for_each("name", ["bug-fix", "plan-mode"])
def test_a_session_has_a_result_for_every_call(name: str) -> None:
    """The recorded results answer the calls of the session one by one, in order."""
    messages = [json.loads(line) for line in (SESSIONS / name / "session.jsonl").read_text().splitlines()]
    results = [json.loads(line) for line in recorded(name).splitlines()]
    assert [answered_id(result) for result in results] == [call for message in messages for call in call_ids(message)]


def call_ids(message: dict[str, Any]) -> list[str]:
    """Return the ids of the calls in a message of either shape."""
    content = message.get("content")
    blocks = [block for block in content if block["type"] == "tool_use"] if isinstance(content, list) else []
    return [call["id"] for call in (*message.get("tool_calls", ()), *blocks)]


def answered_id(result: dict[str, Any]) -> str:
    """Return the id of the call a result of either shape answers."""
    call_id: str = result.get("tool_call_id") or result["content"][0]["tool_use_id"]
    return call_id

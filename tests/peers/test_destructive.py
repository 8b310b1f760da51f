"""Commands a peer stops because they destroy something, and harmless ones that only look so, under `permitry:base`."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from permitry.actions.extract import ReadActions
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict

FILE = Path(__file__).resolve().parents[2] / ".." / "shared" / "cases" / "destructive.json"
MOST_STOPPED = 3
"""Of 163: at most 2 %."""


@pytest.fixture(scope="module")
def cases() -> list[dict[str, str]]:
    """Return the commands, each with what is expected in YOLO mode."""
    if not FILE.exists():
        pytest.skip("the shared cases are not here")
    found: list[dict[str, str]] = json.loads(FILE.read_text(encoding="utf-8"))["cases"]
    return found


def _differ(cases: list[dict[str, str]], expected: str) -> Iterator[str]:
    policy = attrs.evolve(load_policy("permitry:base"), reader=ReadActions("/home/ann", has_disk=False))
    context = AuthContext(workspace="/home/ann/project", yolo_mode=True, mode="yolo")
    for each in (each for each in cases if each["expected"] == expected):
        verdict = policy.decide(ToolCall("run_shell", {"command": each["command"]}), context).verdict
        if (verdict is Verdict.ALLOW) is not (expected == "allow"):
            yield each["command"]


def _show(what: str, count: int, total: int) -> None:
    """Print a figure for the one who runs the test with `-s`."""
    sys.stdout.write(f"\n{what}: {count} (of {total} commands)\n")


def test_no_destructive_command_runs_unasked(cases: list[dict[str, str]]) -> None:
    """Not even in YOLO mode."""
    run = list(_differ(cases, "deny"))
    _show("destructive commands that run", len(run), len(cases))
    assert run == []


def test_few_harmless_commands_are_asked_about(cases: list[dict[str, str]]) -> None:
    """Whatever words their texts contain."""
    stopped = list(_differ(cases, "allow"))
    _show("harmless commands that are stopped", len(stopped), len(cases))
    # Where TMPDIR leads is not known here: it may be unset, and then `$TMPDIR/build` is a folder of the root.
    known = [command for command in stopped if "TMPDIR" not in command]
    _show("without those whose folder is not known", len(known), len(cases))
    assert len(known) <= MOST_STOPPED, known

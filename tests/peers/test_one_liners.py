"""Commands that people wrote and published: no guess blocks one of them."""

from pathlib import Path

import pytest

from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Verdict
from permitry.core.policy import AuthorizationPolicy

FILE = Path(__file__).resolve().parents[2] / ".." / "shared" / "cases" / "nl2bash.txt"


@pytest.fixture(scope="module", params=[8, pytest.param(1, marks=pytest.mark.large)], ids=["some", "all"])
def one_liners(request: pytest.FixtureRequest) -> list[str]:
    """Return every eighth of the commands, and all of them in a run with `-m large`."""
    if not FILE.exists():
        pytest.skip("the shared cases are not here")
    lines = FILE.read_text(encoding="utf-8").splitlines()
    assert len(lines) > 5000
    return lines[:: request.param]


def _restricted(policy: AuthorizationPolicy, lines: list[str]) -> dict[str, Decision]:
    context = AuthContext(workspace="/home/u/project")
    decisions = {line: policy.decide(ToolCall("run_shell", {"command": line}), context) for line in lines}
    return {line: decision for line, decision in decisions.items() if decision.verdict is not Verdict.ALLOW}


def test_the_base_accuses_no_one_of_tampering(one_liners: list[str]) -> None:
    """None of the commands is about permitry, so its rules about that ask at most, and give the doubt as the reason."""
    decisions = _restricted(load_policy("permitry:base"), one_liners)
    guards = {line: each for line, each in decisions.items() if (each.rule_id or "").startswith("protect-policy-")}
    assert [line for line, each in guards.items() if each.verdict is Verdict.BLOCK] == []
    assert all(each.reason.startswith("possibly ") for each in guards.values())


def test_only_a_push_is_a_push(one_liners: list[str], all_but_push: Path) -> None:
    """Under a rule that blocks one command, no other command is blocked."""
    decisions = _restricted(load_policy(all_but_push), one_liners)
    blocked = [line for line, decision in decisions.items() if decision.verdict is Verdict.BLOCK]
    assert [line for line in blocked if "push" not in line] == []
    assert len(decisions) / len(one_liners) < 0.26

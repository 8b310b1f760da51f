"""The example `rules/examples/undoable.toml`, and what its page says of it."""

from pathlib import Path

import pytest
from tests.tables import for_each

from permitry import AuthContext, AuthorizationPolicy, ToolCall, Verdict, load_policy

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def policy() -> AuthorizationPolicy:
    """Return the rules of the example."""
    return load_policy(ROOT / "rules" / "examples" / "undoable.toml")


@for_each(
    ("workspace", "verdict", "rule_id"),
    [
        ("/home/ann/project", Verdict.CONFIRM, "ask-delete-folder"),
        ("/private/../tmp/project", Verdict.ALLOW, "commands-that-come-back"),
    ],
)
def test_a_folder_is_asked_about_but_below_tmp(
    policy: AuthorizationPolicy, workspace: str, verdict: Verdict, rule_id: str
) -> None:
    """A restriction of `permitry:base` holds; where it does not ask, what can come back is allowed."""
    decision = policy.decide(ToolCall("run_shell", {"command": "rm -r src"}), AuthContext(workspace=workspace))
    assert (decision.verdict, decision.rule_id) == (verdict, rule_id)
    file = policy.decide(ToolCall("run_shell", {"command": "rm src/a.py"}), AuthContext(workspace=workspace))
    assert (file.verdict, file.keeps) == (Verdict.ALLOW, True)

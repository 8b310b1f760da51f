"""`permitry:coding-agent` can be loosened by a file that extends it, and base holds whatever is permitted."""

from pathlib import Path

import attrs
import pytest

from permitry.actions.extract import ReadActions
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from tests.tables import for_each

ALLOW, CONFIRM, BLOCK = Verdict.ALLOW, Verdict.CONFIRM, Verdict.BLOCK
FIVE_LINES = """schema = 1
extends = ["permitry:coding-agent"]
rule = [
  { id = "our-commands", effect = "allow", when.command = ["pytest *", "git commit *", "npm test *"] },
]
"""


@pytest.fixture
def policy(tmp_path: Path) -> AuthorizationPolicy:
    """Return the policy of a file of five lines that extends the set."""
    path = tmp_path / "rules.toml"
    path.write_text(FIVE_LINES, encoding="utf-8")
    return attrs.evolve(load_policy(path), reader=ReadActions("/home/ann", has_disk=False))


def _decide(policy: AuthorizationPolicy, command: str, *, yolo: bool) -> Verdict:
    context = AuthContext(workspace="/home/ann/project", yolo_mode=yolo)
    return policy.decide(ToolCall("run_shell", {"command": command}), context).verdict


@for_each(
    ("command", "verdict", "in_yolo"),
    [
        ("pytest -q", ALLOW, ALLOW),
        ("git commit -m 'a change'", ALLOW, ALLOW),
        ("npm test -- --watch=false", ALLOW, ALLOW),
        ("git status && pytest -q | tail -3", ALLOW, ALLOW),
        ("make", CONFIRM, ALLOW),
        ("pytest -q && make", CONFIRM, ALLOW),
        ("npm install", CONFIRM, ALLOW),
        ("pytest -q; git reset --hard", CONFIRM, CONFIRM),
        ("cat ~/.ssh/id_ed25519", CONFIRM, CONFIRM),
        ("rm -rf ~", BLOCK, BLOCK),
        ("git commit -m x && git push", BLOCK, BLOCK),
    ],
)
def test_five_lines_loosen_it(policy: AuthorizationPolicy, command: str, verdict: Verdict, in_yolo: Verdict) -> None:
    """What they allow runs, other commands are asked about but for YOLO mode, and the restrictions of base hold."""
    assert (_decide(policy, command, yolo=False), _decide(policy, command, yolo=True)) == (verdict, in_yolo)


def test_what_a_server_runs_is_asked_about_in_yolo_mode(policy: AuthorizationPolicy) -> None:
    """The rules of base about commands do not see it; a permission for the tool would loosen it."""
    call = ToolCall("mcp:box/run_code", {})
    assert policy.decide(call, AuthContext(yolo_mode=True)).rule_id == "ask-server-shell"

"""A blocked command in disguise: each text runs it, or may, and so never runs unasked where all others do."""

from pathlib import Path

import pytest

from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from tests.tables import for_each

# Each line runs `git push` in bash, or does for some value of a variable, some input or some file; `␤` is a newline.
_LISTED = Path(__file__).with_name("disguises.txt").read_text(encoding="utf-8").splitlines()
_RULES = """
schema = 1
[[rule]]
id = "commands"
effect = "allow"
tools = ["@shell"]
[[rule]]
id = "no-push"
effect = "block"
when.command = ["git push *"]
"""


@pytest.fixture(scope="module")
def policy() -> AuthorizationPolicy:
    """Return a policy that permits every command but one."""
    return load_policy(_RULES)


def _verdict(policy: AuthorizationPolicy, command: str) -> Verdict:
    return policy.decide(ToolCall("bash", {"command": command}), AuthContext(workspace="/w")).verdict


@for_each("command")
def test_a_disguise_does_not_help(policy: AuthorizationPolicy, command: str) -> None:
    """Whether it is blocked or asked about, it does not run unasked."""
    assert _verdict(policy, command) is not Verdict.ALLOW


@for_each("line", _LISTED)
def test_a_listed_disguise_does_not_help(policy: AuthorizationPolicy, line: str) -> None:
    """The same, for what the constructs that the strict reader knows let one write."""
    assert _verdict(policy, line.replace("␤", "\n")) is not Verdict.ALLOW


@for_each("command")
def test_what_looks_alike_runs(policy: AuthorizationPolicy, command: str) -> None:
    """A needless question is a defect as well."""
    assert _verdict(policy, command) is Verdict.ALLOW

"""What a search takes below a folder: never more than is left out for certain is left out."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.tables import for_each

from permitry.actions.selection import EVERYTHING, Selection, select
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Verdict
from permitry.core.policy import AuthorizationPolicy

RULES = """schema = 1
extends = ["permitry:tools-claude-code"]
[[rule]]
id = "all"
effect = "allow"
tools = ["*"]
[[rule]]
id = "secrets"
effect = "block"
when.path = "secrets/**"
when.access = "read"
"""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a file that may not be read, and a link to it."""
    top = tmp_path_factory.mktemp("work")
    for name in ("secrets/key.txt", "secrets/.a.md", "src/a.py", "src/secrets/b.py"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text("x")
    (top / "src" / "link").symlink_to("../secrets")
    return top


@pytest.fixture(scope="module")
def policy() -> AuthorizationPolicy:
    """Return a policy that allows all but to read what is below one folder."""
    return load_policy(RULES)


def _decide(policy: AuthorizationPolicy, workspace: Path, tool: str, arguments: Mapping[str, Any]) -> Decision:
    return policy.decide(ToolCall(tool, arguments), AuthContext(workspace=str(workspace)))


@for_each("text")
def test_a_search_that_leaves_it_out_runs(policy: AuthorizationPolicy, workspace: Path, text: str) -> None:
    """By the name of the folder, or by names of which none is there."""
    assert _decide(policy, workspace, "Bash", {"command": text}).verdict is Verdict.ALLOW


@for_each("text")
def test_a_search_that_may_reach_it_is_asked_about(policy: AuthorizationPolicy, workspace: Path, text: str) -> None:
    """Where the pattern is of something else, is taken back, or is none."""
    assert _decide(policy, workspace, "Bash", {"command": text}).verdict is not Verdict.ALLOW


@for_each(("given", "verdict"))
def test_a_tool_is_decided_as_a_command_is(
    policy: AuthorizationPolicy, workspace: Path, given: dict[str, Any], verdict: str
) -> None:
    """One that reads all below a folder by a declared role, and leaves out what its pattern does."""
    assert _decide(policy, workspace, "Grep", {"pattern": "x", **given}).verdict.value == verdict


def test_the_way_out_is_named(policy: AuthorizationPolicy, workspace: Path) -> None:
    """To the human by the rule, to the model by what it can do."""
    decision = _decide(policy, workspace, "Grep", {"pattern": "x"})
    assert decision.reason == "may read `secrets/**` (`read .` reaches all below `.`)"
    assert "leave out what it may not reach, as `--exclude-dir=secrets`" in (decision.message or "")


@for_each(
    ("globs", "selection"),
    [
        (["!a"], Selection(names=("a",))),
        (["!a/", "!**/b/**"], Selection(folders=("a", "b"))),
        (["!/a", "!b/**", "!c/*"], Selection(here=("a", "b", "c"))),
        (["!a", "!**/b", "!c/"], Selection(names=("a", "b"), folders=("c",))),
        (["!a?", "!!a"], Selection(names=("!a",))),
        (["#a"], EVERYTHING),
        (["=*.c", "*.c"], EVERYTHING),
        (["{#,a}*"], EVERYTHING),
        (["!a/b", "!a[b]", "!{a,b}", "!a b", "!**"], EVERYTHING),
        (["*.{c,h}"], Selection(only=("*.c", "*.h"))),
        (["*.c", "!a"], Selection(only=("*.c",))),
        (["*.c *.h"], EVERYTHING),
        (["[ab].c"], EVERYTHING),
        (["./a"], EVERYTHING),
        (["", "*.c"], EVERYTHING),
        ([], EVERYTHING),
    ],
)
def test_patterns_are_read(globs: list[str], selection: Selection) -> None:
    """Those that mean one thing alone."""
    assert select(globs) == selection


@for_each(("glob", "takes"), [("!a", False), ("!a/", True), ("!**/a/**", True), ("!/a", True), ("!a/*", True)])
def test_a_slash_leaves_out_folders_alone(glob: str, *, takes: bool) -> None:
    """A file of the same name is taken."""
    selection = select([glob])
    assert selection.takes("/w", "/a", is_here=True, is_folder=False) is takes
    assert not selection.takes("/w", "/a/b", is_here=True, is_folder=False)

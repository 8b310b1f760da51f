"""The condition `access`: what happens to the paths a rule names."""

from pathlib import Path

import attrs
import pytest
from tests.tables import for_each

from permitry.actions.extract import ReadActions
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.errors import ConfigError

_BLOCK = 'effect = "block"\nwhen.path = "/**/x"\nwhen.access = {}'
_ALLOW = 'effect = "allow"\ntools = ["*"]\nwhen.path = "**"\nwhen.access = {}'


def _decide(folder: Path, rule: str, name: str, **arguments: object) -> Verdict:
    """Return what one rule says about a call, in a workspace and a home that are nowhere."""
    file = folder / "rules.toml"
    file.write_text(f'schema = 1\n[[rule]]\nid = "x"\n{rule}\n', encoding="utf-8")
    policy = attrs.evolve(load_policy(file), reader=ReadActions("/h", has_disk=False))
    return policy.decide(ToolCall(name, arguments), AuthContext(workspace="/w")).verdict


@for_each(
    ("access", "command", "verdict"),
    [
        ('"write"', "echo >x", Verdict.BLOCK),
        ('"write"', "make && cat x", Verdict.CONFIRM),
        ('"write"', "cp y x", Verdict.BLOCK),
        ('"write"', "cp x y", Verdict.CONFIRM),
        ('["write", "delete"]', "rm -r x", Verdict.BLOCK),
        ('"write"', "rm -r x", Verdict.CONFIRM),
        ('"delete"', "rm -r x", Verdict.BLOCK),
        ('"delete"', "mv x y", Verdict.BLOCK),
        ('"delete"', "echo >x", Verdict.CONFIRM),
        ('"read"', "cat x", Verdict.BLOCK),
        ('"read"', "mv y x", Verdict.CONFIRM),
        ('"read"', "./frob ./x", Verdict.BLOCK),
        ('"list"', "ls x", Verdict.BLOCK),
        ('"list"', "cat x", Verdict.BLOCK),
        ('"list"', "rm -r x", Verdict.CONFIRM),
    ],
)
def test_a_restriction_fires_for_what_it_names_alone(
    tmp_path: Path, access: str, command: str, verdict: Verdict
) -> None:
    """`cat x` next to `make` does not write `x`, although the call as a whole may write."""
    assert _decide(tmp_path, _BLOCK.format(access), "run_shell", command=command) is verdict


_BLOCK_READING = f"""{_BLOCK.format('"read"')}
[[rule]]
id = "all"
effect = "allow"
tools = ["*"]
"""


@for_each("command")
def test_what_looks_at_the_entry_reads_nothing(tmp_path: Path, command: str) -> None:
    """That a file is there, its size and its dates are not its content."""
    assert _decide(tmp_path, _BLOCK_READING, "run_shell", command=command) is Verdict.ALLOW


@for_each("command")
def test_content_is_read_whatever_it_is_called(tmp_path: Path, command: str) -> None:
    """A program that looks at entries alone reads by another option, name or link."""
    assert _decide(tmp_path, _BLOCK_READING, "run_shell", command=command) is not Verdict.ALLOW


@for_each("access", ['"read"', '"write"', '"delete"', '"list"'])
def test_what_a_tool_does_that_nobody_declared_may_be_any_of_them(tmp_path: Path, access: str) -> None:
    """A server's tool that names the path may read, write or delete it."""
    rule = f'tools = ["mcp:*/*"]\n{_BLOCK.format(access)}'
    policy_says = _decide(tmp_path, f'{rule}\n[[rule]]\nid = "all"\neffect = "allow"\ntools = ["*"]', "mcp:a/b", to="x")
    assert policy_says is Verdict.CONFIRM


def test_a_program_that_is_not_listed_may_write_what_it_names(tmp_path: Path) -> None:
    """No one knows what it does; that it deletes is only a guess."""
    verdicts = [
        _decide(tmp_path, _BLOCK.format(access), "run_shell", command="frob x") for access in ('"write"', '"delete"')
    ]
    assert verdicts == [Verdict.CONFIRM, Verdict.CONFIRM]


@for_each(
    ("access", "tool", "verdict"),
    [
        ('"write"', "write_file", Verdict.ALLOW),
        ('"write"', "delete_file", Verdict.CONFIRM),
        ('["write", "delete"]', "delete_file", Verdict.ALLOW),
        ('"read"', "write_file", Verdict.CONFIRM),
        ('"read"', "look", Verdict.ALLOW),
        ('"list"', "look", Verdict.ALLOW),
        ('"write"', "look", Verdict.CONFIRM),
        ('"read"', "load", Verdict.ALLOW),
        ('"list"', "load", Verdict.CONFIRM),
    ],
)
def test_a_permission_covers_what_it_names_alone(tmp_path: Path, access: str, tool: str, verdict: Verdict) -> None:
    """A permission to write is none to delete, and one to read is one to list."""
    declared = '[tool.look]\nroles.path = "list_tree"\n[tool.load]\nroles.path = "read_path"'
    arguments = {"path": "a"} if tool in declared else {"path": "a", "content": ""}
    assert _decide(tmp_path, f"{_ALLOW.format(access)}\n{declared}", tool, **arguments) is verdict


def test_it_narrows_an_exception(tmp_path: Path) -> None:
    """`unless.access = "read"` lifts a rule about a path from those who only read it."""
    rule = 'effect = "block"\nwhen.path = "/**/x"\nunless.path = "/**/x"\nunless.access = "read"'
    verdicts = [_decide(tmp_path, rule, "run_shell", command=command) for command in ("cat x", "echo >x", "cat x >x")]
    assert verdicts == [Verdict.ALLOW, Verdict.BLOCK, Verdict.BLOCK]


@for_each(("line", "told"))
def test_a_mistake_is_told(tmp_path: Path, line: str, told: str) -> None:
    """An access that is not known, or of no path, would silently be none."""
    with pytest.raises(ConfigError, match=told):
        _decide(tmp_path, f'effect = "block"\n{line}', "run_shell", command="ls")

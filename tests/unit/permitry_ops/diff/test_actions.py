"""Calls that do what patterns are about."""

import pytest
from tests.unit.permitry_ops.diff.conftest import side_of

from permitry_ops.diff.actions import Actions, Unsolved
from permitry_ops.diff.ways import ways_to_match


def made(tool: str, *lines: str) -> tuple[list[object], list[str]]:
    """Return the arguments with which a tool does what a restriction is about, and what is not solved."""
    side = side_of("\n".join(("[[rule]]", 'id = "a"', 'effect = "block"', *lines)))
    unsolved = Unsolved()
    literals = list(next(ways_to_match(side.rules.rules[0])))
    patches = list(Actions(side, side).patches(tool, literals, unsolved))
    return [patch["arguments"] for patch in patches], list(unsolved.names)


@pytest.mark.parametrize(
    ("tool", "line", "first"),
    [
        ("run_shell", 'when.command = ["git push *"]', {"command": "git push"}),
        ("run_shell", "when.command = [\"echo 'a b' *\"]", {"command": "echo 'a b'"}),
        ("run_shell", 'when.path = ["src/*.py"]', {"command": "cat src/.py"}),
        ("run_shell", 'when.host = ["a.example.com"]', {"command": "curl https://a.example.com"}),
        ("read_file", 'when.path = ["~/.ssh/id"]', {"path": "~/.ssh/id"}),
        ("web_fetch", 'when.host = ["http://a.example.com:8080"]', {"url": "http://a.example.com:8080"}),
    ],
)
def test_a_tool_is_given_what_a_pattern_is_about(tool: str, line: str, first: dict[str, str]) -> None:
    """As a caller would write it; a path of the home folder is absolute."""
    found, unsolved = made(tool, line)
    arguments = found[0]
    assert isinstance(arguments, dict)
    if first.get("path", "").startswith("~"):
        assert arguments["path"].endswith(first["path"].removeprefix("~"))
    else:
        assert arguments == first
    assert unsolved == []


def test_what_a_command_ends_in_may_matter() -> None:
    """So it is tried with words that make it look, or run another."""
    found, _ = made("run_shell", 'when.command = ["bash *"]')
    assert {"command": "bash --help"} in found
    assert {"command": "bash -c 'zz x'"} in found


def test_a_command_touches_a_path_as_asked_for() -> None:
    """And connects to a host at once, where both are asked for."""
    assert made("run_shell", 'when.path = ["a/**"]', 'when.access = "delete"')[0] == [{"command": "rm a/b"}]
    found, _ = made("run_shell", 'when.path = ["a/**"]', 'when.host = ["b.example.com"]')
    assert {"command": "curl -o a/b https://b.example.com"} in found


def test_a_tool_without_such_an_argument_makes_no_call() -> None:
    """One that is not declared is given the likely one."""
    assert made("read_file", 'when.host = ["a.example.com"]') == ([], [])
    assert made("get_it", 'when.host = ["a.example.com"]') == ([{"url": "https://a.example.com"}], [])


def test_what_has_no_language_is_unsolved() -> None:
    """By the part of it that has none."""
    assert made("run_shell", 'when.command = ["CI=1 npm test"]') == ([], ["a pattern with a variable"])
    assert made("web_fetch", 'when.host = ["private"]') == ([], ["`private`"])

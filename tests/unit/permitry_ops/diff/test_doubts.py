"""Why it is not proven that there is no call."""

import pytest
from tests.unit.permitry_ops.diff.conftest import side_of

from permitry_ops.diff.doubts import doubts, doubts_of_names, shells_apart
from permitry_ops.diff.ways import Way, ways_to_match, ways_to_miss

BESIDE = "`args.path`, next to what the argument does"


def way_of(effect: str, *lines: str) -> Way:
    """Return the first way in which a rule of some lines matches."""
    rule = "\n".join(("[[rule]]", 'id = "a"', f'effect = "{effect}"', *lines))
    return next(ways_to_match(side_of(rule).rules.rules[0]))


@pytest.mark.parametrize(
    ("effect", "line", "tool", "doubt"),
    [
        ("allow", 'when.command = ["git *"]', "run_shell", ""),
        ("allow", 'when.path = ["src/**"]', "write_file", ""),
        ("allow", 'when.path = ["src/**"]', "run_shell", "what else a command does with `path`"),
        ("allow", 'when.path = ["src/**"]', "apply_patch", "all that the arguments of `apply_patch` may name"),
        ("allow", 'when.path = ["src/**"]', "get_it", "what the arguments of `get_it` are"),
        ("block", 'when.command = ["git *"]', "run_shell", "`command` in other spellings"),
        ("allow", 'when.command = ["git *"]\nwhen.looks = true', "run_shell", "`looks`"),
        (
            "allow",
            'when.path = ["a/*"]\nwhen.args.path = "b"',
            "write_file",
            "`args.path`, next to what the argument does",
        ),
        ("allow", "when.args.n = 1", "write_file", ""),
    ],
)
def test_what_a_search_does_not_cover_is_in_doubt(effect: str, line: str, tool: str, doubt: str) -> None:
    """Of a permission about simple arguments, nothing is."""
    way = way_of(effect, 'tools = ["*"]', line)
    found = list(doubts(way, tool, side_of("").tool(tool), is_restriction=False))
    assert found == ([doubt] if doubt else [])


def test_a_restriction_is_about_more_than_its_patterns_say() -> None:
    """So nothing is proven of one that is gone."""
    way = way_of("allow", 'tools = ["*"]', 'when.command = ["git *"]')
    assert list(doubts(way, "run_shell", side_of("").tool("run_shell"), is_restriction=True)) == [
        "`command` in other spellings"
    ]


def test_a_call_may_have_no_such_action_at_all() -> None:
    """Where a permission must not match, and none must that is about such actions."""
    rule = side_of('[[rule]]\nid = "a"\neffect = "allow"\ntools = ["*"]\nwhen.command = ["git *"]').rules.rules[0]
    *_, miss = ways_to_miss(rule)
    assert list(doubts(miss, "run_shell", side_of("").tool("run_shell"), is_restriction=False)) == [
        "calls of which `command` is not known"
    ]


@pytest.mark.parametrize(
    ("effect", "tools", "doubt"),
    [
        ("allow", '["send_*"]', ""),
        ("block", '["send_*"]', ""),
        ("block", '["SendMail"]', "`tools` in other letters"),
        ("allow", '["@shell"]', "`tools` by what they do"),
    ],
)
def test_not_all_tools_are_tried(effect: str, tools: str, doubt: str) -> None:
    """By what they do, and by names that a restriction reads in other letters."""
    way = way_of(effect, f"tools = {tools}")
    assert list(doubts_of_names(way)) == ([doubt] if doubt and effect == "block" else [])


def test_one_shell_is_enough_that_takes_a_text() -> None:
    """Others run the same commands."""
    side = side_of("")
    tools = {name: side.tool(name) for name in ("run_shell", "write_stdin", "write_file")}
    assert shells_apart(tools) == ["run_shell", "write_file"]
    assert shells_apart({"write_stdin": side.tool("write_stdin")}) == ["write_stdin"]

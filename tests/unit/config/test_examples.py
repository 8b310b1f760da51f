"""The examples of a rule: calls it must match, and calls it must not."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.errors import Problem

Load = Callable[[str], tuple[Problem, ...]]
_NAME = "read as the name of a tool, as in every rule without the conditions `command`, `path` and `host`"


def _rule(effect: str, *lines: str) -> str:
    return "\n".join(["schema = 1", "[[rule]]", 'id = "r"', f'effect = "{effect}"', *lines])


@pytest.fixture
def told(problems_of: Load) -> Callable[..., list[str]]:
    """Return a function from the effect and lines of a rule to what is wrong with it, without the examples' names."""

    def found(effect: str, *lines: str) -> list[str]:
        return [problem.message for problem in problems_of(_rule(effect, *lines))]

    return found


# What a plain string is -------------------------------------------------------------------------------------------


@for_each(("when", "match", "no_match"))
def test_a_plain_string_is_what_the_rule_is_about(
    told: Callable[..., list[str]], when: str, match: str, no_match: str
) -> None:
    """A command, a path, an address, or else a tool; and each way round it is a mistake."""
    assert told("block", when, f"match = [{match}]", f"no_match = [{no_match}]") == []
    assert len(told("block", when, f"match = [{no_match}]", f"no_match = [{match}]")) == 2


@for_each("access", ["read", "write", "delete", 'read", "delete'])
@for_each("group", ["when", "unless"])
def test_a_path_is_accessed_as_the_rule_says(told: Callable[..., list[str]], group: str, access: str) -> None:
    """In one of the ways that it is about, in `when` or in `unless`; the other path shows that it is compared."""
    lines = ('tools = ["x"]', f'{group}.path = "/etc/**"', f'{group}.access = ["{access}"]')
    fits, other = ("match", "no_match") if group == "when" else ("no_match", "match")
    assert told("block", *lines, f'{fits} = ["/etc/x"]', f'{other} = ["/usr/x"]') == []


def test_the_first_condition_on_actions_says_what_a_string_is(told: Callable[..., list[str]]) -> None:
    """A command, in a rule on commands and paths; a table can say otherwise."""
    when = 'when.command = "cat *"\nwhen.path = "a"'
    assert told("block", when, 'match = ["cat a"]', 'no_match = ["cat b", "ls a", { path = "a" }]') == []


@for_each(("example", "message"))
def test_an_example_that_is_no_call_is_told(told: Callable[..., list[str]], example: str, message: str) -> None:
    """Once, and it is not tried."""
    assert told("block", 'tools = ["x"]', f"match = [{example}]") == [message]


def test_a_plain_string_is_checked_as_what_it_is(told: Callable[..., list[str]]) -> None:
    """A command may hold what the name of a tool may not, but not nothing."""
    when = 'when.command = "rm *"'
    assert told("block", when, 'match = ["rm *"]') == []
    assert told("block", when, 'match = [" "]') == ["the text is empty"]


# What an example says ---------------------------------------------------------------------------------------------


@for_each("example")
def test_what_an_example_does_not_say_is_taken_to_hold(told: Callable[..., list[str]], example: str) -> None:
    """Also the actions, in one that says nothing about them."""
    lines = (
        *('tools = ["bash"]', 'when.command = "rm *"', 'when.mode = "plan"', 'when.agent = "sub"'),
        *('when.label = "web"', "when.args.limit.gt = 5", "when.repeat = 3", 'when.server = "x"'),
    )
    assert told("block", *lines, f"match = [{example}]") == []


@for_each("example")
def test_one_thing_that_does_not_hold_is_enough(told: Callable[..., list[str]], example: str) -> None:
    """Whatever else the example says."""
    lines = (
        *('tools = ["bash"]', 'when.command = "rm *"', 'when.mode = "plan"', 'when.agent = "sub"'),
        *('when.label = "web"', "when.args.limit.gt = 5"),
    )
    assert told("block", *lines, f"no_match = [{example}]") == []


def test_an_exception_is_tried_as_far_as_the_example_says_something(told: Callable[..., list[str]]) -> None:
    """One about something else does not hold."""
    lines = ('tools = ["x"]', 'unless.mode = "plan"')
    examples = ('match = ["x", { tool = "x", mode = "default" }]', 'no_match = [{ tool = "x", mode = "plan" }]')
    assert told("block", *lines, *examples) == []


def test_an_exception_over_actions_is_tried_with_the_actions(told: Callable[..., list[str]]) -> None:
    """As for a real call."""
    lines = ('when.path = "src/**"', 'unless.path = "src/gen/**"')
    assert told("block", *lines, 'match = ["src/a"]', 'no_match = ["src/gen/a", "lib/a"]') == []


# What is not certain ----------------------------------------------------------------------------------------------


def test_a_restriction_that_only_may_match_is_told_so(problems_of: Load) -> None:
    """As a match and as none: the call would be asked about."""
    lines = (
        'when.path = "src/**"',
        'match = [{ command = "ls; f() { g; } &&" }]',
        'no_match = [{ command = "time (" }]',
    )
    one, two = problems_of(_rule("block", *lines))
    assert one.message == "the `match` example `ls; f() { g; } &&` does not match the rule"
    assert one.hint.startswith("it only may: ")
    assert two.message == "the `no_match` example `time (` may match the rule"


def test_a_rule_that_asks_matches_by_a_guess(told: Callable[..., list[str]]) -> None:
    """The call is asked about either way."""
    lines = ('when.path = "~/.ssh/**"', 'match = [{ command = "cp -r ~ /mnt" }, { command = "cat $x" }]')
    assert told("confirm", *lines) == []
    assert len(told("block", *lines)) == 2


def test_a_permission_that_is_not_certain_does_not_match(told: Callable[..., list[str]]) -> None:
    """Law 2: doubt permits nothing."""
    lines = ('when.command = "ls *"', 'match = ["ls -l"]', 'no_match = ["$x -l", "ls > a", "ls && rm x"]')
    assert told("allow", *lines) == []


@for_each("kind", ["path", "command"])
def test_no_link_of_this_machine_is_looked_for(told: Callable[..., list[str]], tmp_path: Path, kind: str) -> None:
    """An example means the same everywhere, and tomorrow: also for what is kept of the file."""
    (tmp_path / "link").symlink_to("real")
    given = {"path": f'"{tmp_path}/link/x"', "command": f'{{ command = "cat {tmp_path}/link/x" }}'}[kind]
    assert told("block", f'when.path = "{tmp_path}/real/**"', f"no_match = [{given}]") == []
    assert told("block", f'when.path = "{tmp_path}/link/**"', f"match = [{given}]") == []


def test_an_argument_that_cannot_be_compared_counts_against_the_call(told: Callable[..., list[str]]) -> None:
    """Law 2: a restriction matches, a permission does not."""
    lines = ('tools = ["x"]', "when.args.limit.gt = 5")
    example = '[{ tool = "x", args = { limit = "a" } }]'
    assert told("block", *lines, f"match = {example}") == []
    assert told("allow", *lines, f"no_match = {example}") == []


# What is told -----------------------------------------------------------------------------------------------------


@for_each(
    ("effect", "lines", "hint"),
    [
        ("block", ('tools = ["x", "@agent"]', 'match = ["bash"]'), "its tools are `x`, `@agent`"),
        (
            "block",
            ('tools = ["x"]', 'when.mode = "plan"', 'match = [{ tool = "x", mode = "review" }]'),
            "the example has mode = review (expected: plan)",
        ),
        (
            "block",
            ('when.command = "rm *"', 'match = ["run_shell"]'),
            ('in a rule with the condition `command`; for the name of a tool, write `{ tool = "run_shell" }`'),
        ),
        (
            "block",
            ('when.path = "a/**"', 'match = ["rm a/b"]'),
            ('in a rule with the condition `path`; for a command, write `{ command = "rm a/b" }`'),
        ),
        (
            "block",
            ('when.host = "a.example"', 'match = ["http_get"]'),
            ('in a rule with the condition `host`; for the name of a tool, write `{ tool = "http_get" }`'),
        ),
        ("block", ('when.command = "rm *"', 'match = ["ls x"]'), "nothing in it fits the conditions"),
        ("block", ('when.command = "rm *"', 'match = [{ command = "ls" }]'), "nothing in it fits the conditions"),
        (
            "block",
            ('tools = ["x"]', 'match = ["git push"]'),
            f'{_NAME}; write `{{ command = "git push" }}`',
        ),
        (
            "block",
            ('tools = ["x"]', 'no_match = ["https://example.net/"]'),
            f'{_NAME}; write `{{ host = "https://example.net/" }}`',
        ),
        (
            "block",
            ('tools = ["x"]', 'no_match = [{ tool = "https://example.net/" }]'),
            'an example with an address is `{ host = "https://example.net/" }`',
        ),
        ("allow", ('when.command = "ls *"', 'match = ["ls", "ls; rm x"]'), "`rm x` is not covered"),
        (
            "allow",
            ('tools = ["x"]', "when.args.n.gt = 5", 'match = [{ tool = "x", args = { n = "a" } }]'),
            "`args.n` is a string, which has no order with an integer",
        ),
        (
            "block",
            ('tools = ["x"]', 'unless.path = "a"', 'no_match = ["y"]'),
            'is a path in a rule with the condition `path`; for the name of a tool, write `{ tool = "y" }`',
        ),
        ("block", ('when.path = "src/**"', 'match = ["/etc/x"]'), "nothing in it fits the conditions"),
        ("block", ('tools = ["x"]', 'match = ["/etc/x"]'), f'{_NAME}; write `{{ path = "/etc/x" }}`'),
        ("block", ('tools = ["x"]', 'no_match = ["x"]'), "narrow the rule, or move the example to `match`"),
    ],
)
def test_a_failing_example_says_why(problems_of: Load, effect: str, lines: tuple[str, ...], hint: str) -> None:
    """The fact that keeps the rule from matching."""
    [problem] = problems_of(_rule(effect, *lines))
    assert problem.hint.endswith(hint)


def test_an_example_without_a_name_is_told_all_the_same(told: Callable[..., list[str]]) -> None:
    """Its place says which one it is."""
    lines = ('tools = ["x"]', 'when.mode = "plan"', 'match = [{ mode = "review" }]')
    assert told("block", *lines) == ["the `match` example `{…}` does not match the rule"]


# What is declared -------------------------------------------------------------------------------------------------


@for_each(("declared", "count"), [('[tool.grab]\nroles = { dest = "write_path" }\n', 0), ("[tool.grab]\n", 1)])
def test_an_example_knows_the_tools_that_the_file_declares(problems_of: Load, declared: str, count: int) -> None:
    """Its arguments do what the declaration says, and nothing else."""
    rule = [
        "[[rule]]", 'id = "r"', 'effect = "block"', 'tools = ["grab"]', 'when.path = "src/**"',
        'match = [{ tool = "grab", args = { dest = "src/a" } }]',
        'no_match = [{ tool = "grab", args = { dest = "lib/a" } }]',
    ]  # fmt: skip
    found = problems_of("\n".join(["schema = 1", declared, *rule]))
    assert bool(found) is bool(count)


def test_an_example_tells_a_server_by_the_name_of_its_tool(told: Callable[..., list[str]]) -> None:
    """As a call does; and each way round it is a mistake."""
    here, there = '"mcp:docs/get"', '"mcp:other/get"'
    assert told("block", 'when.server = "docs"', f"match = [{here}]", f"no_match = [{there}]") == []
    assert len(told("block", 'when.server = "docs"', f"match = [{there}]", f"no_match = [{here}]")) == 2


@for_each("key", ["match", "no_match"])
@for_each("lines", ['tools = ["x"]', 'when.command = "rm *"', 'when.mode = "ci"'])
def test_an_example_that_says_nothing_is_a_mistake(told: Callable[..., list[str]], key: str, lines: str) -> None:
    """It would hold of every rule."""
    assert told("block", lines, f"{key} = [{{}}]") == [f"the `{key}` example is empty"]


def test_an_example_has_links(told: Callable[..., list[str]]) -> None:
    """Their hosts are in it; where they come from is known where it says what the user wrote."""
    hosts = ['tools = ["post"]', 'when.args.body.links.host = ["a.com"]']
    good, other = '{ args = { body = "https://a.com/" } }', '{ args = { body = "https://b.com/" } }'
    assert told("allow", *hosts, f"match = [{good}]", f"no_match = [{other}]") == []
    assert len(told("allow", *hosts, f"match = [{other}]", f"no_match = [{good}]")) == 2
    sources = ['tools = ["post"]', 'when.args.body.links.from = ["user"]']
    heard = '{ args = { body = "https://a.com/" }, prompt = "Post https://b.com/." }'
    assert told("allow", *sources, f"match = [{good}]", f"no_match = [{heard}]") == []
    either = ['tools = ["post"]', 'when.args.body.links = [{ host = ["c.com"] }, { from = ["user"] }]']
    assert told("allow", *either, f"match = [{good}]", f"no_match = [{heard}]") == []


def test_an_example_says_what_the_user_wrote(told: Callable[..., list[str]]) -> None:
    """Then it is known where its values come from; without that, they come from where the rule wants."""
    lines = ['tools = ["pay"]', 'when.args.to.from = ["user"]', 'when.prompt.words = ["pay"]']
    good, other = ('{ args = { to = "AT1" }, prompt = "Pay AT1." }', '{ args = { to = "AT2" }, prompt = "Pay AT1." }')
    silent, unasked = '{ args = { to = "AT2" } }', '{ args = { to = "AT1" }, prompt = "AT1" }'
    assert told("allow", *lines, f"match = [{good}, {silent}]", f"no_match = [{other}, {unasked}]") == []
    assert len(told("allow", *lines, f"match = [{other}, {unasked}]", f"no_match = [{good}, {silent}]")) == 4

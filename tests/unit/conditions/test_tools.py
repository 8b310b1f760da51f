"""Which tools a rule is about."""

import attrs
import pytest
from tests.matching import matches
from tests.tables import for_each

from permitry.conditions.match import Match
from permitry.conditions.tools import ToolsCondition, ToolSelector, selector_problem
from permitry.core.action import Actions, Run, Word
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Request
from permitry.core.spec import TRAIT_SELECTORS, ArgumentRole, ToolSpec, ToolTraits
from permitry.errors import RuleError

READS = Actions((Run((Word("ls"),)),))
WRITES = Actions((Run((Word("rm"),), "it removes"),), doubt="it removes")
NOTHING = Actions()
BASH = ToolCall("bash", {"command": "x"})


def _request(tool: str | ToolCall, traits: ToolTraits | None = None, actions: Actions = NOTHING) -> Request:
    call = ToolCall(tool) if isinstance(tool, str) else tool
    spec = None if traits is None else ToolSpec(call.tool, traits=traits)
    return Request(call, AuthContext(), spec, lambda *_: actions)


def _both(selector: str, request: Request) -> tuple[bool, bool]:
    """Return what a permission and what a restriction selects."""
    return matches(ToolSelector(selector), request), matches(ToolSelector(selector), request, Match.ALIKE)


@for_each(
    ("selector", "tool"),
    [("bash", "bash"), ("read_*", "read_file"), ("*", "mcp:docs/search"), ("mcp:docs/*", "mcp:docs/search")],
)
def test_a_selector_selects_by_name_and_glob(selector: str, tool: str) -> None:
    """The name is the one rules see."""
    assert _both(selector, _request(tool)) == (True, True)


@for_each(
    ("selector", "tool"),
    [("bash", "mcp:docs/bash"), ("search", "mcp:docs/search"), ("read_*", "bread_file"), ("", "a")],
)
def test_a_selector_selects_nothing_else(selector: str, tool: str) -> None:
    """The whole name must fit, server included, also for a restriction."""
    assert _both(selector, _request(tool)) == (False, False)


@for_each(
    ("selector", "tool"),
    [
        ("mcp:bank/*", "mcp__bank__pay_invoice"), ("send_money", "Send_Money"), ("permitry_*", "Permitry_trust"),
        ("mcp:bank/pay", "MCP:bank/pay"), ("Send_Money", "send_money"), ("mcp:permitry/*", "mcp_permitry_trust"),
    ],
)  # fmt: skip
def test_a_restriction_selects_by_any_reading_of_a_name(selector: str, tool: str) -> None:
    """A permission, and what lifts a restriction, by the very name alone."""
    assert _both(selector, _request(tool)) == (False, True)


@for_each(
    ("call", "spec", "reads"),
    [
        (ToolCall("read_file"), None, True),
        (ToolCall("unheard_of"), None, False),
        (ToolCall("read_file", kind=PayloadKind.CUSTOM), None, False),
        (ToolCall("lookup"), ToolSpec("lookup", traits=ToolTraits(read_only=True)), True),
        (ToolCall("read_file"), ToolSpec("read_file"), False),
    ],
)
def test_trait_selectors_look_at_what_a_tool_is(*, call: ToolCall, spec: ToolSpec | None, reads: bool) -> None:
    """`@reads` selects what is known to read, `@writes` all else."""
    request = Request(call, AuthContext(), spec)
    assert _both("@reads", request) == (reads, reads)
    assert _both("@writes", request) == (not reads, not reads)


@for_each(("actions", "reads"), [(READS, True), (WRITES, False)])
def test_a_command_reads_when_all_it_runs_does(*, actions: Actions, reads: bool) -> None:
    """A shell is judged by what it is told to do."""
    request = _request(BASH, actions=actions)
    assert _both("@reads", request) == (reads, reads)
    assert _both("@writes", request) == (not reads, not reads)
    assert _both("@network", request) == (not reads, not reads)


def test_a_restriction_on_readers_binds_what_could_not_be_read() -> None:
    """Law 4: a command that is damaged must not leave a restriction that held it."""
    call = ToolCall("bash", {"command": 7})
    assert _both("@reads", Request(call, AuthContext())) == (False, True)
    assert _both("@writes", Request(call, AuthContext())) == (True, True)


@for_each(("tool", "is_shell"), [("bash", True), ("exec_command", True), ("read_file", False), ("mcp:x/bash", False)])
def test_a_shell_is_a_tool_that_takes_a_command(*, tool: str, is_shell: bool) -> None:
    """By its roles, or by a name everybody uses for one."""
    assert _both("@shell", _request(tool)) == (is_shell, is_shell)


@for_each("selector", ["@network", "@agent"])
@for_each(("value", "selected"), [(True, (True, True)), (False, (False, False)), (None, (False, True))])
def test_an_unknown_trait_counts_against_the_call(
    *, selector: str, value: bool | None, selected: tuple[bool, bool]
) -> None:
    """A permission selects what is known to be so, a restriction what may be."""
    traits = ToolTraits(open_world=value, spawns_agent=value)
    assert _both(selector, _request("thing", traits)) == selected


@for_each("selector", ["@network", "@agent"])
def test_nothing_is_known_of_an_unknown_tool(selector: str) -> None:
    """A restriction selects it, a permission does not."""
    assert _both(selector, _request("unheard_of")) == (False, True)


def test_the_trait_selectors_are_listed() -> None:
    """The loader knows which words beginning with @ mean something."""
    assert TRAIT_SELECTORS == ("@agent", "@network", "@reads", "@shell", "@writes")


def test_a_misspelt_trait_selector_is_refused() -> None:
    """It would be the name of a tool that no one has."""
    with pytest.raises(RuleError, match="unknown trait selector `@read`; known: @agent"):
        ToolSelector("@read")


# The exception `tools` -------------------------------------------------------------------------------------------


def test_one_selector_is_enough_and_lifts_only_what_is_certain() -> None:
    """A restriction is lifted from the very name, a permission from every reading of it."""
    excepted = ToolsCondition.read((), ("send_mail", "@network"))
    for name, spec, expected in (
        ("send_mail", None, (True, True)),
        ("Send_Mail", ToolSpec("Send_Mail", traits=ToolTraits(open_world=False)), (False, True)),
        ("other", None, (False, True)),
        ("fetch", ToolSpec("fetch", traits=ToolTraits(open_world=True)), (True, True)),
        ("read", ToolSpec("read", traits=ToolTraits(open_world=False)), (False, False)),
    ):
        request = Request(ToolCall(name), AuthContext(), spec)
        held = (matches(excepted, request), matches(excepted, request, Match.ALIKE))
        assert (name, held) == (name, expected)
        assert excepted.fact(request) == f"tool = {name}"


SHELL = ToolSpec("run", traits=ToolTraits(open_world=True), roles={"command": ArgumentRole.COMMAND})


@for_each(
    ("word", "problem", "hint"),
    [
        ("@shel", "unknown trait selector `@shel`", "did you mean `@shell`?"),
        (" ", "a tool name is empty", "for every tool"),
        ("a ", "the tool name `a ` holds blanks at an end or invisible characters", "remove them"),
        ("a{b,c}", "the pattern `a{b,c}` uses brackets or braces", "list the names"),
        ("^read_", "`^read_` is not the name of a tool", "`*` and `?`"),
        ("re:read", "`re:read` is not the name of a tool", "`*` and `?`"),
        (
            "Bash(npm test:*)",
            "`Bash(npm test:*)` is another program's way to name calls",
            'when.command = "npm test *"',
        ),
        ("Bash(ls)", "`Bash(ls)` is another program's way to name calls", 'when.command = "ls"'),
        ("WebFetch(domain:a.b)", "`WebFetch(domain:a.b)` is another program's way to name calls", 'when.host = "a.b"'),
        ("Other(x)", "`Other(x)` is another program's way to name calls", 'tools = ["Other"]'),
        ("a" * 500, "a tool name is longer than", "no tool has such a name"),
        ("mcp__s__t", "`mcp__s__t` is another program's way to name a tool", "write `mcp:s/t`"),
        ("mcp__s", "`mcp__s` is another program's way to name a tool", "write `mcp:s/*`"),
        ("mcp:s", "`mcp:s` names a server but no tool", "`mcp:server/tool`"),
        ("mcp:/t", "`mcp:/t` names a tool but no server", "`mcp:server/tool`"),
        ("mcp:", "`mcp:` names neither server nor tool", "`mcp:server/tool`"),
    ],
)
def test_a_word_that_names_no_tool_is_explained(word: str, problem: str, hint: str) -> None:
    """What is wrong, and what to write instead; the words of other programs are known."""
    found = selector_problem(word)
    assert found is not None
    assert found[0].startswith(problem)
    assert hint in (found[1] or "")


@for_each("word", ["read_file", "*", "mcp:s/*", "mcp:s/t", "@shell", "read-*", "a.b"])
def test_a_word_that_may_name_tools_has_no_problem(word: str) -> None:
    """Names, patterns of names, servers and traits."""
    assert selector_problem(word) is None


def test_a_selector_that_no_one_knows_is_the_name_of_a_tool() -> None:
    """Where a host switches validators off: it is none of the traits, whatever it begins with."""
    with attrs.validators.disabled():
        selector = ToolSelector("@scope/x")
    assert selector.pattern is not None
    assert not matches(selector, _request("run", ToolTraits(spawns_agent=True)), Match.ALIKE)
    assert matches(selector, _request("@scope/x"), Match.ALIKE)

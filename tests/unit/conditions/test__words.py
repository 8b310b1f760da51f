"""Lists of words: a single string is refused, as it would become its letters."""

from collections.abc import Callable

import pytest
from tests.tables import for_each

from permitry.conditions._words import check_sign, words
from permitry.conditions.agent import AgentCondition
from permitry.conditions.args import argument_condition
from permitry.conditions.command import ArgvPattern
from permitry.conditions.path import PathPattern
from permitry.conditions.server import ServerCondition
from permitry.conditions.tools import ToolSelector, name_problem
from permitry.config.conditions import host_pattern
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Request
from permitry.errors import RuleError


def test_a_list_is_kept_in_its_order() -> None:
    """An empty one is empty."""
    assert words(iter(["b", "a", "b"])) == ("b", "a", "b")
    assert words(()) == ()


@for_each("text", ["", "plan"])
def test_one_string_is_refused(text: str) -> None:
    """Even if it has no letters."""
    with pytest.raises(RuleError, match="a list of words is needed"):
        words(text)


@for_each(
    ("key", "read"),
    [
        ("path", PathPattern),
        ("command", ArgvPattern),
        ("command", lambda text: ArgvPattern(f"  {text}")),
        ("host", host_pattern),
        ("tools", ToolSelector),
        ("agent", lambda text: AgentCondition.read((), ("a", text))),
        ("server", lambda text: ServerCondition.read((), ("a", text))),
        ("args.NAME.glob", lambda text: argument_condition("x", {"glob": ["a", text]})),
    ],
)
def test_a_pattern_with_an_exclamation_mark_says_where_an_exception_is_written(
    key: str, read: Callable[[str], object]
) -> None:
    """It would match what is named so, and except nothing."""
    for text, rest in (("!secret", "secret"), ("! secret", "secret"), ("!", "...")):
        with pytest.raises(RuleError, match=r"begins with `!`, which excepts nothing; write `unless\.") as error:
            read(text)
        assert str(error.value).endswith(f'write `unless.{key} = "{rest}"`')


def test_a_name_of_a_tool_with_an_exclamation_mark_is_a_problem() -> None:
    """As in a template."""
    assert name_problem("!x") == (
        "the pattern `!x` begins with `!`, which excepts nothing",
        'write `unless.tools = "x"`',
    )


def test_other_exclamation_marks_are_letters() -> None:
    """Inside a pattern, in quotes, behind a folder, and in a value that is no pattern."""
    assert check_sign("a!", "path") == "a!"
    assert PathPattern("./!x").text == "./!x"
    assert ArgvPattern("find . ! -name *").literals == ArgvPattern("'!x' . ! -name *").literals == 4
    request = Request(ToolCall("t", {"x": "!a"}), AuthContext())
    assert argument_condition("x", {"prefix": "!", "eq": "!a"}).holds(request)

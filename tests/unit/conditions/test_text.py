"""The condition `text`: some text anywhere in the arguments."""

from typing import Any

import pytest
from tests.tables import for_each

from permitry.conditions.args import text_test
from permitry.conditions.text import TextCondition
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Request
from permitry.core.spec import ArgumentRole, ToolSpec
from permitry.errors import RuleError, UnevaluableError

PARAMETERS = {
    "properties": {"body": {"type": "string"}, "note": {"type": "string"}, "size": {"type": "integer"}, "any": True},
    "required": ["body", "size"],
}
SCHEMA = ToolSpec("t", parameters=PARAMETERS)
ROLES = ToolSpec("t", roles={"path|file": "read_path", "items[].path": "read_path", "url?": "url"})


def _holds(arguments: dict[str, Any], spec: ToolSpec | None = None, table: object = None) -> bool | None:
    """Return whether the condition holds, None for no answer."""
    condition = TextCondition(text_test(table or {"contains": "prod"}))
    request = Request(ToolCall("t", arguments), AuthContext(), spec)
    try:
        return condition.holds(request)
    except UnevaluableError:
        return None


@for_each(
    "arguments",
    [
        {"a": "a prod b"},
        {"a": ["x", ["prod"]]},
        {"a": {"b": {"c": "prod"}}},
        {"a": {"prod": 1}},
        {"a": 1, "b": "prod"},
        {"a": [{"x-prod": None}]},
    ],
)
def test_a_text_is_found_at_any_depth(arguments: dict[str, Any]) -> None:
    """As a value, an element or a key."""
    assert _holds(arguments) is True
    assert _holds(arguments, SCHEMA) is _holds(arguments, ROLES) is True


@for_each("arguments", [{"prod": "x"}, {"a": "PROD"}, {"a": ["pr", "od"]}, {"a": "x", "b": 7}])
def test_other_texts_are_not_it(arguments: dict[str, Any]) -> None:
    """Case counts, and the name of an argument is the tool's and not a text of the call."""
    assert _holds(arguments) is False


@for_each(("table", "expected"))
def test_the_operators_are_about_one_text(table: dict[str, Any], expected: bool) -> None:  # noqa: FBT001 -- a row
    """Those of the arguments: one of a list of parts, a pattern of the whole text, and both of the same text."""
    assert _holds({"x": "abc", "y": "z"}, table=table) is expected


@for_each("arguments", [{}, {"a": 7}, {"a": [None, {}]}])
def test_without_any_text_there_is_no_answer_for_an_undeclared_tool(arguments: dict[str, Any]) -> None:
    """The argument that held it may have been removed, or be of another type now."""
    assert _holds(arguments) is None
    assert _holds(arguments, ToolSpec("t")) is None


@for_each(
    ("arguments", "expected"),
    [
        ({"body": "x", "size": 1}, False),
        ({"body": "x"}, False),
        ({"body": "", "note": "y"}, False),
        ({}, None),
        ({"size": 1}, None),
        ({"body": 7}, None),
        ({"body": "x", "note": 7}, None),
        ({"body": "x", "any": 7}, False),
    ],
)
def test_a_declared_text_must_be_there(arguments: dict[str, Any], expected: bool | None) -> None:  # noqa: FBT001 -- a row
    """A required text that is missing, or a value that is not a text, leaves no answer; so does nothing else."""
    assert _holds(arguments, SCHEMA) is expected


@for_each(
    ("arguments", "expected"),
    [
        ({"path": "x", "items": [{"path": "y"}]}, False),
        ({"file": "x", "items": [{"path": "y"}], "url": "z"}, False),
        ({"file": "x", "items": ["y"], "url": "z"}, None),
        ({"file": "x", "items": [{"name": "y"}], "url": "z"}, None),
        ({"path": "x"}, None),
        ({"path": "x", "items": []}, None),
        ({"file": 1, "items": [{"path": "y"}]}, None),
        ({"path": "x", "items": [{"path": "y"}], "url": None}, None),
        ({"path": ["x"], "items": [{"path": "y"}]}, None),
        ({"path": "x", "items": "y"}, None),
        ({"path": {"x": "y"}, "items": [{"path": "y"}]}, None),
    ],
)
def test_what_has_a_role_must_be_there(arguments: dict[str, Any], expected: bool | None) -> None:  # noqa: FBT001 -- a row
    """By one of its names, unless it may be left out."""
    assert _holds(arguments, ROLES) is expected


@for_each(
    ("role", "key", "value", "expected"),
    [
        ("command", "x", "ls", False),
        ("command", "x", ["ls"], False),
        ("command", "x", {"y": "ls"}, None),
        ("command_or_argv", "x", ["ls"], False),
        ("command", "x", [7], None),
        ("argv", "x", ["ls"], False),
        ("argv", "x", [7], None),
        ("url", "x.y", {"y": 7}, None),
        ("argv", "x", "ls", None),
        ("url", "x[]", ["y"], False),
        ("url", "x[]", "y", None),
        ("url", "x[]?", ["y"], False),
        ("url", "x.y", {"y": "z"}, False),
        ("url", "x.y", ["z"], None),
        ("text", "x", 7, False),
        ("text", "x", None, False),
    ],
)
def test_it_must_be_of_the_type_of_its_role(role: str, key: str, value: object, expected: bool | None) -> None:  # noqa: FBT001 -- a row
    """An argument of another type may be read as another text than the one that was there."""
    assert _holds({"x": value}, ToolSpec("t", roles={key: ArgumentRole(role)})) is expected


def test_a_tool_without_arguments_has_no_text() -> None:
    """So a rule for every tool does not stop it."""
    assert _holds({}, ToolSpec("t", roles={})) is False
    assert _holds({}, ToolSpec("t", parameters={"properties": {}})) is False


def test_a_near_miss_says_what_was_looked_for() -> None:
    """The texts themselves may be long."""
    condition = TextCondition.read((), {"contains": "prod"})
    assert condition.fact(Request(ToolCall("t"), AuthContext())) == 'no text that contains ["prod"]'


def test_a_test_of_a_text_knows_two_operators() -> None:
    """Others are for an argument with a name."""
    with pytest.raises(RuleError, match="unknown operator `prefix`; known: contains, regex"):
        TextCondition.read((), {"prefix": "x"})


@for_each(("role", "expected"), [("command", True), ("argv", False), ("command_or_argv", False)])
def test_a_list_of_words_becomes_a_text_for_a_shell(role: str, expected: bool) -> None:  # noqa: FBT001 -- a row
    """With blanks or commas between them, as programs make it; what starts an argument list makes none."""
    for value in (["a", "pro", "d"], [["a", "pro"], "d"]):
        for key, arguments in (("x", {"x": value}), ("x[]", {"x": [value]}), ("y?|o.x", {"o": {"x": value}})):
            spec = ToolSpec("t", roles={key: ArgumentRole(role)})
            found = [bool(_holds(arguments, spec, {"contains": part})) for part in ("pro d", "pro,d")]
            assert found == [expected, expected]

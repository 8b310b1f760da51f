"""The declared tools, from whatever shape they come in."""

from collections.abc import Iterable
from types import SimpleNamespace

from tests.tables import for_each

from permitry.messages.formats.cursor import Tools, read_tool

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}


@for_each(
    "tool",
    [
        {"type": "function", "function": {"name": "read", "parameters": SCHEMA}},
        {"type": "function", "name": "read", "parameters": SCHEMA},
        {"name": "read", "input_schema": SCHEMA},
        {"name": "read", "inputSchema": SCHEMA},
        {"functionDeclarations": [{"name": "read", "parameters": SCHEMA}]},
        SimpleNamespace(name="read", parameters=SCHEMA),
    ],
)
def test_a_tool_is_read_as_each_provider_has_it(tool: object) -> None:
    """With its name and the schema of its arguments."""
    assert read_tool(tool) == [("read", SCHEMA)]
    assert Tools([tool]).property("read", "path") == {"type": "string"}


@for_each("tool", [None, 5, {}, {"name": 5}, {"function": "read"}, object()])
def test_what_is_no_tool_is_passed_over(tool: object) -> None:
    """The others of the list are still known."""
    assert read_tool(tool) == []
    assert Tools([tool, "read"]).knows("read")


@for_each("given", [None, [], (), {}])
def test_without_tools_nothing_is_known(given: Iterable[object] | None) -> None:
    """Neither that a tool is declared nor that it is not."""
    tools = Tools(given)
    assert (tools.is_given, tools.knows("read"), tools.schemas) == (False, None, {})
    assert not tools.lacks("read", "path")


def test_a_name_alone_declares_no_arguments() -> None:
    """So none is missing among them."""
    tools = Tools(["read"])
    assert (tools.knows("read"), tools.knows("write")) == (True, False)
    assert (tools.schemas["read"], tools.property("read", "path"), tools.lacks("read", "path")) == (
        {},
        None,
        False,
    )


def test_an_argument_may_be_missing_where_arguments_are_declared() -> None:
    """A mapping of names to schemas declares them as well."""
    tools = Tools({"read": SCHEMA, "odd": 5})
    assert (tools.lacks("read", "mode"), tools.lacks("read", "path")) == (True, False)
    assert tools.schemas["odd"] == {}


def test_a_reference_is_followed_inside_of_the_schema() -> None:
    """Also in alternatives; one that leads nowhere, or in a circle, ends."""
    inner = {"type": "integer"}
    properties = {
        "n": {"$ref": "#/$defs/n"},
        "either": {"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]},
        "far": {"$ref": "#/$defs/alias"},
        "lost": {"$ref": "#/$defs/none"},
        "circle": {"$ref": "#/properties/circle"},
    }
    tools = Tools({"t": {"properties": properties, "$defs": {"n": inner, "alias": {"$ref": "#/$defs/n"}}}})
    assert tools.property("t", "n") == inner
    assert tools.property("t", "either") == {"anyOf": [inner, {"type": "null"}]}
    assert tools.property("t", "far") == inner
    assert tools.property("t", "lost") is None
    assert tools.property("t", "circle") == {"$ref": "#/properties/circle"}

"""Calls of a name, keys and values."""

from collections.abc import Callable
from typing import Any, TypeAlias

from tests.tables import for_each

from permitry.messages.text import ParsedText

Parsed: TypeAlias = Callable[..., ParsedText]
Calls: TypeAlias = Callable[..., list[tuple[str, dict[str, Any]]]]

WRAPPED = {
    "glm45_47": "<tool_call>{}</tool_call>",
    "hunyuan_v3": "<tool_calls><tool_call>{}</tool_call></tool_calls>",
    "longcat": "<longcat_tool_call>{}</longcat_tool_call>",
    "k2_horizon": "<ifm|tool_calls>\n<ifm|tool_call>{}</ifm|tool_call>\n</ifm|tool_calls>",
}
PREFIXES = {"longcat": "longcat_", "k2_horizon": "ifm|"}


def pair(key: str, value: str, prefix: str = "") -> str:
    """Return one argument."""
    return f"<{prefix}arg_key>{key}</{prefix}arg_key>\n<{prefix}arg_value>{value}</{prefix}arg_value>\n"


@for_each("name", WRAPPED)
def test_a_call_is_found(parsed: Parsed, name: str) -> None:
    """The format need not be given, and may be."""
    between = "<tool_sep>" if name == "hunyuan_v3" else "\n"
    text = WRAPPED[name].format(f"f{between}{pair('a', 'x', PREFIXES.get(name, ''))}")
    for settings in ({}, {"format": name}):
        result = parsed(f"Well.{text}", **settings)
        assert [(call.name, call.arguments, call.format) for call in result.calls] == [("f", {"a": "x"}, name)]
        assert result.content.strip() == "Well."


def test_other_models_write_the_same(parsed: Parsed) -> None:
    """Their names may be given."""
    for name in ("poolside_v1", "ling3", "spark25"):
        assert [call.format for call in parsed("<tool_call>f</tool_call>", format=name).calls] == [name]


def test_a_name_alone_is_a_call(calls: Calls) -> None:
    """A tool may need no arguments; a key without a value is none."""
    assert calls("<tool_call>f\n</tool_call>") == [("f", {})]
    assert calls("<tool_call>f<arg_key>a</arg_key></tool_call>") == [("f", {})]


def test_a_schema_decides_the_type(calls: Calls) -> None:
    """Without a schema a value is text, entities and blanks in it included."""
    text = f"<tool_call>f{pair('n', '5')}{pair('s', '  &lt;5')}</tool_call>"
    assert calls(text) == [("f", {"n": "5", "s": "  &lt;5"})]
    assert calls(text, {"f": {"properties": {"n": {"type": "number"}}}}) == [("f", {"n": 5, "s": "  &lt;5"})]


def test_a_type_may_stand_before_the_value(calls: Calls) -> None:
    """K2 Horizon writes it where no schema is."""
    inner = "<ifm|arg_key>a</ifm|arg_key><ifm|arg_type>{}</ifm|arg_type><ifm|arg_value>5</ifm|arg_value>"
    text = f"<ifm|tool_call>f{inner}</ifm|tool_call>"
    assert calls(text.format("integer")) == [("f", {"a": 5})]
    assert calls(text.format("string")) == [("f", {"a": "5"})]
    assert calls(text.replace("</ifm|arg_type>", "")) == []


def test_a_value_may_hold_its_closing_tag(calls: Calls) -> None:
    """The one that closes it is the one a key or the end comes after."""
    assert calls(f"<tool_call>f{pair('a', 'x</arg_value>y')}</tool_call>") == [("f", {"a": "x</arg_value>y"})]


@for_each(
    "body",
    [
        "not a name",
        "f<arg_key>a",
        "f<arg_key>a</arg_key><arg_value>1",
        f"f{pair('a', '1')} text",
        f"f{pair('a', '1')}{pair('a', '2')}",
        "<arg_key>a</arg_key><arg_value>1</arg_value>",
    ],
)
def test_anything_else_is_text(parsed: Parsed, body: str) -> None:
    """A block that is not complete is not a call."""
    text = f"<tool_call>{body}</tool_call>"
    result = parsed(text)
    assert (result.calls, result.content) == ((), text)


def test_a_flood_of_marks_is_text(parsed: Parsed) -> None:
    """Every mark is looked at once."""
    for text in (
        "<tool_call>f<arg_key>a</arg_key><arg_value>" * 60,
        "<tool_call>f<arg_key>" * 60,
        "</arg_value> x" * 60,
    ):
        assert parsed(text).content == text

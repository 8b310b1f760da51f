"""Calls between `<function=NAME>` and `</function>`."""

from collections.abc import Callable
from typing import Any, TypeAlias

from tests.tables import for_each

from permitry.messages.text import ParsedText

Parsed: TypeAlias = Callable[..., ParsedText]
Calls: TypeAlias = Callable[..., list[tuple[str, dict[str, Any]]]]


def one(value: str) -> str:
    """Return a call of `f` with one parameter, written between its tags."""
    return f"<function=f>\n<parameter=x>{value}</parameter>\n</function>"


def test_a_call_has_its_parameters(calls: Calls) -> None:
    """Parameters come in order, as text."""
    text = "<function=f>\n<parameter=b>\n1\n</parameter>\n<parameter=a>\nx y\n</parameter>\n</function>"
    assert calls(text) == [("f", {"b": "1", "a": "x y"})]


def test_the_wrapper_is_no_content(parsed: Parsed) -> None:
    """The tag around the call is dropped, several calls may stand in it."""
    call = "<function=f>\n</function>\n"
    result = parsed(f"Look:\n<tool_call>\n{call}{call}</tool_call>")
    assert [each.name for each in result.calls] == ["f", "f"]
    assert result.content.split() == ["Look:"]


@for_each(("written", "kept"), [("\n  a\n", "  a"), ("\n\na\n\n", "\na\n"), ("  a ", "  a "), ("", "")])
def test_one_line_break_is_trimmed_at_each_end(calls: Calls, written: str, kept: str) -> None:
    """What else a value holds is the model's, above all its indentation."""
    assert calls(one(written)) == [("f", {"x": kept})]


def test_a_value_may_hold_its_closing_tag(calls: Calls) -> None:
    """A closing tag that neither a parameter nor the end of the call follows is text."""
    assert calls(one("a</parameter> b")) == [("f", {"x": "a</parameter> b"})]


def test_a_schema_decides_the_type(calls: Calls) -> None:
    """Without a schema a value is text."""
    tools = {"f": {"properties": {"x": {"type": "integer"}}}}
    assert calls(one("5")) == [("f", {"x": "5"})]
    assert calls(one("5"), tools) == [("f", {"x": 5})]


def test_seed_oss_is_reported_by_its_wrapper(parsed: Parsed) -> None:
    """Its wrapper and its reasoning have tags of their own."""
    result = parsed(f"<seed:think>hm</seed:think><seed:tool_call>\n{one('1')}\n</seed:tool_call>")
    assert [call.format for call in result.calls] == ["seed_oss"]
    assert (result.content.strip(), result.reasoning) == ("", "hm")


def test_a_json_body_is_the_arguments(parsed: Parsed) -> None:
    """Llama writes one JSON object between the tags."""
    result = parsed('<function=bash>{"command": "echo </function>"}</function>')
    assert [(call.name, call.arguments, call.format) for call in result.calls] == [
        ("bash", {"command": "echo </function>"}, "function_tag_json")
    ]


@for_each(
    "text",
    [
        "<function=f>\n<parameter=x>1</parameter>\n",
        "<function=f>\n<parameter=x>1\n</function>",
        "<function=f>{bad}</function>",
        '<function=f>{"a": 1}',
        "<function=>\n</function>",
        "<function=f>\n<parameter=>1</parameter>\n</function>",
        "<function=f> text </function>",
        "<function=f",
    ],
)
def test_a_broken_block_is_text(parsed: Parsed, text: str) -> None:
    """Nothing is guessed; the text is all there."""
    result = parsed(text)
    assert (result.calls, result.content) == ((), text)


def test_a_parameter_that_comes_twice_is_refused(parsed: Parsed) -> None:
    """No one can say which one is meant."""
    result = parsed("<function=f>\n<parameter=x>1</parameter>\n<parameter=x>2</parameter>\n</function>")
    assert result.calls == ()
    assert "occurs twice" in result.diagnostics[0].message


def test_a_missing_end_is_repaired_only_when_asked(parsed: Parsed) -> None:
    """The call says that it was repaired."""
    text = "<tool_call>\n<function=f>\n<parameter=x>1</parameter>\n</tool_call>"
    assert parsed(text).calls == ()
    assert [call.repaired for call in parsed(text, repair=True).calls] == [True]


def test_many_openings_stay_text(parsed: Parsed) -> None:
    """A flood of openings is read once."""
    text = "<function=f><parameter=a>" * 200
    assert parsed(text).content == text

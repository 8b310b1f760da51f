"""Calls written as Python."""

from collections.abc import Callable
from typing import Any, TypeAlias

from tests.tables import for_each

from permitry.messages.text import ParsedText

Parsed: TypeAlias = Callable[..., ParsedText]
Calls: TypeAlias = Callable[..., list[tuple[str, dict[str, Any]]]]

MARKED = {
    "pythonic": '[f(a="x", n=1)]',
    "llama4_pythonic": '<|python_start|>[f(a="x", n=1)]<|python_end|>',
    "olmo3_pythonic": '<function_calls>f(a="x", n=1)</function_calls>',
    "lfm2": '<|tool_call_start|>[f(a="x", n=1)]<|tool_call_end|>',
}


@for_each("name", MARKED)
def test_a_call_is_found(parsed: Parsed, name: str) -> None:
    """The format need not be given, and may be."""
    for settings in ({}, {"format": name}):
        result = parsed(MARKED[name], **settings)
        assert [(call.name, call.arguments, call.format) for call in result.calls] == [("f", {"a": "x", "n": 1}, name)]


def test_several_calls_in_one_list(calls: Calls) -> None:
    """A comma separates them, one more may stand at the end."""
    assert calls("[a.b(), f(x=[1, {'k': None}],),]") == [("a.b", {}), ("f", {"x": [1, {"k": None}]})]


def test_several_calls_on_lines(calls: Calls) -> None:
    """Between marks the brackets may be missing."""
    assert calls("<function_calls>f()\ng(a=true)\n</function_calls>") == [("f", {}), ("g", {"a": True})]


@for_each(
    ("value", "read"),
    [("007", 7), ("08", 8), ("{1, 2}", [1, 2]), ("{'k': {'x', 'y'}}", {"k": ["x", "y"]}), ("(1)", 1), ("(1,)", [1])],
)
def test_values_are_read_as_they_are_meant(calls: Calls, value: str, read: object) -> None:
    """Zeros in front, sets, and brackets that are not a list."""
    assert (
        calls(f"[f(a={value})]") == calls(f"<|tool_call_start|>[f(a={value})]<|tool_call_end|>") == [("f", {"a": read})]
    )


@for_each(
    ("kind", "found"),
    [
        ("string", [("f", {"a": "02134"})]),
        ("integer", []),
        (["string", "integer"], []),
        (None, []),
    ],
)
def test_zeros_in_front_are_kept_where_only_text_is_asked_for(calls: Calls, kind: object, found: object) -> None:
    """A postal code is not a number; elsewhere it may count in eights."""
    tools = {"f": {"properties": {"a": {"type": kind}}}}
    assert calls("[f(a=02134)]", tools) == found
    assert calls("[f(a=02134-1)]", tools) == calls("[f(a=x)]", tools) == []


def test_an_empty_list_is_dropped(parsed: Parsed) -> None:
    """No calls between the marks are neither calls nor text."""
    assert parsed("<|tool_call_start|>[]<|tool_call_end|>") == parsed("<|tool_call_start|><|tool_call_end|>")
    assert parsed("<|tool_call_start|>[]<|tool_call_end|>").content == ""


def test_end_tokens_may_follow(calls: Calls) -> None:
    """The token that ends a message is not content."""
    assert calls("[f()]<|eot_id|>\n") == [("f", {})]


def test_in_prose_only_declared_tools_are_called(calls: Calls) -> None:
    """Without marks, a list in prose is a call only when every name is declared."""
    text = "I call [f(a=1), g()]"
    assert calls(text) == []
    assert calls(text, {"f": {}}) == []
    assert calls(text, {"f": {}, "g": {}}) == [("f", {"a": 1}), ("g", {})]


def test_a_missing_mark_at_the_end_is_noted(parsed: Parsed) -> None:
    """The call is complete, the mark is not there."""
    result = parsed("<|tool_call_start|>[f()]")
    assert len(result.calls) == 1
    assert "missing" in result.diagnostics[0].message


@for_each(
    "text",
    [
        "[f(1)]",
        "[f(a=g())]",
        "[f(a=1+1)]",
        "[f(a=b)]",
        "[f(a=1, a=2)]",
        "[f(a=1 b=2)]",
        "[f(a=1) g()]",
        "[f(a='x]",
        "[f(a=1)",
        "[f(a=010)]",
        "[f(a={1, 1})]",
        "[f(a={b})]",
        "[f(a={'b': 1, 2})]",
        "[f(a=set())]",
        "[f](http://x)",
        "x = [f(a=1)]",
        "[f(a=1)] and text",
        "<|tool_call_start|>[f(a=1)] text",
        "<|tool_call_start|>[__import__('os').system('x')]<|tool_call_end|>",
        "<function_calls>plain</function_calls>",
    ],
)
def test_anything_else_is_text(parsed: Parsed, text: str) -> None:
    """Arguments are literals with names; nothing is evaluated."""
    result = parsed(text)
    assert (result.calls, result.content) == ((), text)


def test_floods_are_text(parsed: Parsed) -> None:
    """Unclosed calls and lists are read once."""
    for text in ("[f(" * 500, "[f(a=[" * 500, "[f(a='" * 300, "[f(a=" + "[" * 300):
        assert parsed(text).calls == ()

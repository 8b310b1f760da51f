"""Kimi's calls, K2 and K3."""

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from permitry.messages.text import ParsedText

Parsed: TypeAlias = Callable[..., ParsedText]
Calls: TypeAlias = Callable[..., list[tuple[str, dict[str, Any]]]]

BEGIN, END = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
K3 = '<|open|>call tool="a&amp;b" index="1"<|sep|>{}<|close|>call<|sep|>'
TOOLS = "<|open|>tools<|sep|>{}<|close|>tools<|sep|>"


def k2(call_id: str, arguments: str = '{"a": 1}') -> str:
    """Return one call of K2."""
    return f"<|tool_call_begin|>{call_id}<|tool_call_argument_begin|>{arguments}<|tool_call_end|>"


def k3(key: str, kind: str, value: str) -> str:
    """Return one argument of K3."""
    return f'<|open|>argument key="{key}" type="{kind}"<|sep|>{value}<|close|>argument<|sep|>'


@pytest.mark.parametrize(
    ("call_id", "name"),
    [("functions.f:0", "f"), (" functions.f:12 ", "f"), ("a.b:3", "a.b"), ("functions.x:y:1", "x:y")],
)
def test_the_name_is_cut_out_of_the_id(parsed: Parsed, call_id: str, name: str) -> None:
    """`functions.` and the index are no part of the name; the whole is the id."""
    result = parsed(f"Well.{BEGIN}{k2(call_id)}{END}")
    assert [(call.name, call.arguments, call.call_id) for call in result.calls] == [(name, {"a": 1}, call_id.strip())]
    assert result.content == "Well."


@pytest.mark.parametrize(
    "text",
    [
        k2("weird@id"),
        k2("0"),
        k2("functions.f:0", "text"),
        k2("functions.f:0", "{bad}"),
        "<|tool_call_begin|>functions.f:0",
        f"{BEGIN} nothing",
        "text<|tool_call_argument_begin|>more",
    ],
)
def test_a_broken_call_of_k2_is_text(parsed: Parsed, text: str) -> None:
    """An id without index names no tool for sure."""
    result = parsed(text)
    assert (result.calls, result.content) == ((), text)


def test_k3_types_its_arguments(parsed: Parsed) -> None:
    """Attributes are unescaped, values are not; the type stands with the value."""
    given = (
        k3("s", "string", "&lt;1") + k3("n", "number", "4.5") + k3("o", "object", '{"a": 1}') + k3("b", "object", "{x")
    )
    result = parsed(TOOLS.format(K3.format(given)))
    assert [(call.name, call.arguments) for call in result.calls] == [
        ("a&b", {"s": "&lt;1", "n": 4.5, "o": {"a": 1}, "b": "{x"})
    ]
    assert result.content == ""


def test_k3_marks_of_text_are_dropped(parsed: Parsed) -> None:
    """The response is content, the thinking reasoning."""
    result = parsed("<|open|>think<|sep|>hm<|close|>think<|sep|><|open|>response<|sep|>hi<|close|>response<|sep|>")
    assert (result.content, result.reasoning) == ("hi", "hm")


@pytest.mark.parametrize(
    "text",
    [
        K3.format("text"),
        '<|open|>call tool="f" index="1"',
        '<|open|>call tool="f" index="1"<|sep|><|open|>argument key="a"<|sep|>1',
        K3.format('<|open|>argument type="string"<|sep|>1<|close|>argument<|sep|>'),
        K3.format(k3("a", "string", "1") + k3("a", "string", "2")),
        K3.replace("tool=", "name=").format(""),
    ],
)
def test_a_broken_call_of_k3_is_text(parsed: Parsed, text: str) -> None:
    """A call must be closed, and every argument have one key."""
    result = parsed(text)
    assert (result.calls, result.content) == ((), text)


def test_a_flood_of_marks_is_text(parsed: Parsed) -> None:
    """Every mark is looked at once."""
    for text in (
        "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{" * 60,
        '<|open|>call tool="f"<|sep|>' * 60,
    ):
        assert parsed(text).content == text

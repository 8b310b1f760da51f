"""Harmony's calls, and PLaMo 3's."""

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from permitry.messages.text import ParsedText

Parsed: TypeAlias = Callable[..., ParsedText]
Calls: TypeAlias = Callable[..., list[tuple[str, dict[str, Any]]]]


@pytest.mark.parametrize(
    "text",
    [
        '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}<|call|>',
        '<|start|>assistant to=functions.f<|channel|>commentary json<|message|>{"a": 1}<|call|>',
        '<|start|>assistant<|channel|>commentary to=functions.f<|message|>{"a": 1}',
    ],
)
def test_a_message_to_a_function_is_a_call(parsed: Parsed, text: str) -> None:
    """The prefix of the name is cut off."""
    for settings in ({}, {"format": "harmony"}, {"format": "beam_harmony"}):
        result = parsed(text, **settings)
        assert [(call.name, call.arguments) for call in result.calls] == [("f", {"a": 1})]
        assert result.content == ""


def test_channels_are_told_apart(parsed: Parsed) -> None:
    """Analysis is reasoning, in which nothing is a call; what is final is content."""
    thought = 'hm <tool_call>{"name": "f", "arguments": {}}</tool_call>'
    result = parsed(
        f"<|channel|>analysis<|message|>{thought}<|end|><|start|>assistant<|channel|>final<|message|>Hi.<|return|>"
    )
    assert (result.calls, result.content, result.reasoning) == ((), "Hi.", thought)


@pytest.mark.parametrize(
    "text",
    [
        "<|channel|>commentary to=functions.f<|message|>text<|call|>",
        "<|channel|>commentary to=functions.f<|message|>{bad}<|call|>",
        '<|channel|>commentary to=functions.f<|message|>{"a": 1} text',
        "<|channel|>commentary to=functions.f",
    ],
)
def test_a_broken_message_is_no_call(calls: Calls, text: str) -> None:
    """Its text must be JSON, and nothing else."""
    assert calls(text) == []


def plamo(**parts: str) -> str:
    """Return a call in PLaMo's tags."""

    def tagged(word: str, inner: str) -> str:
        return f"<|plamo:begin_{word}:plamo|>{inner}<|plamo:end_{word}:plamo|>"

    inner = "".join(tagged(word, text) for word, text in parts.items())
    return tagged("tool_requests", tagged("tool_request", inner))


def test_plamo_has_a_tag_for_everything(parsed: Parsed) -> None:
    """Name and arguments stand in tags of their own."""
    for settings in ({}, {"format": "plamo3"}):
        result = parsed(plamo(tool_name="f", tool_arguments='{"a": 1}'), **settings)
        assert [(call.name, call.arguments, call.format) for call in result.calls] == [("f", {"a": 1}, "plamo3")]
        assert result.content == ""


@pytest.mark.parametrize(
    "text",
    [
        plamo(tool_name="f"),
        plamo(tool_arguments="{}"),
        plamo(tool_name="f", tool_arguments="text"),
        plamo(tool_name="f", tool_arguments='{"a": 1} text'),
        "<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>f",
    ],
)
def test_a_broken_call_of_plamo_is_none(calls: Calls, text: str) -> None:
    """Every tag must be there."""
    assert calls(text) == []


def test_a_flood_of_marks_is_no_call(parsed: Parsed) -> None:
    """Every mark is looked at once."""
    for text in (
        "<|channel|>" * 100,
        "<|channel|>commentary to=functions.f<|message|>{" * 50,
        "<|start|>assistant" * 50,
    ):
        assert parsed(text).calls == ()

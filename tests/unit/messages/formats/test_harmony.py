"""Harmony's calls, and PLaMo 3's."""

from collections.abc import Callable
from typing import Any, TypeAlias

from tests.tables import for_each

from permitry.messages.text import ParsedText

Parsed: TypeAlias = Callable[..., ParsedText]
Calls: TypeAlias = Callable[..., list[tuple[str, dict[str, Any]]]]


@for_each(
    "text",
    [
        '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}<|call|>',
        '<|start|>assistant to=functions.f<|channel|>commentary json<|message|>{"a": 1}<|call|>',
        '<|start|>assistant<|channel|>commentary to=functions.f<|message|>{"a": 1}',
        '<|start|>assistant to=functions.f<|channel|>commentary <|constrain|>json<|message|>{"a": 1}<|call|>',
        '<|start|>assistant to=functions.f <|channel|>commentary<|message|>\n{"a": 1}\n<|call|>',
        '<|start|>assistant to=functions.f<|channel|>commentary to=functions.f<|message|>{"a": 1}<|call|>',
        '<|channel|>commentary<|constrain|>json to=functions.f<|message|>{"a": 1}<|call|>',
        # What follows a prompt that ends in `<|start|>assistant`, in `<|channel|>`, or in `<|start|>`.
        ' to=functions.f<|channel|>commentary <|constrain|>json<|message|>{"a": 1}<|call|>',
        'to=functions.f<|channel|>commentary json<|message|>{"a": 1}<|call|>',
        'commentary to=functions.f <|constrain|>json<|message|>{"a": 1}<|call|>',
        'commentary to=functions.f<|message|>{"a": 1}',
        'analysis to=functions.f code<|message|>{"a": 1}<|call|>',
        'assistant to=functions.f<|channel|>commentary json<|message|>{"a": 1}<|call|>',
        'assistant<|channel|>commentary to=functions.f<|message|>{"a": 1}<|call|>',
    ],
)
def test_a_message_to_a_function_is_a_call(parsed: Parsed, text: str) -> None:
    """The prefix of the name is cut off."""
    for settings in ({}, {"format": "harmony"}, {"format": "beam_harmony"}):
        result = parsed(text, **settings)
        assert [(call.name, call.arguments) for call in result.calls] == [("f", {"a": 1})]
        assert result.content == ""


def test_channels_are_reported_apart(parsed: Parsed) -> None:
    """Analysis is reasoning, in which nothing is a call; what is final is content."""
    thought = 'hm <tool_call>{"name": "f", "arguments": {}}</tool_call>'
    result = parsed(
        f"<|channel|>analysis<|message|>{thought}<|end|><|start|>assistant<|channel|>final<|message|>Hi.<|return|>"
    )
    assert (result.calls, result.content, result.reasoning) == ((), "Hi.", thought)


@for_each("opener", ["<|channel|>", "", "<|start|>assistant<|channel|>", "assistant<|channel|>"])
@for_each("end", ["<|end|><|start|>assistant", "<|start|>assistant", "<|end|>"])
@for_each("header", [" to=functions.f<|channel|>commentary json", "<|channel|>commentary to=functions.f"])
def test_a_call_may_follow_reasoning(parsed: Parsed, opener: str, end: str, header: str) -> None:
    """With or without what the prompt holds of the first header."""
    thought = 'hm <tool_call>{"name": "g", "arguments": {}}</tool_call>'
    result = parsed(f'{opener}analysis<|message|>{thought}{end}{header}<|message|>{{"a": 1}}<|call|>')
    is_lost = end == "<|end|>" and header.startswith(" to=")
    assert [(call.name, call.arguments) for call in result.calls] == ([] if is_lost else [("f", {"a": 1})])
    assert result.reasoning == thought


INNER = '{"name": "g", "arguments": {}}'


@for_each(
    "text",
    [
        f"<|start|>assistant to=functions.f<|channel|>commentary to=functions.g<|message|>{INNER}<|call|>",
        f"<|channel|>commentary to=functions.f to=functions.g<|message|>{INNER}<|call|>",
        f"<|start|>functions.f to=assistant<|channel|>commentary<|message|>{INNER}<|end|>",
        f"<|start|>user<|message|>{INNER}<|end|>",
        f"<|start|>user<|message|><tool_call>{INNER}</tool_call>",
        f"<|channel|>analysis to=python code<|message|>run({INNER})<|call|>",
        f"analysis<|message|>I could {INNER}",
        f"to=functions.f<|channel|>commentary<|message|>no {INNER}<|call|>",
    ],
)
def test_what_is_in_a_message_that_is_not_a_call_is_none_either(parsed: Parsed, text: str) -> None:
    """With two recipients, from a user or a tool, of code, of reasoning."""
    assert parsed(text).calls == ()
    call = "<|start|>assistant<|channel|>commentary to=functions.h<|message|>{}<|call|>"
    assert [each.name for each in parsed(f"{text}{call}").calls] == ["h"]


@for_each(
    ("text", "content"),
    [
        ("final<|message|>Send it to=functions.f<|return|>", "Send it to=functions.f"),
        ("commentary<|message|>I look.<|end|>", "I look."),
        ("finally<|message|>Hi.", "finally<|message|>Hi."),
        ("final answer: 42", "final answer: 42"),
        ("commentary to=functions.f is how", "commentary to=functions.f is how"),
        ('So: to=functions.f<|channel|>final<|message|>{"a": 1}', 'So: to=functions.f{"a": 1}'),
        ('So: commentary to=functions.f<|message|>{"a": 1}', None),
    ],
)
def test_a_header_without_its_mark_counts_only_where_the_text_begins(
    parsed: Parsed, text: str, content: str | None
) -> None:
    """And where it is one."""
    result = parsed(text)
    assert result.calls == ()
    assert content is None or result.content == content


@for_each(
    "text",
    [
        "<|channel|>commentary to=functions.f<|message|>text<|call|>",
        "<|channel|>commentary to=functions.f<|message|>{bad}<|call|>",
        '<|channel|>commentary to=functions.f<|message|>{"a": 1} text',
        "<|channel|>commentary to=functions.f",
    ],
)
def test_a_broken_message_is_not_a_call(calls: Calls, text: str) -> None:
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


@for_each(
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


def test_a_flood_of_marks_is_not_a_call(parsed: Parsed) -> None:
    """Every mark is looked at once."""
    for text in (
        "<|channel|>" * 100,
        "<|channel|>commentary to=functions.f<|message|>{" * 50,
        "<|start|>assistant" * 50,
    ):
        assert parsed(text).calls == ()


@for_each(
    "header",
    [
        "<|channel|>commentary to=functions.f\n<|constrain|>json<|message|>",
        "<|channel|>commentary\nto=functions.f\n<|constrain|>\njson\n<|message|>\n",
        "<|start|>assistant\n<|channel|>commentary to=functions.f <|constrain|>json\n<|message|>",
        "<|start|>assistant to=functions.f\n<|channel|>commentary\n<|message|>",
        "to=functions.f\n<|channel|>commentary<|message|>",
        "commentary to=functions.f\n<|message|>",
        "assistant\n<|channel|>\ncommentary to=functions.f<|message|>",
    ],
)
def test_a_header_may_have_line_breaks(calls: Calls, header: str) -> None:
    """Around each of its parts."""
    assert calls(f'{header}{{"a": 1}}\n<|call|>\n') == [("f", {"a": 1})]

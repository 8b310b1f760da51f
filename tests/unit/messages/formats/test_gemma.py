"""Gemma's calls."""

from collections.abc import Callable
from typing import Any, TypeAlias

from tests.tables import for_each

from permitry.messages.text import ParsedText

Parsed: TypeAlias = Callable[..., ParsedText]
Calls: TypeAlias = Callable[..., list[tuple[str, dict[str, Any]]]]


@for_each(
    ("quote", "opener", "closer", "name"),
    [
        ("<escape>", "<start_function_call>", "<end_function_call>", "functiongemma"),
        ('<|"|>', "<|tool_call>", "<tool_call|>", "gemma4"),
    ],
)
def test_both_generations_are_read(parsed: Parsed, quote: str, opener: str, closer: str, name: str) -> None:
    """Strings stand between two marks, as they are; keys and other values stand bare."""
    body = f'a:{quote}x "y" {{\\n{quote},n:-1.5,t:true,z:null,w:two words,l:[1,{quote}b{quote}],o:{{k:{quote}{quote}}}'
    text = f"Well. {opener}call:f{{{body}}}{closer}"
    for settings in ({}, {"format": name}):
        result = parsed(text, **settings)
        assert [(call.name, call.format) for call in result.calls] == [("f", name)]
        assert result.calls[0].arguments == {
            "a": 'x "y" {\\n',
            "n": -1.5,
            "t": True,
            "z": None,
            "w": "two words",
            "l": [1, "b"],
            "o": {"k": ""},
        }
        assert result.content == "Well. "


def test_plain_quotes_count_too(calls: Calls) -> None:
    """Models forget the marks; a quoted string has escapes then."""
    assert calls('<|tool_call>call:f{a:"x \\"y\\""}<tool_call|>') == [("f", {"a": 'x "y"'})]


@for_each(
    "body", ["f", "call:f", "call:f{a}", "call:f{a:}", 'call:f{a:<|"|>x}', "call:f{a:1", "call:f{a:1,a:2}", "call:{}"]
)
def test_a_broken_call_is_text(parsed: Parsed, body: str) -> None:
    """A block that is not complete is not a call."""
    text = f"<|tool_call>{body}<tool_call|>"
    result = parsed(text)
    assert (result.calls, result.content) == ((), text)


def test_a_flood_of_marks_is_text(parsed: Parsed) -> None:
    """Every mark is looked at once."""
    for text in ("<|tool_call>call:f{a:" * 60, "<|tool_call>call:f{a:[" * 60, '<|tool_call>call:f{a:<|"|>' * 61):
        assert parsed(text).calls == ()


@for_each(
    ("body", "arguments"),
    [
        ("(a: 'x')", {"a": "x"}),
        ('(a="x", n=3)', {"a": "x", "n": 3}),
        ("()", {}),
        ('(a=<|"|>x) {y}<|"|>, l=[1, {k: None}])', {"a": "x) {y}", "l": [1, {"k": None}]}),
        ("(a=('x'),)", {"a": "x"}),
    ],
)
def test_brackets_may_be_round(calls: Calls, body: str, arguments: dict[str, Any]) -> None:
    """With literals for values, and `=` or a colon behind the keys."""
    assert calls(f"<|tool_call>call:f{body}<tool_call|>") == [("f", arguments)]


@for_each("body", ["(a=x)", "('x')", "(a=1, a=2)", "(a=1", "(a=g())", "(a=1}"])
def test_what_is_no_literal_in_round_brackets_is_refused(parsed: Parsed, body: str) -> None:
    """Nothing is guessed there."""
    result = parsed(f"<|tool_call>call:f{body}<tool_call|>")
    assert result.calls == ()
    assert [note.is_broken for note in result.diagnostics] == [True]

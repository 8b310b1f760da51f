"""Calls whose arguments are literals: Python's, and Gemma's."""

from typing import Any

from tests.parsing import calls, parsed, refused
from tests.tables import for_each


def test_several_calls_in_one_list() -> None:
    """A comma separates them, one more may stand at the end."""
    assert calls("[a.b(), f(x=[1, {'k': None}],),]") == [("a.b", {}), ("f", {"x": [1, {"k": None}]})]


def test_several_calls_on_lines() -> None:
    """Between marks the brackets may be missing."""
    assert calls("<function_calls>f()\ng(a=true)\n</function_calls>") == [("f", {}), ("g", {"a": True})]


@for_each(
    ("value", "read"),
    [("007", 7), ("08", 8), ("{1, 2}", [1, 2]), ("{'k': {'x', 'y'}}", {"k": ["x", "y"]}), ("(1)", 1), ("(1,)", [1])],
)
def test_values_are_read_as_they_are_meant(value: str, read: object) -> None:
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
def test_zeros_in_front_are_kept_where_only_text_is_asked_for(kind: object, found: object) -> None:
    """A postal code is not a number; elsewhere it may count in eights."""
    tools = {"f": {"properties": {"a": {"type": kind}}}}
    assert calls("[f(a=02134)]", tools) == found
    assert calls("[f(a=02134-1)]", tools) == calls("[f(a=x)]", tools) == []


def test_an_empty_list_is_dropped() -> None:
    """No calls between the marks are neither calls nor text."""
    assert parsed("<|tool_call_start|>[]<|tool_call_end|>") == parsed("<|tool_call_start|><|tool_call_end|>")
    assert parsed("<|tool_call_start|>[]<|tool_call_end|>").content == ""


def test_end_tokens_may_follow() -> None:
    """The token that ends a message is not content."""
    assert calls("[f()]<|eot_id|>\n") == [("f", {})]


def test_in_prose_only_declared_tools_are_called() -> None:
    """Without marks, a list in prose is a call only when every name is declared."""
    text = "I call [f(a=1), g()]"
    assert calls(text) == []
    assert calls(text, {"f": {}}) == []
    assert calls(text, {"f": {}, "g": {}}) == [("f", {"a": 1}), ("g", {})]


def test_a_missing_mark_at_the_end_is_noted() -> None:
    """The call is complete, the mark is not there."""
    result = parsed("<|tool_call_start|>[f()]")
    assert len(result.calls) == 1
    assert "missing" in result.diagnostics[0].message


@for_each("text")
def test_anything_else_is_text(text: str) -> None:
    """Arguments are literals with names; nothing is evaluated."""
    refused(text)


def test_floods_are_text() -> None:
    """Unclosed calls and lists are read once."""
    for text in ("[f(" * 500, "[f(a=[" * 500, "[f(a='" * 300, "[f(a=" + "[" * 300):
        assert parsed(text).calls == ()


@for_each(
    ("quote", "opener", "closer", "name"),
    [
        ("<escape>", "<start_function_call>", "<end_function_call>", "functiongemma"),
        ('<|"|>', "<|tool_call>", "<tool_call|>", "gemma4"),
    ],
)
def test_both_generations_of_gemma_are_read(quote: str, opener: str, closer: str, name: str) -> None:
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


def test_plain_quotes_count_too() -> None:
    """Models forget the marks; a quoted string has escapes then."""
    assert calls('<|tool_call>call:f{a:"x \\"y\\""}<tool_call|>') == [("f", {"a": 'x "y"'})]


@for_each(
    "body", ["f", "call:f", "call:f{a}", "call:f{a:}", 'call:f{a:<|"|>x}', "call:f{a:1", "call:f{a:1,a:2}", "call:{}"]
)
def test_a_broken_call_of_gemma_is_text(body: str) -> None:
    """A block that is not complete is not a call."""
    text = f"<|tool_call>{body}<tool_call|>"
    refused(text)


def test_a_flood_of_marks_of_gemma_is_text() -> None:
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
def test_brackets_may_be_round(body: str, arguments: dict[str, Any]) -> None:
    """With literals for values, and `=` or a colon behind the keys."""
    assert calls(f"<|tool_call>call:f{body}<tool_call|>") == [("f", arguments)]


@for_each("body", ["(a=x)", "('x')", "(a=1, a=2)", "(a=1", "(a=g())", "(a=1}"])
def test_what_is_no_literal_in_round_brackets_is_refused(body: str) -> None:
    """Nothing is guessed there."""
    result = parsed(f"<|tool_call>call:f{body}<tool_call|>")
    assert result.calls == ()
    assert [note.is_broken for note in result.diagnostics] == [True]

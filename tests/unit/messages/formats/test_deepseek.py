"""DeepSeek's calls, version 3 and 3.1."""

from collections.abc import Callable
from typing import Any, TypeAlias

from tests.tables import for_each

from permitry.messages.text import ParsedText

Parsed: TypeAlias = Callable[..., ParsedText]
Calls: TypeAlias = Callable[..., list[tuple[str, dict[str, Any]]]]

V3 = '<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{"a": "<｜tool▁call▁end｜>"}\n```<｜tool▁call▁end｜>'  # noqa: RUF001 -- DeepSeek's own characters
V31 = '<｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a": 1}<｜tool▁call▁end｜>'  # noqa: RUF001 -- as above
BEGIN, END = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"  # noqa: RUF001 -- as above


def test_both_versions_are_reported_apart(parsed: Parsed) -> None:
    """Version 3 has the word `function` and a fence, 3.1 name and object."""
    result = parsed(f"Well.{BEGIN}{V3}\n{V31}{END} Done.")
    assert [(call.name, call.arguments, call.format) for call in result.calls] == [
        ("f", {"a": "<｜tool▁call▁end｜>"}, "deepseek_v3"),  # noqa: RUF001 -- as above
        ("f", {"a": 1}, "deepseek_v31"),
    ]
    assert result.content == "Well.\n Done."


def test_plain_bars_count_too(calls: Calls) -> None:
    """Some servers print the tokens with plain bars."""
    assert calls(V31.replace("｜", "|")) == [("f", {"a": 1})]  # noqa: RUF001 -- as above


def test_a_tool_named_function_is_version_31(calls: Calls) -> None:
    """What follows the separator decides."""
    assert calls(V31.replace(">f<", ">function<")) == [("function", {"a": 1})]


@for_each(
    "text",
    [
        V31.removesuffix(">"),
        V31.replace('"a": 1', "bad"),
        V3.replace("function", "other"),
        V3.replace("```json", ""),
        V3.replace('{"a"', '["a"'),
        V31.replace("sep", "sap"),
        BEGIN,
        f"{BEGIN} nothing",
    ],
)
def test_anything_else_is_text(parsed: Parsed, text: str) -> None:
    """A block that is not complete is not a call."""
    result = parsed(text)
    assert (result.calls, result.content) == ((), text)


def test_outputs_of_tools_are_text(parsed: Parsed) -> None:
    """What is between the marks of an output is not a call."""
    result = parsed('<｜tool▁output▁begin｜>{"name": "f", "arguments": {}}<｜tool▁output▁end｜>')  # noqa: RUF001 -- as above
    assert (result.calls, result.content) == ((), '{"name": "f", "arguments": {}}')


def test_a_flood_of_marks_is_text(parsed: Parsed) -> None:
    """Every mark is looked at once."""
    text = (BEGIN + "<｜tool▁call▁begin｜>f<｜tool▁sep｜>{") * 100  # noqa: RUF001 -- as above
    assert parsed(text).calls == ()


@for_each(("bar", "gap"), [("\uff5c\uff5c", "\u2581"), ("|", "_"), ("||", "\u2581"), ("||", "_")])
def test_other_bars_that_servers_print_count_too(calls: Calls, bar: str, gap: str) -> None:
    """Double ones, and plain ones with plain gaps."""
    names = (f"<{bar}tool{gap}{word}{bar}>" for word in (f"call{gap}begin", "sep", f"call{gap}end"))
    begin, between, end = names
    assert calls(f'{begin}f{between}{{"a": 1}}{end}') == [("f", {"a": 1})]


@for_each("bar", ["\u2016", "\u2502", "\u2223\u2223"])
@for_each("word", ["tool\u2581call\u2581begin", "tool_calls_begin"])
def test_any_other_bar_is_reported(parsed: Parsed, bar: str, word: str) -> None:
    """There is no call, and a note says why."""
    result = parsed(f"<{bar}{word}{bar}>f")
    assert result.calls == ()
    assert [note.is_broken for note in result.diagnostics] == [True]
    assert "bars" in result.diagnostics[0].message
    assert parsed(f"about <{bar}tools{bar}>").diagnostics == ()

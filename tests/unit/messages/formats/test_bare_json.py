"""Calls that are nothing but JSON in the text."""

from collections.abc import Callable
from typing import Any, TypeAlias

from tests.tables import for_each

from permitry.messages.text import ParsedText

Parsed: TypeAlias = Callable[..., ParsedText]
Calls: TypeAlias = Callable[..., list[tuple[str, dict[str, Any]]]]

CALL = '{"name": "f", "arguments": {"a": 1}}'

SHAPES = {
    "json_array": f"[{CALL}]",
    "json_object": CALL,
    "json_fence": f"```json\n{CALL}\n```",
    "json_object_openai": '{"type": "function", "function": {"name": "f", "parameters": {"a": 1}}}',
    "json_action_fence": '```\n{"action": "f", "action_input": {"a": 1}}\n```',
}


@for_each("name", SHAPES)
def test_a_shape_is_found(parsed: Parsed, name: str) -> None:
    """The format need not be given, and may be."""
    for settings in ({}, {"format": name}):
        result = parsed(SHAPES[name], **settings)
        assert [(call.name, call.arguments, call.format) for call in result.calls] == [("f", {"a": 1}, name)]
        assert result.content == ""


@for_each(
    "text",
    [
        f"I will look. {CALL}",
        f"The JSON: {CALL}",
        f"```\n[{CALL}]\n```",
        f"Do it:\n```json\n{CALL}\n```",
        '{"tool": "f", "args": {"a": 1}}',
        '{"type": "function", "name": "f", "parameters": {"a": 1}}',
        '{"tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{\\"a\\": 1}"}}]}',
        '{"function_call": {"name": "f", "arguments": {"a": 1}}}',
    ],
)
def test_a_call_in_prose_counts(calls: Calls, text: str) -> None:
    """A complete call is one, if nothing follows it."""
    assert calls(text) == [("f", {"a": 1})]


def test_text_is_an_input(calls: Calls) -> None:
    """LangChain's agents may give plain text."""
    assert calls('{"action": "f", "action_input": "x"}') == [("f", {"input": "x"})]


@for_each(
    "text",
    [
        'like {"name": "example"} or so',
        '[{"name": "Bob", "age": 3}]',
        "[special delivery]",
        "for { fmt.Println(1) }",
        '{"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}}',
        '{"name": "f", "parameters": {"type": "object", "properties": {}}}',
        '{"type": "function", "extra": 1, "function": {"name": "f", "arguments": {}}}',
        '{"action": "Final Answer", "action_input": {"a": 1}}',
        "{'name': 'f', 'arguments': {}}",
        f'{{"name": "jeff"}} {CALL}',
        f'{CALL}, {{"id": 1}}',
        f'{{"data": {CALL}}}',
        f'{{"name": bad, "then": {CALL}}}',
        f'[{{"name": bad}}, {CALL}]',
        f"```python\nx = {CALL}\n```",
        '{"text": "<tool_call>{\\"name\\": \\"f\\", \\"arguments\\": {}}</tool_call>"}',
        '{"name": "f", "arguments": {',
        '{"name": "f", "arguments": {"a": "1}}',
    ],
)
def test_data_and_prose_are_no_calls(parsed: Parsed, text: str) -> None:
    """JSON that may be anything else is left alone."""
    result = parsed(text)
    assert (result.calls, result.content) == ((), text)


def test_after_a_fence_of_code_calls_count_again(calls: Calls) -> None:
    """The fence ends where it is closed."""
    assert calls(f"```python\nx = {CALL}\n```\n{CALL}") == [("f", {"a": 1})]


def test_an_undeclared_tool_is_data(parsed: Parsed) -> None:
    """With tools given, unmarked JSON must name one of them; a note says what was skipped."""
    result = parsed(CALL, {"g": {}})
    assert (result.calls, result.content) == ((), CALL)
    assert "no tool `f` is declared" in result.diagnostics[0].message


def test_a_flood_of_brackets_is_text(parsed: Parsed) -> None:
    """Nothing nests, nothing hangs."""
    for text in ("[" * 2_000, '{"a":' * 500, '[{"a":' * 1_000, '{"a"' * 500):
        assert parsed(text).content == text

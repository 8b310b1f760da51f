"""Calls whose keys are misspelt: always a result or an error, never silence."""

from collections.abc import Iterator
from typing import Any

from tests.tables import for_each

from permitry.errors import CallError
from permitry.messages import calls_in

_FUNCTION = {"name": "look", "arguments": "{}"}
_SHAPES: list[dict[str, Any]] = [
    {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
    {"type": "custom_tool_call", "call_id": "c1", "name": "look", "input": "x"},
    {"type": "local_shell_call", "call_id": "c1", "action": {"command": ["ls"]}},
    {"type": "tool_use", "id": "c1", "name": "look", "input": {"path": "a"}},
    {"name": "look", "arguments": {"path": "a"}},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": _FUNCTION}]},
    {"role": "assistant", "function_call": _FUNCTION},
    {"choices": [{"message": {"role": "assistant", "tool_calls": [{"id": "c1", "function": _FUNCTION}]}}]},
    {"object": "response", "output": [{"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}]},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {"path": "a"}}]},
    {"role": "model", "parts": [{"thoughtSignature": "x", "functionCall": {"id": "c1", "name": "look", "args": {}}}]},
    {"role": "model", "parts": [{"thought_signature": "x", "function_call": {"id": "c1", "name": "look"}}]},
    {"parts": [{"text": "x"}, {"functionCall": {"name": "look", "args": {}}}]},
    {"candidates": [{"content": {"parts": [{"functionCall": {"name": "look"}}]}, "finishReason": "STOP", "index": 0}]},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "mcp:docs/look", "arguments": {}}},
]


def _misspelt(value: Any) -> Iterator[Any]:  # noqa: ANN401 -- any part of a message
    """Give `value` once for each key anywhere inside it, with that key misspelt."""
    if isinstance(value, dict):
        for key in value:
            yield {f"{each}x" if each == key else each: value[each] for each in value}
            yield from ({**value, key: part} for part in _misspelt(value[key]))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from ([*value[:index], part, *value[index + 1 :]] for part in _misspelt(each))


@for_each("message", [each for shape in _SHAPES for each in _misspelt(shape)], ids=repr)
def test_a_misspelt_call_does_not_vanish(message: dict[str, Any]) -> None:
    """Whichever key is misspelt, the call gets a result or its line an error."""
    try:
        calls = calls_in(message)
    except CallError:
        return
    assert len(calls) == 1


@for_each("shape", _SHAPES, ids=repr)
def test_what_is_misspelt_was_a_call(shape: dict[str, Any]) -> None:
    """The messages above are calls before they are misspelt."""
    assert len(calls_in(shape)) == 1

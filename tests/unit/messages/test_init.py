"""Any message to its calls."""

from typing import Any

import pytest
from tests.tables import for_each

from permitry.core.call import ToolCall
from permitry.core.result import ToolResult
from permitry.errors import CallError
from permitry.messages import SHAPES, call_message, calls_in, result_message

_CALLS: list[dict[str, Any]] = [
    {"name": "run_shell", "arguments": {}},
    {"tool_calls": [{"id": "c1", "function": {"name": "run_shell", "arguments": "{}"}}]},
    {"function_call": {"name": "run_shell", "arguments": "{}"}},
    {"choices": [{"message": {"tool_calls": [{"id": "c1", "function": {"name": "run_shell"}}]}}]},
    {"type": "function_call", "call_id": "c1", "name": "run_shell", "arguments": "{}"},
    {"type": "local_shell_call", "call_id": "c1", "action": {"command": ["ls"]}},
    {"output": [{"type": "function_call", "call_id": "c1", "name": "run_shell", "arguments": "{}"}]},
    {"type": "tool_use", "id": "t1", "name": "run_shell", "input": {}},
    {"parts": [{"functionCall": {"name": "run_shell"}}]},
    {"candidates": [{"content": {"parts": [{"functionCall": {"name": "run_shell"}}]}}]},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "run_shell"}},
]


@for_each("message", [None, "look", 3, [], [{"name": "look", "arguments": {}}]])
def test_only_an_object_is_a_message(message: object) -> None:
    """A bare value is refused, and its type is named."""
    with pytest.raises(CallError, match=f"not {type(message).__name__}"):
        calls_in(message)


@for_each(
    "message",
    [{}, {"tool": "look"}, {"arguments": {}}, {"id": "c1", "content": "text"}, {"choices": None}, {"output": "text"}],
)
def test_an_unknown_object_is_refused(message: dict[str, object]) -> None:
    """An object without any sign of a message is not skipped in silence."""
    with pytest.raises(CallError, match="neither a message nor a call"):
        calls_in(message)


@for_each("message")
def test_a_message_without_calls_gives_none(message: dict[str, object]) -> None:
    """What is a message and holds no call is skipped."""
    assert calls_in(message) == []


@for_each("message", _CALLS)
@for_each("role", ["user", "tool", "system", "developer", "function"])
def test_no_one_but_the_assistant_makes_calls_in_any_shape(message: dict[str, Any], role: object) -> None:
    """Whatever shape is imitated: what a user or a tool says is skipped."""
    assert len(calls_in(message)) == 1
    assert calls_in({**message, "role": role}) == []


@for_each("message", _CALLS)
@for_each("role", ["Assistant", "asistant", "", 1, False])
def test_an_unknown_role_is_refused(message: dict[str, Any], role: object) -> None:
    """A role no one has may be a misspelt assistant, so its calls do not vanish."""
    with pytest.raises(CallError, match="unknown role"):
        calls_in({**message, "role": role})


@for_each("kind", ["functon_call", "tool-use", "", 1])
def test_an_unknown_type_is_refused(kind: object) -> None:
    """A type no one has may be a misspelt call."""
    with pytest.raises(CallError, match="unknown type"):
        calls_in({"type": kind, "name": "run_shell"})


@for_each("piece")
def test_a_piece_of_a_stream_is_refused(piece: dict[str, object]) -> None:
    """Half a call cannot be judged, and is not skipped."""
    with pytest.raises(CallError, match="a piece of a stream; give whole messages"):
        calls_in(piece)


@for_each("message", [each for each in _CALLS if "parts" not in each])
def test_a_model_makes_calls_in_the_shape_of_gemini_only(message: dict[str, Any]) -> None:
    """Elsewhere the word is a misspelt assistant."""
    with pytest.raises(CallError):
        calls_in({**message, "role": "model"})


@for_each("message", [each for each in _CALLS if "jsonrpc" not in each])
def test_a_call_next_to_a_json_rpc_message_does_not_vanish(message: dict[str, Any]) -> None:
    """A message of two shapes is refused."""
    with pytest.raises(CallError, match="unknown key"):
        calls_in({**message, "jsonrpc": "2.0", "result": {}})


@for_each("message", [each for each in _CALLS if "parts" not in each and "jsonrpc" not in each])
def test_a_call_next_to_parts_does_not_vanish(message: dict[str, Any]) -> None:
    """A message of two shapes is refused."""
    with pytest.raises(CallError, match="unknown key"):
        calls_in({**message, "parts": []})


def test_the_shapes_are_sorted() -> None:
    """Their names are for people to look up."""
    assert SHAPES == ("anthropic", "gemini", "mcp", "openai-chat", "openai-responses", "plain")


@for_each("shape", SHAPES)
def test_a_call_comes_from_the_shape_of_its_message(shape: str) -> None:
    """The name of a shape is the origin of its calls, so that a result goes back the way the call came."""
    [incoming] = calls_in(call_message(ToolCall("mcp:docs/look", call_id="c1"), shape), server="docs")
    assert isinstance(incoming.call, ToolCall)
    assert incoming.call.origin == shape
    result = ToolResult(False, "no")
    assert result_message(result, incoming.call, shape) == incoming.reply(result)


@for_each("shape", ["openai", "", "Anthropic"])
def test_an_unknown_shape_is_refused(shape: str) -> None:
    """The known ones are named."""
    call = ToolCall("look", call_id="c1")
    with pytest.raises(CallError, match=f"unknown shape `{shape}`; known: anthropic, gemini"):
        call_message(call, shape)
    with pytest.raises(CallError, match=f"unknown shape `{shape}`"):
        result_message(ToolResult(True, ""), call, shape)

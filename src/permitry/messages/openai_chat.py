"""The shape of OpenAI's chat completions: `tool_calls` in, `role: tool` out."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import attrs

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.result import ToolResult
from permitry.errors import CallError
from permitry.messages.incoming import IncomingCall, Message, check_role, incoming, plain_id
from permitry.messages.outgoing import free_text, function_name, images_message, json_text, needed_id, with_follow_up

__all__ = ["call_message", "calls_in", "follow_up_message", "result_message"]

_ORIGIN = "openai-chat"


def calls_in(message: Message) -> list[IncomingCall] | None:
    """Return the calls of an assistant message or of a whole completion, or None for another shape."""
    choices = message.get("choices")
    if isinstance(choices, list):
        inner = [choice.get("message") for choice in choices[:1] if isinstance(choice, dict)]
        if not all(isinstance(each, dict) for each in inner):
            raise CallError("a piece of a stream; give whole messages")
        return [call for each in inner if isinstance(each, dict) for call in _calls(each)]
    if "tool_calls" in message or "function_call" in message:
        return list(_calls(message))
    return None


def call_message(call: ToolCall) -> dict[str, Any]:
    """Return the assistant message with `call` as its one call; a call without an id takes the old form.

    Raises: `CallError` for a custom call without an id or without free text, and for a local shell.
    """
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if call.kind is PayloadKind.CUSTOM:
        name, text = free_text(call, _ORIGIN)
        entry = {"id": needed_id(call, _ORIGIN), "type": "custom", "custom": {"name": name, "input": text}}
        return {**message, "tool_calls": [entry]}
    function = {"name": function_name(call, _ORIGIN), "arguments": json_text(call)}
    if call.call_id is None:
        return {**message, "function_call": function}
    return {**message, "tool_calls": [{"id": call.call_id, "type": "function", "function": function}]}


def result_message(result: ToolResult, call: ToolCall) -> dict[str, Any]:
    """Return the tool message with the result of `call`; of a call without an id, that of the old form."""
    if call.call_id is None:
        return _legacy_reply(call.tool, result)
    return _reply(call.call_id, result)


def follow_up_message(result: ToolResult) -> dict[str, Any] | None:
    """Return the message of the user with the images of `result`, or None when it has none."""
    return images_message(result)


def _calls(message: Message) -> Iterator[IncomingCall]:
    if check_role(message.get("role", "assistant")) != "assistant":
        return
    if message.get("content") is None and not {"tool_calls", "function_call", "refusal"} & set(message):
        raise CallError("a message of the assistant with neither `content` nor calls")
    _check_content(message.get("content"))
    legacy = message.get("function_call")
    if isinstance(legacy, dict):
        name = legacy.get("name")
        reply = partial(_legacy_reply, name)
        yield incoming(name, legacy.get("arguments"), reply, images_message, origin=_ORIGIN)
    tool_calls = message.get("tool_calls")
    if not isinstance(tool_calls, list | None):
        raise CallError("`tool_calls` must be a list")
    for each in tool_calls or ():
        yield _call(each if isinstance(each, dict) else {})


def _check_content(content: object) -> None:
    """Refuse blocks that are calls: only those in `tool_calls` are read."""
    blocks = content if isinstance(content, list) else ()
    kinds = [block.get("type") for block in blocks if isinstance(block, dict)]
    if "tool_use" in kinds:
        raise CallError("calls in `content` and in `tool_calls`; give a message of one shape")


def _call(entry: dict[str, Any]) -> IncomingCall:
    call_id = entry.get("id")
    reply = partial(_reply, call_id)
    custom = entry.get("custom")
    if isinstance(custom, dict) and not isinstance(entry.get("function"), dict):
        name, text = custom.get("name"), {"input": custom.get("input")}
        rest = {"call_id": call_id, "kind": PayloadKind.CUSTOM, "origin": _ORIGIN}
        return incoming(name, text, reply, images_message, **rest)
    function = entry.get("function")
    function = function if isinstance(function, dict) else {}
    name, arguments = function.get("name"), function.get("arguments")
    if custom is not None and function:
        # Another reader may take the other one.
        both = incoming(name, None, reply, images_message)
        return attrs.evolve(both, call=CallError("a call with both `custom` and `function`"))
    return incoming(name, arguments, reply, images_message, call_id=call_id, origin=_ORIGIN)


# A message of a tool holds text and nothing else, in either form; images follow in one of the user.


def _reply(call_id: object, result: ToolResult) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": plain_id(call_id), "content": with_follow_up(result)}


def _legacy_reply(name: object, result: ToolResult) -> dict[str, Any]:
    return {"role": "function", "name": plain_id(name), "content": with_follow_up(result)}

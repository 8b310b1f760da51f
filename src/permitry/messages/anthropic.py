"""The shape of Anthropic's messages: `tool_use` blocks in, `tool_result` blocks out."""

from functools import partial
from typing import Any

from permitry.core.call import ToolCall
from permitry.core.result import MediaPart, ToolResult
from permitry.errors import CallError
from permitry.messages.incoming import IncomingCall, Message, Reply, check_type, incoming, plain_id
from permitry.messages.outgoing import base64_text, function_name, needed_id, text_only, with_images
from permitry.messages.plain import is_result

__all__ = ["call_message", "calls_in", "result_message"]

_ORIGIN = "anthropic"


def calls_in(message: Message) -> list[IncomingCall] | None:
    """Return the calls of an assistant message, or of a bare `tool_use` block, or None for another shape.

    Each result is a user message of its own; the API joins neighbouring ones.
    """
    if message.get("type") == "tool_use":
        return [_call(message, partial(_block, message.get("id")))]
    content = message.get("content")
    if isinstance(content, dict) and ("role" in message or not is_result(message)):
        raise CallError("`content` must be text or a list of blocks")
    if not isinstance(content, list) or message.get("role") != "assistant":
        return None
    return [call for block in content for call in _calls(block)]


def call_message(call: ToolCall) -> dict[str, Any]:
    """Return the assistant message with `call` as its one block.

    Raises: `CallError` for a call without an id, and for one of free text or a local shell.
    """
    name, call_id = function_name(call, _ORIGIN), needed_id(call, _ORIGIN)
    block = {"type": "tool_use", "id": call_id, "name": name, "input": call.to_dict()}
    return {"role": "assistant", "content": [block]}


def result_message(result: ToolResult, call: ToolCall) -> dict[str, Any]:
    """Return the user message with the result of `call` as its one block.

    Raises: `CallError` for a call without an id.
    """
    return _message(needed_id(call, _ORIGIN), result)


def _calls(block: object) -> list[IncomingCall]:
    if not isinstance(block, dict):
        raise CallError("a block of `content` is an object")
    if block.get("type") == "tool_use":
        return [_call(block, partial(_message, block.get("id")))]
    check_type(block.get("type"))
    return []


def _call(block: Message, reply: Reply) -> IncomingCall:
    return incoming(block.get("name"), block.get("input"), reply, call_id=block.get("id"), origin=_ORIGIN)


def _block(call_id: object, result: ToolResult) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": plain_id(call_id), "content": _content(result)}
    return block if result.ok else {**block, "is_error": True}


def _message(call_id: object, result: ToolResult) -> dict[str, Any]:
    return {"role": "user", "content": [_block(call_id, result)]}


def _content(result: ToolResult) -> str | list[dict[str, Any]]:
    # The API refuses an image in a result that is marked as an error, and an empty block of text in any.
    if not result.ok:
        return text_only(result)
    return with_images(result, "text", _image)


def _image(part: MediaPart) -> dict[str, Any]:
    source = {"type": "base64", "media_type": part.media_type, "data": base64_text(part)}
    return {"type": "image", "source": source}

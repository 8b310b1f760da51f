"""The shape of Anthropic's messages: `tool_use` blocks in, `tool_result` blocks out."""

from typing import Any

from permitry.errors import CallError
from permitry.messages.incoming import IncomingCall, Message, Reply, incoming, known_type, plain_id

__all__ = ["calls_in"]

_ORIGIN = "anthropic"


def calls_in(message: Message) -> list[IncomingCall] | None:
    """Return the calls of an assistant message, or of a bare `tool_use` block, or None for another shape.

    Each result is a user message of its own; the API joins neighbouring ones.
    """
    if message.get("type") == "tool_use":
        return [_call(message, _block(message.get("id")))]
    content = message.get("content")
    if isinstance(content, dict):
        raise CallError("`content` must be text or a list of blocks")
    if not isinstance(content, list) or message.get("role") != "assistant":
        return None
    return [call for block in content for call in _calls(block)]


def _calls(block: object) -> list[IncomingCall]:
    if not isinstance(block, dict):
        raise CallError("a block of `content` is an object")
    if block.get("type") == "tool_use":
        return [_call(block, _in_message(_block(block.get("id"))))]
    known_type(block.get("type"))
    return []


def _call(block: Message, reply: Reply) -> IncomingCall:
    return incoming(block.get("name"), block.get("input"), reply, call_id=block.get("id"), origin=_ORIGIN)


def _block(call_id: object) -> Reply:
    def reply(ok: bool, text: str) -> dict[str, Any]:  # noqa: FBT001 -- the signature of Reply
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": plain_id(call_id), "content": text}
        return block if ok else {**block, "is_error": True}

    return reply


def _in_message(block: Reply) -> Reply:
    def reply(ok: bool, text: str) -> dict[str, Any]:  # noqa: FBT001 -- the signature of Reply
        return {"role": "user", "content": [block(ok, text)]}

    return reply

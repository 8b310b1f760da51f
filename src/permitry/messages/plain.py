"""The plain shape: `{"name", "arguments"}` in, `{"name", "ok", "content"}` out."""

from functools import partial
from typing import Any

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.result import ToolResult
from permitry.errors import CallError
from permitry.messages.incoming import IncomingCall, Message, incoming, plain_id

__all__ = ["call_from_object", "call_message", "calls_in", "is_result", "result_message"]

_ORIGIN = "plain"


def calls_in(message: Message) -> list[IncomingCall] | None:
    """Return the one call of a plain object, or None for another shape."""
    # An object with a role or a type is a message; what looks like a call in it may have run already. One
    # with a result is our own reply.
    if is_result(message):
        return []
    is_plain = {"name", "arguments"} <= set(message) and not {"role", "type"} & set(message)
    return [call_from_object(message, _ORIGIN)] if is_plain else None


def is_result(message: Message) -> bool:
    """Return whether a message is the plain result of a call."""
    return {"name", "ok", "content"} <= set(message)


def call_message(call: ToolCall) -> dict[str, Any]:
    """Return the plain object of `call`; it carries every call."""
    message: dict[str, Any] = {} if call.call_id is None else {"id": call.call_id}
    message |= {"name": call.name, "arguments": call.to_dict()}
    if call.server is not None:
        message["server"] = call.server
    if call.kind is not PayloadKind.FUNCTION:
        message["kind"] = call.kind.value
    return message


def result_message(result: ToolResult, call: ToolCall) -> dict[str, Any]:
    """Return the plain result of `call`."""
    return _reply(call.call_id, call.name, result)


def call_from_object(message: Message, origin: str | None = None) -> IncomingCall:
    """Return the call of `{"name", "arguments"?, "id"?, "kind"?, "server"?}`."""
    call_id, name = message.get("id"), message.get("name")
    reply = partial(_reply, call_id, name)
    try:
        kind = PayloadKind(message.get("kind", "function"))
    except ValueError:
        kinds = ", ".join(each.value for each in PayloadKind)
        return IncomingCall(str(name), CallError(f"unknown kind {message['kind']!r}; known: {kinds}"), reply)
    # A number is a fair id for a line of a program's own; the reply gives it back as it came.
    own_id = str(call_id) if type(call_id) is int else call_id
    rest = {"call_id": own_id, "kind": kind, "server": message.get("server"), "origin": origin}
    return incoming(name, message.get("arguments"), reply, **rest)


def _reply(call_id: object, name: object, result: ToolResult) -> dict[str, Any]:
    from permitry.messages.outgoing import text_only  # noqa: PLC0415 -- a call that is only decided on has no result

    message = {"name": plain_id(name), "ok": result.ok, "content": text_only(result)}
    return message if call_id is None else {"id": plain_id(call_id), **message}

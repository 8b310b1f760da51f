"""The plain shape: `{"name", "arguments"}` in, `{"name", "ok", "content"}` out."""

from typing import Any

from permitry.core.call import PayloadKind
from permitry.errors import CallError
from permitry.messages.incoming import IncomingCall, Message, Reply, incoming, plain_id

__all__ = ["call_from_object", "calls_in"]


def calls_in(message: Message) -> list[IncomingCall] | None:
    """Return the one call of a plain object, or None for another shape."""
    # An object with a role or a type is somebody's message; what looks like a call in it may have run already. One
    # with a result is our own reply.
    if {"name", "ok", "content"} <= set(message):
        return []
    is_plain = {"name", "arguments"} <= set(message) and not {"role", "type"} & set(message)
    return [call_from_object(message)] if is_plain else None


def call_from_object(message: Message) -> IncomingCall:
    """Return the call of `{"name", "arguments"?, "id"?, "kind"?, "server"?}`."""
    call_id, name = message.get("id"), message.get("name")
    reply = _reply(call_id, name)
    try:
        kind = PayloadKind(message.get("kind", "function"))
    except ValueError:
        kinds = ", ".join(each.value for each in PayloadKind)
        return IncomingCall(str(name), CallError(f"unknown kind {message['kind']!r}; known: {kinds}"), reply)
    # A number is a fair id for a line of a program's own; the reply gives it back as it came.
    own_id = str(call_id) if type(call_id) is int else call_id
    rest = {"call_id": own_id, "kind": kind, "server": message.get("server")}
    return incoming(name, message.get("arguments"), reply, **rest)


def _reply(call_id: object, name: object) -> Reply:
    def reply(ok: bool, text: str) -> dict[str, Any]:  # noqa: FBT001 -- the signature of Reply
        result = {"name": plain_id(name), "ok": ok, "content": text}
        return result if call_id is None else {"id": plain_id(call_id), **result}

    return reply

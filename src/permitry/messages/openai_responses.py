"""The shape of OpenAI's responses: items with a `call_id` in, `…_output` items out."""

from typing import Any

from permitry.core.call import PayloadKind
from permitry.errors import CallError
from permitry.messages.incoming import IncomingCall, Message, Reply, incoming, known_type, plain_id

__all__ = ["calls_in"]

_ORIGIN = "openai-responses"
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")


def calls_in(message: Message) -> list[IncomingCall] | None:
    """Return the call of an item, or the calls of a whole response, or None for another shape."""
    output = message.get("output")
    is_whole = not {"role", "type"} & set(message) and message.get("object", "response") == "response"
    if isinstance(output, list) and is_whole:
        return [call for item in output for call in _calls(item)]
    return [_call(message)] if message.get("type") in _CALLS else None


def _calls(item: object) -> list[IncomingCall]:
    if not isinstance(item, dict):
        raise CallError("an item of `output` is an object")
    if item.get("type") in _CALLS:
        # An item with a role is somebody's message, and somebody may quote a call.
        return [] if "role" in item else [_call(item)]
    known_type(item.get("type"))
    return []


def _call(item: Message) -> IncomingCall:
    kind, call_id = item["type"], item.get("call_id")
    reply = _reply(f"{kind}_output", call_id)
    if kind == "local_shell_call":
        return incoming(
            "local_shell", item.get("action"), reply, call_id=call_id, kind=PayloadKind.LOCAL_SHELL, origin=_ORIGIN
        )
    if kind == "custom_tool_call":
        text = {"input": item.get("input")}
        return incoming(item.get("name"), text, reply, call_id=call_id, kind=PayloadKind.CUSTOM, origin=_ORIGIN)
    return incoming(item.get("name"), item.get("arguments"), reply, call_id=call_id, origin=_ORIGIN)


def _reply(kind: str, call_id: object) -> Reply:
    def reply(_: bool, text: str) -> dict[str, Any]:  # noqa: FBT001 -- the signature of Reply
        return {"type": kind, "call_id": plain_id(call_id), "output": text}

    return reply

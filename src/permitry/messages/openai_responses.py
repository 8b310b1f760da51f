"""The shape of OpenAI's responses: items with a `call_id` in, `…_output` items out."""

from typing import Any

from permitry.core.call import PayloadKind
from permitry.messages.incoming import IncomingCall, Message, Reply, incoming

__all__ = ["calls_in"]

_ORIGIN = "openai-responses"
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")


def calls_in(message: Message) -> list[IncomingCall] | None:
    """Return the call of an item, or the calls of a whole response, or None for another shape."""
    output = message.get("output")
    is_whole = not {"role", "type"} & set(message) and message.get("object", "response") == "response"
    if isinstance(output, list) and is_whole:
        items = [item for item in output if isinstance(item, dict) and "role" not in item]
        return [_call(item) for item in items if item.get("type") in _CALLS]
    return [_call(message)] if message.get("type") in _CALLS else None


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
        return {"type": kind, "call_id": call_id, "output": text}

    return reply

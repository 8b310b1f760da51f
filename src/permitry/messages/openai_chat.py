"""The shape of OpenAI's chat completions: `tool_calls` in, `role: tool` out."""

from collections.abc import Iterator
from typing import Any

from permitry.core.call import PayloadKind
from permitry.errors import CallError
from permitry.messages.incoming import IncomingCall, Message, Reply, incoming, known_role, plain_id

__all__ = ["calls_in"]

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


def _calls(message: Message) -> Iterator[IncomingCall]:
    if known_role(message.get("role", "assistant")) != "assistant":
        return
    if message.get("content") is None and not {"tool_calls", "function_call", "refusal"} & set(message):
        raise CallError("a message of the assistant with neither `content` nor calls")
    legacy = message.get("function_call")
    if isinstance(legacy, dict):
        name = legacy.get("name")
        yield incoming(name, legacy.get("arguments"), _legacy_reply(name), origin=_ORIGIN)
    tool_calls = message.get("tool_calls")
    if not isinstance(tool_calls, list | None):
        raise CallError("`tool_calls` must be a list")
    for each in tool_calls or ():
        yield _call(each if isinstance(each, dict) else {})


def _call(entry: dict[str, Any]) -> IncomingCall:
    call_id = entry.get("id")
    custom = entry.get("custom")
    if isinstance(custom, dict):
        text, kind = {"input": custom.get("input")}, PayloadKind.CUSTOM
        return incoming(custom.get("name"), text, _reply(call_id), call_id=call_id, kind=kind, origin=_ORIGIN)
    function = entry.get("function")
    function = function if isinstance(function, dict) else {}
    arguments = function.get("arguments")
    return incoming(function.get("name"), arguments, _reply(call_id), call_id=call_id, origin=_ORIGIN)


def _reply(call_id: object) -> Reply:
    def reply(_: bool, text: str) -> dict[str, Any]:  # noqa: FBT001 -- the signature of Reply
        return {"role": "tool", "tool_call_id": plain_id(call_id), "content": text}

    return reply


def _legacy_reply(name: object) -> Reply:
    def reply(_: bool, text: str) -> dict[str, Any]:  # noqa: FBT001 -- the signature of Reply
        return {"role": "function", "name": plain_id(name), "content": text}

    return reply

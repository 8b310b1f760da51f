"""The shape of OpenAI's responses: items with a `call_id` in, `…_output` items out."""

from typing import Any

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.result import ToolResult
from permitry.errors import CallError
from permitry.messages.incoming import IncomingCall, Message, Reply, incoming, known_type, plain_id
from permitry.messages.outgoing import (
    IMAGES,
    base64_text,
    divided,
    free_text,
    function_name,
    json_text,
    needed_id,
    text_only,
)

__all__ = ["call_message", "calls_in", "result_message"]

_ORIGIN = "openai-responses"
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_SHELL = "local_shell"


def calls_in(message: Message) -> list[IncomingCall] | None:
    """Return the call of an item, or the calls of a whole response, or None for another shape."""
    output = message.get("output")
    is_whole = not {"role", "type"} & set(message) and message.get("object", "response") == "response"
    if isinstance(output, list) and is_whole:
        return [call for item in output for call in _calls(item)]
    return [_call(message)] if message.get("type") in _CALLS else None


def call_message(call: ToolCall) -> dict[str, Any]:
    """Return the item of `call`.

    Raises: `CallError` for a call without an id, a custom call without free text, and a local shell of another name.
    """
    item = {"type": _item_type(call), "call_id": needed_id(call, _ORIGIN)}
    match call.kind:
        case PayloadKind.CUSTOM:
            name, text = free_text(call, _ORIGIN)
            return {**item, "name": name, "input": text}
        case PayloadKind.LOCAL_SHELL:
            if call.tool != _SHELL:
                raise CallError(f"a local shell call is named `{_SHELL}`, not `{call.tool}`")
            return {**item, "action": call.to_dict(), "status": "completed"}
        case _:
            return {**item, "name": function_name(call, _ORIGIN), "arguments": json_text(call)}


def result_message(result: ToolResult, call: ToolCall) -> dict[str, Any]:
    """Return the output item of `call`.

    Raises: `CallError` for a call without an id.
    """
    return _reply(f"{_item_type(call)}_output", needed_id(call, _ORIGIN))(result)


def _calls(item: object) -> list[IncomingCall]:
    if not isinstance(item, dict):
        raise CallError("an item of `output` is an object")
    if item.get("type") in _CALLS:
        # An item with a role is a message, and a message may quote a call.
        return [] if "role" in item else [_call(item)]
    known_type(item.get("type"))
    return []


def _call(item: Message) -> IncomingCall:
    kind, call_id = item["type"], item.get("call_id")
    reply = _reply(f"{kind}_output", call_id)
    if kind == "local_shell_call":
        return incoming(
            _SHELL, item.get("action"), reply, call_id=call_id, kind=PayloadKind.LOCAL_SHELL, origin=_ORIGIN
        )
    if kind == "custom_tool_call":
        text = {"input": item.get("input")}
        return incoming(item.get("name"), text, reply, call_id=call_id, kind=PayloadKind.CUSTOM, origin=_ORIGIN)
    return incoming(item.get("name"), item.get("arguments"), reply, call_id=call_id, origin=_ORIGIN)


def _item_type(call: ToolCall) -> str:
    special = {PayloadKind.CUSTOM: "custom_tool_call", PayloadKind.LOCAL_SHELL: "local_shell_call"}
    return special.get(call.kind, "function_call")


def _reply(kind: str, call_id: object) -> Reply:
    def reply(result: ToolResult) -> dict[str, Any]:
        # The output of a local shell is text and nothing else.
        output = text_only(result) if kind == "local_shell_call_output" else _output(result)
        return {"type": kind, "call_id": plain_id(call_id), "output": output}

    return reply


def _output(result: ToolResult) -> str | list[dict[str, Any]]:
    text, images = divided(result, IMAGES.__contains__)
    if not images:
        return text
    content: list[dict[str, Any]] = [{"type": "input_text", "text": text}] if text else []
    for image in images:
        url = f"data:{image.media_type};base64,{base64_text(image)}"
        content.append({"type": "input_image", "image_url": url, "detail": "auto"})
    return content

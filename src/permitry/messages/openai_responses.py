"""The shape of OpenAI's responses: items with a `call_id` in, `…_output` items out."""

from functools import partial
from types import MappingProxyType
from typing import Any, Final

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.result import MediaPart, ToolResult
from permitry.errors import CallError
from permitry.messages.incoming import IncomingCall, Message, check_type, incoming, plain_id
from permitry.messages.outgoing import (
    data_url,
    free_text,
    function_name,
    json_text,
    needed_id,
    text_only,
    with_images,
)

__all__ = ["call_message", "calls_in", "result_message"]

_ORIGIN = "openai-responses"
# The items that are calls, and where each has its arguments.
_KINDS: Final = MappingProxyType(
    {
        "function_call": (PayloadKind.FUNCTION, "arguments"),
        "custom_tool_call": (PayloadKind.CUSTOM, "input"),
        "local_shell_call": (PayloadKind.LOCAL_SHELL, "action"),
    }
)
_TYPES: Final = MappingProxyType({kind: name for name, (kind, _) in _KINDS.items()})
_CALLS = tuple(_KINDS)
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
    return _reply(f"{_item_type(call)}_output", needed_id(call, _ORIGIN), result)


def _calls(item: object) -> list[IncomingCall]:
    if not isinstance(item, dict):
        raise CallError("an item of `output` is an object")
    if item.get("type") in _CALLS:
        # An item with a role is a message, and a message may quote a call.
        return [] if "role" in item else [_call(item)]
    check_type(item.get("type"))
    return []


def _call(item: Message) -> IncomingCall:
    kind, field = _KINDS[item["type"]]
    given, call_id = item.get(field), item.get("call_id")
    name = _SHELL if kind is PayloadKind.LOCAL_SHELL else item.get("name")
    arguments = {"input": given} if kind is PayloadKind.CUSTOM else given
    reply = partial(_reply, f"{item['type']}_output", call_id)
    return incoming(name, arguments, reply, call_id=call_id, kind=kind, origin=_ORIGIN)


def _item_type(call: ToolCall) -> str:
    return _TYPES.get(call.kind, "function_call")


def _reply(kind: str, call_id: object, result: ToolResult) -> dict[str, Any]:
    # The output of a local shell is text and nothing else.
    is_text = kind == "local_shell_call_output"
    output = text_only(result) if is_text else with_images(result, "input_text", _image)
    return {"type": kind, "call_id": plain_id(call_id), "output": output}


def _image(part: MediaPart) -> dict[str, Any]:
    return {"type": "input_image", "image_url": data_url(part), "detail": "auto"}

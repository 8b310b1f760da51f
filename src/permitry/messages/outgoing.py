"""One call or result on its way out: what the shapes write alike."""

import base64
import json
from collections.abc import Callable

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.result import MediaPart, ToolResult
from permitry.errors import CallError

__all__ = ["IMAGES", "base64_text", "divided", "free_text", "function_name", "json_text", "needed_id", "text_only"]

IMAGES = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
"""The media types that OpenAI and Anthropic take as images."""

# A session's call is a function call on the wire; the caller that routes it knows which tools are sessions.
_FUNCTIONS = frozenset({PayloadKind.FUNCTION, PayloadKind.MCP, PayloadKind.UNIFIED_EXEC})


def function_name(call: ToolCall, shape: str) -> str:
    """Return the name of `call` as a function call: `mcp:server/tool` for the tool of a server.

    Raises: `CallError` for a call that would come back as another one.
    """
    if call.kind not in _FUNCTIONS or (call.kind is PayloadKind.MCP) is not (call.server is not None):
        what = "an MCP call without a server" if call.kind is PayloadKind.MCP else f"this `{call.kind.value}` call"
        raise CallError(f"the shape `{shape}` cannot carry {what}; `plain` carries every call")
    return _tool(call)


def free_text(call: ToolCall, shape: str) -> tuple[str, str]:
    """Return the name and the free text of a custom call.

    Raises: `CallError` when its arguments are not `{"input": text}` and nothing else.
    """
    match call.to_dict():
        case {"input": str() as text, **rest} if not rest:
            return _tool(call), text
    raise CallError(f'the shape `{shape}` cannot carry a custom call whose arguments are not {{"input": text}}')


def needed_id(call: ToolCall, shape: str) -> str:
    """Return the id of `call`.

    Raises: `CallError` when it has none.
    """
    if call.call_id is None:
        raise CallError(f"a call of the shape `{shape}` needs an id, and this call of `{call.tool}` has none")
    return call.call_id


def json_text(call: ToolCall) -> str:
    """Return the arguments as JSON text, in the order the model wrote them."""
    return json.dumps(call.to_dict(), ensure_ascii=False, allow_nan=False)


def divided(result: ToolResult, is_carried: Callable[[str], bool]) -> tuple[str, tuple[MediaPart, ...]]:
    """Return the text of `result` and the parts whose media type is carried; the text names every other part."""
    carried = tuple(part for part in result.parts if is_carried(part.media_type))
    notes = [
        f"[left out: {part.media_type}, {len(part.data)} bytes]"
        for part in result.parts
        if not is_carried(part.media_type)
    ]
    return "\n".join([result.text, *notes] if result.text else notes), carried


def text_only(result: ToolResult) -> str:
    """Return the text of `result`, in which every part is named as left out."""
    text, _ = divided(result, lambda _: False)
    return text


def base64_text(part: MediaPart) -> str:
    """Return the data of `part` in base64."""
    return base64.b64encode(part.data).decode("ascii")


def _tool(call: ToolCall) -> str:
    # Server and name are checked one by one; in one field they may be too long to be read back.
    return ToolCall(call.tool).tool

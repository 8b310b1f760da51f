"""One call or result on its way out: what the shapes write alike."""

import base64
import json
import logging
from collections.abc import Callable
from typing import Any, Final

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.result import MediaPart, ToolResult
from permitry.errors import CallError

__all__ = [
    "IMAGES",
    "base64_text",
    "data_url",
    "divided",
    "free_text",
    "function_name",
    "images_message",
    "json_text",
    "needed_id",
    "text_only",
    "with_follow_up",
    "with_images",
]

_LOG: Final = logging.getLogger("permitry.messages")

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
    """Return the text of `result` and the parts whose media type is carried; the text names every other part.

    So does a line in the log, for the host.
    """
    carried = tuple(part for part in result.parts if is_carried(part.media_type))
    lost = [part for part in result.parts if not is_carried(part.media_type)]
    for part in lost:
        _LOG.warning("%s of a result is left out: its message has no place for it", _describe(part))
    return _lines(result.text, [f"[left out: {_describe(part)}]" for part in lost]), carried


def with_images(
    result: ToolResult, kind: str, write: Callable[[MediaPart], dict[str, Any]]
) -> str | list[dict[str, Any]]:
    """Return the text of `result`, or a list of a text of this kind, if there is any, and its images."""
    text, images = divided(result, IMAGES.__contains__)
    if not images:
        return text
    blocks: list[dict[str, Any]] = [{"type": kind, "text": text}] if text else []
    return [*blocks, *map(write, images)]


def with_follow_up(result: ToolResult) -> str:
    """Return the text of `result` for a message that holds text alone: it says that images come with another one."""
    text, images = divided(result, IMAGES.__contains__)
    return _lines(text, [f"[{_describe(image)}: in a message of the user that follows]" for image in images])


def images_message(result: ToolResult) -> dict[str, Any] | None:
    """Return the message of the user, as chat completions have it, that holds the images of `result`, or None.

    Nothing in its text is the tool's or the model's: it counts as said by the user.
    """
    content: list[dict[str, Any]] = []
    for image in (part for part in result.parts if part.media_type in IMAGES):
        content.append({"type": "text", "text": f"The result of a tool: {_describe(image)}."})
        content.append({"type": "image_url", "image_url": {"url": data_url(image)}})
    return {"role": "user", "content": content} if content else None


def _describe(part: MediaPart) -> str:
    return f"{part.media_type}, {len(part.data)} bytes"


def _lines(text: str, notes: list[str]) -> str:
    return "\n".join([text, *notes] if text else notes)


def text_only(result: ToolResult) -> str:
    """Return the text of `result`, in which every part is named as left out."""
    text, _ = divided(result, lambda _: False)
    return text


def base64_text(part: MediaPart) -> str:
    """Return the data of `part` in base64."""
    return base64.b64encode(part.data).decode("ascii")


def data_url(part: MediaPart) -> str:
    """Return `part` as the address that holds it."""
    return f"data:{part.media_type};base64,{base64_text(part)}"


def _tool(call: ToolCall) -> str:
    # Server and name are checked one by one; in one field they may be too long to be read back.
    return ToolCall(call.tool).tool

"""Calls in the text of a message, from models that write them there."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from permitry.core.call import ToolCall
from permitry.core.spec import ToolSpec
from permitry.errors import CallError
from permitry.messages import plain
from permitry.messages.incoming import IncomingCall
from permitry.messages.text import Diagnostic, TextCall, parse_text

__all__ = ["as_tool_call", "text_calls", "text_calls_and_broken"]


def text_calls(message: object, tools: Iterable[ToolSpec] = ()) -> list[IncomingCall]:
    """Return the calls that an assistant message holds as text; the replies have the plain shape.

    What the model wrote inside its thinking is not a call, and neither is what others wrote. A call that cannot
    be read is left out here: `text_calls_and_broken` has it.
    """
    return text_calls_and_broken(message, tools)[0]


def text_calls_and_broken(
    message: object, tools: Iterable[ToolSpec] = ()
) -> tuple[list[IncomingCall], list[Diagnostic]]:
    """Return the calls that an assistant message holds as text, and a note on each that is broken, both in order.

    A broken call is one that the model meant and that cannot be read. Tell the model, or it waits for a result.
    """
    text = "\n".join(_texts(message))
    if not text:
        return [], []
    parsed = parse_text(text, tools)
    return [_to_incoming(call) for call in parsed.calls], [note for note in parsed.diagnostics if note.is_broken]


def as_tool_call(call: TextCall, *, call_id: str | None = None) -> ToolCall:
    """Return the call as it is decided on and run; `origin` names the format it was written in.

    Raises: `CallError` for a name or arguments that no tool call can have.
    """
    origin = f"text:{call.format}"
    return ToolCall(call.name, call.arguments, call_id=call_id or call.call_id, origin=origin, repaired=call.repaired)


def _to_incoming(call: TextCall) -> IncomingCall:
    incoming = plain.call_from_object({"id": call.call_id, "name": call.name, "arguments": call.arguments})
    try:
        return attrs.evolve(incoming, call=as_tool_call(call))
    except CallError as error:
        return attrs.evolve(incoming, call=error)


def _texts(message: object) -> Iterator[str]:
    """Yield the texts of an assistant message, of the shapes that have one."""
    match message:
        case {"role": "assistant" | "model", "content": str(text)}:
            yield text
        case {"role": "assistant", "content": [*blocks]}:
            yield from (block["text"] for block in blocks if _is_text(block))
        case {"role": "model", "parts": [*parts]}:
            yield from (part["text"] for part in parts if _is_said(part))
        case {"choices": [{"message": Mapping() as inner}, *_]}:
            yield from _texts(inner)
        case {"candidates": [{"content": Mapping() as inner}, *_]}:
            yield from _texts({"role": "model", **inner})
        case {"output": [*items]}:
            yield from (text for item in items for text in _texts(item))


def _is_said(part: Any) -> bool:  # noqa: ANN401 -- a part of any kind
    return isinstance(part, Mapping) and isinstance(part.get("text"), str) and not part.get("thought")


def _is_text(block: Any) -> bool:  # noqa: ANN401 -- a block of any kind
    is_text = isinstance(block, Mapping) and block.get("type") in ("text", "output_text")
    return is_text and isinstance(block.get("text"), str)

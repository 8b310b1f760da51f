"""Provider messages to calls, and calls and results back, one file a shape."""

import functools
import importlib
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from permitry.core.call import ToolCall
from permitry.core.result import ToolResult
from permitry.errors import CallError
from permitry.messages.incoming import IncomingCall, Message, check_role, check_type

__all__ = ["SHAPES", "IncomingCall", "call_message", "calls_in", "follow_up_message", "result_message"]


class _Shape(Protocol):
    """The way out of a shape's file."""

    def call_message(self, call: ToolCall, /) -> dict[str, Any]: ...

    def result_message(self, result: ToolResult, call: ToolCall, /) -> dict[str, Any]: ...


SHAPES = ("anthropic", "gemini", "mcp", "openai-chat", "openai-responses", "plain")
"""The names of the shapes, sorted: what `ToolCall.origin` says of a call that came in that shape."""

_PIECES = frozenset({"content_block", "delta", "item"})


def calls_in(message: object, *, server: str | None = None) -> list[IncomingCall]:
    """Return the calls in one message of any known shape, in order; a message without calls gives none.

    `server` names the MCP server to which a JSON-RPC message goes, which the message itself does not say. The other
    shapes pass it over.

    Raises: `CallError` for something that is not a message.
    """
    if not isinstance(message, Mapping):
        raise CallError(f"a message is a JSON object, not {type(message).__name__}")
    if _PIECES & set(message):
        raise CallError("a piece of a stream; give whole messages")
    role = message.get("role")
    # Gemini calls the assistant a model; its own file answers for that word.
    if role not in (None, "model") and check_role(role) != "assistant":
        # What a user or a tool says is never a call, whatever it looks like.
        return []
    if "jsonrpc" in message:
        from permitry.messages import mcp  # noqa: PLC0415 -- as for the readers

        return mcp.calls_in(message, server)
    for read in _readers():
        calls = read(message)
        if calls is not None:
            return calls
    return _without_calls(message)


def call_message(call: ToolCall, shape: str) -> dict[str, Any]:
    """Return `call` as the message of `shape` that `calls_in` reads as the same call.

    Raises: `CallError` for an unknown shape, and for a call that would come back as another one.
    """
    return _name(shape).call_message(call)


def result_message(result: ToolResult, call: ToolCall, shape: str) -> dict[str, Any]:
    """Return the message of `shape` that gives `result` back for `call`; what the shape cannot carry is named in it.

    Raises: `CallError` for an unknown shape, and for a call without the id that the shape needs.
    """
    return _name(shape).result_message(result, call)


def follow_up_message(result: ToolResult, shape: str) -> dict[str, Any] | None:
    """Return the message of the user that carries what `result_message` cannot, or None: images in chat completions.

    It comes behind the results of all calls of a message. Raises: `CallError` for an unknown shape.
    """
    write = getattr(_name(shape), "follow_up_message", None)
    message: dict[str, Any] | None = write(result) if write is not None else None
    return message


def _name(shape: str) -> _Shape:
    if shape not in SHAPES:
        raise CallError(f"unknown shape `{shape}`; known: {', '.join(SHAPES)}")
    # The name is one of ours, so that no other module is ever looked for.
    module: Any = importlib.import_module(f"permitry.messages.{shape.replace('-', '_')}")
    found: _Shape = module
    return found


@functools.cache
def _readers() -> tuple[Callable[[Message], list[IncomingCall] | None], ...]:
    """Return the readers of shapes, the strictest first, so that a message of two shapes is refused, not half read."""
    # A caller that needs one file of this folder need not wait for all of them.
    from permitry.messages import anthropic, gemini, openai_chat, openai_responses, plain  # noqa: PLC0415 -- see above

    return (
        gemini.calls_in,
        openai_chat.calls_in,
        openai_responses.calls_in,
        anthropic.calls_in,
        plain.calls_in,
    )


def _without_calls(message: Message) -> list[IncomingCall]:
    """Return nothing for a message that is known to hold no call.

    Raises: `CallError` for every other one: a misspelt call must not vanish.
    """
    if "type" in message:
        check_type(message["type"])
    elif "role" not in message:
        raise CallError("the object is neither a message nor a call: a call has `name` and `arguments`")
    elif message.get("content") is None and "refusal" not in message:
        raise CallError("a message of the assistant with neither `content` nor calls")
    return []

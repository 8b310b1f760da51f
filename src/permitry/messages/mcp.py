"""The shape of MCP: JSON-RPC requests `tools/call` in, their results out."""

from functools import partial
from typing import Any

import attrs

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.json_values import mutable
from permitry.core.result import ToolResult
from permitry.errors import CallError
from permitry.messages.incoming import IncomingCall, Message, incoming, plain_id
from permitry.messages.outgoing import base64_text, divided, needed_id

__all__ = ["call_message", "calls_in", "result_message"]

_ORIGIN = "mcp"
_VERSION = "2.0"
_KEYS = frozenset({"error", "id", "jsonrpc", "method", "params", "result"})
# What else client and server say to each other; anything else is refused, so that no call can vanish.
_METHODS = frozenset(
    {
        "completion/complete", "elicitation/create", "initialize", "logging/setLevel", "ping", "prompts/get",
        "prompts/list", "resources/list", "resources/read", "resources/subscribe", "resources/templates/list",
        "resources/unsubscribe", "roots/list", "sampling/createMessage", "server/discover", "subscriptions/listen",
        "tasks/cancel", "tasks/get", "tasks/list", "tasks/result", "tools/list",
    }
)  # fmt: skip


def calls_in(message: Message, server: str | None = None) -> list[IncomingCall]:
    """Return the call of a JSON-RPC message, if it is the request `tools/call`.

    The message does not say to which server it goes. A call that neither `server` nor a name `mcp:server/tool` places
    is an error: by its bare name it would meet the rules of the agent's own tools.

    Raises: `CallError` for what is not a JSON-RPC message of MCP, and for a call without an id.
    """
    if message.get("jsonrpc") != _VERSION:
        raise CallError(f'`jsonrpc` must be "{_VERSION}"')
    if unknown := sorted(map(str, set(message) - _KEYS)):
        raise CallError(f"unknown key `{unknown[0]}` in a JSON-RPC message; known: {', '.join(sorted(_KEYS))}")
    method = message.get("method")
    if method == "tools/call":
        return [_call(message, server)]
    if "method" not in message and not {"error", "result"} & set(message):
        raise CallError("a JSON-RPC message with neither `method` nor `result` nor `error`")
    if "method" in message and not _is_known(method):
        raise CallError(f"unknown method {method!r}")
    return []


def call_message(call: ToolCall) -> dict[str, Any]:
    """Return the request for `call`; which server it goes to is not part of it.

    Raises: `CallError` for a call without an id, and for one that is not a plain call of a server's tool.
    """
    if call.kind is not PayloadKind.MCP or call.server is None:
        raise CallError(f"the shape `{_ORIGIN}` carries calls of tools of MCP servers; `{call.tool}` names none")
    call_id, params = needed_id(call, _ORIGIN), {"name": call.name, "arguments": call.to_dict()}
    return {"jsonrpc": _VERSION, "id": call_id, "method": "tools/call", "params": params}


def result_message(result: ToolResult, call: ToolCall) -> dict[str, Any]:
    """Return the response to `call`. Its id is text; `IncomingCall.reply` gives a number back as a number.

    Raises: `CallError` for a call without an id.
    """
    return _reply(needed_id(call, _ORIGIN), result)


def _is_known(method: object) -> bool:
    return isinstance(method, str) and (method in _METHODS or method.startswith("notifications/"))


def _call(message: Message, server: str | None) -> IncomingCall:
    call_id = plain_id(message.get("id"))
    if call_id is None:
        raise CallError(
            "a `tools/call` needs an `id` that is a string or a whole number: without one, there is no answer"
        )
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    rest = {"call_id": str(call_id), "kind": PayloadKind.MCP, "server": server, "origin": _ORIGIN}
    found = incoming(params.get("name"), params.get("arguments"), partial(_reply, call_id), **rest)
    if isinstance(found.call, ToolCall) and found.call.server is None:
        problem = f"the message does not say of which MCP server `{found.name}` is a tool; give the server"
        return attrs.evolve(found, call=CallError(problem))
    return found


def _reply(call_id: str | int, result: ToolResult) -> dict[str, Any]:
    outcome: dict[str, Any] = {"content": _content(result), "isError": not result.ok}
    if result.structured is not None:
        outcome["structuredContent"] = mutable(result.structured)
    return {"jsonrpc": _VERSION, "id": call_id, "result": outcome}


def _content(result: ToolResult) -> list[dict[str, Any]]:
    text, parts = divided(result, lambda _: True)
    content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text or not parts else []
    for part in parts:
        kind = part.media_type.partition("/")[0]
        content.append({"type": kind, "data": base64_text(part), "mimeType": part.media_type})
    return content

"""One call as it came in, and how its result goes back."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import attrs

from permitry.core.call import ToolCall
from permitry.core.result import ToolResult
from permitry.errors import CallError

__all__ = ["FollowUp", "IncomingCall", "Message", "Reply", "check_role", "check_type", "incoming", "plain_id"]

Message: TypeAlias = Mapping[str, Any]
Reply: TypeAlias = Callable[[ToolResult], dict[str, Any]]
FollowUp: TypeAlias = Callable[[ToolResult], dict[str, Any] | None]


def _nothing(_: ToolResult) -> None:
    return None


@attrs.frozen
class IncomingCall:
    """A call inside a message. `call` is an error when the model wrote something that is not a call.

    `reply(result)` returns the tool-result message in the shape the call came in, with the id as it was written there.
    `follow_up(result)` returns the message of the user with what that cannot carry, or None: to be sent behind the
    replies to all calls of the message.
    """

    name: str
    call: ToolCall | CallError
    reply: Reply
    follow_up: FollowUp = _nothing


# What a message may hold without a call of the model in it; anything else is refused, so that no call can vanish.
_ROLES = frozenset({"assistant", "developer", "function", "system", "tool", "user"})
_TYPES = frozenset(
    {
        "code_interpreter_call", "compaction", "computer_call", "custom_tool_call_output", "document",
        "file_search_call", "function_call_output", "image", "image_generation_call", "input_text", "item_reference",
        "local_shell_call_output", "mcp_approval_request", "mcp_call", "mcp_list_tools", "mcp_tool_result",
        "mcp_tool_use", "message", "output_text",
        "reasoning", "redacted_thinking", "refusal", "server_tool_use", "text", "thinking", "tool_result",
        "web_search_call", "web_search_tool_result",
    }
)  # fmt: skip


def check_role(role: object) -> str:
    """Return `role`, if it is one.

    Raises: `CallError`.
    """
    if not isinstance(role, str) or role not in _ROLES:
        raise CallError(f"unknown role {role!r}; known: {', '.join(sorted(_ROLES))}")
    return role


def check_type(kind: object) -> str:
    """Return the type of a message, item or block that is not a call, if it is one.

    Raises: `CallError`.
    """
    if not isinstance(kind, str) or kind not in _TYPES:
        raise CallError(f"unknown type {kind!r}")
    return kind


def plain_id(value: object) -> str | int | None:
    """Return an id that is text or a number, or None: nothing else is given back to the sender."""
    return value if type(value) is str or type(value) is int else None


def incoming(
    name: Any,  # noqa: ANN401 -- whatever the model wrote
    arguments: Any,  # noqa: ANN401 -- as above
    reply: Reply,
    follow_up: FollowUp = _nothing,
    /,
    **rest: Any,  # noqa: ANN401 -- ToolCall's own keywords
) -> IncomingCall:
    """Return the call `name(arguments)`; text arguments are parsed as JSON, and empty text means none."""
    shown = name if isinstance(name, str) else "?"
    call: ToolCall | CallError
    if rest.get("call_id") == "":
        rest["call_id"] = None
    try:
        if isinstance(arguments, str):
            call = ToolCall.from_json(name, arguments.strip() or "{}", **rest)
        else:
            call = ToolCall(name, {} if arguments is None else arguments, **rest)
    except CallError as error:
        call = error
    return IncomingCall(shown, call, reply, follow_up)

"""One call as it came in, and how its result goes back."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import attrs

from permitry.core.call import ToolCall
from permitry.errors import CallError

__all__ = ["IncomingCall", "Message", "Reply", "incoming"]

Message: TypeAlias = Mapping[str, Any]
Reply: TypeAlias = Callable[[bool, str], dict[str, Any]]


@attrs.frozen
class IncomingCall:
    """A call inside a message. `call` is an error when the model wrote something that is no call.

    `reply(ok, text)` returns the tool-result message in the shape the call came in.
    """

    name: str
    call: ToolCall | CallError
    reply: Reply


def incoming(name: Any, arguments: Any, reply: Reply, /, **rest: Any) -> IncomingCall:  # noqa: ANN401 -- ToolCall's own keywords
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
    return IncomingCall(shown, call, reply)

"""Provider messages to calls and results back, one file a shape."""

from collections.abc import Callable, Mapping

from permitry.errors import CallError
from permitry.messages import anthropic, openai_chat, openai_responses, plain
from permitry.messages.incoming import IncomingCall, Message, known_role, known_type

__all__ = ["IncomingCall", "calls_in"]

_SHAPES: tuple[Callable[[Message], list[IncomingCall] | None], ...] = (
    openai_chat.calls_in,
    openai_responses.calls_in,
    anthropic.calls_in,
    plain.calls_in,
)
_PIECES = frozenset({"content_block", "delta", "item"})


def calls_in(message: object) -> list[IncomingCall]:
    """Return the calls in one message of any known shape, in order; a message without calls gives none.

    Raises: `CallError` for something that is no message.
    """
    if not isinstance(message, Mapping):
        raise CallError(f"a message is a JSON object, not {type(message).__name__}")
    if _PIECES & set(message):
        raise CallError("a piece of a stream; give whole messages")
    role = message.get("role")
    if role is not None and known_role(role) != "assistant":
        # What a user or a tool says is never a call, whatever it looks like.
        return []
    for shape in _SHAPES:
        calls = shape(message)
        if calls is not None:
            return calls
    return _without_calls(message)


def _without_calls(message: Message) -> list[IncomingCall]:
    """Return nothing for a message that is known to hold no call.

    Raises: `CallError` for every other one: a misspelt call must not vanish.
    """
    if "type" in message:
        known_type(message["type"])
    elif "role" not in message:
        raise CallError("the object is neither a message nor a call: a call has `name` and `arguments`")
    elif message.get("content") is None and "refusal" not in message:
        raise CallError("a message of the assistant with neither `content` nor calls")
    return []

"""Provider messages to calls and results back, one file a shape."""

from collections.abc import Callable, Mapping

from permitry.errors import CallError
from permitry.messages import anthropic, openai_chat, openai_responses, plain
from permitry.messages.incoming import IncomingCall, Message

__all__ = ["IncomingCall", "calls_in"]

_SHAPES: tuple[Callable[[Message], list[IncomingCall] | None], ...] = (
    openai_chat.calls_in,
    openai_responses.calls_in,
    anthropic.calls_in,
    plain.calls_in,
)
_SIGNS_OF_A_MESSAGE = ("role", "type", "choices", "output")


def calls_in(message: object) -> list[IncomingCall]:
    """Return the calls in one message of any known shape, in order; a message without calls gives none.

    Raises: `CallError` for something that is no message.
    """
    if not isinstance(message, Mapping):
        raise CallError(f"a message is a JSON object, not {type(message).__name__}")
    if message.get("role", "assistant") != "assistant":
        # What a user or a tool says is never a call, whatever it looks like.
        return []
    for shape in _SHAPES:
        calls = shape(message)
        if calls is not None:
            return calls
    if not any(sign in message for sign in _SIGNS_OF_A_MESSAGE):
        raise CallError("the object is neither a message nor a call: a call has `name` and `arguments`")
    return []

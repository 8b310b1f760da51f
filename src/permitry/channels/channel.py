"""How a question reaches a human."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Protocol, runtime_checkable

import attrs

from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.errors import safe_str

__all__ = [
    "AsyncCallbackChannel",
    "AsyncConfirmationChannel",
    "CallbackChannel",
    "ConfirmationChannel",
    "LeavableChannel",
    "UnattendedChannel",
    "check_channel",
]


class ConfirmationChannel(Protocol):
    """A way to ask; None: without an answer. One that `is_stored` has it from the store."""

    def ask(self, request: ToolConfirmationRequest) -> ToolConfirmationResponse | None:
        """Return the answer; may wait for as long as the human takes."""
        ...


@runtime_checkable
class AsyncConfirmationChannel(ConfirmationChannel, Protocol):
    """A channel that can also be awaited; `ToolHandler.ahandle` prefers that."""

    async def aask(self, request: ToolConfirmationRequest) -> ToolConfirmationResponse | None:
        """Return the answer."""
        ...


@runtime_checkable
class LeavableChannel(ConfirmationChannel, Protocol):
    """A channel on which a wait can be ended."""

    def leave(self, request: ToolConfirmationRequest) -> None:
        """End the wait for an answer: it was given elsewhere, or is not wanted any more."""


@attrs.frozen
class UnattendedChannel:
    """The channel of a session without a human: no question is ever answered."""

    def ask(self, request: ToolConfirmationRequest) -> None:
        """Return None."""


def _check_plain(function: object) -> None:
    if not callable(function):
        raise TypeError(f"`callback` must be a function, not {safe_str(function, repr)}")
    if any(map(inspect.iscoroutinefunction, (function, type(function).__call__))):
        hint = "use AsyncCallbackChannel, and `await handler.ahandle(call)`"
        raise TypeError(f"`callback` is an async function; {hint}")


@attrs.frozen
class CallbackChannel:
    """Asks by calling a function; `TypeError` for an async one: for that is `AsyncCallbackChannel`."""

    callback: Callable[[ToolConfirmationRequest], ToolConfirmationResponse | None]

    def __attrs_post_init__(self) -> None:
        _check_plain(self.callback)

    def ask(self, request: ToolConfirmationRequest) -> ToolConfirmationResponse | None:
        """Return what the function answers."""
        return self.callback(request)


@attrs.frozen
class AsyncCallbackChannel:
    """Asks by awaiting an async function; it needs `await handler.ahandle(call)`."""

    callback: Callable[[ToolConfirmationRequest], Awaitable[ToolConfirmationResponse | None]]

    def ask(self, _: ToolConfirmationRequest) -> ToolConfirmationResponse | None:
        """Raise `TypeError`: there is no event loop, so that the call is blocked."""
        raise TypeError("an async function cannot answer here; use `await handler.ahandle(call)`")

    async def aask(self, request: ToolConfirmationRequest) -> ToolConfirmationResponse | None:
        """Return what the function answers."""
        return await self.callback(request)


def check_channel(_: object, __: object, channel: object) -> None:
    """Raise `TypeError` for what cannot be asked, and say how to make a channel of it."""
    if callable(getattr(channel, "ask", None)) and not isinstance(channel, type):
        return
    if isinstance(channel, type):
        hint = f"make one of it: {channel.__name__}(...)"
    elif channel is None:
        hint = "leave it out where no human can be asked, or give CallbackChannel(function)"
    elif callable(channel):
        hint = "wrap the function: channel=CallbackChannel(...)"
    else:
        hint = "a channel has a method `ask(request)` that returns a ToolConfirmationResponse, or None"
    raise TypeError(f"`channel` must be a channel, not {safe_str(channel, repr)}; {hint}")

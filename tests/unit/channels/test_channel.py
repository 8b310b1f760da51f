"""How a question reaches a human."""

import asyncio
from typing import Any, cast

import pytest
from tests.tables import for_each

from permitry.channels.channel import (
    AsyncCallbackChannel,
    AsyncConfirmationChannel,
    CallbackChannel,
    ConfirmationChannel,
    UnattendedChannel,
    check_channel,
)
from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import ToolCall


@pytest.fixture
def request_to_write(call: ToolCall) -> ToolConfirmationRequest:
    """Return a bare request."""
    return ToolConfirmationRequest(call)


def test_no_one_answers_in_an_unattended_session(request_to_write: ToolConfirmationRequest) -> None:
    """An unattended channel gives no answer, which is not a yes."""
    channel: ConfirmationChannel = UnattendedChannel()
    assert channel.ask(request_to_write) is None


def test_a_callback_is_asked(request_to_write: ToolConfirmationRequest) -> None:
    """The function gets the request, and its answer is the channel's."""
    asked: list[ToolConfirmationRequest] = []

    def answer(request: ToolConfirmationRequest) -> ToolConfirmationResponse:
        asked.append(request)
        return ToolConfirmationResponse(True)

    assert CallbackChannel(answer).ask(request_to_write) == ToolConfirmationResponse(True)
    assert asked == [request_to_write]


def test_a_channel_without_aask_is_not_async() -> None:
    """The handler asks such a channel in a thread."""
    assert not isinstance(CallbackChannel(lambda _: None), AsyncConfirmationChannel)
    assert not isinstance(UnattendedChannel(), AsyncConfirmationChannel)


async def _approve(_: ToolConfirmationRequest) -> ToolConfirmationResponse:
    return ToolConfirmationResponse(True)


def test_an_async_function_has_a_channel_of_its_own(request_to_write: ToolConfirmationRequest) -> None:
    """It is awaited, and where that is not possible the error says what to do."""
    channel = AsyncCallbackChannel(_approve)
    assert isinstance(channel, AsyncConfirmationChannel)
    assert asyncio.run(channel.aask(request_to_write)) == ToolConfirmationResponse(True)
    with pytest.raises(TypeError, match=r"await handler\.ahandle"):
        channel.ask(request_to_write)


class _Awaited:
    async def __call__(self, _: object) -> None:
        """Answer nothing."""


@for_each(
    "given, why", [(_approve, "use AsyncCallbackChannel"), (_Awaited(), "AsyncCallback"), (3, "a function, not 3")]
)
def test_what_cannot_be_called_and_answer_is_refused(given: object, why: str) -> None:
    """A coroutine would be no answer, and each call blocked."""
    with pytest.raises(TypeError, match=why):
        CallbackChannel(cast("Any", given))


def test_none_is_not_a_channel() -> None:
    """The error says what it would mean."""
    with pytest.raises(TypeError, match="leave it out where no human can be asked"):
        check_channel(None, None, None)

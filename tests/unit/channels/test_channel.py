"""How a question reaches a human."""

import pytest

from permitry.channels.channel import AsyncConfirmationChannel, CallbackChannel, ConfirmationChannel, UnattendedChannel
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

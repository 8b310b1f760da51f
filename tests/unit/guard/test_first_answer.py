"""Of several answers to a question the first counts, wherever it comes from."""

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest
from tests.tables import for_each
from tests.unit.channels.stored_calls import ASKS, CALL, NO, YES, closed, fresh, respond

from permitry.audit.record import MemoryRecorder
from permitry.channels.channel import CallbackChannel
from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.errors import ChannelError
from permitry.guard.guard import Guard
from permitry.guard.ledger import ConfirmationLedger
from permitry.guard.outcome import Permit, Refusal, Silence


@pytest.fixture
def store(tmp_path: Path) -> str:
    """Return the name of a store."""
    return str(tmp_path / "permitry.db")


def inline(guard: Guard, *, is_async: bool) -> Permit | Refusal | Silence:
    """Decide a call, and ask."""
    return asyncio.run(guard.ainline(CALL)) if is_async else guard.inline(CALL)


def answered(guard: Guard) -> tuple[object, object]:
    """Return what the record says of the one answer."""
    assert isinstance(guard.recorder, MemoryRecorder)
    (record,) = [each for each in guard.recorder.records if each["event"] == "answered"]
    return record["approved"], record["by"]


def fail() -> None:
    """Fail as a receiver does that does not take a question."""
    raise ChannelError("400 Bad Request")


@attrs.frozen
class Awaited:
    """An async channel."""

    callback: Callable[[ToolConfirmationRequest], ToolConfirmationResponse | None]

    def ask(self, request: ToolConfirmationRequest) -> None:
        """Return None: it can only be awaited."""

    async def aask(self, request: ToolConfirmationRequest) -> ToolConfirmationResponse | None:
        """Return the answer of the function."""
        return self.callback(request)


@for_each("is_async", [False, True])
@for_each("first", [YES, NO])
def test_an_answer_from_elsewhere_counts_whatever_the_channel_says_then(
    tmp_path: Path, first: ToolConfirmationResponse, *, is_async: bool
) -> None:
    """A no, a yes, nothing, an error, what is no answer: the row and the record have the first one, and who gave it."""
    for number, last in enumerate((lambda: NO, lambda: YES, lambda: None, fail, lambda: "yes")):
        for channel in (CallbackChannel, Awaited) if is_async else (CallbackChannel,):
            store = str(tmp_path / f"{channel.__name__}{number}.db")

            def ask(
                _: ToolConfirmationRequest, store: str = store, last: Callable[[], object] = last
            ) -> ToolConfirmationResponse | None:
                respond(store, first)
                return last()  # type: ignore[return-value]  # some of it is no answer

            guard = fresh(store, channel=channel(ask))
            assert isinstance(inline(guard, is_async=is_async), Permit if first is YES else Refusal)
            assert answered(guard) == (first is YES, "ann")
            (row,) = closed(store)
            assert (row["answered_by"], f'"approved": {str(first is YES).lower()}' in row["answer"]) == ("ann", True)


@pytest.mark.parametrize("is_async", [False, True])
def test_the_answer_of_the_channel_counts_where_it_is_the_first(store: str, *, is_async: bool) -> None:
    """No one else may answer then."""
    guard = fresh(store, channel=CallbackChannel(lambda _: YES))
    assert isinstance(inline(guard, is_async=is_async), Permit)
    assert answered(guard) == (True, None)
    with pytest.raises(ValueError, match="not enough"):
        respond(store, NO)


class Waiting:
    """A channel that waits until it is left."""

    def __init__(self) -> None:
        self.is_asked, self.is_left = threading.Event(), threading.Event()

    def ask(self, request: ToolConfirmationRequest) -> None:
        """Wait."""
        del request
        self.is_asked.set()
        self.is_left.wait(30)

    def leave(self, request: ToolConfirmationRequest) -> None:
        """Wait no more."""
        del request
        self.is_left.set()


@pytest.mark.parametrize("is_async", [False, True])
def test_a_channel_is_not_waited_for_once_there_is_an_answer(store: str, *, is_async: bool) -> None:
    """It is left."""
    channel = Waiting()
    guard = fresh(store, channel=channel)

    def answer() -> None:
        channel.is_asked.wait(20)
        respond(store)

    human, since = threading.Thread(target=answer), time.monotonic()
    human.start()
    assert isinstance(inline(guard, is_async=is_async), Permit)
    human.join()
    assert time.monotonic() - since < 20
    assert channel.is_left.is_set()
    assert answered(guard) == (True, "ann")


def test_an_awaited_channel_is_cancelled_once_there_is_an_answer(store: str) -> None:
    """Such as a form that a client still shows."""
    ended: list[str] = []

    class Form:
        def ask(self, request: ToolConfirmationRequest) -> None:
            del request

        async def aask(self, request: ToolConfirmationRequest) -> None:
            del request
            respond(store)
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                ended.append("cancelled")
                raise OSError("the client is gone") from None

    guard = fresh(store, channel=Form())
    assert isinstance(inline(guard, is_async=True), Permit)
    assert ended == ["cancelled"]


def test_a_question_in_memory_is_asked_on_this_thread(store: str) -> None:
    """No one else can answer it."""
    threads: list[threading.Thread] = []
    channel = CallbackChannel(lambda _: threads.append(threading.current_thread()))
    guard = fresh(store, ASKS, ledger=ConfirmationLedger(), channel=channel)
    guard.inline(CALL)
    assert threads == [threading.current_thread()]


def test_an_answer_outlasts_a_crash(store: str) -> None:
    """Of a process that ends while it is asking; the next one finds what is answered in between."""

    def crash(_: ToolConfirmationRequest) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fresh(store, channel=CallbackChannel(crash)).inline(CALL)
    respond(store)
    guard = fresh(store)
    assert isinstance(guard.check(CALL), Permit)
    assert answered(guard) == (True, "ann")

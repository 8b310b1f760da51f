"""The same way of a call on an event loop."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from permitry.audit.record import JsonlRecorder, MemoryRecorder
from permitry.channels.channel import CallbackChannel
from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import ToolCall
from permitry.core.spec import ToolSpec
from permitry.dispatch.registry import ToolRegistry
from permitry.handler import Blocked, Pending, Ready, ToolHandler

Ran = list[tuple[str, dict[str, Any]]]
Answer = Callable[[object], list[ToolConfirmationRequest]]

_LOOK = ToolCall("look", call_id="c1")
_WRITE = ToolCall("write", {"path": "a"}, call_id="c1")
_YES = ToolConfirmationResponse(True)


@attrs.define
class _AsyncChannel:
    """Answers on the loop, and must not be asked in any other way."""

    given: Any
    asked: int = 0

    def ask(self, request: ToolConfirmationRequest) -> ToolConfirmationResponse | None:
        """Fail."""
        raise AssertionError(request)

    async def aask(self, request: ToolConfirmationRequest) -> ToolConfirmationResponse | None:
        """Give the answer, or raise it."""
        assert request.tool == "write"
        await asyncio.sleep(0)
        self.asked += 1
        if isinstance(self.given, Exception):
            raise self.given
        answer: ToolConfirmationResponse | None = self.given
        return answer


def test_an_allowed_call_runs(handler: ToolHandler, ran: Ran) -> None:
    """Without a question, the tool is awaited at once."""
    assert asyncio.run(handler.ahandle(_LOOK)).text == "look is done"
    assert ran == [("look", {})]


def test_a_blocked_call_does_not(handler: ToolHandler, ran: Ran) -> None:
    """Its result is there without waiting for anything."""
    handler.session.switch_mode("plan")
    assert "Plan mode is on" in asyncio.run(handler.ahandle(_WRITE)).text
    assert ran == []


def test_an_async_channel_is_awaited(handler: ToolHandler, ran: Ran) -> None:
    """It is preferred to asking in a thread."""
    channel = handler.channel = _AsyncChannel(_YES)
    assert asyncio.run(handler.ahandle(_WRITE)).ok
    assert channel.asked == 1
    assert ran == [("write", {"path": "a"})]


def test_another_channel_is_asked_in_a_thread(handler: ToolHandler) -> None:
    """The loop goes on while a human thinks."""
    threads: list[int] = []

    class Channel:
        def ask(self, _: ToolConfirmationRequest) -> ToolConfirmationResponse:
            threads.append(threading.get_ident())
            return _YES

    handler.channel = Channel()
    assert asyncio.run(handler.ahandle(_WRITE)).ok
    assert len(threads) == 1
    assert threads != [threading.get_ident()]


@pytest.mark.parametrize("given", [None, True, "yes", OSError("gone")])
def test_anything_but_an_answer_is_none(handler: ToolHandler, ran: Ran, given: object) -> None:
    """An async channel has no other rights."""
    handler.channel = _AsyncChannel(given)
    assert "and got none" in asyncio.run(handler.ahandle(_WRITE)).text
    assert ran == []


@pytest.mark.parametrize("given", [None, True, OSError("gone")])
def test_nor_is_it_one_from_a_thread(handler: ToolHandler, answer: Answer, ran: Ran, given: object) -> None:
    """A sync channel asked in a thread fails in the same way."""
    answer(given)
    assert "and got none" in asyncio.run(handler.ahandle(_WRITE)).text
    assert ran == []


def test_a_channel_that_only_claims_to_be_async_is_no_answer(handler: ToolHandler, ran: Ran) -> None:
    """An `aask` that cannot be awaited is a failing channel."""

    class Channel:
        def ask(self, _: ToolConfirmationRequest) -> ToolConfirmationResponse:
            return _YES

        def aask(self, _: ToolConfirmationRequest) -> ToolConfirmationResponse:
            return _YES

    handler.channel = Channel()
    assert "and got none" in asyncio.run(handler.ahandle(_WRITE)).text
    assert ran == []


def test_a_no_is_told(handler: ToolHandler, ran: Ran) -> None:
    """The user's guidance comes back as the result."""
    handler.channel = _AsyncChannel(ToolConfirmationResponse(False, instructions="use tabs"))
    assert "The user says: use tabs" in asyncio.run(handler.ahandle(_WRITE)).text
    assert ran == []


def test_a_handled_call_is_not_run_again(handler: ToolHandler, ran: Ran) -> None:
    """A replay is refused on the loop too, also after a sync run."""

    async def twice() -> list[bool]:
        return [(await handler.ahandle(_LOOK)).ok for _ in range(2)]

    assert asyncio.run(twice()) == [True, False]
    assert "already been handled" in handler.handle(_LOOK).text
    assert len(ran) == 1


def test_calls_at_once_are_each_asked_about_and_run_once(
    handler: ToolHandler, ran: Ran, recorder: MemoryRecorder
) -> None:
    """Many calls on one loop do not get in each other's way."""

    async def at_once() -> list[bool]:
        calls = [ToolCall("write", {"path": str(number)}, call_id="c1") for number in range(20)]
        return [result.ok for result in await asyncio.gather(*map(handler.ahandle, calls))]

    handler.channel = _AsyncChannel(_YES)
    assert asyncio.run(at_once()) == [True] * 20
    assert sorted(int(arguments["path"]) for _, arguments in ran) == list(range(20))
    assert [each["event"] for each in recorder.records].count("finished") == 20


def test_a_cancelled_question_stays_open(handler: ToolHandler, ran: Ran, recorder: MemoryRecorder) -> None:
    """Giving up waiting does not count as an answer; the record says so, and the question can be answered later."""

    class Channel(_AsyncChannel):
        async def aask(self, _: ToolConfirmationRequest) -> ToolConfirmationResponse | None:
            await asyncio.Event().wait()
            return _YES

    handler.channel = Channel(_YES)

    async def give_up() -> None:
        await asyncio.wait_for(handler.ahandle(_WRITE), 0.01)

    with pytest.raises(TimeoutError):
        asyncio.run(give_up())
    assert [(each["event"], each.get("error")) for each in recorder.records][2:] == [("interrupted", "CancelledError")]
    pending = handler.begin(_WRITE)
    assert isinstance(pending, Pending)
    assert isinstance(handler.resolve(pending.pending_id, _YES), Ready)
    assert ran == []


def test_a_cancelled_question_is_recorded_off_the_loop(
    handler: ToolHandler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As every record is: a slow disk delays no other call."""
    seen: list[tuple[str, bool]] = []
    record = JsonlRecorder.record

    def watched(recorder: JsonlRecorder, event: str, call: ToolCall, /, **details: object) -> None:
        seen.append((event, threading.current_thread() is threading.main_thread()))
        record(recorder, event, call, **details)

    class Channel(_AsyncChannel):
        async def aask(self, _: ToolConfirmationRequest) -> ToolConfirmationResponse | None:
            await asyncio.Event().wait()
            return _YES

    async def given_up() -> None:
        await asyncio.wait_for(handler.ahandle(_WRITE), 0.2)

    monkeypatch.setattr(JsonlRecorder, "record", watched)
    handler.channel, handler.recorder = Channel(_YES), JsonlRecorder(str(tmp_path / "audit.jsonl"))
    with contextlib.closing(handler.recorder), pytest.raises(TimeoutError):
        asyncio.run(given_up())
    assert seen == [("decided", False), ("asked", False), ("interrupted", False)]


def test_a_question_whose_coroutine_is_closed_is_recorded_at_once(
    handler: ToolHandler, recorder: MemoryRecorder
) -> None:
    """Nothing can be waited for then."""

    class Channel(_AsyncChannel):
        async def aask(self, _: ToolConfirmationRequest) -> ToolConfirmationResponse | None:
            await asyncio.sleep(0)
            return _YES

    handler.channel = Channel(_YES)
    pending = handler.begin(_WRITE)
    assert isinstance(pending, Pending)
    asking = handler.aask(pending)
    asking.send(None)
    asking.close()
    assert [(each["event"], each.get("error")) for each in recorder.records][2:] == [("interrupted", "GeneratorExit")]


def test_an_async_tool_runs_on_the_loop(handler: ToolHandler, registry: ToolRegistry) -> None:
    """Its result is the call's."""

    async def tool(_: dict[str, Any]) -> tuple[bool, str]:
        await asyncio.sleep(0)
        return True, "awaited"

    registry.register(ToolSpec("slow"), tool)
    handler.session.tool_ignore_list.append("slow")
    assert asyncio.run(handler.ahandle(ToolCall("slow"))).text == "awaited"
    assert handler.session.counts == {"slow": 1}


def test_the_steps_can_be_taken_one_by_one(handler: ToolHandler, answer: Answer) -> None:
    """Asking and running are two awaitable methods."""

    async def steps() -> str:
        pending = handler.begin(_WRITE)
        assert isinstance(pending, Pending)
        outcome = await handler.aask(pending)
        assert isinstance(outcome, Ready | Blocked)
        return (await handler.arun(outcome)).text

    answer(_YES)
    assert asyncio.run(steps()) == "write is done"


@pytest.mark.parametrize(("where", "told"), [("tool", "crashed (RuntimeError)"), ("channel", "and got none")])
def test_the_end_of_an_iterator_is_a_failure_like_any_other(
    handler: ToolHandler, registry: ToolRegistry, where: str, told: str
) -> None:
    """A StopIteration out of a thread does not make the loop wait for ever."""

    def ends(_: object) -> Any:  # noqa: ANN401 -- both a tool and an answer
        raise StopIteration

    registry.register(ToolSpec("ends"), ends)
    handler.channel = CallbackChannel(ends)
    handler.session.tool_ignore_list.append("ends")
    call = ToolCall("ends" if where == "tool" else "write")
    result = asyncio.run(asyncio.wait_for(handler.ahandle(call), 5))
    assert (result.ok, told in result.text) == (False, True)

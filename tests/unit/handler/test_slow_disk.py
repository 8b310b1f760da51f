"""A record that waits for a disk does not hold up an event loop."""

import asyncio
import json
import threading
import time
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from permitry.audit.line_file import LineFile
from permitry.audit.record import StoredRecorder
from permitry.channels.channel import CallbackChannel
from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import ToolCall
from permitry.errors import AuditError
from permitry.handler import ToolHandler

_LOOK, _WRITE = ToolCall("look", {"path": "a"}, call_id="c1"), ToolCall("write", {"path": "a"}, call_id="c2")
_SLOW = 0.15


@attrs.define
class _Slow(LineFile):
    """Takes its time for each write, or fails; `threads` are those that wrote."""

    seconds: float = _SLOW
    fails: str = ""
    threads: set[int] = attrs.field(factory=set)

    def append(self, *lines: str) -> None:
        self.threads.add(threading.get_ident())
        time.sleep(self.seconds)
        if self.fails and any(self.fails in line for line in lines):
            raise AuditError("the disk is full")
        super().append(*lines)


@pytest.fixture
def slow(handler: ToolHandler, tmp_path: Path) -> Iterator[_Slow]:
    """Return the slow record of the handler."""
    file = _Slow(str(tmp_path / "a.jsonl"))
    handler.recorder = StoredRecorder(file)
    yield file
    file.close()


def events(file: _Slow) -> list[str]:
    """Return the events that are on record."""
    lines = map(json.loads, Path(file.path).read_text().splitlines())
    return [f"{line['event']} {line['outcome']}" if "outcome" in line else line["event"] for line in lines]


def longest_pause(work: Coroutine[Any, Any, object]) -> float:
    """Return how long the event loop did not run at most, while it did the work."""

    async def ticking() -> float:
        longest, last, task = 0.0, time.perf_counter(), asyncio.create_task(work)
        while not task.done():
            await asyncio.sleep(0.002)
            longest, last = max(longest, time.perf_counter() - last), time.perf_counter()
        await task
        return longest

    return asyncio.run(ticking())


@pytest.mark.parametrize("call", [_LOOK, _WRITE])
def test_the_loop_goes_on_while_the_disk_is_slow(handler: ToolHandler, slow: _Slow, call: ToolCall) -> None:
    """All of the record is written elsewhere, in order."""
    handler.channel = CallbackChannel(lambda _: ToolConfirmationResponse(True))
    assert longest_pause(handler.ahandle(call)) < _SLOW
    assert threading.get_ident() not in slow.threads
    asked = ["asked", "answered"] if call is _WRITE else []
    assert events(slow) == ["decided", *asked, "started", "finished ok"]


def test_calls_that_come_together_are_decided_in_order(handler: ToolHandler, slow: _Slow) -> None:
    """As they were on the loop itself."""
    slow.seconds = 0.005
    calls = [ToolCall("look", {"path": str(number)}, call_id=f"c{number}") for number in range(8)]

    async def all_of_them() -> None:
        await asyncio.gather(*map(handler.ahandle, calls))

    asyncio.run(all_of_them())
    lines = map(json.loads, Path(slow.path).read_text().splitlines())
    assert [line["call_id"] for line in lines if line["event"] == "decided"] == [call.call_id for call in calls]


@pytest.mark.parametrize("event", ["decided", "answered", "started", "finished"])
def test_what_cannot_be_recorded_does_not_run(handler: ToolHandler, slow: _Slow, event: str, ran: list[Any]) -> None:
    """As on a thread: the call is blocked, or the host gets the error."""
    slow.fails, slow.seconds = f'"{event}"', 0
    handler.channel = CallbackChannel(lambda _: ToolConfirmationResponse(True))
    if event in ("decided", "answered"):
        assert not asyncio.run(handler.ahandle(_WRITE)).ok
    else:
        with pytest.raises(AuditError):
            asyncio.run(handler.ahandle(_WRITE))
    assert len(ran) == (event == "finished")


def test_a_call_that_is_cancelled_while_it_is_recorded_does_not_run(
    handler: ToolHandler, slow: _Slow, ran: list[Any]
) -> None:
    """And does not look as if it still ran."""

    async def cancelled() -> None:
        task = asyncio.create_task(handler.ahandle(_LOOK))
        await asyncio.sleep(_SLOW / 2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(_SLOW * 3)

    asyncio.run(cancelled())
    assert ran == []
    assert events(slow) == ["decided", "started", "finished cancelled"]
    assert not handler.handle(_LOOK).ok


def test_a_start_that_is_cancelled_while_it_is_recorded_is_ended(
    handler: ToolHandler, slow: _Slow, ran: list[Any]
) -> None:
    """The tool does not run."""
    slow.seconds = 0
    ready: Any = handler.begin(_LOOK)
    slow.seconds = _SLOW

    async def cancelled() -> None:
        task = asyncio.create_task(handler.arun(ready))
        await asyncio.sleep(_SLOW / 2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(_SLOW * 3)

    asyncio.run(cancelled())
    assert ran == []
    assert events(slow) == ["decided", "started", "finished cancelled"]


def test_a_record_in_memory_needs_no_thread(handler: ToolHandler, monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits for nothing."""
    monkeypatch.setattr("permitry.dispatch.apart.Apart.run", None)
    before = threading.active_count()
    assert asyncio.run(handler.ahandle(_WRITE)).text
    assert threading.active_count() <= before + 1

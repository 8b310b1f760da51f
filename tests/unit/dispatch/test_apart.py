"""Work in threads, in order."""

import asyncio
import threading
import time

import pytest

from permitry.dispatch.apart import Apart


def test_work_is_done_in_the_order_it_was_given() -> None:
    """Each piece after the one before it, while the loop goes on."""
    apart, done = Apart(), list[int]()

    def work(number: int) -> int:
        time.sleep(0.02 if number % 2 else 0)
        done.append(number)
        return number

    async def all_of_it() -> list[int]:
        return await asyncio.gather(*(apart.run(lambda number=number: work(number)) for number in range(8)))  # type: ignore[misc]  # bound at once

    assert asyncio.run(all_of_it()) == done == list(range(8))


def test_an_error_is_raised_where_it_is_waited_for() -> None:
    """And holds up nothing."""
    apart = Apart()

    async def both() -> int:
        with pytest.raises(ZeroDivisionError):
            await apart.run(lambda: 1 // 0)
        return await apart.run(lambda: 1)

    assert asyncio.run(both()) == 1


def test_what_was_abandoned_is_done_and_handed_on() -> None:
    """Its result goes where it is taken care of."""
    apart, go, ended = Apart(), threading.Event(), threading.Event()
    results: list[bool] = []

    def take(result: bool) -> None:  # noqa: FBT001 -- what the work returned
        results.append(result)
        ended.set()

    async def abandon() -> None:
        task = asyncio.create_task(apart.run(lambda: go.wait(10), take))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert results == []
        go.set()

    asyncio.run(abandon())
    assert ended.wait(10)
    assert results == [True]


def test_what_is_abandoned_at_its_very_end_is_handed_on_in_a_thread() -> None:
    """The loop does not wait for that either."""
    apart, go, ended = Apart(), threading.Event(), threading.Event()
    threads: list[threading.Thread] = []

    def take(_: object) -> None:
        threads.append(threading.current_thread())
        ended.set()

    async def abandon() -> None:
        task = asyncio.create_task(apart.run(lambda: go.wait(10), take))
        await asyncio.sleep(0)
        go.set()
        # The work is done, and the loop has not seen it yet.
        threading.Event().wait(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(abandon())
    assert ended.wait(10)
    assert threads[0] is not threading.main_thread()

"""Work in a process of its own: what it sends, and how it is ended."""

import asyncio
import os
import time
from multiprocessing.connection import Connection
from typing import Any, TypeAlias

from permitry_ops.inbox.apart import run_apart

Sending: TypeAlias = "Connection[Any, Any]"


def send(count: int, connection: Sending) -> None:
    """Send some numbers, and the process."""
    for number in range(count):
        connection.send((number, os.getpid()))


def hang(connection: Sending) -> None:
    """Send the process, and never end."""
    connection.send(os.getpid())
    time.sleep(600)


def fail(connection: Sending) -> None:
    """Close the connection, and end with an error."""
    connection.close()
    os._exit(1)


async def always() -> bool:
    """Return that it is wanted."""
    return True


def run(work: Any, *given: object, most: int = 2, seconds: float = 30.0, is_wanted: Any = always) -> list[Any]:  # noqa: ANN401 -- work
    """Run it in a process of its own."""
    return asyncio.run(run_apart(work, *given, most=most, seconds=seconds, is_wanted=is_wanted))


def is_running(process: int) -> bool:
    """Return whether a process goes on, as more than an entry that waits to be removed."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_what_is_sent_comes_from_another_process() -> None:
    """As much as is asked for, and no more."""
    (first, process), (second, _) = run(send, 5)
    assert (first, second) == (0, 1)
    assert process != os.getpid()


def test_what_ends_early_has_sent_less() -> None:
    """So has what fails."""
    assert len(run(send, 1)) == 1
    assert run(fail) == []


def test_what_takes_too_long_is_ended() -> None:
    """With what it had sent by then."""
    start = time.monotonic()
    [process] = run(hang, seconds=0.5)
    assert time.monotonic() - start < 20
    assert not is_running(process)


def test_what_no_one_waits_for_is_ended() -> None:
    """A browser has gone on to another text."""
    looks = []

    async def is_wanted() -> bool:
        looks.append(1)
        return len(looks) < 30

    start = time.monotonic()
    found = run(hang, seconds=600.0, is_wanted=is_wanted)
    assert time.monotonic() - start < 60
    assert not any(map(is_running, found))

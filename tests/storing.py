"""Sessions that record in a store, in processes of their own: to be killed, or to be timed.

`python -m tests.storing kill ADDRESS FILE COUNT SEED` kills COUNT sessions at random moments; each tool that runs adds
the id of its call to FILE. `python -m tests.storing fill ADDRESS COUNT` handles COUNT calls, and prints how long each
took.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from permitry.channels.channel import CallbackChannel
from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import ToolCall
from permitry.core.spec import ToolTraits
from permitry.dispatch.registry import ToolRegistry
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry.store.records import recorder_at

_AT_ONCE = 2
_LONGEST = 0.1
_AT_WORK = 0.8
_FORMS = ("look", "look", "write", "unheard_of")


def handler_of(address: str, note: Path | None = None) -> ToolHandler:
    """Return a handler that records at an address; each tool that runs adds the id of its call to the file `note`."""
    registry = ToolRegistry()
    file = None if note is None else os.open(note, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def ran(call: str) -> str:
        if file is not None:
            os.write(file, f"{call}\n".encode())
        return "done"

    def look(call: str) -> str:
        """Look."""
        return ran(call)

    def write(call: str) -> str:
        """Write."""
        return ran(call)

    registry.tool(look, traits=ToolTraits(read_only=True))
    registry.tool(write)
    channel = CallbackChannel(lambda request: ToolConfirmationResponse("7" in (request.call.call_id or "")))
    return ToolHandler(Session(), registry=registry, recorder=recorder_at(address), channel=channel)


def handle(handler: ToolHandler, name: str, call: str) -> None:
    """Have a call handled."""
    handler.handle(ToolCall(name, {"call": call}, call_id=call))


def kill(address: str, note: Path, count: int, chance: random.Random) -> None:
    """Kill sessions at random moments, some at a time."""
    # What is loaded at the first call is loaded here: sessions are to be killed at work.
    for form in set(_FORMS):
        handle(warm := handler_of(str(note.with_name("warm.jsonl"))), form, "warm")
        warm.recorder.close()  # type: ignore[attr-defined]  # of a record in a file
    recorder_at(address).close()
    note.touch()
    for killed in range(0, count, _AT_ONCE):
        size = note.stat().st_size
        children = [_started(address, note, f"{killed + number}") for number in range(_AT_ONCE)]
        for child in children:
            # Most are killed at work, on however busy a machine; some before that.
            if chance.random() < _AT_WORK:
                _await_run(note, size)
            time.sleep(chance.uniform(0, _LONGEST))
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            assert os.WIFSIGNALED(status), f"a session ended by itself: {status}"


def _await_run(note: Path, size: int) -> None:
    until = time.monotonic() + 60
    while note.stat().st_size <= size:
        assert time.monotonic() < until, "a session does nothing"
        time.sleep(0.002)


def _started(address: str, note: Path, name: str) -> int:
    child = os.fork()
    if child:
        return child
    try:
        handler, number = handler_of(address, note), 0
        while True:
            handle(handler, _FORMS[number % len(_FORMS)], f"s{name}-{number}")
            number += 1
    finally:
        os._exit(1)


def fill(address: str, count: int) -> list[float]:
    """Return how many seconds each of so many calls took."""
    handler, took = handler_of(address), list[float]()
    for number in range(count):
        since = time.perf_counter()
        handle(handler, "look", f"p{os.getpid()}-{number}")
        took.append(time.perf_counter() - since)
    return took


def main(action: str, address: str, *arguments: str) -> None:
    """Do what the command line says."""
    match action, arguments:
        case "kill", (note, count, seed):
            kill(address, Path(note), int(count), random.Random(int(seed)))  # noqa: S311 -- the moments of a test
        case "fill", (count,):
            sys.stdout.write(json.dumps(fill(address, int(count))))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])

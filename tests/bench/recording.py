"""What a durable record costs: in lines, in SQLite and in PostgreSQL, next to bare inserts in the same store.

Each writer is a process of its own, started as `python tests/bench/recording.py KIND ADDRESS COUNT`.
"""

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from tests.bench.report import Report, Scale, Table, Tell, number
from tests.bench.slow_disk import MILLISECONDS, slow_disk
from tests.postgres import cluster, programs

from permitry.store.records import is_address, store_at

__all__ = ["run"]

_BODY = json.dumps({"at": "2026-11-23T10:00:00.000+00:00", "event": "decided", "tool": "look", "arguments": "x" * 300})
_BARE = "CREATE TABLE IF NOT EXISTS bare (number {} PRIMARY KEY, body TEXT NOT NULL)"
_TEXT = f"""\
Records of 400 bytes, each on the disk before the next one of the same process. A bare insert is one statement that
commits one row; a record has a number, a hash and the one before it, which are of one chain for all processes.
`handle` decides about a call that is allowed, runs a tool that does nothing, and writes twice. On the slow
disk each flush (`fsync`, `fdatasync`) takes {MILLISECONDS} ms longer, in the writers and in the server."""


def run(scale: Scale, tell: Tell) -> Report:
    """Return what records cost in each store."""
    together = (1, 8 if scale.processes > 1 else 2)
    count = 2_000 if scale.rounds > 1 else 16
    ratios, figures, medians = [], [], {}
    facts: dict[str, float] = {}
    with _addresses() as addresses:
        for name, address in addresses.items():
            tell(f"recording: {name}")
            if name != "lines":
                rates = {writers: _rates(address, writers, count // writers, scale.rounds) for writers in together}
                found = {writers: rate["append"] / rate["bare"] for writers, rate in rates.items()}
                ratios.append((name, *(f"{number(found[writers])}x" for writers in together)))
                facts[f"recording-{name}"] = found[together[-1]]
            took = [sorted(_took("handle", address, writers, count // writers)[1]) for writers in together]
            figures.append((name, *map(_pair, took)))
            medians[name] = [each[len(each) // 2] for each in took]
    with slow_disk() as library, _addresses(library or "") as addresses:
        for name, address in addresses.items() if library else ():
            tell(f"recording: {name}, slow disk")
            few = max(2, count // 8)
            took = [sorted(_took("handle", address, writers, few // writers, library)[1]) for writers in together]
            figures.append((slow := f"{name}, slow disk", *map(_pair, took)))
            medians[slow] = [each[len(each) // 2] for each in took]
    if programs() is None:
        ratios.append(("PostgreSQL", "not installed (`postgresql`)"))
    processes = tuple(f"{writers} process{'es' if writers > 1 else ''}" for writers in together)
    caption = "Records per second, as a ratio to bare inserts in the same store:"
    ratio = Table(caption, ("store", *processes), tuple(ratios))
    compared = Table(
        "Median of a call of `handle`, as a ratio to that with lines on the same disk:",
        ("record", *processes),
        tuple((name, *_ratios(found, medians[_alike(name)])) for name, found in medians.items() if "lines" not in name),
    )
    figure = Table("ms for a call of `handle`, median / 99th percentile:", ("record", *processes), tuple(figures))
    return Report("Durable records", (ratio, compared), (figure,), _TEXT, facts)


def _alike(name: str) -> str:
    """Return the name of the record in lines on the same disk."""
    return "lines, slow disk" if name.endswith("slow disk") else "lines"


def _ratios(found: Sequence[float], lines: Sequence[float]) -> Sequence[str]:
    return [f"{number(each / other)}x" for each, other in zip(found, lines, strict=True)]


@contextlib.contextmanager
def _addresses(preload: str = "") -> Iterator[Mapping[str, str]]:
    with tempfile.TemporaryDirectory(dir=".", prefix=".recording") as folder, contextlib.ExitStack() as stack:
        found = {"lines": f"{folder}/a.jsonl", "SQLite": f"{folder}/a.db"}
        if programs() is not None:
            found["PostgreSQL"] = stack.enter_context(cluster(is_durable=True, preload=preload)).new()
        yield found


def _pair(seconds: Sequence[float]) -> str:
    return " / ".join(number(seconds[int(len(seconds) * part)] * 1000) for part in (0.5, 0.99))


def _rates(address: str, writers: int, count: int, turns: int) -> Mapping[str, float]:
    """Return records per second of both kinds, which take turns: a disk is not always as fast."""
    spent = dict.fromkeys(("bare", "append"), 0.0)
    for _ in range(turns):
        for kind in spent:
            spent[kind] += _took(kind, address, writers, max(1, count // turns))[0]
    return {kind: writers * count / seconds for kind, seconds in spent.items()}


def _took(kind: str, address: str, writers: int, count: int, library: str | None = None) -> tuple[float, list[float]]:
    """Return how many seconds all writers took, and how many each write; each loads `library`."""
    command = [sys.executable, __file__, kind, address, str(count)]
    environment = os.environ | ({"LD_PRELOAD": library} if library else {})
    processes = [
        subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(writers)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    since = time.perf_counter()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    ended = [json.loads(process.stdout.readline()) for process in processes if process.stdout is not None]
    took = time.perf_counter() - since
    for process in processes:
        process.communicate(timeout=60)
        assert process.returncode == 0
    return took, [seconds for each in ended for seconds in each]


# A writer -------------------------------------------------------------------------------------------------------------


def _writer(kind: str, address: str) -> Callable[[int], object]:
    """Return what writes once."""
    match kind:
        case "append":
            store = store_at(address)
            store.append(_BODY)
            return lambda _: store.append(_BODY)
        case "handle":
            from tests.storing import handle, handler_of  # noqa: PLC0415 -- a whole handler: the others start faster

            handler = handler_of(address)
            handle(handler, "look", "first")
            return lambda number: handle(handler, "look", str(number))
        case _:
            return _bare(address)


def _bare(address: str) -> Callable[[int], object]:
    if is_address(address):
        import psycopg  # noqa: PLC0415 -- an extra

        server = psycopg.connect(address, autocommit=True)
        with contextlib.suppress(psycopg.Error):  # another writer makes it at the same time
            server.execute(_BARE.format("BIGSERIAL").encode())
        return lambda _: server.execute("INSERT INTO bare (body) VALUES (%s)", (_BODY,))
    store_at(address).close()
    file = sqlite3.connect(address, timeout=60, isolation_level=None)
    file.execute("PRAGMA synchronous = FULL")
    file.execute(_BARE.format("INTEGER"))
    return lambda _: file.execute("INSERT INTO bare (body) VALUES (?)", (_BODY,))


def _write(kind: str, address: str, count: int) -> None:
    write, took = _writer(kind, address), list[float]()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    for at in range(count):
        since = time.perf_counter()
        write(at)
        took.append(time.perf_counter() - since)
    sys.stdout.write(f"{json.dumps(took)}\n")


if __name__ == "__main__":
    _write(sys.argv[1], sys.argv[2], int(sys.argv[3]))

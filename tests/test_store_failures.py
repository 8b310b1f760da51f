"""Law 7 when something fails: calls are blocked with a reason, none runs without a record, and then all goes on."""

import contextlib
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import attrs
import psycopg
import pytest

from permitry.channels.clock import Moment
from permitry.channels.response import ToolConfirmationResponse
from permitry.channels.stored_question import StoredQuestion, answer_to
from permitry.cli.records import RecordFilter, records_at
from permitry.core.call import ToolCall
from permitry.errors import AuditError, StoreError
from permitry.guard.ledgers import questions_at
from permitry.guard.outcome import Pending
from permitry.handler import ToolHandler
from permitry.store.chain import BrokenChainError, ChainedRecord, Head
from permitry.store.records import store_at
from tests.mixing import add_grant, handler_of
from tests.postgres import Cluster, cluster

NOT_RECORDED = "The call could not be recorded, so it did not run."
USES = 3
LATER = 100

pytestmark = pytest.mark.usefixtures("closing")


@attrs.define
class Work:
    """A session at a store, of which the tools note in a file that they run."""

    address: str
    note: Path
    handler: ToolHandler
    asked: list[ToolCall] = attrs.field(factory=list)
    count: int = 0

    @classmethod
    def at(cls, address: str, folder: Path) -> "Work":
        """Return the work of a session that waits for one second."""
        return cls(address, folder / "ran", handler_of(address, "s", folder / "ran", patience=1))

    def look(self, tool: str = "look") -> str:
        """Make a call, and return its answer; one of which only the end could not be recorded is done."""
        try:
            return self.handler.handle(self._call(tool)).text
        except AuditError:
            return "done"

    def ask(self) -> None:
        """Make a call that is asked about."""
        call = self._call("write")
        if isinstance(self.handler.begin(call), Pending):
            self.asked.append(call)

    def until(self, is_due: Callable[[str], bool], seconds: float = 60) -> str:
        """Make calls until one has such an answer, and return that."""
        end = time.monotonic() + seconds
        while not is_due(answer := self.look()):
            assert time.monotonic() < end, answer
        return answer

    def check(self) -> None:
        """Check that all that ran is on record, and that each question can be answered, once."""
        questions = questions_at(self.address)
        for row in questions.open(Moment.now()):
            answer_to(questions, StoredQuestion.of(row), ToolConfirmationResponse(True), by="ann")
        assert all(self.handler.handle(call).ok for call in self.asked)
        assert not any(self.handler.handle(call).ok for call in self.asked)
        ran = Counter(line.rpartition(" ")[0] for line in self.note.read_text().splitlines() if "begins" in line)
        assert set(ran.values()) == {1}
        assert sum(name.startswith("send") for name in ran) <= USES
        records = list(records_at(self.address, RecordFilter()))
        started = {f"{each['tool']} {each['call_id']}" for each in records if each["event"] == "started"}
        self.close()
        assert ran.keys() <= started <= {f"{each['tool']} {each['call_id']}" for each in records if "verdict" in each}
        with contextlib.closing(store_at(self.address)) as store:
            assert store.verify() == len(records)

    def close(self) -> None:
        """Close what is open at the store."""
        self.handler.recorder.close()  # type: ignore[attr-defined]  # of a record in a store
        for part in (self.handler.ledger, self.handler.grants):
            part.store.database.close()  # type: ignore[union-attr]  # as above

    def _call(self, tool: str) -> ToolCall:
        self.count += 1
        return ToolCall(tool, {"call": f"c{self.count}"}, call_id=f"c{self.count}")


# What can fail --------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """Return the folder of a file system of 64 MB."""
    folder = Path("/tmp") / f"permitry-{os.getpid()}"  # noqa: S108 -- short, as the path of a socket is
    folder.mkdir(mode=0o755)
    mount = ["mount", "-t", "tmpfs", "-o", "size=64m,mode=755", "tmpfs", str(folder)]
    try:
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            pytest.skip("needs the right to mount a file system")
        yield folder
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
    finally:
        folder.rmdir()


@contextlib.contextmanager
def filled(folder: Path) -> Iterator[None]:
    """Leave no room in a file system."""
    filler = folder / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass
    yield
    filler.unlink()


@contextlib.contextmanager
def stopped(server: Cluster, stop: Callable[[], None]) -> Iterator[None]:
    """Have a server stop, and start again."""
    stop()
    yield
    server.start()


Fault = tuple[str, Callable[[], AbstractContextManager[None]], str]


@pytest.fixture(params=["full disk, SQLite", "full disk, PostgreSQL", "stop", "crash", "kill", "hang"])
def fault(request: pytest.FixtureRequest) -> Iterator[Fault]:
    """Return where a store is, what fails there, and how the reason is described."""
    if request.param.startswith("full disk"):
        disk: Path = request.getfixturevalue("small_disk")
        if "SQLite" in request.param:
            (disk / "state").mkdir(mode=0o700)
            yield str(disk / "state" / "a.db"), lambda: filled(disk), "disk is full"
        else:
            with cluster(below=disk) as server:
                yield server.new(), lambda: filled(disk), "No space left on device|connection"
        return
    server = request.getfixturevalue("own_postgres")
    faults: dict[str, tuple[Callable[[], AbstractContextManager[None]], str]] = {
        "stop": (lambda: stopped(server, server.stop), "connection"),
        "crash": (lambda: stopped(server, lambda: server.stop("immediate")), "connection"),
        "kill": (lambda: stopped(server, server.kill), "connection"),
        "hang": (server.hanging, "has not answered in time"),
    }
    yield server.new(), *faults[request.param]


def test_a_fault_blocks_calls_and_loses_nothing(fault: Fault, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """What was asked before can be answered behind it, what was granted can be used, and what ran is on record."""
    address, failing, reason = fault
    add_grant(address, USES)
    work = Work.at(address, tmp_path)
    assert [work.look(), work.look("send")] == ["done", "done"]
    work.ask()
    with failing():
        since = time.monotonic()
        assert work.until(lambda answer: answer != "done").startswith(NOT_RECORDED)
        assert time.monotonic() - since < 30
        work.ask()
        assert work.look("send") != "done"
    assert re.search(reason, caplog.text)
    work.until(lambda answer: answer == "done")
    work.ask()
    assert work.look("send") == "done"
    assert len(work.asked) >= 2
    work.check()


def test_connections_that_are_lost_again_and_again_lose_no_record(postgres: Cluster, tmp_path: Path) -> None:
    """Whatever was going on at that moment; a call is done or blocked."""
    work, is_over, is_calm = Work.at(postgres.new(), tmp_path), threading.Event(), threading.Event()

    def terminate() -> None:
        with psycopg.connect(work.address, autocommit=True) as server:
            while not is_over.wait(0.3 if is_calm.is_set() else 0.01):
                server.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE application_name = 'permitry' AND datname = current_database()"
                )

    thread = threading.Thread(target=terminate)
    thread.start()
    answers, until = Counter[str](), time.monotonic() + 120
    try:
        for number in itertools.count():
            # On a busy machine no call ends between two losses that follow at once, and none is lost between others.
            if number % 10 == 0:
                is_calm.set()
            elif number % 10 == 5:
                is_calm.clear()
            work.ask()
            with contextlib.suppress(AuditError):  # of the end of a run
                answers[work.look()[:7]] += 1
            if number >= 100 and ((answers["done"] and answers["The cal"]) or time.monotonic() > until):
                break
    finally:
        is_over.set()
        thread.join()
    assert answers["done"]
    assert answers["The cal"]
    work.until(lambda answer: answer == "done")
    work.check()


def test_a_read_only_disk_is_said_and_all_is_there_afterwards(small_disk: Path, tmp_path: Path) -> None:
    """Also to root, who may write anywhere else."""
    folder = small_disk / "state"
    work = Work.at(str(folder / "a.db"), tmp_path)
    assert work.look() == "done"
    work.ask()
    work.close()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(StoreError, match=r"cannot open the store `.*a.db`: Read-only file system"):
        handler_of(work.address, "s", work.note)
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    work.handler = handler_of(work.address, "s", work.note)
    assert work.look() == "done"
    work.check()


# Files that are damaged -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [12, pytest.param(200, marks=pytest.mark.large)])
@pytest.mark.parametrize("name", ["a.db", "a.db-wal"])
def test_random_bytes_in_a_file_are_found(tmp_path: Path, name: str, count: int) -> None:
    """Where a call runs or the record verifies up to a head that was noted elsewhere, all of it is there."""
    whole, chance = tmp_path / "whole", random.Random(7)  # noqa: S311 -- the damages of a test
    work = Work.at(str(whole / "a.db"), tmp_path)
    for _ in range(20):
        work.look()
    work.ask()
    with contextlib.closing(store_at(work.address)) as store:
        head, records = store.head, list(store.records())
    # When the last process closes the store, SQLite brings all to the one file.
    if name == "a.db":
        work.close()
    damages = [shutil.copytree(whole, tmp_path / f"{number}") for number in range(count)]
    back = shutil.copytree(whole, tmp_path / "back")
    work.close()
    seen = Counter[str]()
    for folder in damages:
        _damage(folder / name, chance)
        seen[_after_damage(folder, head, records)] += 1
    assert seen["found"]
    assert seen.keys() <= {"found", "whole"}
    other = Work(str(back / "a.db"), work.note, handler_of(str(back / "a.db"), "s", work.note), work.asked, LATER)
    assert other.look() == "done"
    other.check()


def _damage(file: Path, chance: random.Random) -> None:
    with file.open("r+b") as opened:
        for _ in range(chance.randint(1, 4)):
            opened.seek(chance.randrange(file.stat().st_size))
            opened.write(chance.randbytes(chance.randint(1, 2_000)))


def _after_damage(folder: Path, head: Head, before: list[ChainedRecord]) -> str:
    """Return whether a damage is found; what runs nevertheless is on record, or verifying finds the damage."""
    ran: list[str] = []
    with contextlib.suppress(StoreError):
        work = Work.at(str(folder / "a.db"), folder)
        work.count = LATER
        ran += [f"c{work.count}"] if work.look() == "done" else []
        work.close()
    try:
        with contextlib.closing(store_at(folder / "a.db")) as store:
            store.verify([head])
            assert list(store.records())[: len(before)] == before
            said = [json.loads(each.body) for each in store.records(after=before[-1].number)]
    except (StoreError, BrokenChainError):
        return "found"
    assert {each["call_id"] for each in said} <= {f"c{LATER + 1}"}
    assert ran == [each["call_id"] for each in said if each["event"] == "finished"]
    return "whole"


def test_random_bytes_in_a_table_of_postgresql_block_calls(
    own_postgres: Cluster, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """With the file as it was, work goes on."""
    work = Work.at(own_postgres.new(), tmp_path)
    work.ask()
    assert work.look() == "done"
    with psycopg.connect(work.address) as server:
        (path,) = server.execute("SELECT pg_relation_filepath('permitry.record')").fetchone() or ("",)
    own_postgres.stop()
    file = own_postgres.folder / "data" / str(path)
    whole = file.read_bytes()
    file.write_bytes(random.Random(7).randbytes(len(whole)))  # noqa: S311 -- the damage of a test
    own_postgres.start()
    assert work.look().startswith(NOT_RECORDED)
    assert "invalid page" in caplog.text
    with contextlib.closing(store_at(work.address)) as store, pytest.raises(StoreError, match="invalid page"):
        store.verify()
    own_postgres.stop()
    file.write_bytes(whole)
    own_postgres.start()
    assert work.look() == "done"
    work.check()

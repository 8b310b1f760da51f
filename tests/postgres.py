"""A PostgreSQL of its own for tests: from Debian's programs, in a temporary folder, reached by a socket in it."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import attrs
import psutil
import pytest

_OWNER = "postgres"
_SETTINGS = "-c listen_addresses= -c max_connections=200 -c shared_buffers=16MB"
# What was written is still there when the server crashes, not when the machine does.
_QUICK = "-c fsync=off -c full_page_writes=off"


@attrs.define
class Cluster:
    """A server; each database of it is a store of its own. With `is_durable`, it waits for the disk."""

    programs: Path
    folder: Path
    is_durable: bool = False
    is_small: bool = False
    preload: str = ""

    def start(self) -> None:
        """Start it, and wait until it answers."""
        settings = f"{_SETTINGS} {'' if self.is_durable else _QUICK} -k {self.folder}"
        self._run("pg_ctl", "-w", "-l", str(self.folder / "log"), "-o", settings, "start")

    def stop(self, mode: str = "fast") -> None:
        """Stop it; `immediate` is a crash."""
        self._run("pg_ctl", "-w", "-m", mode, "stop")

    @property
    def is_running(self) -> bool:
        """Whether its main process is there."""
        return (self.folder / "data" / "postmaster.pid").exists() and psutil.pid_exists(self._main)

    @property
    def _main(self) -> int:
        return int((self.folder / "data" / "postmaster.pid").read_text().split()[0])

    def kill(self) -> None:
        """Kill all of its processes."""
        self._signal(signal.SIGKILL)

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """Stop all of its processes for at most a minute: it answers nothing, and connections can still be made."""
        self._signal(signal.SIGSTOP)
        # A test that waits for ever for an answer would leave it so.
        timer = threading.Timer(60, self._signal, [signal.SIGCONT])
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        main = psutil.Process(self._main)
        # What is stopped starts no others that would be missing here.
        main.suspend()
        everyone = [main, *main.children()]
        for process in everyone:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)
        if number == signal.SIGKILL:
            psutil.wait_procs(everyone, timeout=20)

    def new(self, name: str = "") -> str:
        """Return the address of a new database, in place of one with that name."""
        if name:
            self._run("dropdb", "--if-exists", "--force", "-h", str(self.folder), name)
        name = name or f"t{uuid.uuid4().hex}"
        self._run("createdb", "-h", str(self.folder), name)
        return f"postgresql://{_OWNER}@/{name}?host={self.folder}"

    def _run(self, program: str, *arguments: str) -> None:
        environment = {**os.environ, "PGDATA": str(self.folder / "data"), "LC_ALL": "C"}
        if self.preload:
            environment["LD_PRELOAD"] = self.preload
        command = [*self._as_owner(), str(self.programs / program), *arguments]
        done = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        assert done.returncode == 0, done.stderr

    def _as_owner(self) -> list[str]:
        """Return what starts a program as the owner: the server refuses to be root."""
        return [] if os.getuid() else ["setpriv", f"--reuid={_OWNER}", f"--regid={_OWNER}", "--clear-groups"]

    def make(self) -> None:
        """Make its files."""
        if not os.getuid():
            owner = pwd.getpwnam(_OWNER)
            os.chown(self.folder, owner.pw_uid, owner.pw_gid)
        size = ("--wal-segsize=1",) if self.is_small else ()
        self._run("initdb", "-U", _OWNER, "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync", *size)


def programs() -> Path | None:
    """Return the folder of the newest programs that are installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return found[-1].parent if found else None


@contextmanager
def cluster(*, is_durable: bool = False, below: Path | None = None, preload: str = "") -> Iterator[Cluster]:
    """Yield a running server, and end it; skip the test where there are no programs for it.

    `preload` is a library that is loaded into its processes.
    """
    found = programs()
    if found is None:
        pytest.skip("needs the program initdb of PostgreSQL")
    # Short: the path of a socket is at most 107 bytes long.
    folder = Path(tempfile.mkdtemp(prefix="pg", dir=below))
    server = Cluster(found, folder, is_durable, is_small=below is not None, preload=preload)
    try:
        server.make()
        server.start()
        try:
            yield server
        finally:
            if server.is_running:
                server.stop("immediate")
    finally:
        shutil.rmtree(folder)

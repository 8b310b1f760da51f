"""The resident: processes of one user that have the rules in memory, and answer hooks at a Unix socket.

One of them supervises. Its workers answer one call after the other, each in the folder and the
environment of its client. A worker that crashes, or takes too long, fails no other call: it had
taken only this one. A client that is not taken, because all are busy or the resident ends, decides
in its own process.
"""

import contextlib
import fcntl
import os
import select
import signal
import socket
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import attrs

from permitry.files import LOCK, opened, replace_file
from permitry_hosts.hooks.host import Reply
from permitry_hosts.hooks.places import LONGEST_PATH, PACKAGES, place
from permitry_hosts.hooks.request import PATIENCE, HandedOverError, Request, limit, process_of, receive, seal

__all__ = ["Resident", "start"]

_IDLE = 600.0
_WORKERS = 2
_MOST_CALLS = 2_000
_PAUSE = 5.0
_KEY = 32
_STREAMS = (0, 1, 2)
_WORDS = ("-I", "-m", "permitry", "hook", "resident")
_PASSED = ("HOME", "PATH", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")


def start() -> None:
    """Start the resident as a session of its own, unless there is one, or it was tried a moment ago.

    Raises: `OSError`.
    """
    path = place()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with opened(f"{path}.lock", LOCK) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _let_go_on(path)
            return
        status = os.fstat(lock)
        # Twelve hooks at once are not to start twelve.
        if status.st_size and time.time() - status.st_mtime < _PAUSE:
            _let_go_on(path)
            return
        os.pwrite(lock, b"1", 0)
    _spawn()


def _let_go_on(path: Path) -> None:
    """Let clients that wait for a start go on: it is there, or will not be."""
    with contextlib.suppress(OSError):
        path.with_name(f"{path.name}.starting").unlink()


def _spawn() -> None:
    nowhere = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in _STREAMS]
    # The host may wait until all that it has given to this process is closed.
    rest = [(os.POSIX_SPAWN_CLOSE, number) for number in _inheritable()]
    environ = {name: os.environ[name] for name in _PASSED if name in os.environ}
    os.posix_spawn(
        sys.executable,
        [sys.executable, *_WORDS],
        environ,
        file_actions=[*nowhere, *rest],
        setsid=True,
        setsigmask=[],
        setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP},
    )


def _inheritable() -> Iterator[int]:
    for number in [int(each.name) for each in Path("/proc/self/fd").iterdir()]:
        with contextlib.suppress(OSError):
            if number not in _STREAMS and os.get_inheritable(number):
                yield number


@attrs.frozen
class _Post:
    """What a worker has: the socket, a pipe that is closed when it is over, and the file that is locked meanwhile."""

    line: socket.socket
    over: int
    lock: int


@attrs.define
class Resident:
    """Answers at a socket; `answer` calls `limit` for the time that it may take, `close` ends what it has kept open.

    It ends after `idle` seconds without a call. `period` is how often it looks, in seconds.
    """

    path: Path
    answer: Callable[[Request], Reply]
    close: Callable[[], object] = lambda: None
    idle: float = _IDLE
    period: float = 10.0
    workers: int = _WORKERS
    _code: frozenset[tuple[object, ...]] = attrs.field(init=False, repr=False, factory=lambda: frozenset(_code()))
    _key: bytes = attrs.field(init=False, repr=False, factory=lambda: os.urandom(_KEY))

    def run(self) -> None:
        """Answer until there is nothing to do, or permitry has changed; return at once where it is done already.

        Raises: `OSError`.
        """
        folder = self.path.parent
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.lstat()
        is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077
        if not is_own or len(os.fsencode(self.path)) > LONGEST_PATH:
            # Then every hook decides in its own process.
            _let_go_on(self.path)
            return
        with opened(f"{self.path}.lock", LOCK) as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            os.umask(0o077)
            os.chdir("/")
            replace_file(f"{self.path}.key", self._key)
            self.path.unlink(missing_ok=True)
            with socket.socket(socket.AF_UNIX) as line:
                line.bind(str(self.path))
                self.path.chmod(0o600)
                line.listen(128)
                line.setblocking(False)
                self._supervise(line, lock)

    def _supervise(self, line: socket.socket, lock: int) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        here, workers = self.path.lstat(), set[int]()
        # Closed with this process, however it ends, which the workers see.
        over, alive = os.pipe()
        os.utime(lock)
        while self._goes_on(here, lock):
            while len(workers) < self.workers:
                workers.add(self._worker(_Post(line, over, lock), alive))
            signal.sigtimedwait([signal.SIGCHLD], self.period)
            workers -= _reap(workers)
        with contextlib.suppress(OSError):
            if os.path.samestat(self.path.lstat(), here):
                self.path.unlink()
        os.close(alive)
        for worker in workers:
            os.waitpid(worker, 0)

    def _goes_on(self, here: os.stat_result, lock: int) -> bool:
        """Return whether the socket is still this one, permitry the same, and the last call not long ago."""
        try:
            is_here = os.path.samestat(self.path.lstat(), here)
        except OSError:
            return False
        return is_here and self._is_same() and time.time() - os.fstat(lock).st_mtime < self.idle

    def _is_same(self) -> bool:
        try:
            return frozenset(_code()) == self._code
        except OSError:
            return False

    def _worker(self, post: "_Post", alive: int) -> int:
        """Return a new process that answers calls."""
        worker = os.fork()
        if worker:
            return worker
        try:
            os.close(alive)
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
            self._work(post)
            self.close()
        finally:
            os._exit(0)

    def _work(self, post: "_Post") -> None:
        """Answer calls until the supervisor ends, or should have a new worker."""
        worker = os.getpid()
        for _ in range(_MOST_CALLS):
            ready, _, _ = select.select([post.line.fileno(), post.over], [], [])
            if post.over in ready or not self._is_same():
                return
            try:
                client, _ = post.line.accept()
            except BlockingIOError:
                # Another worker was faster.
                continue
            with client:
                self._serve(client, post)
            if os.getpid() != worker:
                return
            os.utime(post.lock)

    def _serve(self, client: socket.socket, post: "_Post") -> None:
        """Take one client, and answer it; without a reply it knows that its call must not run."""
        process = process_of(client)
        if process is None:
            return
        with contextlib.suppress(OSError, ValueError, LookupError, HandedOverError):
            client.sendall(b"+")
            request = receive(client, process, ours=(post.line.fileno(), post.over, post.lock))
            os.environb.clear()
            os.environb.update(request.environ)
            os.chdir(request.folder)
            reply = self.answer(request)
            client.settimeout(PATIENCE)
            client.sendall(seal(reply, request, self._key))
        limit(None)
        # The folder of a client may be one that is to be removed or unmounted.
        os.chdir("/")


def _code() -> Iterator[tuple[object, ...]]:
    """Yield what identifies each file of permitry, as it is now."""
    folders = list(map(str, PACKAGES))
    while folders:
        with os.scandir(folders.pop()) as entries:
            for each in entries:
                if not each.is_dir(follow_symlinks=False):
                    status = each.stat()
                    yield each.path, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
                elif each.name != "__pycache__":
                    folders.append(each.path)


def _reap(workers: Iterable[int]) -> set[int]:
    return {worker for worker in workers if os.waitpid(worker, os.WNOHANG)[0]}

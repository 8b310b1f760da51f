"""`permitry` without its start: a process that has imported all of it forks a child for each command.

`python tests/warm.py PROGRAM` imports permitry, listens at `PROGRAM.socket`, writes the file `PROGRAM`, prints a line
when it is ready, and ends with its standard input. The file is a program: it hands its words, directory, environment
and streams to the listener, and ends as the command ends. So each command has a process of its own, and leaves nothing
to the next one. With PERMITRY_TEST_TERMINAL, the number of a descriptor, it is the first program on that terminal. A
link to it named `python` runs a script in place of permitry.

That the program starts from nothing, and loads no more than it needs, is for the tests that start the real one.
"""

import ast
import atexit
import contextlib
import fcntl
import gc
import importlib
import io
import os
import pkgutil
import runpy
import select
import signal
import socket
import sys
import termios
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TextIO

_CLIENT = """\
#!{python} -IS
import os, signal, socket, sys
terminal = os.environ.pop("PERMITRY_TEST_TERMINAL", None)
streams = [0, 1, 2, *([int(terminal)] if terminal else [])]
with socket.socket(socket.AF_UNIX) as server:
    server.connect({path!r})
    message = repr((sys.argv, os.getcwdb(), dict(os.environb))).encode()
    socket.send_fds(server, [len(message).to_bytes(8, "big")], streams)
    server.sendall(message)
    for stream in streams:
        os.close(stream)
    status = int.from_bytes(server.recv(4), "big")
if os.WIFSIGNALED(status):
    signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
    os.kill(os.getpid(), os.WTERMSIG(status))
os._exit(os.WEXITSTATUS(status))
"""


def main(program: Path) -> None:
    """Serve until standard input ends."""
    _import_everything()
    path = program.with_suffix(".socket")
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(path))
        door.listen()
        program.write_text(_CLIENT.format(python=sys.executable, path=str(path)), encoding="utf-8")
        program.chmod(0o700)
        print("ready", flush=True)  # noqa: T201 -- the one who started us waits for it
        _serve(door)


def _import_everything() -> None:
    for name in ("permitry", "permitry_tools", "permitry_hosts", "permitry_ops"):
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            # No command needs an adapter, and most of their frameworks are not installed here.
            if not module.name.endswith("__main__") and ".adapters." not in module.name:
                _import(module.name)
    gc.collect()
    gc.freeze()


def _import(name: str) -> None:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        # It belongs to an extra that is not installed here, as in the environment of one adapter.
        if str(error.name).startswith("permitry"):
            raise


class _Running(NamedTuple):
    """A command: its process, a pipe that ends with it, and who waits for it."""

    process: int
    ended: int
    client: socket.socket


def _serve(door: socket.socket) -> None:
    running: list[_Running] = []
    while True:
        watched = [door, sys.stdin, *(each.ended for each in running), *(each.client for each in running)]
        ready = select.select(watched, [], [])[0]
        for each in [each for each in running if each.ended in ready or each.client in ready]:
            running.remove(each)
            _end(each)
        if door in ready:
            running.append(_start(door, running))
        if sys.stdin in ready:
            return


def _start(door: socket.socket, others: Sequence[_Running]) -> _Running:
    client, _ = door.accept()
    size, streams, _, _ = socket.recv_fds(client, 8, 4)
    with client.makefile("rb") as content:
        words, directory, environment = ast.literal_eval(content.read(int.from_bytes(size, "big")).decode())
    ended, alive = os.pipe()
    process = os.fork()
    if process == 0:
        for each in (door, client, *(other.client for other in others)):
            each.close()
        for descriptor in (ended, *(other.ended for other in others)):
            os.close(descriptor)
        os.chdir(directory)
        os.environb.clear()
        os.environb.update(environment)
        _run(words, streams)
    for descriptor in (alive, *streams):
        os.close(descriptor)
    return _Running(process, ended, client)


def _end(command: _Running) -> None:
    """Tell the status of a command that has ended; one whose client has left is killed."""
    if not select.select([command.ended], [], [], 0)[0]:
        os.kill(command.process, signal.SIGKILL)
    _, status = os.waitpid(command.process, 0)
    os.close(command.ended)
    with command.client, contextlib.suppress(BrokenPipeError):
        command.client.sendall(status.to_bytes(4, "big"))


def _run(words: list[str], streams: Sequence[int]) -> NoReturn:
    """Be `permitry` with these words and streams, and end as an interpreter does."""
    code = 1
    try:
        _take(words, streams)
        if Path(words[0]).name == "python":
            sys.argv = words[1:]
            if words[1] == "-c":
                exec(words[2], {"__name__": "__main__"})  # noqa: S102 -- it is what the command line says
            else:
                runpy.run_path(words[1], run_name="__main__")
        else:
            importlib.import_module("permitry.cli.main").run_from_shell()
        code = 0
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:  # noqa: BLE001 -- whatever it is, it is shown
        sys.excepthook(*sys.exc_info())
    finally:
        # Taking the whole interpreter down would cost more than the command.
        threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001 -- as `multiprocessing` ends a fork
        atexit._run_exitfuncs()  # noqa: SLF001 -- the same
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):
                stream.flush()
        os._exit(code)


def _take(words: list[str], streams: Sequence[int]) -> None:
    """Make words and streams our own, and the terminal, if there is one."""
    os.setsid()
    for number, stream in enumerate(streams[:3]):
        os.dup2(stream, number)
        os.close(stream)
    for terminal in streams[3:]:
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    sys.argv = words
    sys.stdin = _stream(sys.stdin, "rb")
    sys.stdout = _stream(sys.stdout, "wb")
    sys.stderr = _stream(sys.stderr, "wb")


def _stream(before: TextIO, mode: str) -> TextIO:
    """Return a standard stream as Python opens it at a start."""
    number = before.fileno()
    is_unbuffered = mode == "wb" and bool(os.environ.get("PYTHONUNBUFFERED"))
    binary: Any = os.fdopen(number, mode, buffering=0 if is_unbuffered else -1, closefd=False)
    is_in_lines = number == 2 or os.isatty(number)
    return io.TextIOWrapper(
        binary, before.encoding, before.errors, line_buffering=is_in_lines, write_through=is_unbuffered
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))

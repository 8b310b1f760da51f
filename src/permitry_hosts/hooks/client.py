"""The client of the resident: `PYTHON -I -S client.py SOCKET SECONDS COMMAND…`, run for each call.

`COMMAND` is the hook in process. It is run instead where the resident is not there, or not
certainly this user's own, which is known before the payload is read; of several processes that
find none the first starts it, and the others wait a moment. From then on whatever goes wrong
blocks the call. What a hook costs is mostly its imports: here they are next to nothing.
"""

import posix
import sys
from _blake2 import blake2b
from _signal import ITIMER_REAL, SIG_UNBLOCK, SIGALRM, pthread_sigmask, setitimer, signal  # type: ignore[import-not-found]  # no stubs
from _socket import AF_UNIX, SO_PEERCRED, SOL_SOCKET, socket
from time import sleep, time

_ADMIN = "/etc/permitry/rules.toml"
_LARGEST = 8 * 1024 * 1024
_PATIENCE = 2
_STARTING = 3.0
_PAUSE = 0.02
_HEAD = _KEY = 32
_FOLDER, _SOCKET, _FILE = 0o040000, 0o140000, 0o100000
_ERROR = 2


def main() -> None:
    """Answer one call, and end the process with the code of the reply, or with 2."""
    code = _ERROR
    try:
        path, seconds, *command = sys.argv[1:]
        # A variable without a name can be there, and cannot be handed on.
        posix.environ.pop(b"", None)
        try:
            line, key = _await(path)
        except Exception:  # noqa: BLE001 -- whatever it is: the hook in process is always as strict
            start = [] if _has_admin() or b"PERMITRY_NO_RESIDENT" in posix.environ else ["--start-resident"]
            posix.execve(command[0], [*command, *start], posix.environ)
        pthread_sigmask(SIG_UNBLOCK, [SIGALRM])
        signal(SIGALRM, _end)
        setitimer(ITIMER_REAL, float(seconds))
        code = _print_reply(line, key, command[command.index("hook") + 1 :])
    except BaseException as error:  # noqa: BLE001 -- an exit code of Python's own lets the call run
        text = f"permitry did not answer, so this call did not run: {type(error).__name__}: {error}\n"
        posix.write(2, text.encode("utf-8", "backslashreplace"))
    finally:
        posix._exit(code)  # noqa: SLF001 -- its name; `os` is not imported


def _end(*_: object) -> None:
    raise TimeoutError("there was no answer in time")


def _has_admin() -> bool:
    """Return whether another user, an administrator, has rules for this one.

    Then a process that is the user's, and long there, does not answer.
    """
    try:
        return posix.lstat(_ADMIN).st_uid != posix.geteuid()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def _await(path: str) -> tuple[socket, bytes]:
    """Return the line to the resident and its key; wait for one that another process starts.

    Raises: `OSError` when there is none, and this process is the one to start it.
    """
    while True:
        try:
            return _connect(path)
        except (FileNotFoundError, ConnectionRefusedError):
            if _has_admin() or b"PERMITRY_NO_RESIDENT" in posix.environ or not _is_starting(f"{path}.starting"):
                raise
        sleep(_PAUSE)


def _is_starting(mark: str) -> bool:
    """Return whether another process starts the resident, and tell others that this one does otherwise.

    Raises: `OSError` where that cannot be noted.
    """
    try:
        if 0 <= time() - posix.lstat(mark).st_mtime < _STARTING:
            return True
        posix.unlink(mark)
    except FileNotFoundError:
        pass
    try:
        posix.close(posix.open(mark, posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC, 0o600))
    except FileExistsError:
        return True
    return False


def _connect(path: str) -> tuple[socket, bytes]:
    """Return the line to the resident, which has said that it answers this process, and its key.

    Raises: `OSError` unless all of it belongs to this user, and no one else can enter it.
    """
    user = posix.geteuid()
    for name, kind in ((path.rpartition("/")[0], _FOLDER), (path, _SOCKET), (f"{path}.key", _FILE)):
        status = posix.lstat(name)
        if status.st_uid != user or status.st_mode & 0o170077 != kind:
            raise PermissionError(name)
    if _has_admin() or b"PERMITRY_NO_RESIDENT" in posix.environ:
        raise PermissionError(path)
    line = socket(AF_UNIX)
    line.settimeout(_PATIENCE)
    line.connect(path)
    owner = int.from_bytes(line.getsockopt(SOL_SOCKET, SO_PEERCRED, 12)[4:8], sys.byteorder)
    # In the place of a closed standard stream, the line would be read or written as that.
    if owner != user or line.fileno() <= _ERROR or line.recv(1) != b"+":
        raise PermissionError(path)
    line.settimeout(None)
    file = posix.open(f"{path}.key", posix.O_RDONLY | posix.O_NOFOLLOW)
    key = posix.read(file, _KEY + 1)
    if len(key) != _KEY:
        raise PermissionError(path)
    return line, key


def _print_reply(line: socket, key: bytes, words: list[str]) -> int:
    """Send the payload, print the reply, and return its code.

    Raises: `ValueError` for a payload that is too large, or a reply that is not the resident's to this very request.
    """
    payload = bytearray()
    while part := posix.read(0, 1 << 20):
        payload += part
        if len(payload) > _LARGEST:
            raise ValueError(f"the payload is larger than {_LARGEST} bytes")
    nonce = posix.urandom(_HEAD)
    # The bytes that this process was given, which an older locale does not decode as UTF-8.
    given = [word.encode(sys.getfilesystemencoding(), "surrogateescape") for word in words]
    texts = [str(len(words)).encode(), *given, posix.getcwdb()]
    about = b"\0".join([*texts, *(name + b"=" + value for name, value in posix.environ.items())])
    request = nonce + len(about).to_bytes(8, "big") + len(payload).to_bytes(8, "big") + about + payload
    line.sendall(request)
    reply = bytearray()
    while part := line.recv(1 << 20):
        reply += part
        if len(reply) > 2 * _LARGEST:
            break
    seal, code = reply[:_KEY], bytes(reply[_KEY : _KEY + 1])
    size = int.from_bytes(reply[_KEY + 1 : _KEY + 9], "big")
    out, err = reply[_KEY + 9 : _KEY + 9 + size], reply[_KEY + 9 + size :]
    if code not in (b"\0", b"\2") or seal != blake2b(request + reply[_KEY:], key=key, digest_size=_KEY).digest():
        raise ValueError("the reply is not that of the resident to this call")
    for file, text in ((2, err), (1, out)):
        view = memoryview(text)
        while view:
            view = view[posix.write(file, view) :]
    return code[0]


if __name__ == "__main__":
    main()

"""Files opened so that nothing is waited for and no link is followed unasked, and files written in one step."""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from typing import IO, TypeAlias

__all__ = [
    "CREATE", "DIRECTORY", "LOCK", "READ", "TEMPORARY", "NotRegularError", "mode_at", "open_regular", "opened",
    "replace_file", "set_mode", "temporary_next_to", "write_new",
]  # fmt: skip

# Python opens every file so that no other program inherits it (PEP 446); O_CLOEXEC adds nothing.
# Windows follows links; without O_BINARY it changes the ends of lines.
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NO_LINK = _NOFOLLOW | getattr(os, "O_BINARY", 0)
READ = os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0)
"""Opens what is there, and not what a link leads to; a pipe that no one writes to is not waited for."""
DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NO_LINK
CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK
LOCK = os.O_RDWR | os.O_CREAT | _NO_LINK

TEMPORARY = ".permitry-"
"""What the names of files begin with that are about to take another one's place."""

Name: TypeAlias = str | os.PathLike[str]


class NotRegularError(OSError):
    """What was opened is a directory, a pipe or a device."""

    def __init__(self, name: Name) -> None:
        super().__init__(errno.EINVAL, "it is not a regular file", os.fspath(name))


@contextlib.contextmanager
def opened(name: Name, flags: int, mode: int = 0o600, *, folder: int | None = None) -> Iterator[int]:
    """Yield the descriptor of a file below an open folder, or anywhere without one; it is closed afterwards."""
    file = os.open(name, flags, mode, dir_fd=folder)
    try:
        yield file
    finally:
        os.close(file)


@contextlib.contextmanager
def open_regular(
    name: Name, *, folder: int | None = None, follows_links: bool = False
) -> Iterator[tuple[IO[bytes], os.stat_result]]:
    """Yield a regular file for reading, and its status.

    Raises: `NotRegularError` for anything else, `OSError` when it cannot be opened; a link only if followed.
    """
    flags = READ & ~_NOFOLLOW if follows_links else READ
    with opened(name, flags, folder=folder) as file:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise NotRegularError(name)
        with open(file, "rb", closefd=False) as stream:
            yield stream, status


def mode_at(name: Name, *, folder: int | None = None) -> int | None:
    """Return the mode of what is there, a link not followed; None for nothing."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None


def set_mode(file: int, mode: int) -> None:
    """Set who may read and write an open file; on Windows its folder says so."""
    with contextlib.suppress(AttributeError):
        os.fchmod(file, mode)


def write_new(
    name: Name, data: bytes, *, folder: int | None = None, mode: int | None = 0o600, is_durable: bool = False
) -> int:
    """Write a file that must not be there yet, and return its inode; without a mode the system's mask says it.

    What is durable is on the disk when this returns.
    """
    with opened(name, CREATE, 0o666 if mode is None else 0o600, folder=folder) as file:
        if mode is not None:
            set_mode(file, stat.S_IMODE(mode))
        with open(file, "wb", closefd=False) as stream:
            stream.write(data)
        if is_durable:
            os.fsync(file)
        return os.fstat(file).st_ino


@contextlib.contextmanager
def temporary_next_to(
    name: Name, data: bytes, *, folder: int | None = None, mode: int | None = 0o600, is_durable: bool = False
) -> Iterator[str]:
    """Yield the name of a new file next to `name` that holds `data`; unless it is renamed, it is gone afterwards."""
    above, slash, _ = os.fspath(name).replace(os.sep, "/").rpartition("/")
    temporary = f"{above}{slash}{TEMPORARY}{os.urandom(8).hex()}"
    try:
        write_new(temporary, data, folder=folder, mode=mode, is_durable=is_durable)
        yield temporary
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)


def replace_file(
    name: Name, data: bytes, *, folder: int | None = None, mode: int | None = 0o600, is_durable: bool = False
) -> None:
    """Put `data` into a file in one step: readers see the old content or the new, never half of it."""
    with temporary_next_to(name, data, folder=folder, mode=mode, is_durable=is_durable) as temporary:
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)

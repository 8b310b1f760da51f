"""The contents of kept files: clones where the file system has them, otherwise copies in one file."""

import errno
import hashlib
import os
from collections.abc import Iterator
from typing import Self

import attrs

from permitry.errors import UndoError
from permitry.files import CREATE, READ
from permitry.undo.inspection import hash_file, pieces_of
from permitry.undo.nodes import Node

__all__ = ["Contents", "clone", "content_of", "write_all"]

_FICLONE = 0x40049409
_WORTH_A_CLONE = 64 * 1024
_COPIES = "copies"


@attrs.define
class Contents:
    """Writes contents to the folder of an entry; with `most` bytes of copies."""

    folder: int
    most: int
    size: int = 0
    _copies: int = attrs.field(init=False)
    _clones: int = 0
    _can_clone: bool = True

    @_copies.default
    def _new_file(self) -> int:
        return os.open(_COPIES, CREATE, 0o600, dir_fd=self.folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._copies)

    def take(self, file: int, size: int) -> tuple[str, str, int]:
        """Keep an open file; return its digest, the file that has it, and where. Raises: `UndoError`."""
        if size >= _WORTH_A_CLONE and self._can_clone:
            name = f"clone-{self._clones}"
            found = self._clone(file, size, name)
            if found is not None:
                return found, name, 0
        return self._copy(file, size)

    def sync(self) -> None:
        """Return when all of it is on the disk."""
        os.fsync(self._copies)
        os.fsync(self.folder)

    def _clone(self, file: int, size: int, name: str) -> str | None:
        made = os.open(name, CREATE & ~os.O_WRONLY | os.O_RDWR, 0o600, dir_fd=self.folder)
        try:
            if not clone(file, made):
                self._can_clone = False
                os.unlink(name, dir_fd=self.folder)
                return None
            self._clones += 1
            # A clone takes no room until one of the two changes, and then it does.
            self.add(size)
            os.fsync(made)
            return hash_file(made, size)[0]
        finally:
            os.close(made)

    def _copy(self, file: int, size: int) -> tuple[str, str, int]:
        at, digest = os.lseek(self._copies, 0, os.SEEK_CUR), hashlib.sha256()
        for piece in pieces_of(file, size):
            self.add(len(piece))
            digest.update(piece)
            write_all(self._copies, piece)
        return digest.hexdigest(), _COPIES, at

    def add(self, size: int) -> None:
        """Count so many bytes. Raises: `UndoError` when there is no room for them."""
        self.size += size
        if self.size > self.most:
            raise UndoError("the copies that are kept would be too large; `permitry undo --prune` makes room")


def clone(source: int, target: int) -> bool:
    """Make one open file share the content of another; return whether the file system can do that."""
    try:
        import fcntl  # noqa: PLC0415 -- not on every system

        fcntl.ioctl(target, _FICLONE, source)
    except (ImportError, OSError):
        return False
    return True


def content_of(folder: int, node: Node) -> Iterator[bytes]:
    """Yield what is kept of a file. Raises: `OSError`, also where it is not what was kept."""
    digest = hashlib.sha256()
    file = os.open(node.data, READ, dir_fd=folder)
    try:
        os.lseek(file, node.offset, os.SEEK_SET)
        for piece in pieces_of(file, node.size):
            digest.update(piece)
            yield piece
    finally:
        os.close(file)
    if digest.hexdigest() != node.digest:
        raise OSError(errno.EIO, "what was kept is damaged", node.path)


def write_all(file: int, data: bytes) -> None:
    """Write all of some bytes to an open file, however few are taken at a time."""
    while data:
        data = data[os.write(file, data) :]

"""A file of lines: only ever appended to, each line on the disk before anything else happens."""

import os
import stat
import threading
from pathlib import Path

import attrs

from permitry.errors import AuditError
from permitry.files import set_mode

__all__ = ["LineFile"]

_CLOSED = -1


@attrs.define
class LineFile:
    """Appends lines to a file for its owner alone, made with its folders, and syncs them; else `AuditError`."""

    path: str
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)
    _is_regular: bool = attrs.field(default=True, init=False, repr=False)
    _is_torn: bool = attrs.field(default=False, init=False, repr=False)
    _file: int = attrs.field(init=False, repr=False)

    @_file.default
    def _open(self) -> int:
        try:
            Path(self.path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            status = os.fstat(file)
            self._is_regular = stat.S_ISREG(status.st_mode)
            if self._is_regular:
                set_mode(file, 0o600)
                # A process that was killed while it wrote may have left half a line.
                self._is_torn = status.st_size > 0 and _last_byte(self.path) != b"\n"
        except OSError as error:
            raise AuditError(f"cannot write the record `{self.path}`: {error.strerror}") from error
        return file

    def append(self, *lines: str) -> None:
        """Append lines, in one write."""
        data = "".join(f"{line}\n" for line in lines).encode()
        with self._lock:
            if self._file == _CLOSED:
                raise AuditError(f"the record `{self.path}` is closed")
            try:
                if self._is_regular and not self._is_in_place():
                    raise AuditError(f"the record `{self.path}` was replaced while it was open")
                # After a write that failed half-way, a line of its own keeps this event readable.
                _write_all(self._file, b"\n" + data if self._is_torn else data)
                if self._is_regular:
                    os.fsync(self._file)
            except OSError as error:
                self._is_torn = True
                raise AuditError(f"cannot write the record `{self.path}`: {error.strerror}") from error
            self._is_torn = False

    def _is_in_place(self) -> bool:
        """Return whether the path still names the open file: another one would be read."""
        return os.path.samestat(Path(self.path).stat(), os.fstat(self._file))

    def close(self) -> None:
        """Close the file, once; later lines fail."""
        with self._lock:
            if self._file != _CLOSED:
                os.close(self._file)
                self._file = _CLOSED


def _last_byte(path: str) -> bytes:
    with Path(path).open("rb") as stream:
        stream.seek(-1, os.SEEK_END)
        return stream.read(1)


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]

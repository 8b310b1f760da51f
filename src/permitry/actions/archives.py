"""The names in archives and patches: what a program makes when it unpacks or applies them.

Every reader is bounded, and gives up on what another program might read in another way: an archive that is damaged,
encrypted or of another format, a name that leads out of the folder, a file below a link that the archive itself brings.
"""

import io
import os
import re
import stat
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import IO, cast

import attrs

from permitry.actions.patches import LONGEST_PATCH, paths_of

__all__ = ["MOST_NAMES", "Names", "names_in", "names_in_patch", "open_file"]

MOST_NAMES = 20_000
"""How many names are read; an archive with more is not read at all."""
MOST_READ = 32 * 1024 * 1024
"""How many bytes of a compressed archive are unpacked to find the names in it."""
_LARGEST_DIRECTORY = 8 * 1024 * 1024
_MOST_MEMORY = 128 * 1024 * 1024
_END_OF_ZIP, _LARGE_ZIP = b"PK\x05\x06", b"PK\x06\x07"
_LONGEST_END = 22 + 65_535

_ENCODED = re.compile(
    r"content-transfer-encoding:\s*+(?!(?:7bit|8bit|binary)[ \t\r]*+(?:\n(?![ \t])|\Z))", re.IGNORECASE
)
"""Says that a mail is not written as it is."""

Names = tuple[str, ...]


def names_in(path: str, kind: str, strip: int | None) -> Names | None:
    """Return the names that are made from a file of one kind, relative to a folder; None if they are not certain.

    `strip` is how many folders are cut off from the beginning of each name.
    """
    try:
        with open(path, "rb", opener=open_file) as file:
            if kind in ("mail", "patch"):
                text = file.read(LONGEST_PATCH + 1).decode()
                return names_in_patch(text, strip, is_mail=kind == "mail")
            names = _READERS[kind](file)
            if names is None:
                return None
            return tuple(_cut(names, strip or 0))
    except Exception:  # noqa: BLE001 -- a damaged archive makes the readers raise nearly anything
        return None


def names_in_patch(text: str, strip: int | None, *, is_mail: bool = False) -> Names | None:
    """Return the names in a patch that is applied with `-p`, None where they are not certain."""
    found = paths_of(text)
    if found.doubt is not None or (is_mail and _ENCODED.search(text)):
        return None
    names = [name for _, name in found.touched]
    match strip:
        case 1:
            return tuple(_cut(names, 0))
        case 0:
            return tuple(_cut([*names, *(f"{side}/{name}" for name in names for side in "ab")], 0))
        case None:
            # `patch` looks which of the names is there, and takes the last component where none is.
            return tuple(_cut([*names, *(name.rpartition("/")[2] for name in names)], 0))
        case _:
            return tuple(_cut(names, strip - 1))


def open_file(path: str, flags: int) -> int:
    """Open an ordinary file: to open a pipe could wait for ever."""
    number = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError("not an ordinary file")
    return number


def _cut(names: Iterable[str], strip: int) -> Iterator[str]:
    """Yield names without their first folders; those that have no more are not made.

    Raises: `ValueError` for a name that leads elsewhere.
    """
    for name in names:
        parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
        if ".." in parts or "\0" in name:
            raise ValueError("a name that leads elsewhere")
        if parts[strip:]:
            yield "/".join(parts[strip:])


def _in_tar(file: IO[bytes]) -> Names | None:
    import tarfile  # noqa: PLC0415 -- slow to import, and rarely needed

    # INVARIANT: what looks like the end does not hide what comes after it, which other programs may read.
    with tarfile.open(fileobj=_unpack(file), mode="r:", ignore_zeros=True) as archive:
        names, links = [], set()
        for member in archive:
            names.append(member.name)
            links |= {member.name} if member.issym() or member.islnk() else set()
            if len(names) > MOST_NAMES:
                return None
    # `ignore_zeros` finds no names in any other text either.
    if not names or _goes_through(names, links):
        return None
    return tuple(names)


def _goes_through(names: Iterable[str], links: set[str]) -> bool:
    """Return whether a name is below a link that comes from the same archive."""
    heads = tuple(f"{link.rstrip('/')}/" for link in links)
    return bool(heads) and any(name.startswith(heads) for name in names)


def _unpack(file: IO[bytes]) -> IO[bytes]:
    """Return the archive without its compression; no more is read of either than the limit.

    Raises: `ValueError` where it is longer.
    """
    start = file.read(6)
    file.seek(0)
    unpack = next((unpack for mark, unpack in _COMPRESSED.items() if start.startswith(mark)), None)
    if unpack is None:
        return cast("IO[bytes]", _Counted(file))
    return io.BytesIO(_limit(unpack(file)))


def _gunzip(file: IO[bytes]) -> bytes:
    import gzip  # noqa: PLC0415 -- as `tarfile`

    return gzip.open(file).read(MOST_READ + 1)


def _bunzip(file: IO[bytes]) -> bytes:
    import bz2  # noqa: PLC0415 -- as `tarfile`

    return bz2.open(file).read(MOST_READ + 1)


def _unxz(file: IO[bytes]) -> bytes:
    import lzma  # noqa: PLC0415 -- as `tarfile`

    reader = lzma.LZMADecompressor(memlimit=_MOST_MEMORY)
    text = reader.decompress(file.read(MOST_READ), MOST_READ + 1)
    if not reader.eof or reader.unused_data:
        raise ValueError("not all of it was read")
    return text


def _limit(text: bytes) -> bytes:
    if len(text) > MOST_READ:
        raise ValueError("too large")
    return text


_COMPRESSED = {b"\x1f\x8b": _gunzip, b"BZh": _bunzip, b"\xfd7zXZ": _unxz}


@attrs.define
class _Counted:
    """An archive of which only a part is read: the files in it are skipped."""

    _file: IO[bytes]
    _read: int = 0

    def read(self, size: int) -> bytes:
        text = self._file.read(min(size, MOST_READ))
        self._read += len(text)
        if self._read > MOST_READ:
            raise ValueError("too large")
        return text

    def seek(self, at: int) -> int:
        return self._file.seek(at)

    def tell(self) -> int:
        return self._file.tell()


def _in_zip(file: IO[bytes]) -> Names | None:
    import zipfile  # noqa: PLC0415 -- as `tarfile`

    size = os.fstat(file.fileno()).st_size
    file.seek(max(0, size - _LONGEST_END))
    end = file.read()
    at = end.rfind(_END_OF_ZIP)
    count, length = struct.unpack_from("<HI", end, at + 10)
    # The directory of a larger archive would be read into memory as a whole.
    if at < 0 or _LARGE_ZIP in end or count > MOST_NAMES or length > _LARGEST_DIRECTORY:
        return None
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
    links = {each.filename for each in members if stat.S_ISLNK(each.external_attr >> 16)}
    names = [each.orig_filename for each in members]
    if _goes_through(names, links):
        return None
    return tuple(names)


_READERS: Mapping[str, Callable[[IO[bytes]], Names | None]] = {"tar": _in_tar, "zip": _in_zip}

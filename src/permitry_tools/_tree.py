"""The files below a folder at one moment: modes and blob ids as git has them, and contents within bounds."""

import contextlib
import hashlib
import itertools
import os
import stat
import time
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TypeAlias

import attrs

from permitry.port import DIRECTORY, READ, opened

__all__ = ["LEFT_OUT", "Contents", "Entry", "Hidden", "Look", "Tree", "TurnBounds", "is_before", "object_of", "order"]

LEFT_OUT = frozenset(
    {
        ".git", ".hg", ".jj", ".svn",
        ".mypy_cache", ".nox", ".permitry/artifacts", ".pytest_cache", ".ruff_cache", ".tox", ".venv",
        "__pycache__", "node_modules",
    }
)  # fmt: skip
"""Folders that are not looked into: by name at any depth; one with a slash below the root only."""

_MIB = 1024 * 1024
_KINDS = {"tree": 2, "blob": 3}
_MORE = 0x80
_CHUNK = _MIB
_DEEPEST = 100
_RACY = 2_000_000_000
"""A file whose last change is not so many nanoseconds ago may change again and look the same: see git's `racy-git`."""
# A folder on the way need not be readable. Systems other than Linux have no such flag.
_ON_THE_WAY = getattr(os, "O_PATH", 0) | DIRECTORY


@attrs.frozen
class TurnBounds:
    """How far two states of a workspace are compared; sizes are in bytes.

    `files` counts files and folders of one look, `read` what one look reads. Files up to `file_size` are kept, all
    together compressed to `kept`, and what a turn changed to as much again. `text` is the longest diff.
    """

    files: int = 50_000
    file_size: int = _MIB
    read: int = 256 * _MIB
    kept: int = 64 * _MIB
    text: int = 4 * _MIB
    left_out: Collection[str] = LEFT_OUT


Stamp: TypeAlias = tuple[int, ...]
"""What the system says of a file, and changes whenever the file changes; empty where it is like no other."""


@attrs.frozen
class Entry:
    """A file or link: its mode in git's form, and the id of its blob; None where it was not read."""

    mode: str
    stamp: Stamp
    size: int
    blob: str | None
    is_racy: bool = False
    is_unreadable: bool = False

    def is_same(self, other: "Entry") -> bool:
        """Return whether both are one state of a file; where one was not read, its times say so."""
        if None in (self.blob, other.blob):
            return bool(self.stamp) and self.stamp == other.stamp
        return (self.mode, self.blob) == (other.mode, other.blob)


@attrs.frozen
class Hidden:
    """A folder that was not looked into, and why."""

    why: str
    stamp: Stamp


@attrs.frozen
class Tree:
    """Files and hidden folders by their path relative to the root; `end` is the first path past the bound of files."""

    entries: dict[str, Entry] = attrs.field(factory=dict)
    hidden: dict[str, Hidden] = attrs.field(factory=dict)
    end: str | None = None


def is_before(path: str, end: str | None) -> bool:
    """Return whether a look comes to `path` before `end`; None means no end."""
    return end is None or order(path) < order(end)


def order(path: str) -> tuple[tuple[bool, str], ...]:
    """Return what paths are sorted by to be in the order of a look: in each folder its files, then its folders."""
    *folders, name = path.split("/")
    return (*((True, each) for each in folders), (False, name))


@attrs.define
class Contents:
    """Contents by blob id, each as it is in a pack of git: compressed, behind its kind and size."""

    objects: dict[str, bytes] = attrs.field(factory=dict)
    size: int = 0

    def keep(self, blob: str, data: bytes, most: int) -> None:
        """Keep a content, unless all together would be more than `most` bytes."""
        if blob not in self.objects:
            compressed = object_of("blob", data)
            if self.size + len(compressed) <= most:
                self.objects[blob] = compressed
                self.size += len(compressed)

    def data(self, blob: str) -> bytes:
        """Return a content that is kept."""
        entry = self.objects[blob]
        start = next(at for at, byte in enumerate(entry, 1) if byte < _MORE)
        return zlib.decompress(entry[start:])

    def retain(self, tree: Tree) -> None:
        """Forget the contents of which `tree` has no file."""
        blobs = {entry.blob for entry in tree.entries.values()}
        self.objects = {blob: each for blob, each in self.objects.items() if blob in blobs}
        self.size = sum(map(len, self.objects.values()))


def object_of(kind: str, data: bytes) -> bytes:
    """Return `data` as an entry of a pack: its kind and size, lowest bits first, then itself, compressed.

    Source: gitformat-pack(5).
    """
    left, head = len(data) >> 4, bytearray([_KINDS[kind] << 4 | len(data) & 0xF])
    while left:
        head[-1] |= _MORE
        head.append(left & 0x7F)
        left >>= 7
    return bytes(head) + zlib.compress(data, 1)


@attrs.define
class Look:
    """One walk through the files below `root`; those that look as in `previous` are not read again.

    Each folder and file is opened by its name in the open folder above it, and no link is followed: nothing outside of
    the root is read, whatever is put in place of a folder meanwhile.
    """

    root: Path
    bounds: TurnBounds
    contents: Contents
    previous: Tree
    most_kept: int
    _tree: Tree = attrs.field(factory=Tree, init=False)
    _seen: int = attrs.field(default=0, init=False)
    _read: int = attrs.field(default=0, init=False)

    def tree(self) -> Tree:
        """Return what is there now; a root that is gone is an empty one."""
        try:
            with _open_folder(None, str(self.root).removeprefix("/")) as root:
                end = self._walk(root)
        except FileNotFoundError:
            return Tree()
        except OSError:
            return Tree(hidden={"": Hidden("cannot be read", ())})
        return attrs.evolve(self._tree, end=end)

    def _walk(self, root: int) -> str | None:
        """Look at all files, and return the path at which the bound was reached, if it was."""
        # A stack of our own: a tree can be deeper than Python's stack.
        stack: list[tuple[str, Stamp]] = [("", ())]
        while stack:
            path, stamp = stack.pop()
            try:
                with _open_folder(root, path) as folder:
                    folders, end = self._folder(folder, path, stamp)
            except FileNotFoundError:
                continue
            except OSError:
                self._tree.hidden[path] = Hidden("cannot be read", stamp)
                continue
            if end is not None:
                return end
            stack += reversed(folders)
        return None

    def _folder(self, folder: int, path: str, stamp: Stamp) -> tuple[list[tuple[str, Stamp]], str | None]:
        """Look at the files of an open folder; return its folders, and where the bound was reached."""
        with os.scandir(folder) as scan:
            entries = list(itertools.islice(scan, self.bounds.files + 1))
        if len(entries) > self.bounds.files:
            self._tree.hidden[path] = Hidden(f"holds more than {self.bounds.files} files", stamp)
            return [], None
        folders: list[tuple[str, Stamp]] = []
        for is_folder, name, entry in sorted((e.is_dir(follow_symlinks=False), e.name, e) for e in entries):
            inner = f"{path}/{name}" if path else name
            if self._seen >= self.bounds.files:
                # None of the folders here has been looked into yet.
                first = folders[0][0] if folders else inner
                return [], f"{first}/" if is_folder else inner
            self._seen += 1
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            if is_folder:
                folders += self._inner(inner, _stamp(status))
            elif name != ".git" and (stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)):
                self._file(folder, inner, status)
        return folders, None

    def _inner(self, path: str, stamp: Stamp) -> Iterator[tuple[str, Stamp]]:
        """Yield a folder that is to be looked into; note another one as hidden."""
        if path in self.bounds.left_out or path.rpartition("/")[2] in self.bounds.left_out:
            self._tree.hidden[path] = Hidden("left out by name", stamp)
        elif path.count("/") >= _DEEPEST:
            self._tree.hidden[path] = Hidden(f"deeper than {_DEEPEST} folders", stamp)
        else:
            yield path, stamp

    def _file(self, folder: int, path: str, status: os.stat_result) -> None:
        known = self.previous.entries.get(path)
        if known is not None and known.stamp == _stamp(status) and not known.is_racy:
            self._tree.entries[path] = known
            return
        try:
            reads = self._link if stat.S_ISLNK(status.st_mode) else self._content
            self._tree.entries[path] = reads(folder, path.rpartition("/")[2], status)
        except FileNotFoundError:
            return
        except OSError as error:
            # What was replaced meanwhile has no stamp that could be the same as another one's.
            stamp = _stamp(status) if isinstance(error, PermissionError) else ()
            self._tree.entries[path] = attrs.evolve(_entry(status, None), stamp=stamp, is_unreadable=True)

    def _link(self, folder: int, name: str, status: os.stat_result) -> Entry:
        data = os.fsencode(os.readlink(name, dir_fd=folder))
        blob = _hash(len(data), data).hexdigest()
        self.contents.keep(blob, data, self.most_kept)
        return _entry(status, blob)

    def _content(self, folder: int, name: str, status: os.stat_result) -> Entry:
        with opened(name, READ, folder=folder) as file:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode) or self._read + status.st_size > self.bounds.read:
                return _entry(status, None)
            self._read += status.st_size
            blob = self._blob(file, status.st_size)
            return _entry(status, blob) if blob is not None else attrs.evolve(_entry(status, None), stamp=())

    def _blob(self, file: int, size: int) -> str | None:
        """Read a file of `size` bytes, keep it if it is small, and return its id; None where it changes meanwhile."""
        digest, chunks, left = _hash(size), [], size
        while left and (chunk := os.read(file, min(left, _CHUNK))):
            digest.update(chunk)
            left -= len(chunk)
            if size <= self.bounds.file_size:
                chunks.append(chunk)
        if left or os.read(file, 1):
            return None
        blob = digest.hexdigest()
        if size <= self.bounds.file_size:
            self.contents.keep(blob, b"".join(chunks), self.most_kept)
        return blob


def _entry(status: os.stat_result, blob: str | None) -> Entry:
    """Return the entry of what was read just now."""
    mode = "120000" if stat.S_ISLNK(status.st_mode) else "100755" if status.st_mode & stat.S_IXUSR else "100644"
    is_racy = status.st_ctime_ns + _RACY > time.time_ns()
    return Entry(mode, _stamp(status), status.st_size, blob, is_racy)


def _stamp(status: os.stat_result) -> Stamp:
    return (
        status.st_mode, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    )  # fmt: skip


def _hash(size: int, data: bytes = b"") -> "hashlib._Hash":
    return hashlib.sha1(b"blob %d\0%s" % (size, data), usedforsecurity=False)


@contextlib.contextmanager
def _open_folder(above: int | None, path: str) -> Iterator[int]:
    """Open the folder at `path` below an open one, or below `/`, step by step and without following a link."""
    names = [each for each in path.split("/") if each]
    at = os.open("/" if above is None else ".", _ON_THE_WAY if names else DIRECTORY, dir_fd=above)
    try:
        for number, name in enumerate(names, 1):
            inner = os.open(name, DIRECTORY if number == len(names) else _ON_THE_WAY, dir_fd=at)
            os.close(at)
            at = inner
        yield at
    finally:
        os.close(at)

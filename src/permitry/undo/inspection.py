"""Looks at paths without following a link, and at all that is below them."""

import contextlib
import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence

import attrs

from permitry.actions.changes import Change
from permitry.errors import UndoError
from permitry.files import DIRECTORY, READ, mode_at
from permitry.undo.nodes import READ_FILE, READ_FOLDER, Kind, Node, attributes_of, kind_of, widen

__all__ = ["Limits", "Take", "folder_of", "hash_file", "look", "pieces_of", "roots_of"]

_CHUNK = 1024 * 1024

Take = Callable[[int, int], tuple[str, str, int]]
"""Takes an open file and its size, and returns its digest, and where its content is."""


@attrs.frozen
class Limits:
    """How much is kept: `files` and `size` (bytes) of one call, `total` bytes in all, for `age` seconds."""

    files: int = 20_000
    size: int = 256 * 1024 * 1024
    total: int = 2 * 1024 * 1024 * 1024
    age: float = 7 * 86_400.0


def look(
    changes: Iterable[Change], limits: Limits, take: Take | None = None, *, may_widen: bool = False
) -> tuple[Node, ...]:
    """Return what is at these paths, and below trees, by path; `take` is given each file once.

    Of what does not exist, the first missing folder. With `may_widen`, what a call has made unreadable is read,
    and gets its mode back. Raises: `UndoError` for what could not be brought back, or is too much.
    """
    looking = _Looking(limits, take or hash_file, may_widen)
    for change in _without_nested(changes):
        looking.at(change)
    return looking.result()


@contextlib.contextmanager
def folder_of(path: str) -> Iterator[tuple[int, str, str]]:
    """Yield the open folder of a path, the name there, and the path, or the first that is missing."""
    *above, name = path.strip("/").split("/")
    folder = os.open("/", DIRECTORY)
    try:
        for number, part in enumerate(above, 1):
            try:
                inner = os.open(part, DIRECTORY, dir_fd=folder)
            except (FileNotFoundError, NotADirectoryError):
                mode = mode_at(part, folder=folder)
                if mode is not None and not stat.S_ISREG(mode):
                    raise
                name, path = part, "/" + "/".join(above[:number])
                break
            os.close(folder)
            folder = inner
        yield folder, name, path
    finally:
        os.close(folder)


def roots_of(changes: Iterable[Change], nodes: Iterable[Node]) -> tuple[Change, ...]:
    """Return the paths to look at after a call: a missing folder, or a file, for those below it."""
    ends = [Change(node.path, is_tree=True) for node in nodes if node.kind in (Kind.ABSENT, Kind.FILE)]
    return tuple(_without_nested((*changes, *ends)))


def _without_nested(changes: Iterable[Change]) -> list[Change]:
    kept: list[Change] = []
    for change in sorted(set(changes), key=lambda each: (_order(each.path), not each.is_tree)):
        # All that is below a tree comes right after it.
        if not (kept and _covers(kept[-1], change)):
            kept.append(change)
    return kept


def _covers(above: Change, change: Change) -> bool:
    if change.path == above.path:
        return above.is_tree or not change.is_tree
    return above.is_tree and change.path.startswith(f"{above.path.rstrip('/')}/")


def _order(path: str) -> list[str]:
    return path.split("/")


@attrs.define
class _Looking:
    limits: Limits
    take: Take
    may_widen: bool = False
    nodes: dict[str, Node] = attrs.field(factory=dict)
    size: int = 0
    # By device and inode: the first node, how many names it has, and how many of them were seen.
    files: dict[tuple[int, int], tuple[str, int, int]] = attrs.field(factory=dict)

    def at(self, change: Change) -> None:
        path = change.path
        try:
            with folder_of(path) as found:
                if not found[1]:
                    raise UndoError(f"`{path}` is the root of all files")
                # Several paths may lead to the same file in their way, or to the same missing folder.
                if found[2] not in self.nodes:
                    self.entry(*found, is_tree=change.is_tree)
        except OSError as error:
            raise UndoError(f"the folder of `{path}` is not what it was: {error.strerror or error}") from error

    def entry(self, folder: int, name: str, path: str, *, is_tree: bool) -> None:
        try:
            self.node(folder, name, path, is_tree=is_tree)
        except OSError as error:
            raise UndoError(f"`{path}` cannot be read: {error.strerror or error}") from error

    def node(self, folder: int, name: str, path: str, *, is_tree: bool) -> None:
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            self.add(Node(path, Kind.ABSENT))
            return
        kind = kind_of(status.st_mode)
        if kind is None:
            raise UndoError(f"`{path}` is a pipe, a socket or a device")
        if status.st_dev != os.fstat(folder).st_dev:
            raise UndoError(f"another file system is mounted at `{path}`")
        _check_owner(path, status)
        if kind is Kind.FOLDER:
            self.folder(folder, name, path, is_tree=is_tree)
        elif kind is Kind.LINK:
            self.add(Node.of(path, status, text=os.readlink(name, dir_fd=folder)))
        else:
            self.file(folder, name, path)

    def folder(self, above: int, name: str, path: str, *, is_tree: bool) -> None:
        had = widen(name, READ_FOLDER, folder=above) if self.may_widen else None
        file = os.open(name, DIRECTORY, dir_fd=above)
        try:
            node = Node.of(path, os.fstat(file), attributes=attributes_of(file))
            self.add(node if had is None else attrs.evolve(node, mode=had))
            for below in sorted(os.listdir(file)) if is_tree else ():  # noqa: PTH208 -- of an open folder
                self.entry(file, below, f"{path}/{below}", is_tree=True)
        finally:
            if had is not None:
                os.fchmod(file, had)
            os.close(file)

    def file(self, folder: int, name: str, path: str) -> None:
        had = widen(name, READ_FILE, folder=folder) if self.may_widen else None
        file = os.open(name, READ, dir_fd=folder)
        try:
            if had is not None:
                # What is open stays readable.
                os.fchmod(file, had)
            status = os.fstat(file)
            key = status.st_dev, status.st_ino
            first, names, seen = self.files.get(key, (path, status.st_nlink, 0))
            self.files[key] = first, names, seen + 1
            if seen:
                self.add(attrs.evolve(self.nodes[first], path=path, same=first))
                return
            self.size += status.st_size
            if self.size > self.limits.size:
                raise UndoError(f"with `{path}` it is more than {self.limits.size} bytes")
            digest, data, offset = self.take(file, status.st_size)
            if _marks(os.fstat(file)) != _marks(status):
                raise UndoError(f"`{path}` changes while it is kept")
            rest = {"attributes": attributes_of(file), "digest": digest, "data": data, "offset": offset}
            self.add(Node.of(path, status, **rest))
        finally:
            os.close(file)

    def add(self, node: Node) -> None:
        if len(self.nodes) >= self.limits.files:
            raise UndoError(f"it is more than {self.limits.files} files")
        self.nodes[node.path] = node

    def result(self) -> tuple[Node, ...]:
        for first, names, seen in self.files.values():
            if seen < names:
                raise UndoError(f"`{first}` has another name (a hard link) that is not kept with it")
        return tuple(self.nodes[path] for path in sorted(self.nodes, key=_order))


def _check_owner(path: str, status: os.stat_result) -> None:
    if os.geteuid() == 0:
        return
    groups = {os.getegid(), *os.getgroups()}
    if status.st_uid != os.geteuid() or status.st_gid not in groups:
        raise UndoError(f"`{path}` belongs to another user or group")


def _marks(status: os.stat_result) -> Sequence[int]:
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def pieces_of(file: int, size: int) -> Iterator[bytes]:
    """Yield the content of an open file, no more than `size` bytes of it."""
    while size > 0 and (piece := os.read(file, min(size, _CHUNK))):
        size -= len(piece)
        yield piece


def hash_file(file: int, size: int) -> tuple[str, str, int]:
    """Return the digest of an open file, in the form of a `Take` that keeps nothing."""
    digest = hashlib.sha256()
    for piece in pieces_of(file, size):
        digest.update(piece)
    return digest.hexdigest(), "", 0

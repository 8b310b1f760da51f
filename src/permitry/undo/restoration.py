"""Brings back what was kept: each file in one step, and again from where it stopped if it was interrupted."""

import contextlib
import errno
import itertools
import os
import secrets
import stat
from collections.abc import Iterator, Mapping, Sequence

import attrs

from permitry.errors import UndoError
from permitry.files import CREATE, DIRECTORY, READ, TEMPORARY, opened
from permitry.undo.contents import content_of, write_all
from permitry.undo.inspection import folder_of, look
from permitry.undo.nodes import READ_FILE, Kind, Node, set_attributes, widen
from permitry.undo.vault import Entry, Vault, about_of

__all__ = ["Plan", "plan", "restore"]

_RWX = 0o700
_BLOCK = 4096


@attrs.frozen
class Plan:
    """What undoing an entry would do: what is there `now` and what was `before`, by path.

    `conflicts` have changed since the call ended; all, where it is not known how it ended.
    """

    entry: Entry
    now: Mapping[str, Node]
    before: Mapping[str, Node]
    conflicts: tuple[str, ...] = ()

    @property
    def changed(self) -> tuple[str, ...]:
        """The paths that would change, in order."""
        paths = sorted({*self.now, *self.before}, key=lambda path: path.split("/"))
        return tuple(path for path in paths if _state(self.now, path) != _state(self.before, path))


def plan(vault: Vault, entry: Entry) -> Plan:
    """Return what undoing an entry would do. Raises: `UndoError` for what cannot be undone now."""
    try:
        now, before = _by_path(look(entry.changes, vault.limits, may_widen=True)), _by_path(entry.before)
    except UndoError as error:
        raise UndoError(f"what is there now could not be kept: {error}; move it away, and use --force") from error
    if entry.after is None:
        return Plan(entry, now, before, tuple(Plan(entry, now, before).changed))
    after = _by_path(entry.after)
    paths = sorted({*now, *after})
    conflicts = [path for path in paths if _state(now, path) != _state(after, path)]
    if entry.undone_by:
        # It was interrupted: some is already as it was before, and some is gone, or half made.
        conflicts = [path for path in conflicts if not _is_half_way(now.get(path), before.get(path), entry.tokens)]
    return Plan(entry, now, before, tuple(conflicts))


def restore(vault: Vault, name: str, *, force: bool = False) -> str:
    """Bring back what an entry has kept; return the entry that undoes this. Raises: `UndoError`."""
    with vault.lock():
        entry = vault.find(name)
        if entry.is_undone:
            raise UndoError(f"`{name}` was undone before; undo `{entry.undone_by}` to take that back")
        planned = plan(vault, entry)
        if planned.conflicts and not force:
            raise UndoError(_why(planned))
        # INVARIANT: what is replaced is kept as well, so that an interrupt at any point loses nothing.
        undoing = entry.undone_by
        if planned.conflicts or not undoing:
            undoing = vault.add(entry.changes, {**about_of(entry), "undoes": entry.id}, may_widen=True)
            vault.mark(entry, "undone_by", undoing)
        # No agent can guess the names, so that none can be in the way; those of a try that was interrupted are known.
        tokens = (*entry.tokens, secrets.token_hex(8))
        vault.mark(entry, "tokens", " ".join(tokens))
        try:
            with opened(vault.path(entry.id), DIRECTORY) as contents:
                _Restoring(planned, contents, tokens).run()
        except OSError as error:
            where = f"`{error.filename}`: " if error.filename else ""
            raise UndoError(f"not all could be brought back: {where}{error.strerror or error}; try again") from error
        vault.seal(vault.find(undoing))
        vault.mark(entry, "is_undone", "yes")
        return undoing


def _why(planned: Plan) -> str:
    if planned.entry.after is None:
        return "it is not known how the call ended, so what is there may be of others; look at it, and use --force"
    shown = ", ".join(f"`{path}`" for path in planned.conflicts[:3])
    more = f" and {len(planned.conflicts) - 3} more" if len(planned.conflicts) > 3 else ""  # noqa: PLR2004 -- as above
    return f"changed since: {shown}{more}; use --force to undo it all the same"


def _is_half_way(now: Node | None, before: Node | None, tokens: Sequence[str]) -> bool:
    if now is None or now.kind is Kind.FOLDER or any(_start(token) in now.path for token in tokens):
        return True
    return before is not None and now.state == before.state


def _by_path(nodes: Sequence[Node]) -> dict[str, Node]:
    return {node.path: node for node in nodes if node.kind is not Kind.ABSENT}


def _state(nodes: Mapping[str, Node], path: str) -> tuple[object, ...] | None:
    node = nodes.get(path)
    return None if node is None else node.state


def _start(token: str) -> str:
    return f"{TEMPORARY}undo-{token}-"


@attrs.define
class _Restoring:
    plan: Plan
    contents: int
    tokens: Sequence[str]
    _made: Iterator[int] = attrs.field(factory=itertools.count, init=False)
    _swept: set[tuple[int, int]] = attrs.field(factory=set, init=False)

    def run(self) -> None:
        now, before = self.plan.now, self.plan.before
        changed = self.plan.changed
        self._open_folders(changed)
        for path in reversed(changed):
            if path in now and (path not in before or before[path].kind is not now[path].kind):
                self._remove(now[path])
        linked = {node.same for node in before.values() if node.same}
        linked &= {before[path].same or path for path in changed if path in before}
        for path, node in before.items():
            if path in changed or (node.same or path) in linked:
                self._place(node)
        for path in reversed(tuple(before)):
            if before[path].kind is Kind.FOLDER:
                self._finish(before[path])

    def _open_folders(self, changed: Sequence[str]) -> None:
        """Make folders writable in which something changes; they get their modes back at the end."""
        above = {path.rpartition("/")[0] for path in changed} | set(changed)
        for path, node in self.plan.now.items():
            if path in above and node.kind is Kind.FOLDER:
                with _in_folder(path) as (folder, name):
                    widen(name, _RWX, folder=folder)

    def _remove(self, node: Node) -> None:
        with _in_folder(node.path) as (folder, name), contextlib.suppress(FileNotFoundError):
            if node.kind is Kind.FOLDER:
                os.rmdir(name, dir_fd=folder)
            else:
                os.unlink(name, dir_fd=folder)

    def _place(self, node: Node) -> None:
        with _in_folder(node.path) as (folder, name):
            if node.kind is Kind.FOLDER:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, _RWX, dir_fd=folder)
                return
            there = self.plan.now.get(node.path)
            if there is not None and not node.same and _has_content(there, node):
                widen(name, READ_FILE, folder=folder)
                with opened(name, READ, folder=folder) as file:
                    _dress(file, node)
                return
            with self._temporary(folder) as temporary:
                self._make(folder, temporary, node)
                os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)

    def _make(self, folder: int, temporary: str, node: Node) -> None:
        if node.kind is Kind.LINK:
            os.symlink(node.text, temporary, dir_fd=folder)
            os.utime(temporary, ns=(node.mtime, node.mtime), dir_fd=folder, follow_symlinks=False)
            if os.geteuid() == 0:
                os.chown(temporary, node.owner, node.group, dir_fd=folder, follow_symlinks=False)
            return
        if node.same:
            with _in_folder(node.same) as (other, first):
                os.link(first, temporary, src_dir_fd=other, dst_dir_fd=folder, follow_symlinks=False)
            return
        with opened(temporary, CREATE, folder=folder) as file:
            for piece in content_of(self.contents, node):
                _write(file, piece, is_sparse=node.is_sparse)
            os.truncate(file, node.size)
            _dress(file, node)
            os.fsync(file)

    @contextlib.contextmanager
    def _temporary(self, folder: int) -> Iterator[str]:
        self._sweep(folder)
        name = f"{_start(self.tokens[-1])}{next(self._made)}"
        try:
            yield name
        finally:
            # Two names of one file: then `rename` does nothing, and this one is left.
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)

    def _finish(self, node: Node) -> None:
        with _in_folder(node.path) as (folder, name), opened(name, DIRECTORY, folder=folder) as file:
            self._sweep(file)
            _dress(file, node)

    def _sweep(self, folder: int) -> None:
        """Remove what interrupted tries have left in a folder, once; only files and links."""
        status, starts = os.fstat(folder), tuple(map(_start, self.tokens[:-1]))
        if (status.st_dev, status.st_ino) in self._swept:
            return
        self._swept.add((status.st_dev, status.st_ino))
        for name in os.listdir(folder) if starts else ():
            if name.startswith(starts):
                with contextlib.suppress(IsADirectoryError, PermissionError):
                    os.unlink(name, dir_fd=folder)


def _has_content(there: Node, node: Node) -> bool:
    return there.kind is node.kind is Kind.FILE and (there.digest, there.same) == (node.digest, node.same)


@contextlib.contextmanager
def _in_folder(path: str) -> Iterator[tuple[int, str]]:
    with folder_of(path) as found:
        folder, name, reached = found
        if reached != path:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), reached)
        yield folder, name


def _dress(file: int, node: Node) -> None:
    status = os.fstat(file)
    if (status.st_uid, status.st_gid) != (node.owner, node.group):
        os.fchown(file, node.owner, node.group)
    set_attributes(file, node.attributes)
    if stat.S_IMODE(os.fstat(file).st_mode) != node.mode:
        os.fchmod(file, node.mode)
    os.utime(file, ns=(status.st_atime_ns, node.mtime))


def _write(file: int, data: bytes, *, is_sparse: bool) -> None:
    step = _BLOCK if is_sparse else max(len(data), 1)
    for start in range(0, len(data), step):
        block = data[start : start + step]
        if is_sparse and not block.strip(b"\0"):
            os.lseek(file, len(block), os.SEEK_CUR)
        else:
            write_all(file, block)

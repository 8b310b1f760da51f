"""Several files changed together: all of them, or none.

The new contents are written to temporary files first. Then each takes its place by a rename, and what was there is
set aside under a temporary name. When a step fails, everything before it is undone. When permitry itself is killed in
between, some files are new and some are old, and what was set aside lies next to them as `.permitry-….old`.

Folders are opened one by one from the root, and no link is followed on the way, as in `workspace.py`.
"""

import contextlib
import functools
import os
import secrets
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import attrs

from permitry.port import DIRECTORY, READ, TEMPORARY, ToolError, mode_at, opened, write_new

__all__ = ["Change", "commit"]


@attrs.frozen
class Change:
    """One file that is written, or removed where `data` is None.

    `where` is relative to the root, without links in its folders; `name` is how the patch calls it. With `expected`
    the file must still hold that. `mode` is for a file that is new; None leaves it to the system.
    """

    where: Path
    name: str
    data: bytes | None
    expected: bytes | None = attrs.field(default=None, repr=False)
    mode: int | None = None


def commit(root: Path, changes: Sequence[Change]) -> None:
    """Make all changes, in order; missing folders are made.

    Raises: `ToolError` when one cannot be made. Then everything is as it was, or the message names what is not.
    """
    transaction = _Transaction(root)
    try:
        transaction.run(changes)
    except OSError as error:
        name = transaction.name
        raise ToolError(f"`{name}` cannot be changed: {error.strerror}.{transaction.leftovers()}") from error
    except ToolError as error:
        raise ToolError(f"{error}{transaction.leftovers()}") from error


@attrs.frozen
class _Prepared:
    """A change, the temporary file with its content, its inode, and the name under which the old file is set aside."""

    change: Change
    temporary: str
    aside: str
    inode: int | None = None


@attrs.define
class _Transaction:
    """Changes being made; `name` is the one being worked on, `stuck` what could not be undone."""

    root: Path
    name: str = ""
    stuck: dict[str, None] = attrs.field(factory=dict)

    def leftovers(self) -> str:
        """Return what the undoing has left, for the model."""
        if not self.stuck:
            return " Nothing was changed."
        return (
            f" What was done before could not be undone: {', '.join(self.stuck)}. "
            "The old content is next to it, as `.permitry-*.old`."
        )

    def run(self, changes: Sequence[Change]) -> None:
        with contextlib.ExitStack() as undo:
            prepared = [self.prepare(change, undo) for change in changes]
            for each in prepared:
                self.place(each, undo)
            # INVARIANT: from here on nothing is undone.
            undo.pop_all()
        for each in prepared:
            # The changes are made: what was set aside may stay, but nothing may fail any more.
            with contextlib.suppress(OSError), self.folder(each.change.where.parent) as folder:
                os.unlink(each.aside, dir_fd=folder)

    def prepare(self, change: Change, undo: contextlib.ExitStack) -> _Prepared:
        """Write the new content next to the file."""
        self.name = change.name
        token = secrets.token_hex(8)
        temporary, aside = f"{TEMPORARY}{token}.new", f"{TEMPORARY}{token}.old"
        if change.data is None:
            return _Prepared(change, temporary, aside)
        with self.folder(change.where.parent, undo) as folder:
            mode = mode_at(change.where.name, folder=folder)
            if mode is not None and not stat.S_ISREG(mode):
                raise ToolError(f"`{change.name}` is not a regular file.")
            undo.callback(self.undone, change, functools.partial(_remove, temporary))
            inode = write_new(temporary, change.data, folder=folder, mode=change.mode if mode is None else mode)
        return _Prepared(change, temporary, aside, inode)

    def place(self, prepared: _Prepared, undo: contextlib.ExitStack) -> None:
        """Set the old file aside and put the new one in its place."""
        change, aside = prepared.change, prepared.aside
        self.name, name = change.name, change.where.name
        with self.folder(change.where.parent) as folder:
            mode = mode_at(name, folder=folder)
            if mode is not None:
                if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
                    raise ToolError(f"`{change.name}` is not a regular file.")
                undo.callback(self.undone, change, functools.partial(_restore, name, aside))
                _set_aside(name, aside, folder, is_removed=change.data is None)
                if change.expected is not None and not _holds(aside, change.expected, folder):
                    raise ToolError(f"`{change.name}` was changed by another process meanwhile.")
            elif change.data is None or change.expected is not None:
                raise ToolError(f"`{change.name}` was removed by another process meanwhile.")
            else:
                undo.callback(self.undone, change, functools.partial(_remove, name, inode=prepared.inode))
            if change.data is not None:
                os.replace(prepared.temporary, name, src_dir_fd=folder, dst_dir_fd=folder)

    def undone(self, change: Change, step: Callable[[int], None]) -> None:
        """Undo one step; one that fails does not keep the others from being undone."""
        try:
            with self.folder(change.where.parent) as folder:
                step(folder)
        except OSError as error:
            self.stuck[f"`{change.name}` ({error.strerror})"] = None

    @contextlib.contextmanager
    def folder(self, where: Path, undo: contextlib.ExitStack | None = None) -> Iterator[int]:
        """Open a folder; with `undo` it is made where it is missing, and `undo` removes it again."""
        at = os.open(self.root, DIRECTORY)
        try:
            for depth, name in enumerate(where.parts, 1):
                if undo is not None:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(name, dir_fd=at)
                        undo.callback(self.unmade, Path(*where.parts[:depth]))
                above, at = at, os.open(name, DIRECTORY, dir_fd=at)
                os.close(above)
            yield at
        finally:
            os.close(at)

    def unmade(self, made: Path) -> None:
        with contextlib.suppress(OSError), self.folder(made.parent) as folder:
            os.rmdir(made.name, dir_fd=folder)


def _holds(name: str, data: bytes, folder: int) -> bool:
    with opened(name, READ, folder=folder) as file, open(file, "rb", closefd=False) as stream:
        return stream.read(len(data) + 1) == data


def _set_aside(name: str, aside: str, folder: int, *, is_removed: bool) -> None:
    """Give the file a second name; where it is removed, or has to do with one name, only that."""
    if not is_removed:
        with contextlib.suppress(OSError):
            os.link(name, aside, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
            return
    os.rename(name, aside, src_dir_fd=folder, dst_dir_fd=folder)


def _restore(name: str, aside: str, folder: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.replace(aside, name, src_dir_fd=folder, dst_dir_fd=folder)
        # Two names of one file: then the system has done nothing, and one name is too many.
        os.unlink(aside, dir_fd=folder)


def _remove(name: str, folder: int, inode: int | None = None) -> None:
    with contextlib.suppress(FileNotFoundError):
        # What another process has put there meanwhile is not ours to remove.
        if inode is None or os.stat(name, dir_fd=folder, follow_symlinks=False).st_ino == inode:
            os.unlink(name, dir_fd=folder)

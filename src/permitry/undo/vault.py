"""`Vault`: keeps in a folder of the user what calls change, until they are undone or it is too old."""

import contextlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs

from permitry.actions.changes import Change
from permitry.core.call import ToolCall
from permitry.errors import UndoError
from permitry.files import DIRECTORY, LOCK, opened, replace_file, write_new
from permitry.undo.contents import Contents
from permitry.undo.inspection import Limits, look, roots_of
from permitry.undo.nodes import Node

__all__ = ["Entry", "Vault", "about_of"]

_MANIFEST, _AFTER, _LAST, _LOCK = "kept.json", "after.json", "last", "lock"
_ID = re.compile(r"[0-9]{1,12}")
_UNFINISHED = "new-"
_NODE = 200
"""So many bytes the list of what is kept takes for each path, about."""


@attrs.frozen
class Entry:
    """What was kept for one call, newest last by `id`.

    `before` is what was at the paths, `after` what the call has made of it, if known. `undoes` is the entry that this
    one has undone, and `undone_by` the one that undoes it; `tokens` are in the names of temporary files.
    """

    id: str
    at: float
    session: str
    tool: str
    call_id: str | None
    shown: str
    digest: str
    workspace: str | None
    changes: tuple[Change, ...]
    before: tuple[Node, ...]
    size: int
    undoes: str = ""
    after: tuple[Node, ...] | None = None
    undone_by: str = ""
    is_undone: bool = False
    tokens: tuple[str, ...] = ()


def about_of(entry: Entry) -> dict[str, Any]:
    """Return what an entry says about its call, for another entry."""
    return {name: getattr(entry, name) for name in ("session", "tool", "call_id", "shown", "digest", "workspace")}


@attrs.define
class Vault:
    """Keeps entries below `folder`, which only its user may read; processes may share it."""

    folder: Path
    limits: Limits = attrs.field(factory=Limits)
    clock: Callable[[], float] = attrs.field(default=time.time, repr=False)

    def keep(
        self, call: ToolCall, changes: Sequence[Change], *, session: str = "", workspace: str | None = None
    ) -> str:
        """Keep what is at these paths on the disk, and return the id of the entry. Raises: `UndoError`."""
        about = {"session": session, "tool": call.tool, "call_id": call.call_id, "shown": call.canonical[:2_000]}
        about |= {"digest": call.digest, "workspace": workspace}
        with self.lock():
            self._prune(self.limits.age)
            return self.add(changes, about)

    def renew(self, entry: str) -> str:
        """Return an entry with what is there now: a new one, if that has changed. Raises: `UndoError`."""
        with self.lock():
            kept = self.find(entry)
            if [node.state for node in look(kept.changes, self.limits)] == [node.state for node in kept.before]:
                return entry
            renewed = self.add(kept.changes, about_of(kept))
            self._remove(entry)
            return renewed

    def ended(self, entry: str) -> None:
        """Note what is at the paths of an entry now that the call has ended; where that fails, it stays unknown."""
        with contextlib.suppress(UndoError, OSError), self.lock():
            self.seal(self.find(entry))

    def entries(self) -> list[Entry]:
        """Return all entries, the oldest first; one that is damaged is left out."""
        found = []
        for name in self._names():
            with contextlib.suppress(UndoError):
                found.append(self.find(name))
        return found

    def find(self, name: str) -> Entry:
        """Return an entry. Raises: `UndoError` when there is none of this id, or it is damaged."""
        if not _ID.fullmatch(name):
            raise UndoError(f"`{name}` is not the id of an entry")
        folder = self.path(name)
        try:
            head, given = map(json.loads, (folder / _MANIFEST).read_text(encoding="ascii").splitlines())
            marks = {each: _read_text(folder / each) for each in (_AFTER, "undone_by", "is_undone", "tokens")}
            return _entry(name, {**head, **given}, marks)
        except FileNotFoundError as error:
            raise UndoError(f"there is no entry `{name}`; see `permitry undo --list`") from error
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise UndoError(f"the entry `{name}` is damaged: {type(error).__name__}: {error}") from error

    def of_call(self, session: str, call_id: str, digests: Callable[[], Collection[str]]) -> str | None:
        """Return the last entry of a call with one of these digests; None where its end is known."""
        for name in reversed(self._names()):
            head = self._head(name)
            is_its = (head.get("session"), head.get("call_id")) == (session, call_id)
            if is_its and self.find(name).digest in digests():
                return None if (self.path(name) / _AFTER).exists() else name
        return None

    def prune(self, age: float | None = None, size: int | None = None) -> int:
        """Remove entries older than `age` seconds, or above a `size`; return how many. Raises: `UndoError`."""
        with self.lock():
            return self._prune(self.limits.age if age is None else age, size)

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Keep all other processes and threads from changing the vault. Raises: `UndoError`."""
        import fcntl  # noqa: PLC0415 -- not on every system

        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.folder.chmod(0o700)
            lock = os.open(self.folder / _LOCK, LOCK, 0o600)
        except OSError as error:
            raise UndoError(f"the copies cannot be kept in `{self.folder}`: {error.strerror}") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for unfinished in self.folder.glob(f"{_UNFINISHED}*"):
                shutil.rmtree(unfinished, ignore_errors=True)
            yield
        except OSError as error:
            raise UndoError(f"the copies cannot be kept in `{self.folder}`: {error.strerror or error}") from error
        finally:
            os.close(lock)

    # While the vault is locked -------------------------------------------------------------------------------------

    def add(self, changes: Sequence[Change], about: dict[str, Any], *, may_widen: bool = False) -> str:
        """Keep what is at these paths under a new id; `may_widen` as for `look`."""
        self._check_apart(changes)
        room = self.limits.total - sum(self._head(each)["size"] for each in self._names())
        name = self._next()
        building = self.folder / f"{_UNFINISHED}{name}"
        try:
            building.mkdir(mode=0o700)
            with opened(building, DIRECTORY) as folder, Contents(folder, min(room, self.limits.size)) as contents:
                before = look(changes, self.limits, contents.take, may_widen=may_widen)
                nodes = [each.to_dict() for each in before]
                contents.add(sum(_NODE + len(each.path) for each in before))
                call = {"session": about.get("session"), "call_id": about.get("call_id")}
                head = {"at": self.clock(), "size": contents.size, **call}
                given = {
                    **about,
                    "changes": [[each.path, each.is_tree] for each in roots_of(changes, before)],
                    "before": nodes,
                }
                data = f"{json.dumps(head)}\n{json.dumps(given)}\n".encode()
                write_new(_MANIFEST, data, folder=folder, is_durable=True)
                contents.sync()
            # INVARIANT: an entry has its name only once all of it is on the disk.
            building.rename(self.path(name))
            _sync(self.folder)
        except BaseException:
            shutil.rmtree(building, ignore_errors=True)
            raise
        return name

    def seal(self, entry: Entry) -> None:
        """Note what is at the paths of an entry now."""
        after = look(entry.changes, self.limits, may_widen=True)
        data = json.dumps([each.to_dict() for each in after]).encode()
        replace_file(self.path(entry.id) / _AFTER, data, is_durable=True)

    def mark(self, entry: Entry, name: str, value: str) -> None:
        """Note in an entry that it was undone, or is being undone, by another one."""
        replace_file(self.path(entry.id) / name, value.encode(), is_durable=True)

    def path(self, name: str) -> Path:
        """Return the folder of an entry."""
        return self.folder / name

    def _next(self) -> str:
        last = _read_text(self.folder / _LAST)
        number = 1 + max([int(last) if last.isdecimal() else 0, *map(int, self._names())])
        replace_file(self.folder / _LAST, str(number).encode())
        return str(number)

    def _names(self) -> list[str]:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            return sorted((name for name in os.listdir(self.folder) if _ID.fullmatch(name)), key=int)  # noqa: PTH208 -- names, not paths
        return []

    def _prune(self, age: float, size: int | None = None) -> int:
        now = self.clock()
        heads = [(name, self._head(name)) for name in self._names()]
        left, old = sum(head["size"] for _, head in heads), []
        for name, head in heads:
            if now - head["at"] > age or (size is not None and left > size):
                left -= head["size"]
                old.append(name)
        for name in old:
            self._remove(name)
        return len(old)

    def _remove(self, name: str) -> None:
        gone = self.folder / f"{_UNFINISHED}{name}"
        self.path(name).rename(gone)
        shutil.rmtree(gone, ignore_errors=True)

    def _head(self, name: str) -> dict[str, Any]:
        """Return when an entry was made, and its size; a damaged one is new, and large."""
        try:
            with (self.path(name) / _MANIFEST).open(encoding="ascii") as lines:
                head = json.loads(lines.readline())
                return {**head, "at": float(head["at"]), "size": int(head["size"])}
        except (OSError, ValueError, KeyError, TypeError):
            return {"at": self.clock(), "size": self.limits.size}

    def _check_apart(self, changes: Sequence[Change]) -> None:
        own = os.path.realpath(self.folder)
        for change in changes:
            if f"{own}/".startswith(f"{change.path.rstrip('/')}/") or change.path.startswith(f"{own}/"):
                raise UndoError(f"`{change.path}` leads to the copies that are kept")


def _entry(name: str, given: dict[str, Any], marks: dict[str, str]) -> Entry:
    read = {
        "id": name,
        "at": float(given["at"]),
        "changes": tuple(Change(path, is_tree) for path, is_tree in given["changes"]),
        "before": tuple(map(Node.from_dict, given["before"])),
        "after": tuple(map(Node.from_dict, json.loads(marks[_AFTER]))) if marks[_AFTER] else None,
        "undone_by": marks["undone_by"],
        "is_undone": bool(marks["is_undone"]),
        "tokens": tuple(marks["tokens"].split()),
    }
    return Entry(**{**given, **read})


def _sync(folder: Path) -> None:
    with opened(folder, DIRECTORY) as file:
        os.fsync(file)


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except FileNotFoundError:
        return ""

"""`TurnDiffTracker`: what a turn has changed in the workspace, as one unified diff, whatever did it."""

import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import attrs

from permitry.port import PermitryError
from permitry_tools._git_diff import git_diff
from permitry_tools._plain_diff import PlainDiff, quote
from permitry_tools._tree import Contents, Entry, Look, Tree, TurnBounds, is_before, order
from permitry_tools.workspace import real_folder

__all__ = ["TurnBounds", "TurnDiffTracker"]

_MOST_NAMED = 10
_SECTION = b"\ndiff --git "

Change: TypeAlias = tuple[Entry | None, Entry | None]
"""A file before and after; None where there was none."""


@attrs.define(eq=False)
class TurnDiffTracker:
    """Compares what is below `root` with what was there when the turn began. Thread-safe.

    It looks at states, not at tools: whatever wrote, moved or deleted a file, it is in the diff. Nothing outside of the
    root is read, no link is followed, and nothing of the workspace is run. A file that looks the same as at the last
    look (inode, size, times) is not read again.

    Raises: `FileNotFoundError` when the root does not exist.
    """

    root: Path = attrs.field(converter=real_folder)
    bounds: TurnBounds = attrs.field(factory=TurnBounds)
    _baseline: Tree | None = attrs.field(default=None, init=False, repr=False)
    _latest: Tree = attrs.field(factory=Tree, init=False, repr=False)
    _contents: Contents = attrs.field(factory=Contents, init=False, repr=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)

    def begin(self) -> None:
        """Take what is there now for the beginning of the turn."""
        with self._lock:
            self._contents.retain(self._latest)
            self._baseline = self._look(self.bounds.kept)

    def diff(self) -> str:
        """Return what has changed since the turn began, as `git diff` prints it, and what could not be compared.

        Empty where nothing has changed. What is not UTF-8 in a file is shown as U+FFFD.

        Raises: `PermitryError` when no turn has begun.
        """
        with self._lock:
            if self._baseline is None:
                raise PermitryError("no turn has begun that could be compared")
            before, after = self._baseline, self._look(2 * self.bounds.kept)
            changes = dict(_changes(before, after))
            notes = _notes(before, after, [*_hidden(before, after), *self._withheld(changes)])
            return self._text(changes) + "".join(f"...[{each}]...\n" for each in notes)

    def _look(self, most_kept: int) -> Tree:
        self._latest = Look(self.root, self.bounds, self._contents, self._latest, most_kept).tree()
        return self._latest

    def _text(self, changes: Mapping[str, Change]) -> str:
        kept = {path: change for path, change in changes.items() if self._is_kept(change)}
        before = {path: old for path, (old, _) in kept.items() if old is not None}
        after = {path: new for path, (_, new) in kept.items() if new is not None}
        data = git_diff(self.root, self._contents, before, after, self.bounds.text) if kept else b""
        others = changes if data is None else {path: changes[path] for path in changes.keys() - kept.keys()}
        plain = PlainDiff(self._contents)
        sections = (plain.section(path, *others[path]) for path in sorted(others))
        return _within(self.bounds.text, data or b"", sections).decode(errors="replace")

    def _withheld(self, changes: Mapping[str, Change]) -> Iterator[tuple[str, str]]:
        """Yield each file whose change is not shown in full, and why."""
        for path, change in changes.items():
            entries = [entry for entry in change if entry is not None]
            if any(entry.is_unreadable for entry in entries):
                yield path, "cannot be read"
            elif any(entry.blob is None for entry in entries):
                yield path, "not read to the end, so compared by size and times"
            elif not self._is_kept(change) and len({entry and entry.blob for entry in change}) > 1:
                yield path, "too large to keep"

    def _is_kept(self, change: Change) -> bool:
        return all(entry is None or entry.blob in self._contents.objects for entry in change)


def _changes(before: Tree, after: Tree) -> Iterator[tuple[str, Change]]:
    """Yield the files that are not the same in both trees, as far as both trees know of them."""
    for path in sorted(before.entries.keys() | after.entries.keys()):
        old, new = before.entries.get(path), after.entries.get(path)
        is_same = old is not None and new is not None and old.is_same(new)
        if not is_same and _is_known(path, before) and _is_known(path, after):
            yield path, (old, new)


def _is_known(path: str, tree: Tree) -> bool:
    """Return whether a look could have found a file at `path`."""
    if not is_before(path, tree.end):
        return False
    parts = path.split("/")
    return not any("/".join(parts[:depth]) in tree.hidden for depth in range(len(parts)))


def _within(most: int, data: bytes, sections: Iterable[str]) -> bytes:
    """Return a diff and further sections of it, whole ones only and at most about `most` bytes."""
    for section in sections:
        if len(data) > most:
            break
        data += os.fsencode(section)
    if len(data) <= most:
        return data
    whole = data[: data.rfind(_SECTION, 0, most) + 1]
    return whole + f"...[the diff is longer than {most} bytes; this is its beginning]...\n".encode()


def _notes(before: Tree, after: Tree, omitted: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield a line for each reason why something is not shown, and one for what is past the end."""
    paths: dict[str, list[str]] = {}
    for path, why in omitted:
        paths.setdefault(why, []).append(path)
    yield from (f"{why}: {_name(each)}" for why, each in sorted(paths.items()))
    ends = [tree.end for tree in (before, after) if tree.end is not None]
    if ends:
        end = min(ends, key=order)
        yield f"too many files: what comes from {quote(end)} on was not compared"


def _hidden(before: Tree, after: Tree) -> Iterator[tuple[str, str]]:
    """Yield each folder that one of the looks left out, unless it looks the same from outside, and why."""
    for path, hidden in (before.hidden | after.hidden).items():
        is_same = bool(hidden.stamp) and before.hidden.get(path) == after.hidden.get(path)
        if not is_same and is_before(path, before.end) and is_before(path, after.end):
            yield path or ".", hidden.why


def _name(paths: list[str]) -> str:
    named = ", ".join(quote(path) for path in sorted(paths)[:_MOST_NAMED])
    return named if len(paths) <= _MOST_NAMED else f"{named} and {len(paths) - _MOST_NAMED} more"

"""What undoing an entry would change, as a unified diff from what is there now to what was there before."""

import contextlib
import difflib
from collections.abc import Iterator
from pathlib import Path

import attrs

from permitry.files import DIRECTORY, READ, opened
from permitry.undo.contents import content_of
from permitry.undo.inspection import folder_of, pieces_of
from permitry.undo.nodes import Kind, Node
from permitry.undo.restoration import Plan

__all__ = ["diff_of"]

_MOST = 256 * 1024
_MOST_FILES = 200


def diff_of(plan: Plan, folder: Path) -> str:
    """Return the diff; `folder` is that of the entry. A file that is large or not text is named only."""
    base = plan.entry.workspace
    changed = plan.changed
    with opened(folder, DIRECTORY) as contents:
        diff = _Diff(plan, contents, base)
        text = "".join(line for path in changed[:_MOST_FILES] for line in diff.section(path))
    left = len(changed) - _MOST_FILES
    return text if left <= 0 else f"{text}...[{left} more files]...\n"


@attrs.frozen
class _Diff:
    plan: Plan
    contents: int
    base: str | None

    def section(self, path: str) -> Iterator[str]:
        now, before = self.plan.now.get(path), self.plan.before.get(path)
        name = path.removeprefix(f"{self.base}/").lstrip("/")
        kinds = _kind(now), _kind(before)
        if Kind.FOLDER in kinds:
            yield from _folders(name, now, before)
        old, new = self.text(now, is_kept=False), self.text(before, is_kept=True)
        sides = (f"a/{name}" if _is_shown(now) else "/dev/null", f"b/{name}" if _is_shown(before) else "/dev/null")
        if sides == ("/dev/null", "/dev/null"):
            return
        yield f"diff --git a/{name} b/{name}\n"
        if now and before and kinds[0] is kinds[1] and now.mode != before.mode:
            yield f"old mode {now.mode:o}\nnew mode {before.mode:o}\n"
        if old is None or new is None:
            yield f"Binary files {sides[0]} and {sides[1]} differ\n"
            return
        for line in difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), *sides):
            yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"

    def text(self, node: Node | None, *, is_kept: bool) -> str | None:
        """Return the text of a file or a link, empty for nothing; None for what is not text, or is too large."""
        if node is None or node.kind is Kind.FOLDER:
            return ""
        if node.kind is Kind.LINK:
            return f"link to {node.text}\n"
        if node.size > _MOST:
            return None
        with contextlib.suppress(OSError, UnicodeDecodeError):
            data = b"".join(content_of(self.contents, node)) if is_kept else _data_at(node)
            return None if b"\0" in data else data.decode()
        return None


def _kind(node: Node | None) -> Kind | None:
    return None if node is None else node.kind


def _is_shown(node: Node | None) -> bool:
    return _kind(node) not in (None, Kind.FOLDER)


def _folders(name: str, now: Node | None, before: Node | None) -> Iterator[str]:
    was, comes = _kind(now) is Kind.FOLDER, _kind(before) is Kind.FOLDER
    if comes and not was:
        yield f"folder {name} comes back\n"
    elif was and not comes:
        yield f"folder {name} is removed\n"
    elif now and before:
        yield f"folder {name}: mode {now.mode:o} becomes {before.mode:o}\n"


def _data_at(node: Node) -> bytes:
    with folder_of(node.path) as (folder, name, _), opened(name, READ, folder=folder) as file:
        return b"".join(pieces_of(file, node.size))

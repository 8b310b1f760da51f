"""A patch as a human is asked about it: unified diffs of all files, and what they cannot show in words."""

import difflib
import os
from collections.abc import Iterator

from permitry.port import ToolError
from permitry_tools._reading import MOST_BYTES, lines_of
from permitry_tools.patch.verify import FileChange, Verified
from permitry_tools.workspace import Workspace

__all__ = ["hunks_of", "preview_of"]

_MOST_DIFFED = 4_000


def preview_of(workspace: Workspace, verified: Verified) -> str:
    """Return the unified diffs of all files of a patch; where they get long, a sentence for each of the rest."""
    preview = _Preview(workspace)
    return "".join(part for file in verified.files for part in preview.parts(file))


def hunks_of(before: str, after: str, context: int = 3) -> str:
    """Return the hunks of the unified diff between two texts, without the names; empty where they are equal."""
    lines = difflib.unified_diff(lines_of(before), lines_of(after), n=context)
    hunks = list(lines)[2:]
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in hunks)


class _Preview:
    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.left = _MOST_DIFFED

    def parts(self, file: FileChange) -> Iterator[str]:
        exists = os.path.lexists(self.workspace.root / file.place)
        old = file.place.as_posix() if file.letter == "A" and exists else file.old
        yield f"--- {'/dev/null' if old is None else f'a/{old}'}\n"
        yield f"+++ {'/dev/null' if file.new is None else f'b/{file.new}'}\n"
        if file.letter == "M" and file.old != file.new and exists:
            yield f"(`{file.new}` is there already and is replaced)\n"
        if file.letter == "D" and (self.workspace.root / file.place).is_symlink():
            yield "(a link is removed, not what it leads to)\n"
            return
        before = file.before if file.before is not None else self.read(file, exists=exists)
        yield "(the old content is not text, or too large to show)\n" if before is None else self.diff(before, file)

    def read(self, file: FileChange, *, exists: bool) -> str | None:
        if not exists:
            return ""
        try:
            data = self.workspace.read(file.place.as_posix(), MOST_BYTES + 1)
            return data.decode() if len(data) <= MOST_BYTES else None
        except (ToolError, UnicodeDecodeError):
            return None

    def diff(self, before: str, file: FileChange) -> str:
        old, new = before.count("\n"), file.after.count("\n")
        self.left -= old + new
        if self.left < 0:
            return f"({old} lines become {new}; too many to compare)\n"
        return hunks_of(before, file.after)

"""An edit of one file, worked out before it is made: what the editing tools show and do."""

from collections.abc import Callable
from pathlib import Path

import attrs

from permitry_tools._reading import ReadMemory, exact_text, read_bytes
from permitry_tools.files import unified_diff
from permitry_tools.workspace import Workspace

__all__ = ["FileEdit"]


@attrs.frozen
class FileEdit:
    """What a file holds, and what it would hold; `path` as it was given, `where` from the root of the workspace."""

    workspace: Workspace
    path: str
    where: Path
    before: str
    after: str

    @classmethod
    def of(cls, workspace: Workspace, path: str, edited: Callable[[str, Path], str]) -> "FileEdit":
        """Return the edit that `edited` makes of a text and its file's name.

        Raises: `ToolError` when there is no such file inside the workspace, or it is not text.
        """
        where, data = read_bytes(workspace, path)
        before = exact_text(path, data)
        return cls(workspace, path, where, before, edited(before, where))

    @property
    def changes(self) -> bool:
        """Whether anything would be different."""
        return self.after != self.before

    def diff(self) -> str:
        """Return what would change, as a unified diff."""
        return unified_diff(self.where, self.before, self.after)

    def make(self, memory: ReadMemory) -> None:
        """Write the file; who knew it before knows it afterwards.

        Raises: `ToolError` when it cannot be written.
        """
        self.workspace.write(self.path, self.after.encode())
        memory.follow(self.where, self.before.encode(), self.after.encode())

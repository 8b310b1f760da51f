"""A patch held against the files of a workspace: everything it would do, before anything is done.

Source: shared facts on apply_patch, "Semantics" and "Errors".
"""

import os
import stat
from pathlib import Path

import attrs

from permitry.port import ToolError
from permitry_tools._reading import MOST_BYTES
from permitry_tools.patch.commit import Change
from permitry_tools.patch.parse import AddFile, DeleteFile, Hunk, UpdateFile, parse_patch
from permitry_tools.patch.update import LineEndings, apply_chunks
from permitry_tools.workspace import Workspace

__all__ = ["DEEPEST", "MOST_FILES", "FileChange", "Verified", "verify"]

MOST_FILES = 2_000
DEEPEST = 100
"""How many parts a path may have: finding out where it leads takes long where there are many."""

_MOST_IN_ALL = 64 * 1024 * 1024


@attrs.frozen
class FileChange:
    """What a patch does to one file: a letter (A, M, D), the old and the new path, the old and the new text.

    A path is None where there is no file. The old text is None where the patch does not look at it; it is at `place`.
    `source` is where the text that was looked at is, None where none was.
    """

    letter: str
    old: str | None
    new: str | None
    before: str | None = attrs.field(repr=False)
    after: str = attrs.field(repr=False)
    place: Path
    source: Path | None = None

    @property
    def name(self) -> str:
        """The path the file has afterwards, or had."""
        return self.new or self.old or ""


@attrs.frozen
class Verified:
    """What a patch does: to files as people see them, and step by step."""

    files: tuple[FileChange, ...]
    changes: tuple[Change, ...]


def verify(
    workspace: Workspace, text: str, *, folder: str | None = None, endings: LineEndings = LineEndings.KEEP
) -> Verified:
    """Return what the patch `text` does in `workspace`; `folder` is what its relative paths start from.

    Raises: `ToolError` for a patch that is malformed, does nothing, fits no file, names a path twice, or leads outside.
    """
    patch = parse_patch(text)
    if patch.environment is not None:
        raise ToolError("There is only one environment here. Leave the line `*** Environment ID` out.")
    if not patch.hunks:
        raise ToolError("No files were modified.")
    if len(patch.hunks) > MOST_FILES:
        raise ToolError(f"The patch is about more than {MOST_FILES} files. Give several patches.")
    verifier = _Verifier(workspace, folder or "", endings)
    for hunk in patch.hunks:
        verifier.add(hunk)
    verifier.check_ancestors()
    return Verified(tuple(verifier.files), tuple(verifier.changes))


@attrs.define
class _Verifier:
    workspace: Workspace
    folder: str
    endings: LineEndings
    files: list[FileChange] = attrs.field(factory=list)
    changes: list[Change] = attrs.field(factory=list)
    seen: dict[Path, str] = attrs.field(factory=dict)
    size: int = 0

    def add(self, hunk: Hunk) -> None:
        match hunk:
            case AddFile():
                self.claim(hunk.path)
                where = self.write(hunk.path, hunk.content.encode())
                self.files.append(FileChange("A", None, hunk.path, None, hunk.content, where))
            case DeleteFile():
                self.delete(hunk.path)
            case UpdateFile():
                self.update(hunk)

    def delete(self, path: str) -> None:
        entry = self.claim(path)
        mode = self.mode(entry)
        if mode is None or not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
            raise ToolError(f"Failed to delete file {path}")
        self.changes.append(Change(entry, path, None))
        self.files.append(FileChange("D", path, None, None, "", entry))

    def update(self, hunk: UpdateFile) -> None:
        entry = self.claim(hunk.path)
        source = self.locate(hunk.path)
        before = self.read(hunk.path, source)
        try:
            text = before.decode()
        except UnicodeDecodeError as error:
            raise ToolError(f"{self.unread(hunk.path)}: stream did not contain valid UTF-8") from error
        after = apply_chunks(text, hunk.chunks, path=hunk.path, endings=self.endings)
        if hunk.move_to is None:
            where = self.write(hunk.path, after.encode(), expected=before)
        else:
            self.claim(hunk.move_to)
            mode = self.mode(source)
            where = self.write(hunk.move_to, after.encode(), mode=mode)
            is_link = stat.S_ISLNK(self.mode(entry) or 0)
            self.changes.append(Change(entry, hunk.path, None, None if is_link else before))
        self.files.append(FileChange("M", hunk.path, hunk.move_to or hunk.path, text, after, where, source))

    def write(self, path: str, data: bytes, *, expected: bytes | None = None, mode: int | None = None) -> Path:
        """Note a file to write, and return where; a link is written through, as far as it leads to inside."""
        self.weigh(len(data))
        where = self.locate(path)
        present = self.mode(where)
        if present is not None and not stat.S_ISREG(present):
            raise ToolError(f"Failed to write file {path}: it is not a regular file")
        above = next((each for each in where.parents if self.mode(each) is not None), Path())
        if not stat.S_ISDIR(self.mode(above) or 0):
            raise ToolError(f"Failed to write file {path}: `{above.as_posix()}` is not a folder")
        self.changes.append(Change(where, path, data, expected, mode))
        return where

    def read(self, path: str, where: Path) -> bytes:
        try:
            data = self.workspace.read(where.as_posix(), MOST_BYTES + 1)
        except ToolError as error:
            cause = error.__cause__
            reason = f"{cause.strerror} (os error {cause.errno})" if isinstance(cause, OSError) else str(error)
            raise ToolError(f"{self.unread(path)}: {reason}") from error
        if len(data) > MOST_BYTES:
            raise ToolError(f"{self.unread(path)}: it is larger than {MOST_BYTES} bytes")
        self.weigh(len(data))
        return data

    def weigh(self, size: int) -> None:
        self.size += size
        if self.size > _MOST_IN_ALL:
            raise ToolError(
                f"The files of the patch are larger than {_MOST_IN_ALL} bytes in all. Give several patches."
            )

    # Places -----------------------------------------------------------------------------------------------------------

    def join(self, path: str) -> str:
        return str(Path(self.folder) / path)

    def locate(self, path: str) -> Path:
        """Return where `path` really is; an error calls it as the patch does."""
        joined = self.join(path)
        try:
            return self.workspace.locate(joined)
        except ToolError as error:
            raise ToolError(str(error).replace(f"`{joined}`", f"`{path}`")) from error

    def unread(self, path: str) -> str:
        return f"Failed to read file to update {path}"

    def mode(self, where: Path) -> int | None:
        try:
            return os.lstat(self.workspace.root / where).st_mode
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise ToolError(f"`{where.as_posix()}` cannot be used: {error.strerror}.") from error

    def claim(self, path: str) -> Path:
        """Return where `path` is, a link itself and not what it leads to; no other operation may be about it."""
        joined = self.join(path)
        if joined.count("/") >= DEEPEST:
            raise ToolError(f"The path `{path[:100]}…` has more than {DEEPEST} parts.")
        real = self.locate(path)
        written = Path(joined)
        entry = real if written.name in ("", "..") else self.workspace.locate(str(written.parent)) / written.name
        for where in (real, entry):
            if self.workspace.PROTECTED & {part.casefold() for part in where.parts}:
                raise ToolError(f"`{path}` belongs to git or to permitry; the file tools do not write there.")
            if where in self.seen:
                raise ToolError(f"`{path}` and `{self.seen[where]}` are one file. A patch may name a file only once.")
        self.seen |= dict.fromkeys((real, entry), path)
        return entry

    def check_ancestors(self) -> None:
        """Raise where what one operation makes or removes as a file is a folder to another."""
        places = {change.where: change.name for change in self.changes}
        for where, name in places.items():
            above = next((each for each in where.parents if each in places), None)
            if above is not None:
                raise ToolError(f"`{places[above]}` cannot be a file and the folder of `{name}`.")

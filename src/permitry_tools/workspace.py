"""The workspace: one folder that the file tools cannot leave."""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import attrs

from permitry.port import DIRECTORY, READ, ToolError, mode_at, opened, replace_file

__all__ = ["Workspace", "real_folder"]

_KEPT = frozenset({Path(".permitry/artifacts"), Path(".openplanter_artifacts")})


def real_folder(root: str | Path) -> Path:
    """Return where a folder really is; `FileNotFoundError` when there is none."""
    return Path(root).resolve(strict=True)


@attrs.frozen
class Workspace:
    """A folder and what lies in it. `..` and links are followed as far as they stay inside.

    A path is resolved first and opened then, folder by folder, without following any link on the way: a link that is
    put in place in between makes the call fail, it does not lead outside.

    Raises: `FileNotFoundError` when the root does not exist.
    """

    PROTECTED: ClassVar[frozenset[str]] = frozenset({".git", ".permitry"})
    """Names of folders that no tool writes to: git runs commands its configuration names, permitry reads its rules."""

    root: Path = attrs.field(converter=real_folder)
    left_out: frozenset[Path] = _KEPT
    """Folders, relative to the root, in which no file is listed or looked for: answers are kept there."""

    def locate(self, path: str) -> Path:
        """Return where `path` really is, relative to the root.

        Raises: `ToolError` when that is outside the workspace.
        """
        if not path or "\0" in path:
            raise ToolError("The path is empty or holds a NUL character.")
        real = Path(os.path.realpath(self.root / path))
        if not real.is_relative_to(self.root):
            raise ToolError(f"The path `{path}` lies outside the workspace.")
        return real.relative_to(self.root)

    def read(self, path: str, limit: int) -> bytes:
        """Return up to `limit` bytes of a regular file.

        Raises: `ToolError` when there is no such file, or it is a folder or a device.
        """
        with (
            self._parent(self.locate(path), path) as (parent, name),
            _as_tool_errors(path),
            opened(name, READ, folder=parent) as file,
        ):
            mode = os.fstat(file).st_mode
            if stat.S_ISDIR(mode):
                raise ToolError(f"`{path}` is a folder, not a file.")
            if not stat.S_ISREG(mode):
                raise ToolError(f"`{path}` is not a regular file.")
            with open(file, "rb", closefd=False) as stream:
                return stream.read(limit)

    def has(self, path: str) -> bool:
        """Return whether something is at `path`."""
        return os.path.lexists(self.root / self.locate(path))

    def write(self, path: str, data: bytes) -> None:
        """Put `data` into a file in one step: readers see the old content or the new, never half of it.

        Missing folders are made. An existing file keeps its permissions.

        Raises: `ToolError` when the path is a folder or cannot be written.
        """
        located = self.locate(path)
        if self.PROTECTED & {part.casefold() for part in located.parts}:
            raise ToolError(f"`{path}` belongs to git or to permitry; the file tools do not write there.")
        with self._parent(located, path, create=True) as (parent, name), _as_tool_errors(path):
            mode = mode_at(name, folder=parent)
            if mode is not None and not stat.S_ISREG(mode):
                raise ToolError(f"`{path}` is not a regular file.")
            replace_file(name, data, folder=parent, mode=mode)

    def files(self) -> Iterator[str]:
        """Yield the files below the root as relative paths, sorted within each folder.

        `.git` is left out, and so are the folders `left_out`.

        A name that would not fit on one line is spelled out in escapes.
        """
        # A stack of our own: `os.walk` calls itself once a folder, and a tree can be deeper than Python's stack.
        stack = [Path()]
        while stack:
            folder = stack.pop()
            entries = _entries(self.root / folder)
            subfolders = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
            inner = (folder / name for name in reversed(subfolders) if name != ".git")
            stack += [each for each in inner if each not in self.left_out]
            for name in (entry.name for entry in entries if not entry.is_dir()):
                text = os.fsencode(folder / name).decode(errors="replace")
                yield text if text.isprintable() else text.encode("unicode_escape").decode()

    @contextlib.contextmanager
    def _parent(self, located: Path, path: str, *, create: bool = False) -> Iterator[tuple[int, str]]:
        """Open the folder that holds a located path and yield its descriptor and the last name."""
        *folders, name = located.parts or (".",)
        with contextlib.ExitStack() as stack, _as_tool_errors(path):
            at = stack.enter_context(opened(self.root, DIRECTORY))
            for folder in folders:
                if create:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(folder, dir_fd=at)
                at = stack.enter_context(opened(folder, DIRECTORY, folder=at))
            yield at, name


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


@contextlib.contextmanager
def _as_tool_errors(path: str) -> Iterator[None]:
    """Turn what the system says about `path` into words for the model."""
    try:
        yield
    except FileNotFoundError as error:
        raise ToolError(f"There is no file `{path}`.") from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise ToolError(f"The path `{path}` runs in a circle of links, or changed while it was opened.") from error
        raise ToolError(f"`{path}` cannot be used: {error.strerror}.") from error

"""A command that only applies a patch: done here, as there is seldom a program `apply_patch` to be found."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from permitry.actions.folders import Folder
from permitry.actions.shell.reading import read_argv, read_command
from permitry.core.action import Access, Actions
from permitry.tools.patch import Patching, patch_in_shell

__all__ = ["patched_by"]


def patched_by(command: str | Sequence[str], folder: Path, patching: Patching) -> str | None:
    """Apply the patch that is all `command` does, and return what the model is told; None leaves it to the shell.

    Left is every other command, and one that would touch a file of which the policy was not told; nothing has changed
    then. `folder` is where the command would start: a real, absolute path in the workspace.

    Raises: `ToolError` when the patch does not fit, cannot be made, or stands there without `apply_patch`.
    """
    found = patch_in_shell(command)
    if found is None or found.folder == "":
        return None
    # A shell goes to a folder by its name: behind a link, `..` leads back to where the link stands.
    start = folder if found.folder is None else Path(os.path.normpath(folder / found.folder))
    if not os.path.isdir(start):  # noqa: PTH112 -- answers False where `Path.is_dir` raises
        return None
    verified = patching.verified(found.patch, folder=str(start))
    root = patching.workspace.root
    touched = {(_needed(change.data), str(root / change.where)) for change in verified.changes}
    # INVARIANT: law 5. Only what was judged is touched: the paths that the policy was told of for this very command.
    return patching.made(verified) if touched <= set(_judged(command, folder)) else None


def _needed(data: bytes | None) -> Access:
    return Access.DELETE if data is None else Access.WRITE


def _judged(command: str | Sequence[str], folder: Path) -> Iterator[tuple[Access, str]]:
    """Yield the paths, and what is done to each, that a policy is told of for a command."""
    here = Folder((str(folder),), None)
    reading = read_command(command, here) if isinstance(command, str) else read_argv(command, here)
    for touch in Actions(reading.certain, (*reading.possible, *reading.guessed)).touches():
        yield from ((touch.access, name) for name in touch.place.names)

"""A command that only applies a patch: done here, as there is seldom a program `apply_patch` to be found."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeGuard

from permitry.port import Access, AppliedPatch, Check, Preview, ToolError, calls_patching, paths_touched
from permitry_tools._process import folder_of
from permitry_tools.patch import Patching, patch_in_shell
from permitry_tools.patch.invocation import INSTEAD
from permitry_tools.patch.preview import preview_of
from permitry_tools.patch.tool import FAILED, read_patch
from permitry_tools.patch.verify import Verified

__all__ = ["apply_patch_in", "check_patch", "check_patch_in", "patch_preview", "refuse_patch"]


def apply_patch_in(command: str | Sequence[str], folder: Path, patching: Patching) -> str | None:
    """Apply the patch that is all `command` does, and return what the model is shown; None leaves it to the shell.

    `folder` is where the command would start: a real, absolute path in the workspace.

    Raises: `ToolError` when the patch does not fit, cannot be made, is given to `apply_patch` in another way, or would
    touch a file the policy was not asked about.
    """
    verified = _plan(command, folder, patching)
    return None if verified is None else patching.apply(verified)


def check_patch_in(command: object) -> None:
    """Read the patch that is all a command does, if it is one, without a look at the files it is about.

    Raises: `ToolError` for a patch that cannot be read, that a shell would rewrite, or given in another way.
    """
    found = _patch_in(command) if _is_command(command) else None
    if found is not None:
        read_patch(found.patch)


def check_patch(argument: str) -> Check:
    """Return a check of calls whose command is `argument`, as in `check_patch_in`."""
    return lambda given: check_patch_in(given.get(argument))


def refuse_patch(given: dict[str, Any]) -> None:
    """Accept a command that calls no `apply_patch`, for a tool that gives all of them to a shell.

    Raises: `ToolError` for one that does, unless there is such a program.
    """
    command = given.get("command")
    if _is_command(command) and _patch_in(command) is not None:
        _check_is_there(calls_patching(command), "Use the tool `apply_patch`.")


def patch_preview(patching: Patching, argument: str, workdir: str | None = None) -> Preview:
    """Return a preview of a command that only applies a patch: that of `apply_patch`; None for any other command.

    `argument` names the command, `workdir` the folder it starts in.
    """

    def show(given: dict[str, Any]) -> str | None:
        command = given.get(argument)
        if not _is_command(command) or _patch_in(command) is None:
            return None
        folder = folder_of(patching.workspace, None if workdir is None else given.get(workdir))
        verified = _plan(command, folder, patching)
        return None if verified is None else preview_of(patching.workspace, verified)

    return show


def _is_command(value: object) -> TypeGuard[str | list[str]]:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(word, str) for word in value))


def _patch_in(command: str | Sequence[str]) -> AppliedPatch | None:
    """Return the patch that is all a command applies; None for a command that calls no `apply_patch`.

    Any other call of it is refused where there is no such program: a shell would say so at the end, or in its output.
    """
    found = patch_in_shell(command)
    if found is None:
        _check_is_there(calls_patching(command), f"{INSTEAD} The command must do nothing else.")
    return found


def _check_is_there(name: str | None, instead: str) -> None:
    """Accept a program that a shell finds, and no program at all."""
    if name is not None and shutil.which(name) is None:
        raise ToolError(f"There is no program `{name}` for a shell to run. {instead}")


def _plan(command: str | Sequence[str], folder: Path, patching: Patching) -> Verified | None:
    """Return what the patch that is all `command` does would do; None leaves the command to the shell."""
    found = _patch_in(command)
    if found is None:
        return None
    # A shell goes to a folder by its name: behind a link, `..` leads back to where the link is.
    start = folder if found.folder is None else Path(os.path.normpath(folder / found.folder))
    if not os.path.isdir(start):  # noqa: PTH112 -- answers False where `Path.is_dir` raises
        raise ToolError(f"{FAILED}: the folder `{found.folder}` is not there")
    verified = patching.verify(found.patch, folder=str(start))
    root = patching.workspace.root
    touched = {(_needed(change.data), str(root / change.where)) for change in verified.changes}
    # INVARIANT: law 5. Only what was decided on is touched: the paths that the policy was shown for this very command.
    # No shell gets the command either: a permission for those paths is none for a program.
    if not touched <= paths_touched(command, str(folder)):
        raise ToolError(f"{FAILED}: it would touch a file that was not decided on")
    return verified


def _needed(data: bytes | None) -> Access:
    return Access.DELETE if data is None else Access.WRITE

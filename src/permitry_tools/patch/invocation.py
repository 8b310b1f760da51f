"""A call of `apply_patch` inside a command: an edit that looks like a command, so that shell tools can do it as one.

Recognized is only a command that does nothing else. The line with the here-document is read by the strict reader, as
it is for the decision; anything next to it is left to the shell.

Source: shared facts on apply_patch, "Shell recognition".
"""

import re
from collections.abc import Sequence
from pathlib import PureWindowsPath

import attrs

from permitry.port import Command, ToolError, UnreadableError, Word, read_strictly
from permitry_tools.patch.parse import parse_patch

__all__ = ["ShellPatch", "patch_in_shell"]

_PROGRAMS = (("apply_patch",), ("applypatch",))
_SHELLS = dict.fromkeys(("bash", "sh", "zsh"), ("-c", "-lc"))
_WINDOWS = {"powershell": ("-command",), "pwsh": ("-command",), "cmd": ("/c",)}
_DELIMITED = re.compile(r"<<[ \t]*(['\"]?)(\w+)\1[ \t]*\Z", re.ASCII)
_EXPANDED = re.compile(r"[$`\\]")


@attrs.frozen
class ShellPatch:
    """A patch that was given to `apply_patch` by a command, and the folder the command changes to, or None."""

    patch: str
    folder: str | None = None


def patch_in_shell(command: str | Sequence[str]) -> ShellPatch | None:
    """Return the patch that `command`, shell text or a list of arguments, applies; None when it is another command.

    Raises: `ToolError` for a patch without `apply_patch`, and for a here-document the shell would rewrite.
    """
    script = command if isinstance(command, str) else _script(command)
    for text in [script] if script is not None else command[:1]:
        if _is_patch(text):
            raise ToolError(
                "A patch was found without a call of `apply_patch`. Use the tool `apply_patch`, or give the patch to "
                "`apply_patch` as a here-document."
            )
    if script is not None:
        return _in_script(script)
    return ShellPatch(command[1]) if len(command) == 2 and tuple(command[:1]) in _PROGRAMS else None  # noqa: PLR2004 -- a program and a patch


def _script(argv: Sequence[str]) -> str | None:
    """Return the shell text among the arguments of a shell."""
    match argv:
        case [shell, option, script] if _takes(shell, option):
            return script
        case [shell, before, option, script] if before.lower() == "-noprofile" and option.lower() == "-command":
            return script if _takes(shell, option) else None
        case _:
            return None


def _takes(shell: str, option: str) -> bool:
    """Return whether the argument behind `option` is the script of this shell."""
    name = PureWindowsPath(shell).stem.lower()
    return option in _SHELLS.get(name, ()) or (name in _WINDOWS and option.lower() in _WINDOWS[name])


def _is_patch(text: str) -> bool:
    try:
        parse_patch(text)
    except ToolError:
        return False
    return True


def _in_script(script: str) -> ShellPatch | None:
    head, _, rest = script.lstrip().partition("\n")
    delimited = _DELIMITED.search(head)
    lines = rest.split("\n")
    if delimited is None or delimited[2] not in lines:
        return None
    quote, delimiter = delimited.groups()
    end = lines.index(delimiter)
    body = "\n".join(lines[:end])
    try:
        # The text of the here-document itself may be longer, and hold more, than the strict reader reads.
        commands = read_strictly(f"{head}\n{delimiter}")
    except UnreadableError:
        return None
    if any(line.strip() for line in lines[end + 1 :]) or not _applies(commands):
        return None
    if not quote and _EXPANDED.search(body):
        raise ToolError(f"The shell would rewrite this patch. Quote the end of the here-document: <<'{delimiter}'.")
    return ShellPatch(body, commands[0].argv[1] if len(commands) > 1 else None)


def _applies(commands: Sequence[Command]) -> bool:
    """Return whether the commands are `apply_patch` alone, or behind one `cd` that must succeed."""
    *before, last = commands
    if last.argv not in _PROGRAMS or len(last.redirections) != 1 or any(map(_is_adorned, commands)):
        return False
    match before:
        case []:
            return True
        case [Command(argv=("cd", folder), redirections=(), words=words)]:
            return last.follows == "&&" and words[1] == Word(folder) and not folder.startswith("-")
        case _:
            return False


def _is_adorned(command: Command) -> bool:
    return bool(command.assignments or command.within)

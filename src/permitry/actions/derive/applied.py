"""A command that only applies a patch, so that a tool may apply it in the place of a shell.

Recognized is only a command that does nothing else. The line with the here-document is read by the strict reader;
anything next to it leaves the command to the shell. The tools that apply such a patch and the actions of a call for a
policy both come from here, so that what is decided is what runs.

Source: shared facts on apply_patch, "Shell recognition".
"""

import re
from collections.abc import Sequence
from pathlib import PureWindowsPath

import attrs

from permitry.actions.command import Command
from permitry.actions.derive.recursive import read_recursively, read_words_recursively
from permitry.actions.derive.script import ShellReading
from permitry.actions.patches import PATCHING
from permitry.actions.programs.catalogue import catalogue
from permitry.actions.reading.strict import UnreadableError, read_strictly
from permitry.core.action import Action, Run, Word

__all__ = ["SHELLS", "AppliedPatch", "as_applied", "calls_patching", "find_patch", "script_in"]

SHELLS = frozenset({"bash", "sh", "zsh"})
"""Those in which a text means what it was read as."""
_WINDOWS = {"powershell": ("-command",), "pwsh": ("-command",), "cmd": ("/c",)}
_DELIMITED = re.compile(r"<<[ \t]*(['\"]?)(\w+)\1[ \t]*\Z", re.ASCII)
_EXPANDED = re.compile(r"[$`\\]")
_DEFINED = re.compile(r"\bapply_?patch\s*(?:\(\s*\)|=)|\bfunction\s+apply_?patch\b|\bPATH\+?=", re.ASCII)
_A_PROGRAM_AND_A_PATCH = 2


@attrs.frozen
class AppliedPatch:
    """A patch that all of a command applies, and the folder it changes to before that, or None.

    `delimiter` is the end of the here-document where a shell would rewrite what is in it, None where it would not.
    """

    patch: str
    folder: str | None = None
    delimiter: str | None = None


def find_patch(command: str | Sequence[str]) -> AppliedPatch | None:
    """Return the patch that is all that `command`, shell text or a list of arguments, applies; None for any other."""
    script = script_in(command)
    if script is not None:
        return _in_script(script)
    is_call = len(command) == _A_PROGRAM_AND_A_PATCH and command[0] in PATCHING
    return AppliedPatch(command[1]) if is_call else None


def calls_patching(command: str | Sequence[str]) -> str | None:
    """Return the name by which a command calls `apply_patch` on this machine, in any way; None where it does not.

    A command that defines what the name means, or where programs are looked for, calls another program.
    """
    if not any(name in text for text in ([command] if isinstance(command, str) else command) for name in PATCHING):
        return None
    if not isinstance(command, str):
        reading = read_words_recursively([Word(word) for word in command])
    elif _DEFINED.search(command) is None:
        reading = read_recursively(command)
    else:
        return None
    if any(each.words and each.words[0].text in catalogue().elsewhere for each in reading.commands):
        return None
    named = [each.words[0].text for each in reading.commands if each.words and not each.is_guess]
    # A program named with its folder is reported without the folder as well.
    pairs = zip(("", *named), named, strict=False)
    return next((name for last, name in pairs if name in PATCHING and not last.endswith(f"/{name}")), None)


def script_in(command: str | Sequence[str]) -> str | None:
    """Return the shell text that a command is, or gives to a shell; None where it starts another program."""
    if isinstance(command, str):
        return command
    match command:
        case [shell, option, script] if _takes(shell, option):
            return script
        case [shell, before, option, script] if before.lower() == "-noprofile" and option.lower() == "-command":
            return script if _takes(shell, option) else None
        case _:
            return None


def as_applied(reading: ShellReading) -> ShellReading:
    """Return a reading of a command that only applies a patch, for a tool that does it by itself.

    What is certain is what the patch touches, as in a call of the tool `apply_patch`. The program, which does not run,
    is there for restrictions.
    """
    certain: list[Action] = []
    programs: list[Action] = []
    for action in reading.certain:
        if isinstance(action, Run) and action.argv[0] in PATCHING and action.operands.is_listed:
            words, sets = action.words, action.sets
            certain += (attrs.evolve(each, words=words, sets=sets, is_all=True) for each in action.operands.touches)
            programs.append(action)
        else:
            certain.append(action)
    return attrs.evolve(reading, certain=tuple(certain), possible=(*programs, *reading.possible))


def _takes(shell: str, option: str) -> bool:
    """Return whether the argument behind `option` is the script of this shell."""
    name = PureWindowsPath(shell).stem.lower()
    return (name in SHELLS and option in ("-c", "-lc")) or (name in _WINDOWS and option.lower() in _WINDOWS[name])


def _in_script(script: str) -> AppliedPatch | None:
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
    is_rewritten = not quote and _EXPANDED.search(body) is not None
    folder = commands[0].argv[1] if len(commands) > 1 else None
    return AppliedPatch(body, folder, delimiter if is_rewritten else None)


def _applies(commands: Sequence[Command]) -> bool:
    """Return whether the commands are `apply_patch` alone, or behind one `cd` that must succeed."""
    *before, last = commands
    is_call = len(last.argv) == 1 and last.argv[0] in PATCHING
    if not is_call or len(last.redirections) != 1 or any(map(_is_adorned, commands)):
        return False
    match before:
        case []:
            return True
        case [Command(argv=("cd", folder), redirections=(), words=words)]:
            is_plain = folder != "" and words[1] == Word(folder) and not folder.startswith("-")
            return last.follows == "&&" and is_plain
        case _:
            return False


def _is_adorned(command: Command) -> bool:
    return bool(command.assignments or command.within)

"""The paths and hosts that the values of variables name: programs write to the one, and connect to the other."""

import re
from collections.abc import Iterator

import attrs

from permitry.actions.command import Command
from permitry.actions.folders import Folder
from permitry.actions.hosts import other_readings, read_url
from permitry.actions.programs.git_files import fills_work_tree
from permitry.actions.variables import changes_commands, declared, fact_of
from permitry.core.action import UNSEEN_ADDRESS, Access, Connect, Descent, Touch, Word

__all__ = ["connects", "touch_by_variables"]

_HOSTS = re.compile(r".*_(?:host|proxy)", re.IGNORECASE)
"""Variables whose value is a host, also without `://`."""
_READ_ALONE = re.compile(r".*PATH|HOME")
_PATH = re.compile(r"[./~][^:]*|[^:$`\s]+/[^:]*", re.DOTALL)
_FOLDER = re.compile(r"(?:\$PWD|\$\{PWD\})/")


def touch_by_variables(command: Command, folder: Folder) -> Iterator[Touch | Connect]:
    """Yield what a command may write, and the hosts it may connect to, by the variables that are set for it."""
    for name, value in (*command.assignments, *declared(command)):
        for text in ("/", ".git/hooks") if fact_of(name, "fills") and value else ():
            yield folder.place_of(Word(text), Access.WRITE, descent=Descent.NEW, is_certain=False, origin=name)
        is_setting = changes_commands(name) is not None or name == "TMPDIR"
        if "://" in value or (is_setting and value and _HOSTS.fullmatch(name)):
            # An assignment alone may be for an address that is never used.
            yield from connects(Word(value)) if is_setting or not command.only_assigns else ()
        elif is_setting and not _READ_ALONE.fullmatch(name):
            is_filled = name == "GIT_WORK_TREE" and not command.only_assigns and fills_work_tree(command.words)
            yield from _written(name, value, folder, descent=Descent.NEW if is_filled else None)


def _written(name: str, value: str, folder: Folder, *, descent: Descent | None) -> Iterator[Touch]:
    """Yield the path that the value of a variable is, if it looks like one."""
    path = _FOLDER.sub("", value, count=1)
    if _PATH.fullmatch(path):
        word = Word(path, is_open="$" in path or "`" in path)
        yield folder.place_of(word, Access.WRITE, descent=descent, is_certain=False, origin=name)


def connects(word: Word) -> Iterator[Connect]:
    """Yield the connections to an address, by each way to read it; none is certain."""
    if word.is_open:
        yield Connect(word.text or UNSEEN_ADDRESS, is_certain=False)
        return
    # Programs read an address in different ways: what it may mean is for restrictions, never for permissions.
    yield attrs.evolve(read_url(word.text), is_certain=False)
    yield from other_readings(word.text)

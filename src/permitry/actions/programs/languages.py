"""Commands in code of other languages, such as Tcl or `make`; guesses are for restrictions, never for permissions.

They are looked for in the words of a program, and in the text that may be its standard input.
"""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping

from permitry.actions.programs.spelling import is_option

__all__ = ["LANGUAGES", "commands_of_make", "commands_of_socat"]

_OF_TCL = re.compile(r"\b(?:exec|spawn|system)\b")
_OF_CONSOLES = (
    # `\! command` and `system command`; `.shell command`, which may be abbreviated; `\o |command`.
    re.compile(r"\\!(.+)"),
    re.compile(r"^[ \t]*(?:system|pager|\\P|\.(?:she?l?l?|syst?e?m?))\s+(.+)", re.MULTILINE | re.IGNORECASE),
    re.compile(r"(?:^[ \t]*\.|\\)\w[^|\\\n]*\|([^\"'\n]+)", re.MULTILINE),
    re.compile(r"^[ \t]*\\.*?`([^`\n]+)`", re.MULTILINE),
    re.compile(r"""\bprogram\s+('[^']*'|"[^"]*")""", re.IGNORECASE),
)
_OF_TRANSFERS = (
    # `!command` and `shell command`; `get file |command`, and a pipe behind a command.
    re.compile(r"(?:^|[;&])[ \t]*!(.+)", re.MULTILINE),
    re.compile(r"(?:^|[;&])[ \t]*shell\s+(.+)", re.MULTILINE),
    re.compile(r"\|([^|\"'\n]+)"),
)
_OF_MAKE = re.compile(r"\$[({]\s*shell\s")
_OF_SOCAT = re.compile(r"(?:exec|system|shell):(.*)", re.IGNORECASE | re.DOTALL)
_ASSIGNED = re.compile(r"[^\s:=#]+\s*[:?+!]*=(.*)", re.DOTALL)
_MOST_VALUES = 8


def _of_tcl(text: str) -> Iterator[str]:
    """Yield the lines of a Tcl script that run commands, as a shell text: `spawn` and `exec` are wrappers there."""
    if _OF_TCL.search(text):
        yield text.translate({ord(char): "\n" for char in "[]{}"})


def _of_consoles(text: str) -> Iterator[str]:
    """Yield what the console of a database runs in a shell."""
    for pattern in _OF_CONSOLES:
        yield from (match[1].strip("'\" \t") for match in pattern.finditer(text))


def _of_transfers(text: str) -> Iterator[str]:
    """Yield what a program that transfers files runs in a shell on this machine."""
    for pattern in _OF_TRANSFERS:
        # The mark of the next command is none of the shell's.
        yield from (match[1].replace("!", " ").strip("'\" \t") for match in pattern.finditer(text))


LANGUAGES: Mapping[str, Callable[[str], Iterator[str]]] = {
    "console": _of_consoles,
    "tcl": _of_tcl,
    "transfers": _of_transfers,
}
"""The functions that find the commands in code, by the language in a program's record."""


def commands_of_make(words: tuple[str, ...]) -> Iterator[str]:
    """Yield the recipes and the values of variables in the arguments of `make`, and any two values as one command."""
    for at, word in enumerate(words):
        option, _, value = word.partition("=")
        following = " ".join(words[at + 1 : at + 2])
        pair = _ASSIGNED.match(word)
        if word.startswith("-E"):
            text = word.removeprefix("-E") or following
        elif is_option(option, "--eval"):
            text = value or following
        elif pair and (" " in pair[1] or "$" in pair[1]):
            text = pair[1]
        else:
            continue
        yield _OF_MAKE.sub("$(", text)
    values = [pair[1] for word in words if (pair := _ASSIGNED.match(word)) and not word.startswith("-")]
    # A recipe may name one variable after another, as `$(CC) $(CFLAGS)`.
    yield from map(" ".join, itertools.permutations(values[:_MOST_VALUES], 2))


def commands_of_socat(word: str) -> Iterator[str]:
    """Yield the command in an address, with and without the text after a comma: it may be options, or be part of it."""
    for address in word.split("!!"):
        match = _OF_SOCAT.match(address)
        if match:
            yield match[1]
            yield match[1].partition(",")[0]

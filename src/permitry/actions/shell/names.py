"""Commands that print names of files, which `xargs` then passes on.

As for a pattern such as `*`, such a name is taken for no option. Only what prints nothing else counts.
"""

import itertools
import re

import attrs

from permitry.actions.programs.catalogue import Options, record_of
from permitry.actions.shell.command import Command
from permitry.actions.shell.expressions import program_of
from permitry.actions.shell.nested import xargs

__all__ = ["prints_names"]

_LS = frozenset({"dir", "ls"})
_FD = frozenset({"fd", "fdfind"})
_GREP = frozenset({"ag", "egrep", "fgrep", "grep", "rg"})
_FILTERS = frozenset({"head", "sort", "tac", "tail", "uniq"})
_OTHER_OUTPUT = ("-exec", "-files0", "-fls", "-fprint", "-ls", "-ok", "-printf")
_OTHER_OUTPUT_OF_FD = re.compile(r"-[^-]*[lxX]")
_LONG = re.compile(
    r"--(?:cached|diff-filter=\w+|exclude(?:-dir)?=.*|files|files-with-matches|hidden|include=.*|name-only|others)?"
)
_LISTING = frozenset({"--files", "--files-with-matches", "--name-only"})
_OF_FILTERS = re.compile(r"-[nruVR0-9]+|\+?[0-9]+")
_TO_NULLS = (["\\n", "\\0"], ["\\n", "\\000"])
_OF_GREP = re.compile(r"-[vEFiPwx]+")


def prints_names(command: Command, *, has_names: bool) -> bool:
    """Return whether a command prints names of files, or some lines of its input if that is such names."""
    words = command.words
    name, texts = program_of(words), [word.text for word in words[1:]]
    if any(word.is_open for word in words) or command.redirections:
        return False
    if name == "xargs":
        inner = next(xargs(words), None)
        has_names = has_names and not any(text.startswith(("-a", "--a")) for text in texts)
        return (
            has_names and inner is not None and prints_names(attrs.evolve(command, words=inner.words), has_names=False)
        )
    if name == "find":
        return not any(text.startswith(_OTHER_OUTPUT) for text in texts)
    if any(text.startswith("--") and not _LONG.fullmatch(text) for text in texts):
        return False
    if name == "git":
        return _is_list_of_git(texts)
    is_all = name in _LS or (name in _FD and not any(map(_OTHER_OUTPUT_OF_FD.match, texts)))
    is_list = name in _GREP and _lists_files(record_of(name).options, texts)
    return is_all or is_list or (has_names and _is_filter(name, texts))


def _is_list_of_git(texts: list[str]) -> bool:
    match texts:
        case ["ls-files", *_]:
            return True
        case ["diff", *rest]:
            # Its `-l` is a number.
            return "--name-only" in rest
        case ["grep", *rest]:
            return _lists_files(record_of("git").commands["grep"].options, rest)
        case _:
            return False


def _lists_files(options: Options, texts: list[str]) -> bool:
    """Return whether an option has a search print names alone, and is not the value of another: `-Gl`, `-e -l`."""
    left = iter(texts)
    for text in itertools.takewhile(lambda text: text != "--", left):
        if text in _LISTING:
            return True
        if not text.startswith("-") or text.startswith("--"):
            continue
        for at, letter in enumerate(text[1:], start=2):
            if letter == "l":
                return True
            count = options.count(f"-{letter}")
            if count is None:
                return False
            if count or f"-{letter}" in options.attached:
                # The rest of the word is its value, or else the next word.
                if count and at == len(text):
                    next(left, None)
                break
    return False


def _is_filter(name: str, texts: list[str]) -> bool:
    """Return whether a program prints lines of its input as they are, and not those of a file."""
    if name in _GREP:
        return sum(not _OF_GREP.fullmatch(text) for text in texts) == 1
    if name == "tr":
        return texts in _TO_NULLS
    return name in _FILTERS and all(map(_OF_FILTERS.fullmatch, texts))

"""Commands that print names of files, which `xargs` then passes on.

As for a pattern such as `*`, such a name is taken for no option. Only what prints nothing else counts.
"""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs

from permitry.actions.command import Command
from permitry.actions.programs.catalogue import record_of
from permitry.actions.programs.entries import Options
from permitry.actions.programs.inner import program_of
from permitry.actions.programs.nested import reads_list, xargs

__all__ = ["FILTERS", "PRINTERS", "prints_names"]

Texts = Sequence[str]

_OTHER_OUTPUT = ("-exec", "-files0", "-fls", "-fprint", "-help", "-ls", "-ok", "-printf", "-version")
_OTHER_OUTPUT_OF_FD = re.compile(r"-[^-]*[lxX]")
_LONG = re.compile(
    r"--(?:cached|diff-filter=\w+|exclude(?:-dir)?=.*|files|files-with-matches|hidden|include=.*|name-only|others)?"
)
_UNKNOWN = "?"
_LISTING = frozenset({"-l", "--files", "--files-with-matches", "--name-only"})
_MORE_OF_LS = frozenset({"-D", "-Z", "-g", "-i", "-l", "-n", "-o", "-s", _UNKNOWN})
"""Options with which it prints more than names of files: their modes, sizes, owners."""
_MORE_OF_LS_FILES = frozenset({"-f", "-s", "-t", "-u", "-v", _UNKNOWN})
_OF_FILTERS = re.compile(r"-[nruVR0-9]+")
_COUNT = re.compile(r"\+?[0-9]+")
_COUNTING = frozenset({"head", "tail"})
_TO_NULLS = (["\\n", "\\0"], ["\\n", "\\000"])
_OF_SEARCHES = re.compile(r"-[vEFiPwx]+")


def prints_names(command: Command, *, has_names: bool) -> bool:
    """Return whether a command prints names of files, or some lines of its input if that is such names."""
    if any(word.is_open for word in command.words) or command.redirections:
        return False
    name, texts = program_of(command.words), [word.text for word in command.words[1:]]
    prints = record_of(name).prints
    if prints == "xargs":
        inner = next(xargs(command.words), None) if has_names and not reads_list(texts) else None
        return inner is not None and prints_names(attrs.evolve(command, words=inner.words), has_names=False)
    if prints != "find" and any(text.startswith("--") and not _LONG.fullmatch(text) for text in texts):
        return False
    is_list = prints in PRINTERS and PRINTERS[prints](name, texts)
    return is_list or (has_names and prints in FILTERS and FILTERS[prints](name, texts))


def _ls(name: str, texts: Texts) -> bool:
    """Return whether it prints no more than names; `vdir` is `ls -l`."""
    return name != "vdir" and _MORE_OF_LS.isdisjoint(_options_in(texts, record_of(name).options))


def _git(_name: str, texts: Texts) -> bool:
    records = record_of("git").commands
    match texts:
        case ["ls-files", *rest]:
            return _MORE_OF_LS_FILES.isdisjoint(_options_in(rest, records["ls-files"].options))
        case ["diff", *rest]:
            # Its `-l` is a number.
            return "--name-only" in rest
        case ["grep", *rest]:
            return _lists_files(rest, records["grep"].options)
        case _:
            return False


def _lists_files(texts: Texts, options: Options) -> bool:
    """Return whether an option has a search print names alone, and is not the value of another: `-Gl`, `-e -l`."""
    found = itertools.takewhile(lambda option: option != _UNKNOWN, _options_in(texts, options))
    return not _LISTING.isdisjoint(found)


def _options_in(texts: Texts, options: Options) -> Iterator[str]:
    """Yield the options that are given, each letter alone, and `?` for one of which it is not known what it takes."""
    left = iter(texts)
    for text in itertools.takewhile(lambda text: text != "--", left):
        if text.startswith("--"):
            yield text
            continue
        for at, letter in enumerate(text[1:], start=2) if text.startswith("-") else ():
            option = f"-{letter}"
            count = options.count(option)
            # `-l` counts where it is not known as well.
            yield option if count is not None or option in _LISTING else _UNKNOWN
            if count or option in options.attached:
                # The rest of the word is its value, or else the next word.
                if count and at == len(text):
                    next(left, None)
                break


def _lines(name: str, texts: Texts) -> bool:
    """Return whether each word is an option, or the count behind `-n`: any other number is the name of a file."""
    counts = {"-n"} if name in _COUNTING else set[str]()
    pairs = itertools.pairwise(("", *texts))
    return all(_OF_FILTERS.fullmatch(text) or (last in counts and _COUNT.fullmatch(text)) for last, text in pairs)


PRINTERS: Mapping[str, Callable[[str, Texts], bool]] = {
    "fd": lambda _, texts: not any(map(_OTHER_OUTPUT_OF_FD.match, texts)),
    "find": lambda _, texts: not any(text.startswith(_OTHER_OUTPUT) for text in texts),
    "git": _git,
    "ls": _ls,
    "search": lambda name, texts: _lists_files(texts, record_of(name).options),
}
"""Whether a program prints names of files, by what its record says of that."""

FILTERS: Mapping[str, Callable[[str, Texts], bool]] = {
    "lines": _lines,
    "search": lambda _, texts: sum(not _OF_SEARCHES.fullmatch(text) for text in texts) == 1,
    "translate": lambda _, texts: texts in _TO_NULLS,
}
"""Whether a program prints lines of its input as they are, and not those of a file."""

"""Nested commands in options and expressions, as of `find -exec`; and helpers for all readers of nested commands."""

import fnmatch
import re
from collections.abc import Collection, Iterator, Sequence

import attrs

from permitry.actions.programs.catalogue import record_of
from permitry.actions.programs.find_names import names_of_find
from permitry.actions.programs.running import Inner, may_move
from permitry.actions.programs.spelling import is_option
from permitry.core.action import Word

__all__ = [
    "CLUSTER",
    "NAMES_FROM",
    "after_dashes",
    "fd",
    "find",
    "has_letter",
    "joined",
    "listed",
    "marked",
    "program_of",
    "read",
    "run",
    "with_names",
    "without_commands",
]

Words = Sequence[Word]

CLUSTER = re.compile(r"[-+][A-Za-z0-9]+")
_ATTACHED = re.compile(r"-[A-WYZa-wyz0-9]*[xX](.+)", re.DOTALL)
_NAMED_COMMAND = re.compile(r"\s*\w+command\s+(.+)", re.IGNORECASE | re.DOTALL)
NAMES_FROM = "-files0-from"
_NAMES_OF_FD = ("{}", "{.}", "{/}", "{//}", "{/.}")
_EXECUTING = ("-exec", "-execdir", "-ok", "-okdir")
_ELSEWHERE = ("-execdir", "-okdir")
"""With these, the command runs in the folder of each file, so that a relative path leads elsewhere."""


def program_of(words: Words) -> str:
    """Return the name of a command's program without its folder; empty for no words."""
    if words:
        return words[0].text.rpartition("/")[2]
    return ""


def has_letter(word: Word, letter: str) -> bool:
    """Return whether a word is a cluster of short options with this letter."""
    return CLUSTER.fullmatch(word.text) is not None and letter in word.text


def run(words: Words) -> Inner:
    """Return a nested command that is given as words."""
    return Inner("", tuple(words))


def read(text: str) -> Inner:
    """Return a nested command that is given as a text for a shell."""
    return Inner("", text=text)


def joined(words: Words) -> str:
    """Return words as one text."""
    return " ".join(word.text for word in words)


def find(words: Words) -> Iterator[Inner]:
    """Yield what `find` runs for the files it finds."""
    for at, word in enumerate(words):
        if word.text in _EXECUTING:
            inner = _until_end(words[at + 1 :])
            if word.text in _ELSEWHERE:
                # A relative path in it leads elsewhere, as does a name that was found.
                has_name = any(each.text == "{}" for each in inner)
                yield run(with_names(inner if has_name else (*inner, Word("{}", is_open=True))))
            else:
                yield run(inner if any(each.text == NAMES_FROM for each in words) else _with_found(inner, words, at))
        elif may_execute(word) and any(each.text in (";", "+") for each in words[at + 1 :]):
            # The word may become an option such as `-exec`: a pattern if a file has that name.
            yield attrs.evolve(run(_until_end(words[at + 1 :])), is_guess=True)


def _with_found(inner: Words, words: Words, at: int) -> Words:
    """Return the words of what `find` runs by the option at an index, with the names that it found."""
    if inner and may_move(inner):
        return with_names(inner)
    found = names_of_find(words, at)
    return [attrs.evolve(word, found=found) if word.text == "{}" else word for word in with_names(inner)]


def without_commands(words: Words) -> Words:
    """Return the words of `find` without the commands that it runs."""
    left, at = list[Word](), 0
    while at < len(words):
        if words[at].text in _EXECUTING:
            at += 1 + len(_until_end(words[at + 1 :])) + 1
        else:
            left.append(words[at])
            at += 1
    return left


def with_names(words: Words) -> Words:
    """Return words in which each name of a file is one word, and no option: it begins where `find` began."""
    return [attrs.evolve(word, is_single=True) if word.is_open and word.text == "{}" else word for word in words]


def may_execute(word: Word) -> bool:
    """Return whether a word may become an option by which `find` runs a command."""
    if word.is_open:
        return word.text[:1] in ("$", "`", "-")
    return word.is_glob and any(fnmatch.fnmatchcase(option, word.text) for option in _EXECUTING)


def fd(words: Words) -> Iterator[Inner]:
    """Yield what `fd` runs for the files it finds."""
    for at, word in enumerate(words):
        if word.text in ("--exec", "--exec-batch") or has_letter(word, "x") or has_letter(word, "X"):
            yield from _run_by_fd(words[at + 1 :])
        elif word.text.startswith(("--exec=", "--exec-batch=")):
            yield from _run_by_fd((Word(word.text.partition("=")[2]), *words[at + 1 :]))
        if attached := _ATTACHED.fullmatch(word.text):
            yield from _run_by_fd((Word(attached[1]), *words[at + 1 :]))


def _run_by_fd(words: Words) -> Iterator[Inner]:
    """Yield a command with what takes the place of names in it; as written, and with a name behind it, without that."""
    inner = [marked(word, _NAMES_OF_FD) for word in _until_end(words)]
    yield run(inner)
    if not any(mark in word.text for word in inner for mark in _NAMES_OF_FD):
        yield run((*inner, Word("{}", is_open=True)))


def _until_end(words: Words) -> Words:
    """Return the words up to `;`, or to `+` after `{}`; a word with `{}` becomes an unknown word."""
    texts = [word.text for word in words]
    ends = (at for at, text in enumerate(texts) if text == ";" or (text == "+" and "{}" in texts[at - 1 : at]))
    end = next(ends, len(words))
    return [marked(word) for word in words[:end]]


def marked(word: Word, marks: Collection[str] = ("{}",)) -> Word:
    """Return a word as unknown if it contains a placeholder (one of `marks`), otherwise unchanged."""
    if any(mark in word.text for mark in marks):
        return attrs.evolve(word, is_open=True, is_single=False)
    return word


def after_dashes(words: Words) -> Iterator[Inner]:
    """Yield the command after `--`."""
    at = next((at for at, word in enumerate(words) if word.text == "--"), len(words))
    yield run(words[at + 1 :])


def listed(words: Words) -> Iterator[Inner]:
    """Yield the commands in values of options, and in operands with a certain beginning."""
    record = record_of(program_of(words))
    options = record.runs_values
    for at, word in enumerate(words[1:], start=2) if options else ():
        yield from _of_option(word.text, [each.text for each in words[at : at + 1]], options)
    if record.script == "tar" and any(f"-{letter}" in options for letter in joined(words[1:2])):
        # The values of a bundle of letters are the next words, in the order of the letters.
        yield from (attrs.evolve(read(word.text), is_guess=True) for word in words[2:])
    marks = record.runs_after
    yield from (read(word.text[len(mark) :]) for word in words[1:] for mark in marks if word.text.startswith(mark))


def _of_option(text: str, following: Sequence[str], options: Collection[str]) -> Iterator[Inner]:
    """Yield the commands in the value of an option: what is attached to it, or follows."""
    given, equals, value = text.partition("=")
    if any(is_option(given, option) for option in options):
        values = (value,) if equals else following
    elif text[:2] in options:
        values = (text[2:],)
    elif not given.startswith("-") or given.startswith("--"):
        return
    elif f"-{given[-1]}" in options:
        values = following
    else:
        yield from _in_cluster(text, options)
        return
    yield from (each for one in values for each in _value(one))


def _in_cluster(text: str, options: Collection[str]) -> Iterator[Inner]:
    """Yield what is attached to an option within a cluster of letters; before it may be one that takes the rest."""
    for letter in (option[1] for option in options if len(option) == len("-c")):
        yield from (attrs.evolve(each, is_guess=True) for each in _value(text[1:].partition(letter)[2]))


def _value(text: str) -> Iterator[Inner]:
    """Yield the command in an option's value: `cmd`, `exec=cmd`, `alias.x=!cmd`, or `ProxyCommand` and a command.

    The text after `=` is a guess: it may be a value that is not run.
    """
    yield read(text.lstrip("!|"))
    yield attrs.evolve(read(text.partition("=")[2].lstrip("!|")), is_guess=True)
    if named := _NAMED_COMMAND.fullmatch(text):
        yield attrs.evolve(read(named[1]), is_guess=True)

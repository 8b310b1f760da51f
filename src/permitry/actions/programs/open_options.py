"""Which open words of a command may be options of its program, or commands in the values of options."""

import re
from collections.abc import Iterator, Sequence

import attrs

from permitry.actions.programs.catalogue import record_of
from permitry.actions.programs.entries import Options
from permitry.actions.programs.inner import program_of
from permitry.core.action import Word

__all__ = ["may_be_options", "may_start"]

Words = Sequence[Word]

_FIRST = frozenset("$`-+@!:|")
_NUMBERS = re.compile(r"(?:\$[!?$#]|\$\{#\w+\})+")
_FOLDERS = ("$PWD/", "${PWD}/", "$(pwd)/")


def may_start(word: Word) -> bool:
    """Return whether an open word may begin an option, or another word that does."""
    if not word.is_open or _NUMBERS.fullmatch(word.text):
        return False
    return not (word.is_single and (word.text[:1] not in _FIRST or word.text.startswith(_FOLDERS)))


def may_be_options(words: Words, options: Options | None) -> Iterator[Word]:
    """Yield the open words that may be options of a program, or commands in the value of one.

    An option that is not known may take the next word as its value, which is then no option and no `--`. `options` is
    None for a program that is not known.
    """
    is_known, options = options is not None, options or Options()
    record = record_of(program_of(words))
    options = _without(options, record.runs_values | record.runs_open)
    if record.runs_after:
        options = attrs.evolve(options, valued=frozenset(), attached=frozenset())
    at = 1
    while at < len(words):
        word = words[at]
        at += 1
        if word.text == "--" and is_known:
            return
        if word.is_open:
            is_value = is_known and word.is_single and _has_value(_before_expansion(word), options)
            yield from () if is_value or not may_start(word) else (word,)
        elif word.text.startswith(("-", "+")) and word.text != "-":
            taken = options.takes(word.text)
            is_known = is_known and taken is not None
            values = words[at : at + (taken or 0)] if is_known else ()
            yield from (value for value in values if value.is_open and not value.is_single)
            at += len(values)
        elif word.is_glob and word.may_be_option:
            is_known = False


def _before_expansion(word: Word) -> str:
    return re.split(r"[$`]", word.text, maxsplit=1)[0]


def _without(options: Options, names: frozenset[str]) -> Options:
    """Return the options but for those whose value is, or may be, a command."""
    plain, valued, attached = options.plain - names, options.valued - names, options.attached - names
    return attrs.evolve(options, plain=plain, valued=valued, attached=attached)


def _has_value(text: str, options: Options) -> bool:
    """Return whether what comes after this text in the same word is the value of an option."""
    if text.startswith("--"):
        return "=" in text and options.takes(text) == 0
    # With a letter more, there is one that takes a value if and only if nothing else is looked at.
    return len(text) > 1 and options.takes(f"{text}\0") == 0

"""Which open words of a command may be options of its program, or commands in the values of options."""

import re
from collections.abc import Iterator, Sequence

import attrs

from permitry.actions.programs.catalogue import Options
from permitry.actions.shell.expressions import program_of
from permitry.actions.shell.running import FIRST_OPERAND, LISTED_OPTIONS, Wrapper
from permitry.core.action import Word

__all__ = ["may_be_options", "may_start", "options_of"]

Words = Sequence[Word]

_FIRST = frozenset("$`-+@!:|")
_NUMBERS = re.compile(r"(?:\$[!?$#]|\$\{#\w+\})+")
_FOLDERS = ("$PWD/", "${PWD}/", "$(pwd)/")


def may_start(word: Word) -> bool:
    """Return whether an open word may begin an option, or another word that does."""
    if not word.is_open or _NUMBERS.fullmatch(word.text):
        return False
    return not (word.is_single and (word.text[:1] not in _FIRST or word.text.startswith(_FOLDERS)))


def options_of(wrapper: Wrapper) -> Options:
    """Return the options of a wrapper that take no value, and those that take one."""
    valued = {f"-{letter}" for letter in wrapper.valued} | {name for name, count in wrapper.long.items() if count == 1}
    plain = {f"-{letter}" for letter in wrapper.plain} | {name for name, count in wrapper.long.items() if count == 0}
    return Options(plain=frozenset(plain), valued=frozenset(valued))


def may_be_options(words: Words, options: Options | None) -> Iterator[Word]:
    """Yield the open words that may be options of a program, or commands in the value of one.

    An option that is not known may take the next word as its value, which is then no option and no `--`. `options` is
    None for a program that is not known.
    """
    is_known, options = options is not None, options or Options()
    runs = LISTED_OPTIONS.get(program_of(words), frozenset())
    if program_of(words) in FIRST_OPERAND:
        options = attrs.evolve(options, valued=frozenset(), attached=frozenset())
    at = 1
    while at < len(words):
        word = words[at]
        at += 1
        if word.text == "--" and is_known:
            return
        if word.is_open:
            is_value = is_known and word.is_single and _has_value(_before_expansion(word), options, runs)
            yield from () if is_value or not may_start(word) else (word,)
        elif word.text.startswith(("-", "+")) and word.text != "-":
            taken = _taken(word.text, options, runs)
            is_known = is_known and taken is not None
            values = words[at : at + (taken or 0)] if is_known else ()
            yield from (value for value in values if value.is_open and not value.is_single)
            at += len(values)
        elif word.is_glob and word.may_be_option:
            is_known = False


def _before_expansion(word: Word) -> str:
    return re.split(r"[$`]", word.text, maxsplit=1)[0]


def _has_value(text: str, options: Options, runs: frozenset[str]) -> bool:
    """Return whether what comes after this text in the same word is the value of an option."""
    if text.startswith("--"):
        return "=" in text and _taken(text, options, runs) == 0
    # With a letter more, there is one that takes a value if and only if nothing else is looked at.
    return len(text) > 1 and _taken(f"{text}\0", options, runs) == 0


def _taken(text: str, options: Options, runs: frozenset[str]) -> int | None:
    """Return how many of the next words an option takes; None if that is not known, or one of them is a command."""
    name, equals, _ = text.partition("=")
    if name in runs or text[:2] in runs:
        return None
    if text.startswith("--"):
        is_known = name in options.plain | options.attached | options.valued
        return int(name in options.valued and not equals) if is_known else None
    if text in options.valued:
        return 1
    for at, letter in enumerate(text[1:], start=2):
        option = f"-{letter}"
        if option in options.attached or option in options.valued:
            return int(option in options.valued and at == len(text))
        if option in runs or not (option in options.plain or (letter.isdigit() and options.has_numbers)):
            return None
    return 0 if text[1:] else None

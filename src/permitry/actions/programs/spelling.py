"""How an option may be spelled: in full, abbreviated, or in a cluster of letters, with or without a value behind it."""

from collections.abc import Collection, Iterator, Sequence

import attrs

from permitry.core.action import Word

__all__ = ["has_option", "is_option", "option_values", "values_in"]

_SHORT = len("-f")


def is_option(given: str, option: str) -> bool:
    """Return whether an option is the listed one, or an abbreviation of it."""
    return given == option or (len(given) > _SHORT and given.startswith("--") and option.startswith(given))


def has_option(word: Word, names: Collection[str]) -> bool:
    """Return whether a word may be one of these options, or have it in a cluster."""
    return next(values_in(word.text, names), None) is not None


def values_in(text: str, names: Collection[str]) -> Iterator[str]:
    """Yield what is attached to each option that a word may be: an empty text if nothing is."""
    given, _, value = text.partition("=")
    if not text.startswith("-"):
        return
    yield from (value for name in names if len(name) > _SHORT and is_option(given, name))
    if not text.startswith("--"):
        letters = (name[1] for name in names if len(name) == _SHORT and name[0] == "-")
        yield from (text[1:].partition(letter)[2] for letter in letters if letter in given[1:])


def option_values(words: Sequence[Word], names: Collection[str]) -> Iterator[Word]:
    """Yield the value of each word that may be one of these options: what is attached to it, or the next word."""
    for at, word in enumerate(words[1:], start=2):
        for attached in values_in(word.text, names):
            if attached:
                yield attrs.evolve(word, text=attached)
            else:
                yield from words[at : at + 1]

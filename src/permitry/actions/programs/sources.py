"""The files from which a program takes commands or code, by the options and names that `programs.toml` lists."""

from collections.abc import Iterator, Sequence

from permitry.actions.programs.catalogue import record_of
from permitry.actions.programs.inner import program_of
from permitry.core.action import Word

__all__ = ["has_option", "sources_of"]

Words = Sequence[Word]

_SHORT = len("-f")


def sources_of(words: Words) -> Iterator[Word]:
    """Yield the files from which a program may take code: values of its options, and those that it always looks for."""
    names = record_of(program_of(words)).code
    yield from (Word(name) for name in names if not name.startswith("-"))
    for at, word in enumerate(words[1:], start=2) if names else ():
        for value in _values(word.text, names):
            yield from (Word(value),) if value else words[at : at + 1]


def has_option(word: Word, names: frozenset[str]) -> bool:
    """Return whether a word may be one of these options, perhaps abbreviated, or in a cluster."""
    return next(_values(word.text, names), None) is not None


def _values(text: str, names: frozenset[str]) -> Iterator[str]:
    """Yield what is attached to each option that a word may be: an empty text if nothing is."""
    given, _, value = text.partition("=")
    if text.startswith("--"):
        yield from (value for name in names if len(given) > _SHORT and name.startswith(given))
    elif text.startswith("-"):
        letters = (name[1] for name in names if len(name) == _SHORT and name[0] == "-")
        yield from (text[1:].partition(letter)[2] for letter in letters if letter in text[1:])

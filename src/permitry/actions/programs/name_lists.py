"""Lists of names that a program reads from a file or its input: they may be any names."""

from collections.abc import Iterator, Sequence

import attrs

from permitry.actions.programs.catalogue import record_of
from permitry.actions.programs.entries import Entry
from permitry.actions.programs.spelling import is_option
from permitry.core.action import Word

__all__ = ["find_lists"]

_SHORT = len("-f")


def find_lists(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """Yield for each list of names that a program is given the word that names its file, if that is known."""
    record = record_of(words[0].text)
    letters = {name[1] for name in record.names_from if len(name) == _SHORT and name.startswith("-")}
    # The values of a bundle of letters are the next words, in the order of the letters.
    bundle = "".join(word.text for word in words[1:2] if not word.text.startswith("-"))
    if record.script == "tar" and not letters.isdisjoint(bundle):
        yield ()
    for at, word in enumerate(words[1:], start=2):
        for value in _values(word.text, letters, record):
            if value:
                yield (attrs.evolve(word, text=value),)
            else:
                yield words[at : at + 1]


def _values(text: str, letters: set[str], record: Entry) -> Iterator[str]:
    """Yield what is attached to each option, or sign, with which a word gives a list; an empty text if nothing is."""
    is_cluster = text.startswith("-") and not (text.startswith("--") or record.whole_words)
    for name in record.names_from:
        before, _, value = text.partition(name)
        if name.startswith("--"):
            # GNU programs take the beginning of a long option for the whole.
            option, _, value = text.partition("=")
            is_given = is_option(option, name)
        elif name.startswith("-"):
            is_given = text.startswith(name) and not (is_cluster and len(name) == _SHORT)
        else:
            is_given = name in text and before[:1] in ("", "-")
        if is_given:
            yield value
    if is_cluster:
        yield from _in_cluster(text, letters, record)


def _in_cluster(text: str, letters: set[str], record: Entry) -> Iterator[str]:
    """Yield what is behind one of these letters; behind one that is known to take a value, all is that value."""
    known = record.known
    for at, letter in enumerate(text[1:], start=2):
        if letter in letters:
            yield text[at:]
        elif f"-{letter}" in known.valued | known.attached | known.separate:
            return

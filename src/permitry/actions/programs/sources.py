"""The files from which a program takes commands or code, by the options and names that `programs.toml` lists."""

from collections.abc import Iterator, Sequence

from permitry.actions.programs.catalogue import record_of
from permitry.actions.programs.inner import program_of
from permitry.actions.programs.spelling import values_in
from permitry.core.action import Word

__all__ = ["sources_of"]

Words = Sequence[Word]


def sources_of(words: Words) -> Iterator[Word]:
    """Yield the files from which a program may take code: values of its options, and those that it always looks for."""
    names = record_of(program_of(words)).code
    yield from (Word(name) for name in names if not name.startswith("-"))
    for at, word in enumerate(words[1:], start=2) if names else ():
        for value in values_in(word.text, names):
            yield from (Word(value),) if value else words[at : at + 1]

"""The folders from which the names in the words of a program lead, where an option of it says which."""

import itertools
from collections.abc import Iterator, Sequence

import attrs

from permitry.actions.programs.catalogue import record_of
from permitry.actions.programs.git_files import join_words
from permitry.actions.programs.named import HERE, Named, Operands
from permitry.actions.programs.spelling import option_values
from permitry.core.action import Word

__all__ = ["with_bases"]

_MOST_IN_BUNDLE = 4


def with_bases(words: Sequence[Word], operands: Operands) -> Operands:
    """Return operands with guesses where relative names lead from the folders that options name: `tar -C a ../b`."""
    bases = tuple(_find_bases(words))
    if not bases:
        return operands
    named = [each for each in (*operands.paths, *operands.guessed) if _is_name(each.word)]
    pairs = itertools.product(bases, named)
    # What is below folders that were found is reached anyway.
    joined = (_join(base, each) for base, each in pairs if base.found is None or ".." in each.word.text.split("/"))
    return attrs.evolve(operands, guessed=tuple(dict.fromkeys((*operands.guessed, *joined))))


def _is_name(word: Word) -> bool:
    return word.found is None and word.text != "" and not word.text.startswith("-")


def _join(base: Word, named: Named) -> Named:
    return attrs.evolve(named, word=join_words(base, named.word), work_tree=None)


def _find_bases(words: Sequence[Word]) -> Iterator[Word]:
    """Yield the folders that options name, each from the one before it as well."""
    record, base = record_of(words[0].text), HERE
    for value in option_values(words, record.moves):
        base = join_words(base, value)
        yield from dict.fromkeys((value, base))
    bundle = "".join(word.text for word in words[1:2] if word.text[:1] != "-")
    if record.script == "tar" and any(f"-{letter}" in record.moves for letter in bundle):
        # The values of a bundle of letters are the next words, in the order of the letters.
        yield from words[2 : 2 + _MOST_IN_BUNDLE]

"""From names that another command found to the folders that it searched."""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from posixpath import basename

import attrs

from permitry.actions.programs.found import NUMBER
from permitry.actions.programs.named import Named, Operands
from permitry.core.action import Descent, Word
from permitry.core.words import Found

_MOST_DIGITS = 12
"""Of a count of bytes, lines, commits or processors."""

__all__ = ["fits_one", "only_top", "possible_tops", "with_tops"]


def with_tops(operands: Operands) -> Operands:
    """Return operands with a folder that was searched in place of the names that were found there."""
    return attrs.evolve(
        operands,
        paths=tuple(_tops(operands.paths, is_guess=not operands.is_listed)),
        guessed=tuple(_tops(operands.guessed, is_guess=True)),
        copies=tuple(attrs.evolve(each, target=only_top(each.target)) for each in operands.copies),
    )


def only_top(word: Word) -> Word:
    """Return the pattern of what a word becomes, if that is one new or plain name; otherwise the word."""
    if word.found is None or not word.found.is_top:
        return word
    top = word.found.tops[0]
    # The value of an option was cut off from it, and is the number alone.
    is_value = top.text.startswith("-") and not word.text.startswith("-")
    return attrs.evolve(top, text=NUMBER) if is_value else top


def possible_tops(word: Word) -> Iterator[Word]:
    """Yield the same for a word that need not be a path: for a number, all that it may be, digit by digit."""
    top = only_top(word)
    if word.found is None or top.text.count(NUMBER) != 1:
        yield top
        return
    for count in range(1, _MOST_DIGITS + 1):
        yield attrs.evolve(top, text=top.text.replace(NUMBER, "[0-9]" * count))


def _tops(paths: Iterable[Named], *, is_guess: bool) -> Iterator[Named]:
    for named in paths:
        if named.word.found is None:
            yield named
        else:
            found = named.word.found
            tops = possible_tops(named.word) if is_guess else [only_top(named.word)]
            yield from (_begin_at(named, top, found) for top in (tops if found.is_top else found.tops))


def _begin_at(named: Named, top: Word, found: Found) -> Named:
    name = basename(top.text.rstrip("/"))
    is_named = top.is_glob or top.is_home or fits_one(name, found.ends)
    return attrs.evolve(
        named,
        word=top,
        is_tree=named.is_tree or not found.is_top,
        descent=Descent.SOME,
        found=found,
        goes_on=named.is_tree,
        is_around=bool(found.ends) and not is_named,
    )


def fits_one(name: str, patterns: Iterable[str]) -> bool:
    """Return whether a name fits one of some patterns, without regard to case."""
    folded = name.casefold()
    return any(fnmatchcase(folded, pattern.casefold()) for pattern in patterns)

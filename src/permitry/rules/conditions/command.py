"""The condition `when.command`: patterns over the arguments a program is run with.

A pattern is read like the words of a simple command. A lone `*` at the end stands for any further arguments, none
included; elsewhere for exactly one argument; `**` for any number. Inside a word `*`, `?` and `{this,that}` are
wildcards; quotes and backslashes take their meaning away.

A permission asks `holds`, which is sure; a restriction asks `may_hold`, which is generous. What holds also may hold.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence

import attrs

from permitry.core.action import Word
from permitry.rules.conditions._argv import Token, read_tokens

__all__ = ["ArgvPattern"]


@attrs.frozen
class ArgvPattern:
    """A pattern over argv, such as `git log *`; matched by splitting, at the cost of the product of both lengths.

    Raises: `RuleError` for text that is no pattern.
    """

    text: str
    _tokens: tuple[Token, ...] = attrs.field(
        init=False, repr=False, eq=False, default=attrs.Factory(lambda self: read_tokens(self.text), takes_self=True)
    )

    @property
    def is_any(self) -> bool:
        """Whether every command fits."""
        return self.text.strip() == "*"

    def holds(self, words: Sequence[Word]) -> bool:
        """Return whether the words surely fit; the program must be named exactly as in the pattern.

        A word that the shell may change fits only where any number of arguments does, and an open one nowhere.
        """
        if not words or any(word.is_open for word in words):
            return False
        states = {0}
        for word in words:
            states = set(self._after(word, states))
        return len(self._tokens) in self._passed(states)

    def may_hold(self, words: Sequence[Word]) -> bool:
        """Return whether the words may fit, in the eyes of a restriction.

        The program may be named with a folder and in another case. Options, and a value after each, may stand between
        the words of the pattern. Flags such as `-rf` may be split, joined and reordered. A glob may become any number
        of words that fit, and an open word any words at all.
        """
        if not words or self._is_of_another_program(words[0]):
            return False
        if _Generous(self._tokens).fits(words):
            return True
        flags = _flags_of(words)
        rest = (self._tokens[0], *(token for token in self._tokens[1:] if not token.is_met_by(flags)))
        return len(rest) < len(self._tokens) and _Generous(rest, is_flag_free=True).fits(words)

    def _is_of_another_program(self, word: Word) -> bool:
        """Return whether the first word settles it, as it does for most pairs of a pattern and a command."""
        first = self._tokens[0]
        return not (word.is_open or word.is_glob or first.is_any or first.may_name(word))

    def _after(self, word: Word, states: Iterable[int]) -> Iterator[int]:
        is_sure = not (word.is_glob or word.is_home)
        for at in self._passed(states):
            token = self._tokens[at] if at < len(self._tokens) else None
            if token is None:
                continue
            if token.is_any:
                yield at
            elif is_sure and token.matches(word.text):
                yield at + 1

    def _passed(self, states: Iterable[int]) -> set[int]:
        """Return the states, and those behind wildcards that may stand for nothing."""
        return _closed(self._tokens, states)

    def __str__(self) -> str:
        return self.text


def _closed(tokens: tuple[Token, ...], states: Iterable[int]) -> set[int]:
    reached = set()
    for start in states:
        at = start
        while at not in reached:
            reached.add(at)
            if at < len(tokens) and tokens[at].is_any:
                at += 1
    return reached


@attrs.frozen
class _Generous:
    """The tokens as a restriction sees them; `is_flag_free` means flags have been compared already."""

    tokens: tuple[Token, ...]
    is_flag_free: bool = False

    def fits(self, words: Sequence[Word]) -> bool:
        # A state is a place in the pattern, and whether the next word may be the value of an option that was skipped.
        states = {(0, False)}
        for word in words:
            states = set(itertools.chain.from_iterable(self._after(word, at, is_value=value) for at, value in states))
        return len(self.tokens) in _closed(self.tokens, {at for at, _ in states})

    def _after(self, word: Word, start: int, *, is_value: bool) -> Iterator[tuple[int, bool]]:
        if is_value:
            yield start, False
        for at in _closed(self.tokens, [start]):
            yield from ((place, False) for place in self._consumed(word, at))
            if at > 0 and word.may_be_option and (at < len(self.tokens) or self._is_flag(word)):
                yield at, at < len(self.tokens)

    def _consumed(self, word: Word, at: int) -> Iterable[int]:
        """Return the places after `word` was taken for what stands at `at`."""
        if word.is_open:
            return range(at, len(self.tokens) + 1)
        end = at
        while end < len(self.tokens) and (self.tokens[end].is_any or self._may_match(end, word)):
            end += 1
            if not word.is_glob:
                break
        if word.is_glob:
            return range(at, end + 1)
        if end == at:
            return ()
        return (at if self.tokens[at].is_any else end,)

    def _may_match(self, at: int, word: Word) -> bool:
        return self.tokens[at].may_name(word) if at == 0 else self.tokens[at].may_match(word)

    def _is_flag(self, word: Word) -> bool:
        return self.is_flag_free and not word.text.startswith("--")


def _flags_of(words: Sequence[Word]) -> frozenset[str] | None:
    """Return the flags of one letter among the words, or None when a word may become any."""
    flags: set[str] = set()
    for word in words:
        if word.may_be_option and (word.is_open or word.is_glob):
            return None
        if word.text.startswith("-") and not word.text.startswith("--"):
            flags.update(itertools.takewhile(str.isalnum, word.text[1:]))
    return frozenset(flags)

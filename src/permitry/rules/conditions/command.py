"""The condition `when.command`: patterns over the arguments a program is run with.

A pattern is read like the words of a simple command. A lone `*` at the end stands for any further arguments, none
included; elsewhere for exactly one argument; `**` for any number. Inside a word `*`, `?` and `{this,that}` are
wildcards; quotes and backslashes take their meaning away.

A permission asks `holds`, which is sure and exact. A restriction asks `may_hold`, which is generous, and to be certain
`must_hold`: generous with the spelling, but guessing nothing. What holds must hold, and what must hold also may hold.
"""

import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence

import attrs

from permitry.core.action import Word
from permitry.core.facts import Fact, Kind, program_name, program_path
from permitry.rules.conditions._argv import Token, read_tokens

__all__ = ["ArgvPattern"]

_MOST_FLAGS = 10
_MOST_OF_NO_WORD = 2
_VOWELS = frozenset("aeiouAEIOU")


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
        return self.text.strip(" \t") == "*"

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The words of the pattern."""
        return self._tokens

    @property
    def needs(self) -> frozenset[Fact]:
        """The programs, with the word behind each where one is written out; none where anything may fit."""
        program, *rest = self._tokens
        words = rest[0].texts if rest and not rest[0].may_be_option else None
        if program.is_any or program.is_one:
            return frozenset()
        if program.texts is None or words is None:
            names = (name for text in program.patterns for name in (program_name(text), program_path(text)))
            # What a backslash hides from a pattern is a wildcard here, which finds no less. One letter may be folded to
            # several, and a wildcard may stand for a slash.
            return frozenset(Fact(Kind.PROGRAM, (), name.replace("?", "*")) for name in names)
        return frozenset(Fact(Kind.WORD, program_name(text), word) for text in program.texts for word in words)

    @property
    def literals(self) -> int:
        """How many of its words are written out."""
        return sum(not (token.is_any or token.is_one) for token in self._tokens)

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
        return self._fits(words, is_sure=False)

    def must_hold(self, words: Sequence[Word], bare: Sequence[Word] = ()) -> bool:
        """Return whether the words fit by what is known of them, however they are spelled.

        The spellings are those of `may_hold`, but an expansion stands for one word at most, that is not read, and a
        glob for any words only where any words do. Where the options of the program itself are known, and `bare` are
        the words without them, only a pattern with options is compared with the words as they are written.
        """
        return self._fits(bare or words, is_sure=True) or (
            bool(bare) and self._has_option and self._fits(words, is_sure=True)
        )

    @functools.cached_property
    def _has_option(self) -> bool:
        return any(token.may_be_option for token in self._tokens[1:])

    def _fits(self, words: Sequence[Word], *, is_sure: bool) -> bool:
        if not words or self._is_of_another_program(words[0]):
            return False
        if _Generous(self._tokens, is_sure=is_sure).fits(words):
            return True
        # What the shell may change is not certain to be a flag.
        flags = _Flags.of([word for word in words if not (is_sure and (word.is_open or word.is_glob))])
        rest = (self._tokens[0], *(token for token in self._tokens[1:] if not flags.meet(token, is_sure=is_sure)))
        return len(rest) < len(self._tokens) and _Generous(rest, is_flag_free=True, is_sure=is_sure).fits(words)

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
    """The tokens as a restriction sees them; `is_flag_free` means flags have been compared already.

    `is_sure`: a word that the shell may change is not taken for what it may become.
    """

    tokens: tuple[Token, ...]
    is_flag_free: bool = False
    is_sure: bool = False

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
            is_option = word.text.startswith("-") if self.is_sure else word.may_be_option
            if at > 0 and is_option and (at < len(self.tokens) or self._is_flag(word)):
                yield at, at < len(self.tokens)

    def _consumed(self, word: Word, at: int) -> Iterable[int]:
        """Return the places after `word` was taken for what stands at `at`."""
        if self.is_sure and (word.is_open or word.is_glob):
            return self._taken(at)
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

    def _taken(self, at: int) -> Iterable[int]:
        """Return the places after a word that is not read: only what takes any word takes it."""
        if at == len(self.tokens):
            return ()
        token = self.tokens[at]
        return (at,) if token.is_any else (at + 1,) if token.is_one else ()

    def _may_match(self, at: int, word: Word) -> bool:
        word = attrs.evolve(word, is_home=False) if self.is_sure and word.is_home else word
        return self.tokens[at].may_name(word) if at == 0 else self.tokens[at].may_match(word)

    def _is_flag(self, word: Word) -> bool:
        return self.is_flag_free and not word.text.startswith("--")


@attrs.frozen
class _Flags:
    """The flags of one letter that the words of a command hold: `clusters` are the letters of each word."""

    clusters: tuple[str, ...] = ()
    may_be_any: bool = False

    @classmethod
    def of(cls, words: Sequence[Word]) -> "_Flags":
        options = [word for word in words if word.may_be_option]
        clusters = tuple(_cluster(word) for word in options if word.text.startswith("-"))
        return cls(clusters, any(word.is_open or word.is_glob for word in options))

    def meet(self, token: Token, *, is_sure: bool) -> bool:
        """Return whether an alternative of the token is a cluster such as `-rf` of these flags.

        One that reads as a word, as `-set` does, may be an option of its own: to be sure, no other letter may be among
        its letters. A word of more letters than a cluster has may be an option of its own as well: it is never certain,
        and nothing at all to a pattern that reads as a word.
        """
        return any(self._hold(cluster, is_sure=is_sure) for cluster in token.clusters)

    def _hold(self, cluster: frozenset[str], *, is_sure: bool) -> bool:
        if self.may_be_any and not is_sure:
            return True
        given = self.clusters
        if is_sure or _is_word(cluster):
            given = tuple(each for each in given if len(frozenset(each)) <= _MOST_FLAGS)
        if is_sure and _is_word(cluster):
            given = tuple(each for each in given if len(each) <= len(cluster.intersection(each)))
        return cluster <= frozenset("".join(given))


def _cluster(word: Word) -> str:
    """Return the letters of a word such as `-rf`; none for a long option."""
    return "" if word.text.startswith("--") else "".join(itertools.takewhile(str.isalnum, word.text[1:]))


def _is_word(cluster: frozenset[str]) -> bool:
    return len(cluster) > _MOST_OF_NO_WORD and not cluster.isdisjoint(_VOWELS)

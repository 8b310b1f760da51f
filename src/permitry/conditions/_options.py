"""The options of a command pattern among the words of a command, wherever these have them.

Most programs take options between operands, flags alone or together, and the value of an option
as the next word or after `=`. For a restriction all these are spellings of one command.
"""

import functools
import itertools
import re
from collections.abc import Iterator, Sequence

import attrs

from permitry.conditions._argv import Token, may_change
from permitry.core.action import Word
from permitry.core.facts import program_name
from permitry.core.pattern import Pattern

_MOST_FLAGS = 10
_MOST_LETTERS_OF_NON_WORD = 2
_VOWELS = frozenset("aeiouAEIOU")
_SHORT = len("-n")
_SHORTEST = len("--h")
"""The shortest name that is taken for one cut short."""
_NO_VALUE = Token((Pattern("-"),))
_CHANGING = re.compile(r"[$`*?\[]")


@attrs.frozen
class Option:
    """An option in a pattern, with its index `at`, and the word after it, which may be its value.

    `has_any_value`: any words may follow. `may_be_operand`: `--` or `**` comes before it, so that a
    command may have it behind `--`.
    """

    at: int
    token: Token
    value: Token | None = None
    has_any_value: bool = False
    may_be_operand: bool = False

    @functools.cached_property
    def joined(self) -> tuple[Token, ...]:
        """The option and its value as one word: `--context=prod`, and of one letter `-nprod`."""
        if self.value is None:
            return ()
        is_letter = all(len(pattern.text) == _SHORT for pattern in self.token.alternatives)
        return (self.token.join("=", self.value), *([self.token.join("", self.value)] if is_letter else []))


@attrs.frozen
class Named:
    """The indices of options and values in a pattern, and of the values in a command that has them."""

    tokens: frozenset[int] = frozenset()
    values: frozenset[int] = frozenset()


NONE = Named()


def options_of(tokens: Sequence[Token]) -> tuple[Option, ...]:
    found: list[Option] = []
    are_ends = [token.is_any or token.texts == ("--",) for token in tokens]
    pairs = itertools.zip_longest(tokens[1:], tokens[2:], fillvalue=_NO_VALUE)
    for at, (token, following) in enumerate(pairs, 1):
        options = token.options
        if options is not None:
            value = None if following.is_any or following.may_be_option else following
            found.append(Option(at, options, value, following.is_any, any(are_ends[:at])))
    return tuple(found)


def find_options(options: Sequence[Option], words: Sequence[Word], *, is_sure: bool) -> Named:
    """Return which options a command has; with `is_sure`, whatever the shell may expand."""
    if not options:
        return NONE
    # `--` behind an option may be the value of that option.
    ends = (at for at, word in enumerate(words) if word.text == "--")
    end = next((at for at in ends if is_sure or not (at and words[at - 1].may_be_option)), len(words))
    searches = [_Search(each, words if each.may_be_operand else words[:end], is_sure=is_sure) for each in options]
    found = list(itertools.chain.from_iterable(each.find() for each in searches))
    none = frozenset[int]()
    return Named(none.union(*(each.tokens for each in found)), none.union(*(each.values for each in found)))


@attrs.frozen
class _Search:
    """Finds one option of a pattern among words."""

    option: Option
    words: Sequence[Word]
    is_sure: bool

    def find(self) -> Iterator[Named]:
        at = self.option.at
        alone, both = frozenset((at,)), frozenset((at, at + 1))
        # A word that the shell may expand is not certain to be a flag.
        known = [word for word in self.words if not (self.is_sure and may_change(word))]
        if _have_flags(known, self.option.token, is_sure=self.is_sure):
            yield Named(alone)
        for number, (word, following) in enumerate(itertools.zip_longest(self.words[1:], self.words[2:]), 2):
            if not word.may_be_option:
                continue
            if self._is_named(word):
                yield Named(alone)
            if self._has_value(word):
                yield Named(both)
            if following is not None:
                value = frozenset((number,))
                if self._is_joined(word, following):
                    yield Named(alone, value)
                if self._takes_value(word, following):
                    yield Named(both, value)

    def _is_named(self, word: Word) -> bool:
        """Return whether a word is the option, with any value if the pattern leaves that open."""
        if self._fits(self.option.token, word):
            return True
        name = _name_of(word)
        counts = self.option.has_any_value or not self.is_sure
        return name is not None and counts and self._fits(self.option.token, name)

    def _has_value(self, word: Word) -> bool:
        """Return whether one word is the option with the value that the pattern has."""
        most = int(self._is_known_value()) if self.is_sure else None
        return any(self._fits(token, word) for token in self.option.joined[:most])

    def _is_joined(self, word: Word, following: Word) -> bool:
        """Return whether two words are the option and its value, which are one in the pattern."""
        marks = ("=", "") if len(word.text) == _SHORT and not self.is_sure else ("=",)
        return any(self._fits(self.option.token, _join(word, mark, following)) for mark in marks)

    def _takes_value(self, word: Word, following: Word) -> bool:
        """Return whether a word is the option, and the next one the value that the pattern has."""
        value = self.option.value
        if value is None or (self.is_sure and not self._is_known_value()) or not self._fits(value, following):
            return False
        if self._fits(self.option.token, word):
            return True
        is_known = not (self.is_sure and may_change(word))
        return is_known and _have_flags((self.words[0], word), self.option.token, is_sure=self.is_sure)

    def _is_known_value(self) -> bool:
        """Return whether the pattern says more of the value than that there is one."""
        return self.option.value is not None and not self.option.value.is_one

    def _fits(self, token: Token, word: Word) -> bool:
        """Return whether a word is one of the alternatives, or may become one."""
        if self.is_sure:
            return not may_change(word) and token.matches(word.text)
        if not word.is_open:
            return any(map(token.may_match, (word, *_in_full(word, token))))
        return token.may_become(word)


def _name_of(word: Word) -> Word | None:
    """Return what of an option comes before `=`; None without that."""
    name = word.text.partition("=")[0]
    if name == word.text:
        return None
    may_change = _CHANGING.search(name) is not None
    return attrs.evolve(word, text=name, is_glob=word.is_glob and may_change, is_open=word.is_open and may_change)


def _in_full(word: Word, token: Token) -> Iterator[Word]:
    """Yield a long option with the rest of a name that it may be short for: `--har`, `--hard`.

    A name behind which the longer one has a hyphen is another option, as `--force` is.
    """
    name, equals, value = word.text.partition("=")
    if len(name) < _SHORTEST or not name.startswith("--"):
        return
    for full in (pattern.text.partition("=")[0] for pattern in token.alternatives):
        if full.startswith(name) and full[len(name) :][:1] not in ("", "-"):
            yield attrs.evolve(word, text=f"{full}{equals}{value}")


def _join(word: Word, mark: str, value: Word) -> Word:
    is_open = word.is_open or value.is_open
    return Word(
        f"{word.text}{mark}{value.text}",
        is_glob=word.is_glob or value.is_glob,
        is_open=is_open,
        is_single=is_open and not (word.is_open and not word.is_single),
    )


def _have_flags(words: Sequence[Word], token: Token, *, is_sure: bool) -> bool:
    """Return whether an alternative of a token is a cluster of which words have all the flags.

    A pattern that looks like a word, such as `-set`, may mean one option instead of a cluster: with
    `is_sure` it matches only clusters without other letters. A word of more than ten letters is not
    taken for a cluster with `is_sure`, nor for a pattern that looks like a word.
    """
    options = [word for word in words if word.may_be_option]
    # The flags of `rm` take no values, so that `-r.log`, which `*.log` may expand to, is an error to it.
    has_values = not words or program_name(words[0].text) != "rm"
    if token.clusters and not is_sure and any(_may_be_any(word, has_values=has_values) for word in options):
        return True
    flags = (itertools.takewhile(str.isalnum, word.text[1:]) for word in options if word.text.startswith("-"))
    given = list(map("".join, flags))
    return any(_include(given, cluster, is_sure=is_sure) for cluster in token.clusters)


def _include(given: Sequence[str], cluster: frozenset[str], *, is_sure: bool) -> bool:
    if is_sure or _is_word(cluster):
        given = [each for each in given if len(frozenset(each)) <= _MOST_FLAGS]
    if is_sure and _is_word(cluster):
        given = [each for each in given if len(each) <= len(cluster.intersection(each))]
    return cluster <= frozenset("".join(given))


def _may_be_any(word: Word, *, has_values: bool) -> bool:
    """Return whether a word may become any flags; not `*.log` where these have no values."""
    if word.is_open and not word.start.startswith("--"):
        return True
    tail = re.split(r"[*?\[\]]", word.text)[-1]
    return word.is_glob and (has_values or not tail or tail.isalnum())


def _is_word(cluster: frozenset[str]) -> bool:
    return len(cluster) > _MOST_LETTERS_OF_NON_WORD and not cluster.isdisjoint(_VOWELS)

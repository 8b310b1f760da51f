"""The condition `when.command`: patterns over the arguments a program is run with.

A pattern is read like the words of a simple command. A lone `*` at the end matches any further
arguments, elsewhere exactly one; `**` matches any number. In a word `*`, `?` and `{this,that}`
are wildcards; quotes and backslashes make them literal.

What is written as in the pattern is `Match.YES`, in another spelling `ALIKE`, and what the shell
may make into it `MAYBE`.
"""

import functools
import itertools
from collections.abc import Container, Iterable, Iterator, Sequence

import attrs

from permitry.conditions._argv import Token, list_names_in, may_change, read_tokens
from permitry.conditions._options import NONE, Named, Option, find_options, options_of
from permitry.conditions.listed import WordLists
from permitry.conditions.match import Match
from permitry.conditions.written import WrittenPattern
from permitry.core.action import Run, Word
from permitry.core.effects import Effect
from permitry.core.facts import Fact, Kind, program_name, program_path

__all__ = ["ArgvPattern", "list_names_in"]

_EXPANDING = frozenset("$`")


@attrs.frozen
class ArgvPattern(WrittenPattern):
    """A pattern over argv, such as `git log *`; matching takes the product of both lengths.

    `lists` has the values of each list that is a word of it, such as `@branches` in `git push @branches`.

    Raises: `RuleError` for text that is not a valid pattern.
    """

    key = "command"
    description = "Programs and their arguments: `git log *`."

    text: str
    lists: WordLists = ()
    tokens: tuple[Token, ...] = attrs.field(init=False, repr=False, eq=False)

    @tokens.default
    def _read(self) -> tuple[Token, ...]:
        return read_tokens(self.text, self.lists)

    @property
    def is_any(self) -> bool:
        """Whether every command matches."""
        return self.text.strip(" \t") == "*"

    @functools.cached_property
    def assignments(self) -> tuple[Token, ...]:
        """The words before the program that set variables."""
        return tuple(itertools.takewhile(lambda token: token.are_assignments, self.tokens[:-1]))

    @functools.cached_property
    def _command(self) -> tuple[Token, ...]:
        return self.tokens[len(self.assignments) :]

    @property
    def operands(self) -> tuple[Token, ...]:
        """The words that every command has as they are: no options, nor perhaps their values."""
        pairs = itertools.pairwise(self._command)
        return tuple(token for before, token in pairs if not (before.may_be_option or token.may_be_option))

    @property
    def programs(self) -> frozenset[str] | None:
        """The names, without directories, of the only programs that may match; None for any."""
        return self._command[0].names

    @property
    def needs(self) -> frozenset[Fact]:
        """Facts of which one is present if a command can match; empty if any program may."""
        program = self._command[0]
        words = next((token.texts for token in self.operands if token.texts), None)
        if words is not None:
            names = ("",) if program.texts is None else map(program_name, program.texts)
            return frozenset(Fact(Kind.WORD, name, word) for name in names for word in words)
        if program.is_any or program.is_one:
            return frozenset()
        spelled = (name for text in program.patterns for name in (program_name(text), program_path(text)))
        # An escaped wildcard counts as a wildcard here, which finds more rules, never fewer; `?` as `*`, because
        # case-folding may turn one letter into several. A wildcard may match a slash, so paths are needed too.
        return frozenset(Fact(Kind.PROGRAM, (), name.replace("?", "*")) for name in spelled)

    @property
    def literals(self) -> int:
        """How many of its words are not a lone wildcard."""
        return sum(not (token.is_any or token.is_one) for token in self.tokens)

    def match(self, effect: Effect, least: Match = Match.OPEN, enough: Match = Match.YES, /) -> Match:
        """Return how far a program matches; every command also what the shell itself writes."""
        run = effect.subject
        if not isinstance(run, Run):
            # INVARIANT: `unless` of such a rule may except `echo`, and not the file that `echo x > f` writes.
            return Match.ALIKE if self.is_any and effect.is_of_shell else Match.NO
        assigned = () if run.line is None else (word.text for word in run.line.assigned)
        every = (*run.sets, *assigned)
        return self.match_words(run.words, run.bare, run.sets, least, enough, assigned=every)

    def match_words(
        self,
        words: Sequence[Word],
        bare: Sequence[Word] = (),
        sets: Sequence[str] = (),
        least: Match = Match.OPEN,
        enough: Match = Match.YES,
        *,
        assigned: Sequence[str] = (),
    ) -> Match:
        """Return how far the words of a command match.

        `bare` are the words without the options of the program itself, if these are known; `sets` are
        assignments that change what it runs, `assigned` these and all others that are known.
        """
        named, may_be = assigned or sets, least < Match.ALIKE
        # Of most commands no pattern may match, which is asked first.
        if may_be and not self._fits(words, bare, named, is_sure=False):
            return Match.NO
        if enough is Match.YES and self._is_exact(words, sets):
            return Match.YES
        if enough >= Match.ALIKE and least is not Match.YES and self._fits(words, bare, named, is_sure=True):
            return Match.ALIKE
        return Match.MAYBE if may_be else Match.NO

    def _is_exact(self, words: Sequence[Word], sets: Sequence[str]) -> bool:
        """Return whether the words certainly match, spelled as in the pattern, each assignment named.

        What the shell may expand matches only a wildcard for any arguments, and no program.
        """
        if not words or words[0].is_open or len(sets) != len(self.assignments):
            return False
        if not all(token.matches(text) for token, text in zip(self.assignments, sets, strict=True)):
            return False
        return self._is_exact_in(words)

    def _is_exact_in(self, words: Sequence[Word], spelled: Container[int] = ()) -> bool:
        """Return whether the words match exactly, and those at `spelled` without a wildcard."""
        states = {0}
        for at, word in enumerate(words):
            states = set(self._after(word, states, is_spelled=at in spelled))
        return len(self._command) in _epsilon_closure(self._command, states)

    def spells(self, run: Run, *, runs_any: bool = False) -> bool:
        """Return whether the line that a program is a part of matches, the program not by a wildcard.

        INVARIANT: law 3. A wildcard permits no command that is run: `sudo *` does not permit what
        `sudo` runs, and a text that is run is spelled out as a whole, but for a rule that says
        `runs_any`. Of a file or a package that is named nothing more could be known.
        """
        line, program = run.line, run.words[0]
        if line is None or not program.is_kept:
            return False
        if len(line.assigned) != len(self.assignments):
            return False
        if not all(map(_is_spelled, self.assignments, line.assigned)):
            return False
        texts = [word.text for word in line.words]
        sets = {text for text in run.sets if text not in {word.text for word in line.assigned}}
        starts = {at for at in range(len(texts)) if tuple(texts[at : at + len(run.argv)]) == run.argv}
        if not sets.issubset(texts) or not (starts or runs_any):
            return not sets and self._is_spelled_out(line.words)
        spelled = {0, *(at for at, text in enumerate(texts) if text in sets)}
        if not (line.runs_by_name or runs_any):
            spelled |= starts
        return self._is_exact_in(line.words, spelled)

    def _is_spelled_out(self, words: Sequence[Word]) -> bool:
        """Return whether each word is one of the pattern, without a wildcard."""
        spelled, others = self._command[: len(words)], self._command[len(words) :]
        is_whole = len(spelled) == len(words) and all(token.is_any for token in others)
        return is_whole and all(map(_is_spelled, spelled, words))

    def _fits(self, words: Sequence[Word], bare: Sequence[Word], sets: Sequence[str], *, is_sure: bool) -> bool:
        """Return whether the words may match, in some spelling; if `is_sure`, by what is known of them.

        The program may have a directory and another case. Options, each with a value, may come between
        the words of the pattern, and its own ones may be anywhere; flags such as `-rf` may be split and
        joined, and so may an option and its value. A glob may become any matching words, and an open word
        any at all; if `is_sure` each matches only a wildcard. Not each assignment must be named.
        """
        if not all(any(_assigns(token, text, is_sure=is_sure) for text in sets) for token in self.assignments):
            return False
        if not bare:
            return self._fits_words(words, is_sure=is_sure)
        # The words as written are certain only of a pattern that has options.
        is_compared = not is_sure or any(token.may_be_option for token in self.tokens[1:])
        return self._fits_words(bare, is_sure=is_sure) or (is_compared and self._fits_words(words, is_sure=is_sure))

    @functools.cached_property
    def _options(self) -> tuple[Option, ...]:
        return options_of(self._command)

    def _fits_words(self, words: Sequence[Word], *, is_sure: bool) -> bool:
        if not words or self._is_of_another_program(words[0], is_sure=is_sure):
            return False
        if _Tolerant(self._command, is_sure=is_sure).fits(words):
            return True
        named = find_options(self._options, words, is_sure=is_sure)
        return bool(named.tokens) and _Tolerant(self._command, named, is_sure=is_sure).fits(words)

    def _is_of_another_program(self, word: Word, *, is_sure: bool) -> bool:
        """Return whether the first word rules out a match, as for most commands."""
        first = self._command[0]
        if may_change(word):
            return is_sure and not (first.is_any or first.is_one)
        return not (first.is_any or first.may_name(word))

    def _after(self, word: Word, states: Iterable[int], *, is_spelled: bool = False) -> Iterator[int]:
        for at in _epsilon_closure(self._command, states) - {len(self._command)}:
            token = self._command[at]
            if token.is_any and not is_spelled:
                yield at
            elif word.is_kept and token.matches(word.text) and not (is_spelled and token.texts is None):
                yield at + 1

    def __str__(self) -> str:
        return self.text


def _is_spelled(token: Token, word: Word) -> bool:
    """Return whether a word of a pattern has no wildcard and is this one, which the shell keeps."""
    return word.is_kept and token.texts is not None and token.matches(word.text)


def _assigns(token: Token, text: str, *, is_sure: bool) -> bool:
    """Return whether an assignment is one that a pattern names, whatever its value becomes."""
    if is_sure or _EXPANDING.isdisjoint(text):
        return token.matches(text)
    return token.may_become(Word(text, is_open=True, is_single=True))


def _epsilon_closure(
    tokens: tuple[Token, ...], states: Iterable[int], optional: frozenset[int] = frozenset()
) -> set[int]:
    """Return the states, and those reached where wildcards and `optional` match nothing."""
    reached = set(states)
    for start in tuple(reached):
        at = start
        while at < len(tokens) and (tokens[at].is_any or at in optional):
            at += 1
            reached.add(at)
    return reached


@attrs.frozen
class _Tolerant:
    """Matches words as a restriction does, accepting other spellings.

    `named` are the options that the words have in any place. `is_sure`: a word that the shell may
    expand is not assumed to become what the pattern asks for.
    """

    tokens: tuple[Token, ...]
    named: Named = NONE
    is_sure: bool = False

    def fits(self, words: Sequence[Word]) -> bool:
        # A state is an index into the tokens, and whether the next word may be the value of a skipped option.
        states = {(0, False)}
        for number, word in enumerate(words):
            before = states
            tilde = self.is_sure and word.is_home
            states = self._after(attrs.evolve(word, is_home=False) if tilde else word, states)
            if number in self.named.values:
                states.update((at, False) for at, _ in before)
            if not states:
                return False
        return len(self.tokens) in self._closure(at for at, _ in states)

    def _closure(self, states: Iterable[int]) -> set[int]:
        return _epsilon_closure(self.tokens, states, self.named.tokens)

    def _after(self, word: Word, states: Iterable[tuple[int, bool]]) -> set[tuple[int, bool]]:
        reached = {(at, False) for at, is_value in states if is_value}
        is_option = word.text.startswith("-") if self.is_sure else word.may_be_option
        # After the last word of a pattern only one that names options takes others.
        end = len(self.tokens) + bool(self.named.tokens)
        for at in self._closure(start for start, _ in states):
            reached.update([(place, False) for place in self._match_from(word, at)])
            if is_option and 0 < at < end:
                # What follows the last operand of the pattern is one more operand, and no value of an option.
                reached.add((at, len(self.tokens) not in self._closure([at])))
        return reached

    def _match_from(self, word: Word, at: int) -> Iterable[int]:
        """Return the indices of tokens after `word` was matched with those from `at` on."""
        is_one = word.is_open and word.is_single and at > 0
        if may_change(word) and not (is_one or self.is_sure):
            return self._match_maybe(word, at)
        if at == len(self.tokens) or not self._may_match(at, word):
            return ()
        return (at if self.tokens[at].is_any else at + 1,)

    def _match_maybe(self, word: Word, at: int) -> Iterable[int]:
        """Return the same for a word that the shell may make into several, or into none."""
        if word.is_open and (at == 0 or word.found is None or word.may_be_option):
            return range(at, len(self.tokens) + 1)
        end = at
        while end < len(self.tokens) and (end in self.named.tokens or self._may_match(end, word)):
            end += 1
        return range(at, end + 1)

    def _may_match(self, at: int, word: Word) -> bool:
        """Return whether a word, or one of those that it becomes, may match a token."""
        token = self.tokens[at]
        if token.is_any:
            return True
        if self.is_sure and may_change(word):
            return token.is_one or token.spells(word)
        if word.is_open:
            return token.may_become(word)
        return token.may_name(word) if at == 0 else token.may_match(word)

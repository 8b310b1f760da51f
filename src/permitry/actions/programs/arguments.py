"""Splits the arguments of a program into options, their values, and operands.

An allow-list: an option that is not listed, or a word that a pattern or expansion may turn into an option, is refused.
"""

import contextlib
import string
from collections.abc import Sequence

import attrs

from permitry.actions.programs.catalogue import record_of
from permitry.actions.programs.entries import Entry, Options, RefusedError
from permitry.core.action import Word

__all__ = [
    "Parts",
    "entry_of",
    "find_entry",
    "is_cluster",
    "is_spread",
    "read_known",
    "read_options",
    "sub_command",
    "unbundle",
    "values_and_texts",
    "with_options_first",
    "with_values",
]

_DIGITS = frozenset(string.digits)
_HEX_DIGITS = frozenset(string.hexdigits + "x")


@attrs.define
class Parts:
    """The options and operands among a program's arguments.

    `places` are the indices of the operands, `before` is the number of those before `--`. `is_spread`: a pattern or
    expansion is in the place of a value. As it may become several words or none, the words after it may have other
    roles than it seems. `values` are the indices of words that are the value of an option, whatever their expansions
    become; `texts` of those that are or have a value which is neither a path nor an address.
    """

    found: list[tuple[str, Word | None]] = attrs.field(factory=list)
    operands: list[Word] = attrs.field(factory=list)
    places: list[int] = attrs.field(factory=list)
    before: int = 0
    is_spread: bool = False
    values: list[int] = attrs.field(factory=list)
    texts: list[int] = attrs.field(factory=list)

    @property
    def names(self) -> frozenset[str]:
        """The names of the options."""
        return frozenset(name for name, _ in self.found)


def is_spread(word: Word) -> bool:
    """Return whether a word may become another, or several, or none: a pattern or an expansion."""
    return word.is_glob or word.is_open


def is_cluster(word: Word, options: Options) -> bool:
    """Return whether a word is a hyphen and letters of known options that take no value, as `-la`."""
    letters = word.text[1:]
    is_known = all(f"-{letter}" in options.plain for letter in letters)
    return word.text.startswith("-") and letters != "" and is_known and not is_spread(word)


def read_options(
    words: Sequence[Word], entry: Entry, *, name: str, options_first: bool = False, is_any: bool = False
) -> Parts:
    """Return the options and operands of a program called `name`.

    With `is_any`, all known options are accepted, not only the harmless ones.

    Raises: `RefusedError` for an option that is not listed, or a pattern that may become one.
    """
    options = entry.known if is_any else entry.options
    return _Reader(words, entry, options, name, options_first or entry.options_first, is_any).parts()


def read_known(words: Sequence[Word], entry: Entry, *, options_first: bool = False) -> Parts:
    """Return the options and operands up to the first unknown option, or word that may be one."""
    reader = _Reader(words, entry, entry.known, "", options_first or entry.options_first, is_any=True)
    with contextlib.suppress(RefusedError):
        reader.parts()
    return reader.result


def sub_command(words: Sequence[Word], entry: Entry, name: str) -> tuple[str, Entry, Sequence[Word]] | None:
    """Return the name and entry of a program's sub-command, and the words after it; None if there is none.

    Raises: `RefusedError` for one that is not listed.
    """
    if words and words[0].text in entry.commands:
        parts = Parts(operands=list(words), before=len(words))
    else:
        parts = read_options(words, entry, name=name, options_first=True)
    if not parts.operands:
        return None
    command = parts.operands[0]
    inner = entry.commands.get(command.text)
    if inner is None or not parts.before or parts.is_spread or is_spread(command):
        raise RefusedError(f"`{name} {command.text}` is not known to only read")
    return f"{name} {command.text}", inner, parts.operands[1:]


def find_entry(words: Sequence[Word]) -> tuple[str, Entry, Sequence[Word]]:
    """Return the name and entry of the program or sub-command that is called, and the words after it."""
    name = words[0].text
    entry, rest = record_of(name), words[1:]
    if words[0].is_open:
        raise RefusedError("a program named by an expansion")
    while entry.commands and (inner := sub_command(rest, entry, name)) is not None:
        name, entry, rest = inner
    return name, entry, rest


def entry_of(words: Sequence[Word]) -> Entry:
    """Return what is known about the program that runs, or about its sub-command."""
    try:
        return find_entry(words)[1]
    except RefusedError:
        return record_of(words[0].text)


def with_values(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Return the words of a command; those with expansions that certainly are values of options are marked."""
    if not any(word.is_single for word in words[2:]):
        return words
    values, _ = values_and_texts(words)
    return tuple(attrs.evolve(word, is_value=True) if at in values else word for at, word in enumerate(words))


def values_and_texts(words: Sequence[Word]) -> tuple[set[int], set[int]]:
    """Return the indices of the words that are values of options, and of those that are or have a text as a value."""
    try:
        _, entry, rest = find_entry(words)
    except RefusedError:
        return set(), set()
    parts = read_known(rest, entry)
    before = len(words) - len(rest)
    values = {before + at for at in parts.values}
    return values, {before + at for at in parts.texts}


def unbundle(words: Sequence[Word]) -> Sequence[Word]:
    """Return the arguments of `tar`, with a hyphen before the first one if it lacks that (`tar xf a.tar`).

    It is added only if the last letter alone takes a value, as the values of such letters are the next words.
    """
    if not words or words[0].may_be_option:
        return words
    letters = words[0].text
    known = record_of("tar").known
    if not letters.endswith("f") or any(known.count(f"-{letter}") != 0 for letter in letters[:-1]):
        raise RefusedError(f"`tar` with `{letters}`")
    return (attrs.evolve(words[0], text=f"-{letters}"), *words[1:])


def with_options_first(words: Sequence[Word]) -> Sequence[Word]:
    """Return the arguments of `unzip`, with a folder that is named behind the archive (`x.zip -d y`) before it."""
    at = next((at for at, word in enumerate(words) if at and word.text.startswith("-d")), len(words))
    if any(word.may_be_option for word in words[:at] if word.is_open or word.is_glob):
        return words
    length = 2 if words[at:] and words[at].text == "-d" else 1
    return (*words[at : at + length], *words[:at], *words[at + length :])


@attrs.define
class _Reader:
    words: Sequence[Word]
    entry: Entry
    options: Options
    name: str
    options_first: bool
    is_any: bool
    at: int = 0
    result: Parts = attrs.field(factory=Parts)

    def parts(self) -> Parts:
        while self.at < len(self.words):
            word = self.words[self.at]
            self.at += 1
            if word.text == "--":
                self.result.before = len(self.result.operands)
                self.operands(self.at)
                return self.result
            if not word.may_be_option or word.text == "-":
                if self.options_first:
                    self.operands(self.at - 1)
                    break
                self.operands(self.at - 1, self.at)
            else:
                self.option(word)
        self.result.before = len(self.result.operands)
        return self.result

    def operands(self, start: int, end: int | None = None) -> None:
        words = self.words[start:end]
        self.result.operands += words
        self.result.places += range(start, start + len(words))

    def option(self, word: Word) -> None:
        """Read one option.

        INVARIANT: no listed name contains a character of a pattern or an expansion. So a pattern that begins with a
        hyphen either is refused, or begins with a complete option and can only become the same option with another
        value. So does one word with an expansion.
        """
        options = self.options
        is_read = not word.is_open or (self.is_any and word.is_single)
        if not (is_read and word.text.startswith("-")):
            raise RefusedError(f"`{word.text}` may become an option of `{self.name}`")
        if options.has_numbers and set(word.text[1:]) <= _DIGITS:
            self.found(word.text, None)
        elif word.text.startswith("--"):
            self.long(word)
        elif self.entry.whole_words:
            self.whole(word)
        else:
            self.cluster(word)

    def found(self, name: str, value: Word | None) -> None:
        self.result.found.append((name, value))

    def refuse(self, option: str) -> RefusedError:
        reason = self.entry.refused.get(option)
        if reason is not None:
            return RefusedError(f"`{self.name} {option}` {reason}")
        return RefusedError(f"`{self.name}` with the unknown option `{option}`")

    def long(self, word: Word) -> None:
        options = self.options
        name, equals, value = word.text.partition("=")
        if word.text in options.plain:
            self.found(word.text, None)
        elif equals and (name in options.valued or name in options.attached):
            self.found(name, self.attached(name, word, value))
        elif equals or options.count(name) not in (0, 1, 2):
            raise self.refuse(name)
        else:
            values = [self.value(name) for _ in range(options.count(name) or 0)]
            self.found(name, next(reversed(values), None))

    def whole(self, word: Word) -> None:
        options = self.options
        if word.text in options.plain:
            self.found(word.text, None)
        elif word.text in options.valued:
            self.found(word.text, self.value(word.text))
        elif word.text[:2] in options.valued and set(word.text[2:]) <= _HEX_DIGITS:
            self.found(word.text[:2], self.attached(word.text[:2], word, word.text[2:]))
        else:
            raise self.refuse(word.text)

    def cluster(self, word: Word) -> None:
        options = self.options
        for at, letter in enumerate(word.text[1:], 2):
            name, rest = f"-{letter}", word.text[at:]
            if name in options.plain:
                self.found(name, None)
                continue
            if name in options.attached:
                self.found(name, self.attached(name, word, rest) if rest else None)
            elif name in options.valued or (name in options.separate and set(rest) <= _DIGITS):
                self.found(name, self.attached(name, word, rest) if rest else self.value(name))
            else:
                raise self.refuse(name)
            return

    def attached(self, name: str, word: Word, value: str) -> Word:
        if name in self.entry.texts:
            self.result.texts.append(self.at - 1)
        return attrs.evolve(word, text=value, is_home=False)

    def value(self, name: str) -> Word | None:
        """Return the next word as the value of an option.

        INVARIANT: it never begins like an option. So no option is missed if the program takes no value here after all.
        Where all known options are accepted, one word with an expansion may begin like one.
        """
        if self.at >= len(self.words):
            return None
        word = self.words[self.at]
        self.at += 1
        if self.is_any and word.is_single and not self.result.is_spread:
            self.result.values.append(self.at - 1)
            self.result.texts += [self.at - 1] if name in self.entry.texts else []
            return word
        is_plain = not word.may_be_option or word.text == "-"
        if not is_plain and (is_spread(word) or word.text[1:2] not in _DIGITS):
            raise RefusedError(f"`{self.name} {name}` with the value `{word.text}`")
        if name in self.entry.texts and not is_spread(word):
            self.result.texts.append(self.at - 1)
        self.result.is_spread = self.result.is_spread or is_spread(word)
        return word

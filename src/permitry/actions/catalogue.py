"""What is known about programs, read from `programs.toml` on first use, and how their options are read."""

import functools
import importlib.resources
import string
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from permitry.actions.strict import Word

__all__ = ["Catalogue", "Entry", "Options", "Parts", "RefusedError", "catalogue", "read_options"]

_DIGITS = frozenset(string.digits)
_HEX_DIGITS = frozenset(string.hexdigits + "x")


class RefusedError(Exception):
    """A command that does not only read; the message is the reason, for a human."""


@attrs.frozen
class Options:
    """The harmless options of a program; names carry their hyphens."""

    plain: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    attached: frozenset[str] = frozenset()
    separate: frozenset[str] = frozenset()
    has_numbers: bool = False


@attrs.frozen
class Entry:
    """What is known about a program or a sub-command; `programs.toml` says what each field means."""

    any_option: bool = False
    options: Options = Options()
    commands: "Mapping[str, Entry]" = attrs.field(factory=dict)
    bare: bool = False
    needs: frozenset[str] = frozenset()
    most_operands: int | None = None
    operands_need: frozenset[str] = frozenset()
    operand_start: str = ""
    refused_start: str = ""
    refused_text: Mapping[str, str] = attrs.field(factory=dict)
    refused: Mapping[str, str] = attrs.field(factory=dict)
    options_first: bool = False
    whole_words: bool = False
    script: str = ""
    wraps: bool = False
    leading: int = 0
    sets: bool = False
    shows: frozenset[str] = frozenset()
    shell: bool = False
    never: str = ""
    network: bool = False
    looks: frozenset[str] = frozenset()


Catalogue = Mapping[str, Entry]

_SETS_OF_WORDS = frozenset({"needs", "operands_need", "shows", "looks"})


@functools.cache
def catalogue() -> Catalogue:
    """Return the entry of every program that is known, by name."""
    text = importlib.resources.files("permitry.actions").joinpath("programs.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    return {name: _entry(entry, data["group"]) for name, entry in data["program"].items()}


def _entry(data: Mapping[str, Any], groups: Mapping[str, str]) -> Entry:
    fields = dict(data)
    fields["options"] = _options(fields.get("options", ""), groups, whole_words=fields.get("whole_words", False))
    fields["commands"] = {name: _entry(entry, groups) for name, entry in fields.get("commands", {}).items()}
    for name in _SETS_OF_WORDS & fields.keys():
        fields[name] = frozenset(fields[name].split())
    return Entry(**fields)


def _options(text: str, groups: Mapping[str, str], *, whole_words: bool) -> Options:
    """Return the options a text of `programs.toml` lists."""
    sets: dict[str, set[str]] = {"plain": set(), "valued": set(), "attached": set(), "separate": set()}
    tokens = _tokens(text, groups)
    for item in tokens:
        if item == "-NUM":
            continue
        for ending, kind in (("[=]", "attached"), ("=", "valued"), (":", "separate"), ("", "plain")):
            if item.endswith(ending):
                name = item.removesuffix(ending)
                is_cluster = kind == "plain" and not name.startswith("--") and not whole_words
                sets[kind].update((f"-{letter}" for letter in name[1:]) if is_cluster else (name,))
                break
    return Options(has_numbers="-NUM" in tokens, **{kind: frozenset(names) for kind, names in sets.items()})


def _tokens(text: str, groups: Mapping[str, str]) -> list[str]:
    tokens: list[str] = []
    for token in text.split():
        tokens += _tokens(groups[token[1:]], groups) if token.startswith("@") else [token]
    return tokens


# Reading arguments ---------------------------------------------------------------------------------------------------


@attrs.define
class Parts:
    """The options and operands among a program's arguments.

    `before` is how many of the operands stand before `--`. `is_spread`: a pattern stands where a value is expected, so
    what follows it may be something else than it seems.
    """

    found: list[tuple[str, str | None]] = attrs.field(factory=list)
    operands: list[Word] = attrs.field(factory=list)
    before: int = 0
    is_spread: bool = False

    @property
    def names(self) -> frozenset[str]:
        """The names of the options."""
        return frozenset(name for name, _ in self.found)


def read_options(words: Sequence[Word], entry: Entry, *, name: str, options_first: bool = False) -> Parts:
    """Return the options and operands of a program called `name`.

    Raises: `RefusedError` for an option that is not listed, or a pattern that may become one.
    """
    return _Reader(words, entry, name, options_first or entry.options_first).parts()


@attrs.define
class _Reader:
    words: Sequence[Word]
    entry: Entry
    name: str
    options_first: bool
    at: int = 0
    result: Parts = attrs.field(factory=Parts)

    def parts(self) -> Parts:
        while self.at < len(self.words):
            word = self.words[self.at]
            self.at += 1
            if word.text == "--":
                self.result.before = len(self.result.operands)
                self.result.operands += self.words[self.at :]
                return self.result
            if not word.may_be_option or word.text == "-":
                self.result.operands.append(word)
                if self.options_first:
                    self.result.operands += self.words[self.at :]
                    break
            else:
                self.option(word)
        self.result.before = len(self.result.operands)
        return self.result

    def option(self, word: Word) -> None:
        """Read one option.

        INVARIANT: no listed name holds a character of a pattern. So a pattern that begins with a hyphen is refused, or
        begins with a whole option and can only become that option with another value.
        """
        options = self.entry.options
        if not word.text.startswith("-"):
            raise RefusedError(f"`{word.text}` may become an option of `{self.name}`")
        if options.has_numbers and set(word.text[1:]) <= _DIGITS:
            self.found(word.text, None)
        elif word.text.startswith("--"):
            self.long(word)
        elif self.entry.whole_words:
            self.whole(word)
        else:
            self.cluster(word)

    def found(self, name: str, value: str | None) -> None:
        self.result.found.append((name, value))

    def refuse(self, option: str) -> RefusedError:
        reason = self.entry.refused.get(option)
        if reason is not None:
            return RefusedError(f"`{self.name} {option}` {reason}")
        return RefusedError(f"`{self.name}` with the unknown option `{option}`")

    def long(self, word: Word) -> None:
        options = self.entry.options
        name, equals, value = word.text.partition("=")
        if word.text in options.plain:
            self.found(word.text, None)
        elif equals and (name in options.valued or name in options.attached):
            self.found(name, value)
        elif not equals and name in options.attached:
            self.found(name, None)
        elif not equals and name in options.valued:
            self.found(name, self.value(name))
        else:
            raise self.refuse(name)

    def whole(self, word: Word) -> None:
        options = self.entry.options
        if word.text in options.plain:
            self.found(word.text, None)
        elif word.text in options.valued:
            self.found(word.text, self.value(word.text))
        elif word.text[:2] in options.valued and set(word.text[2:]) <= _HEX_DIGITS:
            self.found(word.text[:2], word.text[2:])
        else:
            raise self.refuse(word.text)

    def cluster(self, word: Word) -> None:
        options = self.entry.options
        for at, letter in enumerate(word.text[1:], 2):
            name, rest = f"-{letter}", word.text[at:]
            if name in options.plain:
                self.found(name, None)
                continue
            if name in options.attached:
                self.found(name, rest or None)
            elif name in options.valued or (name in options.separate and set(rest) <= _DIGITS):
                self.found(name, rest or self.value(name))
            else:
                raise self.refuse(name)
            return

    def value(self, name: str) -> str | None:
        """Return the next word as the value of an option.

        INVARIANT: it never begins like an option. So no option hides behind a name that takes no value after all.
        """
        if self.at >= len(self.words):
            return None
        word = self.words[self.at]
        self.at += 1
        is_plain = not word.may_be_option or word.text == "-"
        if not is_plain and (word.is_glob or word.text[1:2] not in _DIGITS):
            raise RefusedError(f"`{self.name} {name}` with the value `{word.text}`")
        self.result.is_spread = self.result.is_spread or word.is_glob
        return word.text

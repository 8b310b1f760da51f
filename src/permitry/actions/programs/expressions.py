"""Expressions on a command line: of `find`, `test` and `printf`, and the options of `set`.

Each check is an allow-list; what is not known to only read is refused.
"""

import itertools
import re
import string
from collections.abc import Iterator, Sequence

from permitry.actions.builtins import DECLARING
from permitry.actions.programs.arguments import is_spread
from permitry.actions.programs.entries import Entry, RefusedError
from permitry.actions.variables import dies_with_shell
from permitry.core.action import Word

__all__ = ["check_find", "check_printf", "check_set", "check_test", "compares_texts"]

_DIGITS = frozenset(string.digits)
_NUMBERS = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_COMPARES = _NUMBERS | {"=", "==", "!=", "<", ">"}
_OF_FILES = re.compile("-[abcdefghkprsuwxGLNOS]")
_COMPARE_FILES = frozenset({"-nt", "-ot", "-ef"})
_MODE = frozenset("ugoarwxXst=+-,")
_CONVERSIONS = frozenset("diouxXfFeEgGaAcsbqQ%")
_MODIFIERS = frozenset("#0- +'*.hjlLtz") | _DIGITS
_SET_LETTERS = frozenset("eux")
_SET_NAMES = frozenset({"pipefail", "errexit", "nounset", "xtrace"})
_PACKED = ("gz", "bz2", "xz", "zst", "lz", "lzma", "lzo", "tgz", "taz", "tbz", "tbz2", "txz", "tzst", "tlz", "Z")


def check_find(words: Sequence[Word], entry: Entry) -> None:
    """Refuse an expression of `find` that holds more than the listed tests and actions. Source: find(1)."""
    rest = iter(words)
    for word in rest:
        if is_spread(word) and word.may_be_option:
            raise RefusedError(f"`{word.text}` may become an expression of `find`")
        if word.text in entry.options.valued:
            value = next(rest, None)
            if value is not None and not _is_value(word.text, value):
                raise RefusedError(f"`find {word.text}` with the value `{value.text}`")
        elif word.text.startswith("-") and word.text not in entry.options.plain:
            reason = entry.refused.get(word.text, "is not a known expression")
            raise RefusedError(f"`find {word.text}` {reason}")


def _is_value(name: str, value: Word) -> bool:
    """Return whether a word is certainly the value of a test, and not a test or an action itself."""
    if not value.may_be_option:
        return True
    if is_spread(value):
        return False
    letters = frozenset(value.text[1:])
    return value.text[1:2] in _DIGITS or (name == "-perm" and letters <= _MODE and bool(letters & {"=", "+"}))


def check_test(words: Sequence[Word], _entry: Entry) -> None:
    """Refuse a `test` that expands the subscript of a name: commands in it would run. Source: bash(1), `-v`."""
    # Some shells evaluate what they compare as numbers.
    are_texts = compares_texts((Word("test"), *words)) and _NUMBERS.isdisjoint(word.text for word in words)
    for word in words:
        if word.text in ("-v", "-R"):
            raise RefusedError(f"`test {word.text}` evaluates a name")
        if "[" in word.text or (is_spread(word) and word.may_be_option and not are_texts):
            raise RefusedError(f"`test` with `{word.text}`")


def compares_texts(words: Sequence[Word]) -> bool:
    """Return whether `test` certainly looks at texts alone: their number says what each of its words is."""
    operands = words[1:-1] if words[0].text == "[" or words[-1] == Word("]") else words[1:]
    operands = operands[1:] if operands[:1] == (Word("!"),) else operands
    return _are_texts(operands) and not any(is_spread(word) and not word.is_single for word in operands)


def paths_in_condition(words: Sequence[Word]) -> Iterator[Word]:
    """Yield the words of `[[` that are paths: each is one word there, and an operator is never an expansion."""
    for last, word, after in zip(("", *words), words, (*words[1:], Word("")), strict=False):
        if _OF_FILES.fullmatch(word.text) and not word.is_open:
            yield after
        elif word.text in _COMPARE_FILES and not word.is_open:
            yield from (each for each in (last, after) if isinstance(each, Word))


def _are_texts(operands: Sequence[Word]) -> bool:
    match operands:
        case [_] | [Word(text="-n" | "-z", is_open=False), _]:
            return True
        case [_, operator, _]:
            return operator.text in _COMPARES
        case _:
            return False


def names_only_own(name: str, words: Sequence[Word], entry: Entry) -> bool:
    """Return whether `export`, `unset` or `read` only names variables that die with the shell."""
    named = _without_options(words, entry)
    is_exported = name in DECLARING
    # Of an open word the name must be known: `export "$X"` may name any.
    texts = [word.start if word.is_open else word.text for word in named]
    are_named = all("=" in text or not word.is_open for word, text in zip(named, texts, strict=True))
    return are_named and all(dies_with_shell(text.partition("=")[0], is_exported=is_exported) for text in texts)


def _without_options(words: Sequence[Word], entry: Entry) -> Sequence[Word]:
    """Return words without the known options among them, and the word that is the value of each."""
    named, left = list[Word](), iter(words)
    for word in left:
        if word.text in entry.options.valued:
            named += (value for value in itertools.islice(left, 1) if value.is_open and not value.is_single)
        elif word.text not in entry.options.plain:
            named.append(word)
    return named


def check_printf(words: Sequence[Word], _entry: Entry) -> None:
    """Refuse a `printf` that sets a variable, by `-v` or by `%n`. Source: bash(1), "printf"."""
    at = 1 if words and words[0].text == "--" else 0
    if at < len(words):
        first = words[at]
        if is_spread(first) or (at == 0 and first.text.startswith("-")):
            raise RefusedError(f"`printf` with `{first.text}`")
        _check_format(first.text)


def _check_format(text: str) -> None:
    at = text.find("%")
    while at >= 0:
        at += 1
        while text[at : at + 1] in _MODIFIERS:
            at += 1
        if text[at : at + 1] == "(":
            at = text.find(")", at)
            if at < 0 or text[at + 1 : at + 2] != "T":
                raise RefusedError("`printf` with a time without its end")
        elif text[at : at + 1] not in _CONVERSIONS:
            raise RefusedError(f"`printf` with the conversion `%{text[at : at + 1]}`")
        at = text.find("%", at + 1)


def check_set(words: Sequence[Word], _entry: Entry) -> None:
    """Refuse a `set` that does more than end a script at its first error, or print what it runs."""
    rest = iter(words)
    for word in rest:
        letters = word.text[1:]
        if (
            word.is_open
            or not word.text.startswith("-")
            or not letters
            or not set(letters.removesuffix("o")) <= _SET_LETTERS
        ):
            raise RefusedError(f"`set` with `{word.text}`")
        if (
            letters.endswith("o")
            and (name := next(rest, None)) is not None
            and (name.is_open or name.text not in _SET_NAMES)
        ):
            raise RefusedError(f"`set -o {name.text}`")

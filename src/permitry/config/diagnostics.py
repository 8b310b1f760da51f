"""Problems of a rule file: located by the path of the value, and reported with line, caret and hint."""

import difflib
import functools
import re
import tomllib
from collections.abc import Iterable

import attrs

from permitry.config.locate import KeyPath, Places, header_lines, locate
from permitry.errors import Problem

__all__ = ["SourceText", "nearest", "syntax_problem", "unreadable_problem"]

_LONGEST_COMPARED = 100
_MOST_COMPARED = 500
_KEY = r"""(?:[\w-]+|"[^"]*"|'[^']*')"""
_REPEATED = re.compile(rf"\s*(\[[^\]]*\]+|{_KEY}(?:\s*\.\s*{_KEY})*(?=\s*=))")
_POSITION = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_LONGEST_SHOWN = 1_000


@attrs.frozen
class SourceText:
    """The text of a rule file, the name that is shown to the user, and the number of rules, if known."""

    name: str
    text: str
    rules: int | None = None

    @functools.cached_property
    def places(self) -> Places:
        """The places of keys and values; found only when there is a problem, as it takes as long as parsing."""
        try:
            return locate(self.text)
        except RecursionError:
            # Lists that are nested so deeply are reported without their place.
            return Places(self.text)

    @functools.cached_property
    def _lines(self) -> tuple[int, ...]:
        lines = header_lines(self.text, "rule")
        return lines if len(lines) == self.rules else ()

    def problem(self, path: KeyPath, message: str, hint: str = "", *, key: bool = False) -> Problem:
        """Return a problem that points at the value (or the key) at `path`."""
        span = self.places.find(self.as_written(path), key=key)
        line, column = self.places.line(span.start), self.places.column(span.start)
        text = self.places.line_text(line)
        if len(text) > _LONGEST_SHOWN:
            return Problem(self.name, line, column, 1, message, hint)
        length = max(1, min(span.end - span.start, len(text) - column + 1))
        return Problem(self.name, line, column, length, message, hint, text)

    def as_written(self, path: KeyPath) -> KeyPath:
        """Return a path without the index of an `unless` that is one table instead of a list."""
        if "unless" not in path:
            return path
        at = path.index("unless") + 1
        known = self.places.keys.keys() | self.places.values.keys()
        return path if at == len(path) or path[: at + 1] in known else (*path[:at], *path[at + 1 :])

    def source(self, path: KeyPath) -> str:
        """Return `file:line` of a path."""
        match path:
            case ("rule", int(number)) if self._lines:
                line = self._lines[number]
            case _:
                line = self.places.line(self.places.find(path, key=True).start)
        return f"{self.name}:{line}"


def syntax_problem(name: str, text: str, error: tomllib.TOMLDecodeError) -> Problem:
    """Return the problem that `tomllib` found in `text`."""
    message = str(error)
    match = _POSITION.search(message)
    lines = [line.rstrip("\r") for line in text.split("\n")]
    line, column = len(lines), len(lines[-1]) + 1
    if match:
        message = message[: match.start()]
        if match[1]:
            line, column = int(match[1]), int(match[2])
    reason, hint = next((reason, hint) for sign, reason, hint in _SYNTAX if sign in message)
    shown = lines[line - 1]
    span = 1
    if reason is None:
        reason = message[:1].lower() + message[1:].rstrip(".")
    elif "{}" in reason:
        # The position from tomllib is after the repeated key or header; the caret belongs under it.
        repeated = _REPEATED.match(shown)
        if repeated is not None:
            column, span = repeated.start(1) + 1, len(repeated[1])
        reason = reason.format(repeated[1]) if repeated is not None else "a key occurs twice"
    return Problem(name, line, column, span, f"not valid TOML: {reason}", hint, shown)


_TWICE = "a key or table may stand only once; each rule begins with its own `[[rule]]`"
# Part of the message of tomllib, the message shown instead (None: the same; {}: the repeated key),
# and the hint.
_SYNTAX = (
    ("Cannot overwrite", "`{}` is defined twice", _TWICE),
    ("Duplicate inline", "a key occurs twice in an inline table", _TWICE),
    ("Cannot declare", "`{}` is opened twice", _TWICE),
    ("Cannot mutate", "`{}` adds to a table that is already complete", _TWICE),
    ("Unescaped", None, "write a backslash twice, or put the text in single quotes"),
    ('Expected "\'"', "a text in single quotes has no end", "close it with a single quote, on the same line"),
    ("Expected \"'", "a text in three single quotes has no end", "close it with three single quotes"),
    ("Invalid hex", None, "write `\\uXXXX` with four hexadecimal digits"),
    ("Unterminated", "a text has no end", "close it with the quote that opened it"),
    ("Illegal character", None, "close a string on the line that opened it; write other characters as `\\uXXXX`"),
    ("Invalid value", None, "put text in quotes, and close every list and table"),
    ("Invalid initial character", None, "a key is a word, a quoted text, or both joined by dots"),
    ("", None, "a line is `key = value`, a `[table]`, or a `[[rule]]`"),
)


def nearest(word: str, options: Iterable[str], *, otherwise: str = "", prefix: str = "") -> str:
    """Return `did you mean …?`, else `otherwise`, else all options; each is shown after `prefix`."""
    known = sorted(options)
    # Comparing takes time in the product of all lengths, and a very long word is not a typing error.
    is_short = len(word) <= _LONGEST_COMPARED and len(known) <= _MOST_COMPARED
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.6) if is_short else []
    if near:
        return f"did you mean `{prefix}{near[0]}`?"
    return otherwise or f"known: {', '.join(prefix + name for name in known)}"


def unreadable_problem(name: str, text: str, error: Exception) -> Problem:
    """Return the problem of a file that cannot be read: its bytes, its TOML, or the file itself."""
    match error:
        case UnicodeDecodeError():
            before = error.object[: error.start]
            line, column = before.count(b"\n") + 1, len(before) - before.rfind(b"\n")
            message = f"byte {error.object[error.start]:#04x} is not UTF-8"
            return Problem(name, line, column, 1, message, "save the file as UTF-8")
        case tomllib.TOMLDecodeError() if text.startswith("\ufeff"):
            message, hint = "the file begins with a byte order mark", "save it as UTF-8 without one"
            return Problem(name, 1, 1, 1, message, hint)
        case tomllib.TOMLDecodeError():
            return syntax_problem(name, text, error)
        case RecursionError():
            message, hint = "lists or tables are nested too deeply", "a rule file needs four levels at most"
        case OSError():
            message = f"cannot be read: {(error.strerror or 'unknown reason').lower()}"
            hint = "check the file and its permissions"
        case _:
            message, hint = "a number has too many digits", "a priority is 0 to 399"
    return Problem(name, 0, 0, 0, message, hint)

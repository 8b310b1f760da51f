"""Problems of a rule file: found by path, told with a place, a caret and a way out."""

import difflib
import re
import tomllib
from collections.abc import Iterable

import attrs

from permitry.config.locate import KeyPath, Places
from permitry.errors import Problem

__all__ = ["SourceText", "nearest", "syntax_problem"]

_POSITION = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


@attrs.frozen
class SourceText:
    """A rule file as it was read; `name` is how the user knows it."""

    name: str
    places: Places

    def problem(self, path: KeyPath, message: str, hint: str = "", *, key: bool = False) -> Problem:
        """Return a problem that points at the value (or the key) at `path`."""
        span = self.places.find(path, key=key)
        return self._problem_at(span.start, span.end - span.start, message, hint)

    def source(self, path: KeyPath) -> str:
        """Return `file:line` of a path."""
        return f"{self.name}:{self.places.line(self.places.find(path, key=True).start)}"

    def _problem_at(self, start: int, length: int, message: str, hint: str) -> Problem:
        line, column = self.places.line(start), self.places.column(start)
        text = self.places.line_text(line)
        span = max(1, min(length, len(text) - column + 1))
        return Problem(self.name, line, column, span, message, hint, text)


def syntax_problem(name: str, text: str, error: tomllib.TOMLDecodeError) -> Problem:
    """Return where and why `text` is not TOML."""
    message = str(error)
    match = _POSITION.search(message)
    lines = text.split("\n")
    line, column = len(lines), len(lines[-1]) + 1
    if match:
        message = message[: match.start()]
        if match[1]:
            line, column = int(match[1]), int(match[2])
    told = message[:1].lower() + message[1:].rstrip(".")
    return Problem(name, line, column, 1, f"not valid TOML: {told}", _syntax_hint(message), lines[line - 1])


def _syntax_hint(message: str) -> str:
    if "overwrite" in message or "twice" in message or "already" in message.lower():
        return "a key or table may stand only once; each rule begins with its own `[[rule]]`"
    if "string" in message.lower() or "character" in message.lower():
        return "close strings with the quote that opened them, on the same line"
    return "a line is `key = value`, a `[table]`, or a `[[rule]]`"


def nearest(word: str, options: Iterable[str], *, otherwise: str = "") -> str:
    """Return `did you mean …?` for the nearest option, else `otherwise`, else the list of options."""
    known = sorted(options)
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    if near:
        return f"did you mean `{near[0]}`?"
    return otherwise or f"known: {', '.join(known)}"

"""Regular expressions that are about a few texts, such as `^git (status|log)( |$)`: those texts, and how each ends."""

import enum
import itertools
import re
from collections.abc import Iterator

import attrs

__all__ = ["End", "Text", "texts_of"]

_MOST_TEXTS = 64
_END, _BOUNDARY = "\0", "\1"
_TOKEN = re.compile(
    r"(?P<open>\((?:\?:)?)|(?P<close>\))|(?P<bar>\|)|(?P<end>\$|\\b)|(?P<blank>(?:\\s|\[ \]| )[+*]?)"
    r"|(?P<text>\\[^\w\s]|[\w/:=,@%~-])|(?P<maybe>\?)"
)


class End(enum.Enum):
    """What may follow a text."""

    ANYTHING = "anything"
    BLANK = "a blank and anything"
    BOUNDARY = "what does not go on with the word"
    NOTHING = "nothing"


@attrs.frozen
class Text:
    """A text at the beginning of a command, and what may follow."""

    text: str
    end: End


class _UnknownError(Exception):
    """The expression has more than is read here."""


def texts_of(regex: str) -> list[Text] | None:
    """Return the texts that an expression is about from the beginning; None where these are not a few."""
    body = re.sub(r"\.\*\$?$", "", regex.removeprefix("^"))
    try:
        reader = _Reader(list(_tokens(body)))
        texts = reader.alternatives()
    except _UnknownError:
        return None
    if reader.at < len(reader.tokens) or len(texts) > _MOST_TEXTS:
        return None
    found = [_end(text) for text in texts]
    return found if all(each.text and not set(each.text) & {_END, _BOUNDARY} for each in found) else None


def _end(text: str) -> Text:
    if text.endswith(_END):
        return Text(text.removesuffix(_END), End.NOTHING)
    if text.endswith(_BOUNDARY):
        return Text(text.removesuffix(_BOUNDARY), End.BOUNDARY)
    return Text(text.strip(), End.BLANK if text.endswith(" ") else End.ANYTHING)


def _tokens(regex: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(regex):
        found = _TOKEN.match(regex, at)
        if found is None or found.lastgroup is None:
            raise _UnknownError
        yield found.lastgroup, found[0]
        at = found.end()


@attrs.define
class _Reader:
    tokens: list[tuple[str, str]]
    at: int = 0

    def alternatives(self) -> list[str]:
        """Return the texts up to the end of a group, which the caller checks."""
        found = self.sequence()
        while self.is_next("bar"):
            self.at += 1
            found += self.sequence()
        return found

    def sequence(self) -> list[str]:
        found = [""]
        while not (self.at == len(self.tokens) or self.is_next("bar") or self.is_next("close")):
            pieces = self.piece()
            if self.is_next("maybe"):
                self.at += 1
                pieces = ["", *pieces]
            found = [start + piece for start, piece in itertools.product(found, pieces)]
            if len(found) > _MOST_TEXTS:
                raise _UnknownError
        return found

    def piece(self) -> list[str]:
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "open":
            found = self.alternatives()
            if not self.is_next("close"):
                raise _UnknownError
            self.at += 1
            return found
        if kind == "blank":
            return [" ", ""] if text.endswith("*") else [" "]
        if kind == "maybe":
            raise _UnknownError
        return [{"$": _END, r"\b": _BOUNDARY}.get(text, text[-1])]

    def is_next(self, kind: str) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at][0] == kind

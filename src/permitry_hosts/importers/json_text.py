"""JSON with comments, as the settings of hosts are written, and the line of every value."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import attrs

from permitry.errors import ConfigError, Problem

__all__ = ["Located", "read_json"]

_Path: TypeAlias = tuple[str | int, ...]
_TOKEN = re.compile(
    r'[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/|(?P<text>"(?:[^"\\\n]|\\.)*")|(?P<mark>[\[\]{},:])|(?P<word>[\w.+-]+)',
    re.DOTALL,
)
_MOST_LEVELS = 64


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


@attrs.frozen
class Located:
    """A JSON value, and the line of each value inside by its path; the line of a key's value is that of the key."""

    value: Any
    lines: dict[_Path, int]


def read_json(text: str, name: str) -> Located:
    """Return a value with its lines; comments and a last comma are allowed. Raises: `ConfigError`."""
    reader = _Reader(text, name)
    value = reader.value((), reader.take())
    if (rest := reader.take()).kind != "end":
        raise reader.error(rest, "there is more after the value")
    return Located(value, reader.lines)


@attrs.define
class _Reader:
    source: str
    name: str
    lines: dict[_Path, int] = attrs.field(factory=dict)
    _tokens: Iterator[_Token] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._tokens = self._scan()

    def _scan(self) -> Iterator[_Token]:
        at = 0
        while at < len(self.source):
            found = _TOKEN.match(self.source, at)
            if found is None:
                raise self.error(_Token("", "", at), f"`{self.source[at]}` is not JSON")
            if found.lastgroup is not None:
                yield _Token(found.lastgroup, found[0], at)
            at = found.end()
        while True:
            yield _Token("end", "", at)

    def take(self) -> _Token:
        return next(self._tokens)

    def error(self, token: _Token, message: str) -> ConfigError:
        line = self.source.count("\n", 0, token.at) + 1
        column = token.at - self.source.rfind("\n", 0, token.at)
        shown = self.source.split("\n")[line - 1]
        return ConfigError([Problem(self.name, line, column, max(1, len(token.text)), message, text=shown)])

    def value(self, path: _Path, token: _Token) -> Any:  # noqa: ANN401 -- any JSON value
        self.lines.setdefault(path, self.source.count("\n", 0, token.at) + 1)
        if len(path) > _MOST_LEVELS:
            raise self.error(token, f"it is nested more than {_MOST_LEVELS} deep")
        match token.text:
            case "{":
                return dict(self.entries(path))
            case "[":
                return list(self.items(path))
        if token.kind in ("text", "word"):
            try:
                return json.loads(token.text)
            except ValueError:
                pass
        raise self.error(token, "a value is missing here")

    def entries(self, path: _Path) -> Iterator[tuple[str, Any]]:
        known: set[str] = set()
        while (token := self.take()).text != "}":
            if token.kind != "text":
                raise self.error(token, "the name of a key is missing here")
            key = json.loads(token.text)
            if key in known:
                raise self.error(token, f"the key `{key}` is there twice, and it is not certain which one counts")
            known.add(key)
            if (colon := self.take()).text != ":":
                raise self.error(colon, "a colon is missing here")
            self.lines[(*path, key)] = self.source.count("\n", 0, token.at) + 1
            yield key, self.value((*path, key), self.take())
            if self.is_last("}"):
                return

    def items(self, path: _Path) -> Iterator[Any]:
        number = 0
        while (token := self.take()).text != "]":
            yield self.value((*path, number), token)
            number += 1
            if self.is_last("]"):
                return

    def is_last(self, end: str) -> bool:
        token = self.take()
        if token.text not in (",", end):
            raise self.error(token, f"a comma or `{end}` is missing here")
        return token.text == end

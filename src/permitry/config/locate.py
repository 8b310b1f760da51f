"""The position of every key and value in a TOML text, so that an error can point at it.

`tomllib` returns values without positions. This scanner returns positions without values: it reads
text that `tomllib` has already accepted, so it need not check syntax, only find where keys and
values begin and end.
"""

import bisect
import re
import tomllib
from typing import NamedTuple, TypeAlias

import attrs

__all__ = ["STRING", "KeyPath", "Places", "Span", "header_lines", "locate"]

KeyPath: TypeAlias = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY_PART = re.compile(r"""[ \t]*([A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')[ \t]*""")
STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"""(?:"{0,2})|' + r"'''.*?'''(?:'{0,2})|" + r'"(?:[^"\\\n]|\\.)*"|' + r"'[^'\n]*'", re.DOTALL
)
_SCALAR = re.compile(r"[^,\]}#\n]+")


class Span(NamedTuple):
    """A range of text, in 0-based character offsets; `end` is exclusive."""

    start: int
    end: int


@attrs.frozen
class Places:
    """The spans of keys and values by path, such as `("rule", 0, "effect")`; a table's key span is its header."""

    text: str
    keys: dict[KeyPath, Span] = attrs.field(factory=dict)
    values: dict[KeyPath, Span] = attrs.field(factory=dict)
    _line_starts: list[int] = attrs.field(init=False, repr=False)

    @_line_starts.default
    def _indexed(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def find(self, path: KeyPath, *, key: bool = False) -> Span:
        """Return the span of the value (or key) of a path, or of the nearest table or list around it that has one."""
        first, second = (self.keys, self.values) if key else (self.values, self.keys)
        while path:
            if span := first.get(path) or second.get(path):
                return span
            path = path[:-1]
        return Span(0, 0)

    def line(self, offset: int) -> int:
        """Return the 1-based line of an offset."""
        return bisect.bisect_right(self._line_starts, offset)

    def column(self, offset: int) -> int:
        """Return the 1-based column of an offset."""
        return offset - self._line_starts[self.line(offset) - 1] + 1

    def line_text(self, line: int) -> str:
        """Return the text of a 1-based line, or nothing past the end."""
        lines = self.text.split("\n", line)
        return lines[line - 1].rstrip("\r") if line <= len(lines) else ""


def locate(text: str) -> Places:
    """Return the position of every key and value of `text`, which must be TOML that `tomllib` accepts."""
    scanner = _Scanner(Places(text))
    scanner.document()
    return scanner.places


def header_lines(text: str, name: str) -> tuple[int, ...]:
    """Return the 1-based lines of the headers `[[name]]`; none where a long string may hold one."""
    if '"""' in text or "'''" in text:
        return ()
    lines, line, end = [], 1, 0
    for header in re.finditer(rf"^[ \t]*\[\[[ \t]*{name}[ \t]*\]\]", text, re.MULTILINE):
        line += text.count("\n", end, header.start())
        end = header.start()
        lines.append(line)
    return tuple(lines)


class _Scanner:
    def __init__(self, places: Places) -> None:
        self.places = places
        self.text = places.text
        self.at = 0
        self.table: KeyPath = ()
        self.last_index: dict[KeyPath, int] = {}

    def document(self) -> None:
        self.blank()
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                self.header()
            else:
                self.pair(self.table)
            self.blank()

    def blank(self) -> None:
        self.at = next(_BLANK.finditer(self.text, self.at)).end()

    def header(self) -> None:
        start = self.at
        is_array = self.text.startswith("[[", start)
        self.at += 1 + is_array
        parts = self.key()
        self.at += 1 + is_array
        path: KeyPath = ()
        for name, _ in parts[:-1]:
            # A table without a header of its own has the position of the longer header with its name.
            self.places.keys.setdefault((*path, name), Span(start, self.at))
            path = self.inside((*path, name))
        path = (*path, parts[-1][0])
        if is_array:
            self.last_index[path] = self.last_index.get(path, -1) + 1
            self.places.keys.setdefault(path, Span(start, self.at))
        self.table = self.inside(path)
        self.places.keys[self.table] = Span(start, self.at)

    def inside(self, path: KeyPath) -> KeyPath:
        """Return the path of the table itself: of the last element, when the path names an array of tables."""
        return (*path, self.last_index[path]) if path in self.last_index else path

    def key(self) -> list[tuple[str, Span]]:
        parts = []
        while match := _KEY_PART.match(self.text, self.at):
            parts.append((_plain(match[1]), Span(match.start(1), match.end(1))))
            self.at = match.end()
            if not self.text.startswith(".", self.at):
                return parts
            self.at += 1
        return parts  # pragma: no cover -- a dot is followed by a key in all text tomllib accepts

    def pair(self, table: KeyPath) -> None:
        path = table
        for name, span in self.key():
            path = (*path, name)
            self.places.keys.setdefault(path, span)
        self.at += 1  # the equals sign
        self.value(path)

    def value(self, path: KeyPath) -> None:
        self.blank()
        start = self.at
        if self.text[start] == "[":
            self.array(path)
        elif self.text[start] == "{":
            self.inline_table(path)
        else:
            match = STRING.match(self.text, start) or _SCALAR.match(self.text, start)
            self.at = start + len(match[0].rstrip()) if match else start + 1
        self.places.values[path] = Span(start, self.at)

    def array(self, path: KeyPath) -> None:
        self.at += 1
        index = 0
        while self.more("]"):
            self.value((*path, index))
            index += 1

    def inline_table(self, path: KeyPath) -> None:
        self.at += 1
        while self.more("}"):
            self.pair(path)

    def more(self, closing: str) -> bool:
        """Step over blanks and a comma; return whether another element follows, else step over `closing`."""
        self.blank()
        if self.text.startswith(",", self.at):
            self.at += 1
            self.blank()
        if self.text.startswith(closing, self.at):
            self.at += 1
            return False
        return self.at < len(self.text)


def _plain(key: str) -> str:
    return next(iter(tomllib.loads(f"{key} = 0"))) if key[0] in "\"'" else key

"""The pieces of a TOML text that `tomllib` accepts, line by line."""

import re
from collections.abc import Iterator

import attrs

from permitry.config.locate import STRING

__all__ = ["Line", "lines_of"]

_TOKEN = re.compile(
    rf"(?P<text>{STRING.pattern})"
    r"|(?P<comment>#[^\n]*)|(?P<end>\n)|(?P<blank>[ \t]+)|(?P<mark>[\[\]{},=])|(?P<word>[^\s\[\]{},=\"'#]+)",
    re.DOTALL,
)
_PLAIN = re.compile(r"'[^'\"\\]*'")


@attrs.frozen
class Line:
    """The words and marks of a line, without the blanks between them, and its comment.

    A text of several lines is one word, exactly as it was written.
    """

    words: tuple[str, ...] = ()
    comment: str = ""


def lines_of(text: str) -> Iterator[Line]:
    """Yield the lines of a text, the last one also where no line end follows it."""
    words: list[str] = []
    comment = ""
    for token in _TOKEN.finditer(text):
        match token.lastgroup:
            case "end":
                yield Line(tuple(words), comment)
                words, comment = [], ""
            case "comment":
                comment = token[0].rstrip()
            case "text":
                words.append(_quote(token[0]))
            case "mark" | "word":
                words.append(token[0])
    if words or comment:
        yield Line(tuple(words), comment)


def _quote(text: str) -> str:
    """Return a text in double quotes where it has the same characters in them."""
    is_long = text.startswith("'''")
    return f'"{text[1:-1]}"' if not is_long and _PLAIN.fullmatch(text) else text

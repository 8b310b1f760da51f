"""A mark: a text that may open a block, its reader, the formats that write it; and plain readers."""

import re
from collections.abc import Iterator
from typing import Any, Final

import attrs

from permitry.messages.formats.cursor import Block, BrokenError, Cursor, Reader

__all__ = ["Mark", "close_thinking", "foreign_bar", "frame", "html_tag", "read_nothing", "wrapper"]

_TAG_END: Final = re.compile(r"[^<>\n]*+")


def _split(names: str) -> tuple[str, ...]:
    return tuple(names.split())


@attrs.frozen
class Mark:
    """A literal text that may open a block, the reader of the block, and the formats that write it.

    The reader gets a place behind the mark; it returns None when the block is not of its format. The first of the
    `formats`, which are given as one text, is the name of what is found; the others are of models that write the very
    same. `pattern` begins with the text, for a mark that counts only in certain places; one that `is_first` counts
    where a text begins: the prompt has what comes before it. `closer` is what its blocks may name as theirs. What
    `is_plain` could be a part of a sentence as well: its calls count only where no text follows them.
    """

    text: str
    read: Reader
    formats: tuple[str, ...] = attrs.field(default="", converter=_split)
    pattern: str | None = None
    closer: str | None = None
    is_plain: bool = False
    is_first: bool = False

    @property
    def format(self) -> str:
        """The name of what is found, empty for a mark that serves all formats."""
        return next(iter(self.formats), "")

    @property
    def is_token(self) -> bool:
        """Whether the mark is a token that a model has for it, and not words that people write."""
        return "|" in self.text or not self.text.isascii()

    def patterns(self) -> Iterator[tuple[str, str]]:
        """Yield the patterns of the mark and its closer, each with the text it begins with."""
        text = re.escape(self.text)
        place = rf"(?<=\A{text})" if self.is_first else ""
        yield self.pattern or f"{text}{place}", self.text
        if self.closer is not None:
            yield re.escape(self.closer), self.closer

    def is_at(self, cur: Cursor, pos: int) -> bool:
        """Return whether the mark counts at `pos`, where its text is."""
        if self.is_first:
            return cur.base + pos == 0
        return self.pattern is None or re.compile(self.pattern).match(cur.text, pos) is not None

    def serves(self, format_name: str) -> bool:
        """Return whether the mark counts when texts of this format are parsed."""
        return not self.formats or format_name in ("auto", *self.formats)


def frame(*, is_shown: bool = False, **parts: Any) -> Reader:  # noqa: ANN401 -- the fields of a block
    """Return a reader of a block that ends with its mark, which is content if it `is_shown`."""

    def read(cur: Cursor) -> Block:
        return Block(cur.pos, content=cur.piece if is_shown else "", **parts)

    return read


def close_thinking(closer: str) -> Reader:
    """Return a reader of thinking that must be closed."""

    def read(cur: Cursor) -> Block | None:
        is_closed = cur.find(closer, cur.pos) >= 0
        return Block(cur.pos, until=(closer,), is_thinking=True) if is_closed else None

    return read


def html_tag(name: str) -> Reader:
    """Return a reader of an opening tag of HTML, in which calls are quoted."""

    def read(cur: Cursor) -> Block | None:
        attributes = cur.take(_TAG_END)
        if not cur.has(">") or attributes[:1].strip():
            return None
        return Block(cur.pos, content=cur.piece, quotes=f"</{name}>")

    return read


def foreign_bar(signs: str, names: str) -> Reader:
    """Return a reader that refuses marks with a bar that no model has, but a server prints."""
    run, pattern = re.compile(signs), re.compile(names)

    def read(cur: Cursor) -> None:
        if pattern.fullmatch(cur.take(run)):
            raise BrokenError(cur.pos, "the marks are DeepSeek's, but for their bars")

    return read


def read_nothing(_: Cursor) -> None:
    """Read nothing: the mark is text."""


def wrapper(opener: str, closer: str, formats: str, *inner: str) -> Mark:
    """Return a mark that is dropped, with its closer, where one of the `inner` marks follows."""

    def read(cur: Cursor) -> Block | None:
        end = cur.pos
        cur.skip()
        return Block(end, closer=closer) if any(map(cur.at, inner)) else None

    return Mark(opener, read, formats, closer=closer)

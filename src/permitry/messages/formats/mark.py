"""The parts a format is made of: opening marks, and a reader for what follows each."""

from collections.abc import Callable
from typing import TypeAlias

import attrs

from permitry.messages.formats.call import Block
from permitry.messages.formats.cursor import Cursor

__all__ = ["Mark", "Reader", "wrapper"]


Reader: TypeAlias = Callable[[Cursor], Block | None]


@attrs.frozen
class Mark:
    """A literal text that may open a block, the format it belongs to, and the reader of the block.

    The reader gets a place behind the mark; it returns None when the block is not of its format. A mark
    without a format serves all. `aliases` are other names of models that write the very same. `pattern` begins with
    the text, for a mark that counts only in certain places. `closer` is what its blocks may name as theirs. What
    `is_plain` could be a part of a sentence as well: its calls count only where no text follows them.
    """

    text: str
    read: Reader
    format: str = ""
    aliases: tuple[str, ...] = ()
    pattern: str | None = None
    closer: str | None = None
    is_plain: bool = False

    @property
    def is_token(self) -> bool:
        """Whether the mark is a token that a model has for it, and none of the words people write."""
        return "|" in self.text or not self.text.isascii()

    def serves(self, format_name: str) -> bool:
        """Return whether the mark counts when texts of this format are parsed."""
        return not self.format or format_name in ("auto", self.format, *self.aliases)


def wrapper(opener: str, closer: str, inner: tuple[str, ...], formats: tuple[str, ...]) -> Mark:
    """Return a mark that is dropped, with its closer, where one of the `inner` marks follows."""

    def read(cur: Cursor) -> Block | None:
        end = cur.pos
        cur.skip()
        return Block(end, closer=closer) if any(map(cur.at, inner)) else None

    return Mark(opener, read, formats[0], formats[1:], closer=closer)

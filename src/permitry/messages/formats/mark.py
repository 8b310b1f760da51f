"""The parts a format is made of: an opening mark, a reader for what follows it, and the block the reader gives."""

from collections.abc import Callable
from typing import TypeAlias

import attrs

from permitry.messages.formats.call import TextCall
from permitry.messages.formats.scan import Scan

__all__ = ["Block", "Mark", "Reader", "wrapper"]


@attrs.frozen
class Block:
    """A piece of text a reader has understood, up to `end`.

    `content` is what of it remains text. With `until`, all that follows up to that closing text is reasoning
    (`is_thinking`) or plain content, whatever it looks like. `closer` is a closing mark that may come later and is to
    be dropped then. `is_stray` marks the end of reasoning that began before the text did. `quotes` is the text that
    ends a quotation which begins here, `ends` that of one which ends here, and behind an `is_last` one nothing is a
    call. `is_broken` says that the `note` is about a call that was refused, among others that were not.
    """

    end: int
    calls: tuple[TextCall, ...] = ()
    content: str = ""
    until: tuple[str, ...] = ()
    is_thinking: bool = False
    closer: str | None = None
    is_stray: bool = False
    quotes: str | None = None
    ends: str | None = None
    is_last: bool = False
    note: str | None = None
    is_broken: bool = False


Reader: TypeAlias = Callable[[Scan, int, int], Block | None]


@attrs.frozen
class Mark:
    """A literal text that may open a block, the format it belongs to, and the reader of the block.

    The reader gets the scan, the mark's start and its end; it returns None when the block is not of its format. A mark
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

    def read(scan: Scan, _: int, pos: int) -> Block | None:
        at = scan.skip(pos)
        return Block(pos, closer=closer) if any(scan.at(mark, at) for mark in inner) else None

    return Mark(opener, read, formats[0], formats[1:], closer=closer)

"""A place in the text that moves over what a reader understands of it."""

import re
from collections.abc import Callable, Sequence
from typing import Final, Self, TypeAlias

import attrs

from permitry.messages.formats.call import Block, TextCall
from permitry.messages.formats.scan import BrokenError, Scan

__all__ = ["Cursor", "Reader"]

_LONGEST_NAME: Final = 256


@attrs.define
class Cursor:
    """The place up to which a block is read that begins at `start`; at first it is behind the mark of the block.

    Where more text could change an answer, the scan raises `MoreError`. What had to be guessed at `is_repaired`.
    """

    scan: Scan
    start: int
    pos: int
    is_repaired: bool = False

    @property
    def text(self) -> str:
        """The text from `start` to here."""
        return self.scan.text[self.start : self.pos]

    def at(self, mark: str) -> bool:
        """Return whether `mark` comes next."""
        return self.scan.at(mark, self.pos)

    def skip(self) -> Self:
        """Move behind the blanks that come next."""
        self.pos = self.scan.skip(self.pos)
        return self

    def has(self, mark: str) -> bool:
        """Move behind `mark`; return whether it comes next."""
        is_next = self.scan.at(mark, self.pos)
        self.pos += len(mark) if is_next else 0
        return is_next

    def need(self, mark: str, message: str = "") -> None:
        """Move behind `mark`.

        Raises: `BrokenError` where something else comes next.
        """
        if not self.has(mark):
            raise BrokenError(self.pos, message or f"`{mark}` is missing")

    def take(self, characters: re.Pattern[str]) -> str:
        """Move behind the run of `characters` that comes next, and return it."""
        begin, self.pos = self.pos, self.scan.run(characters, self.pos)
        return self.scan.text[begin : self.pos]

    def until(self, mark: str, message: str = "") -> str:
        """Move behind the next `mark`; return the text before it.

        Raises: `BrokenError` where there is none.
        """
        begin, end = self.pos, self.scan.find(mark, self.pos)
        if end < 0:
            raise BrokenError(begin, message or f"`{mark}` is missing")
        self.pos = end + len(mark)
        return self.scan.text[begin:end]

    def until_before(self, mark: str, following: tuple[str, ...]) -> str:
        """Move to the first of `following` that comes right after a `mark`; return the text before the mark.

        Raises: `BrokenError` where there is none.
        """
        begin = self.pos
        end, after = self.scan.find_before(mark, following, begin)
        if end < 0:
            raise BrokenError(begin, f"`{mark}` is missing")
        self.pos = after
        return self.scan.text[begin:end]

    def rename(self, old: str, new: str) -> None:
        """Give what is read a name of its own, unless another format than `old` was asked for."""
        if self.scan.format == old:
            self.scan.format = new

    def call(self, name: str, arguments: object, *, call_id: object = None, format_name: str | None = None) -> TextCall:
        """Return the call from `start` to here.

        Raises: `BrokenError` for a name that can be none, or arguments that are not an object.
        """
        if not name or len(name) > _LONGEST_NAME or not name.isprintable() or name != name.strip():
            raise BrokenError(self.pos, "the name of the tool is missing or holds odd characters")
        if not isinstance(arguments, dict):
            raise BrokenError(self.pos, f"the arguments of `{name}` are not a JSON object")
        scan = self.scan
        return TextCall(
            name,
            arguments,
            format_name or scan.format,
            (scan.base + self.start, scan.base + self.pos),
            scan.tools.knows(name),
            self.is_repaired,
            call_id if isinstance(call_id, str) and call_id else None,
        )

    def block(
        self,
        name: str,
        arguments: object,
        *,
        call_id: object = None,
        format_name: str | None = None,
        note: str | None = None,
    ) -> Block:
        """Return the block of the one call that has been read, as `call` does."""
        call = self.call(name, arguments, call_id=call_id, format_name=format_name)
        return Block(self.pos, (call,), note=note)

    def close(self, calls: tuple[TextCall, ...], closers: Sequence[str], *, is_needed: bool = True) -> Block:
        """Return the block of calls up to one of `closers`, which may be missing where the text ends.

        Raises: `BrokenError` where it is missing elsewhere and `is_needed`.
        """
        end = self.pos
        if any(map(self.skip().has, closers)):
            return Block(self.pos, calls)
        if not is_needed:
            return Block(end, calls)
        if not self.scan.is_end(self.pos):
            raise BrokenError(end, f"`{closers[0]}` is missing")
        return Block(self.pos, calls, note=f"`{closers[0]}` is missing at the end of the text")


# Returns None for what is not a block of its format.
Reader: TypeAlias = Callable[[Cursor], Block | None]

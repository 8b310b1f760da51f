"""A text, and ways to look at it that know when its end has not come yet."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from permitry.core.json_values import MAX_DEPTH, strict_decoder
from permitry.errors import CallError
from permitry.messages.formats.tools import Tools

__all__ = ["LOOK_BACK", "BrokenError", "MoreError", "Scan", "depth_end", "unique"]

LOOK_BACK: Final = 80
_BLANKS: Final = re.compile(r"\s*+")


def _integer(text: str) -> int:
    if len(text) > _LONGEST_INTEGER:
        raise CallError("a number has too many digits")
    return int(text)


_LONGEST_INTEGER: Final = 1_200
_STRICT: Final = strict_decoder(_integer)
_LENIENT: Final = json.JSONDecoder(parse_int=str, parse_float=str)
# A string that is not closed goes on to the end, or each quote in it would be tried for an opening one.
_STRING_OR_BRACKET: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
_WINDOW: Final = 2_048
# A literal, an escape or a comma may still be cut at the end of what has come.
_MARGIN: Final = 16
_LOOK_BEHIND: Final = 64


class MoreError(Exception):
    """More text may change the answer; `wanted` is a text without which it will not."""

    def __init__(self, wanted: str | None = None) -> None:
        super().__init__(wanted)
        self.wanted = wanted


class BrokenError(Exception):
    """The text begins like a block of a format and is none; what was read of it up to `end` is not a call.

    `is_in_string` says that it broke inside a string: it is unknown where the string ends, and what looks like a call
    after that place may be a part of it. `is_meant` is False where a call was perhaps not meant at all.
    """

    def __init__(self, end: int, message: str = "", *, is_in_string: bool = False, is_meant: bool = True) -> None:
        super().__init__(message)
        self.end = end
        self.message = message
        self.is_in_string = is_in_string
        self.is_meant = is_meant


class Scan:
    """The text that is being parsed.

    INVARIANT: while the text `is_open`, no answer is given that more text could change: `MoreError` is raised instead.
    Every reader gets its knowledge of the text from these methods, so streams and whole texts give the same calls.
    """

    def __init__(self, text: str, tools: Tools, *, is_open: bool = False, base: int = 0) -> None:
        self.text = text
        self.tools = tools
        self.is_open = is_open
        self.base = base
        self.format = ""
        self.is_repairing = False
        self.first = ""
        self.is_doubtful = False
        self.prior = ""
        self.code: str | None = None
        self.opened: Mapping[str, int] = {}
        self._found: dict[str, tuple[int, int]] = {}

    @property
    def has_content(self) -> bool:
        """Whether anything but blanks was said so far.

        `first` is the character with which each line of that begins, any digit as 0, or a blank where they differ.
        """
        return bool(self.first)

    # Looking

    def find(self, mark: str, start: int) -> int:
        """Return where `mark` next occurs, or -1. Each mark is searched for only once through the whole text."""
        at = self._known(mark, start)
        if at is None:
            at = self.text.find(mark, start)
            self._found[mark] = (start, at)
        if at < 0 and self.is_open:
            raise MoreError(mark)
        return at

    def find_before(self, mark: str, following: tuple[str, ...], start: int) -> tuple[int, int]:
        """Return where `mark` next occurs with one of `following` after it, and where that one is; or -1 twice.

        A value may hold its own closing mark: the one that closes it is the one the next mark comes after.
        """
        key = f"{mark}\0{following[0]}"
        at = self._known(key, start)
        if at is None:
            at = self.find(mark, start)
            while at >= 0 and not any(self.at(each, self.skip(at + len(mark))) for each in following):
                at = self.find(mark, at + len(mark))
            self._found[key] = (start, at)
        return (at, self.skip(at + len(mark))) if at >= 0 else (-1, -1)

    def search(self, pattern: re.Pattern[str], start: int) -> int:
        """Return where `pattern` is next found, or -1. Each is searched for only once through the whole text."""
        at = self._known(pattern.pattern, start)
        if at is None:
            found = pattern.search(self.text, start)
            at = found.start() if found else -1
            self._found[pattern.pattern] = (start, at)
        if at < 0 and self.is_open:
            raise MoreError
        return at

    def _known(self, key: str, start: int) -> int | None:
        """Return what an earlier search has found, if it answers for `start` too."""
        since, at = self._found.get(key, (len(self.text) + 1, 0))
        return at if since <= start and (at < 0 or start <= at) else None

    def at(self, mark: str, pos: int) -> bool:
        """Return whether `mark` is at `pos`."""
        if self.text.startswith(mark, pos):
            return True
        if self.is_open and len(self.text) - pos < len(mark) and mark.startswith(self.text[pos:]):
            raise MoreError
        return False

    def skip(self, pos: int) -> int:
        """Return the first place from `pos` on that is not a blank."""
        return self.run(_BLANKS, pos)

    def run(self, characters: re.Pattern[str], pos: int) -> int:
        """Return the end of the run of `characters` at `pos`; the pattern must match one character after the other."""
        found = characters.match(self.text, pos)
        end = found.end() if found else pos
        if self.is_open and end >= len(self.text):
            raise MoreError
        return end

    def is_end(self, pos: int) -> bool:
        """Return whether the text ends at `pos`."""
        if pos < len(self.text):
            return False
        if self.is_open:
            raise MoreError
        return True

    def before(self, pos: int) -> str:
        """Return up to `LOOK_BACK` characters before `pos`."""
        lead = self.text[max(pos - LOOK_BACK, 0) : pos]
        return lead if len(lead) == LOOK_BACK else f"{self.prior}{lead}"[-LOOK_BACK:]

    # JSON

    def read_json(self, pos: int, closer: str | None = None) -> tuple[Any, int]:
        """Return the JSON object or list at `pos`, and its end. What JSON does not define is refused.

        Raises: `BrokenError`, which ends behind `closer` or where the text does when the JSON broke inside a string.
        """
        try:
            return self.try_json(pos)
        except BrokenError as error:
            if not error.is_in_string:
                raise
            raise BrokenError(self.end_of_broken(error.end, closer), error.message, is_in_string=True) from None

    def try_json(self, pos: int) -> tuple[Any, int]:
        """Return what `read_json` does; an error ends where the JSON breaks.

        Raises: `BrokenError`.
        """
        try:
            value, end = self._decode(_STRICT, pos)
        except CallError as error:
            raise BrokenError(self._decode(_LENIENT, pos)[1], str(error)) from None
        return value, end

    def end_of_broken(self, start: int, closer: str | None) -> int:
        """Return where a block ends that broke inside a string: after a `closer` that follows a bracket.

        Without one, all that follows may be a part of the string.
        """
        at = self.find(closer, start) if closer else -1
        while closer and at >= 0 and not self.text[max(at - _LOOK_BEHIND, start) : at].rstrip().endswith(("}", "]")):
            at = self.find(closer, at + 1)
        if closer and at >= 0:
            return at + len(closer)
        if self.is_open:
            raise MoreError(closer)
        return len(self.text)

    def _decode(self, decoder: json.JSONDecoder, pos: int) -> tuple[Any, int]:
        """Decode a piece of the text, and a larger one where it is cut: the cost is that of what is read."""
        size = _WINDOW
        while True:
            window = self.text[pos : pos + size]
            is_all = pos + size >= len(self.text)
            try:
                value, end = decoder.raw_decode(window)
            except json.JSONDecodeError as error:
                is_cut = error.pos >= len(window) - _MARGIN or error.msg.startswith("Unterminated")
                if is_cut and not is_all:
                    size *= 8
                    continue
                if is_cut and self.is_open:
                    raise MoreError from None
                raise BrokenError(
                    pos + max(error.pos, 1), f"not valid JSON: {error.msg}", is_in_string=_is_in_string(window, error)
                ) from None
            except RecursionError:
                raise BrokenError(pos + depth_end(window, len(window)), _TOO_DEEP) from None
            deep = depth_end(window, end)
            if deep >= 0:
                raise BrokenError(pos + deep, _TOO_DEEP)
            return value, pos + end


_TOO_DEEP: Final = f"nested deeper than {MAX_DEPTH} levels"


def _is_in_string(text: str, error: json.JSONDecodeError) -> bool:
    """Return whether JSON broke inside a string, or right after one: a quote in it may have closed it too early."""
    if error.msg.startswith(("Invalid control", "Invalid \\", "Unterminated")):
        return True
    lead = text[max(error.pos - _LOOK_BEHIND, 0) : error.pos].rstrip()
    return error.msg.endswith("delimiter") and lead.endswith('"')


def depth_end(text: str, limit: int, most: int = MAX_DEPTH) -> int:
    """Return the first place before `limit` where JSON text is nested in more than `most` brackets, or -1."""
    if text.count("{", 0, limit) + text.count("[", 0, limit) <= most:
        return -1
    depth = 0
    for found in _STRING_OR_BRACKET.finditer(text, 0, limit):
        if found.group() in ("[", "{"):
            depth += 1
        elif found.group() in ("]", "}"):
            depth -= 1
        if depth > most:
            return found.end()
    return -1


def unique(pairs: Iterable[tuple[str, object]], end: int) -> dict[str, object]:
    """Return the object of `pairs`.

    Raises: `BrokenError` for a key that comes twice: it is unknown which one is meant.
    """
    result: dict[str, object] = {}
    for key, value in pairs:
        if key in result:
            raise BrokenError(end, f"the argument `{key[:60]}` occurs twice")
        result[key] = value
    return result

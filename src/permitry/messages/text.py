"""Calls that models write as text, found without being given the format.

`parse_text` takes a whole text, `TextCallStream` its pieces; both give the same. Nothing is evaluated, nothing
recurses, and the time grows with the length of the text. What is not a call beyond doubt stays text, with a note where
it looked like one.
"""

import difflib
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

import attrs

from permitry.errors import CallError
from permitry.messages.formats import FORMATS, marks_of
from permitry.messages.formats.bare_json import DATA_FENCES
from permitry.messages.formats.call import Diagnostic, ParsedText, TextCall
from permitry.messages.formats.kimi import SECTIONS, is_last_section
from permitry.messages.formats.mark import Block
from permitry.messages.formats.scan import BrokenError, MoreError, Scan
from permitry.messages.formats.thinking import CLOSERS
from permitry.messages.formats.tools import Tools

__all__ = ["FORMATS", "Diagnostic", "ParsedText", "TextCall", "TextCallStream", "parse_text"]

_TICKS: Final = re.compile(r"`*+")
_LANGUAGE: Final = re.compile(r"[\w+-]*+")


def parse_text(
    text: str,
    tools: Iterable[Any] | None = None,
    format: str = "auto",  # noqa: A002 -- the word for it in every server's settings
    *,
    repair: bool = False,
    in_thinking: bool = False,
) -> ParsedText:
    """Return the calls in a model's `text`, and the text and the reasoning around them.

    `tools` are the declared ones: tool objects as OpenAI, Anthropic, Gemini or MCP have them, objects with `name` and
    `parameters`, names alone, or a mapping of names to JSON schemas. They decide the types of arguments that are
    written as text, and which names are known. `format` is one of `FORMATS`. With `repair`, some faults are mended, and
    the call says so. `in_thinking` is for models whose text begins inside their reasoning.

    Never raises because of the text. Raises: `CallError` for an unknown format.
    """
    walk = _Walk(format, Tools(tools), is_repairing=repair, in_thinking=in_thinking)
    walk.run(text, is_open=False)
    return walk.result()


class TextCallStream:
    """Finds calls in a text that comes in pieces.

    `feed` returns what the piece made certain, `finish` what `parse_text` gives for all pieces together. What may still
    become a call is held back. One thing a stream learns too late: text before a `</think>` that nothing opened was
    given as content, and is reasoning in the end.
    """

    def __init__(
        self,
        tools: Iterable[Any] | None = None,
        format: str = "auto",  # noqa: A002 -- as in parse_text
        *,
        repair: bool = False,
        in_thinking: bool = False,
    ) -> None:
        self._walk = _Walk(format, Tools(tools), is_repairing=repair, in_thinking=in_thinking)
        self._held = ""
        self._pending: list[str] = []
        self._waiting = 0
        self._total = 0
        self._spent = 0
        self._is_finished = False

    def feed(self, chunk: str) -> ParsedText:
        """Return the calls, content and reasoning that are certain now and were not before.

        Raises: `CallError` after `finish`; `TypeError` for what is not text, and the stream goes on.
        """
        if self._is_finished:
            raise CallError("the stream is finished; begin a new one")
        if not isinstance(chunk, str):
            raise TypeError(f"a piece of the text is a string, not {type(chunk).__name__}; skip empty pieces")
        self._pending.append(chunk)
        self._waiting += len(chunk)
        self._total += len(chunk)
        return self._parse() if chunk and self._is_worthwhile(chunk) else ParsedText()

    def finish(self) -> ParsedText:
        """Return the parsed whole, as `parse_text` does."""
        if not self._is_finished:
            self._is_finished = True
            self._walk.run(self._held + "".join(self._pending), is_open=False)
            self._held, self._pending = "", []
        return self._walk.result()

    def _is_worthwhile(self, chunk: str) -> bool:
        """Return whether to look at what is held again: work must not grow faster than the text."""
        size = len(self._held) + self._waiting
        if self._spent + size > _EFFORT * self._total + _ALWAYS and size < 2 * len(self._held):
            return False
        wanted = self._walk.wanted
        if not wanted or not self._held:
            return True
        tail = "".join(self._pending[-len(wanted) - 1 : -1])[-len(wanted) :]
        return wanted in f"{self._held[-len(wanted) :] if len(tail) < len(wanted) else ''}{tail}{chunk}"

    def _parse(self) -> ParsedText:
        text = self._held + "".join(self._pending)
        self._pending, self._waiting = [], 0
        self._spent += len(text)
        before = self._walk.sizes()
        end = self._walk.run(text, is_open=True)
        self._held = text[end:]
        return self._walk.result(before)


_EFFORT: Final = 32
_ALWAYS: Final = 65_536
_MOST_NOTES: Final = 64
_MIXED: Final = " "
# What ends one message and begins another is still needed.
_NEXT: Final = "<|start|>"
_KIMI_CLOSER: Final = "</think>"


class _Walk:
    """Goes through a text once, from mark to mark, and keeps what it finds; the text may come in several parts."""

    def __init__(self, format_name: str, tools: Tools, *, is_repairing: bool, in_thinking: bool) -> None:
        if format_name not in FORMATS:
            near = difflib.get_close_matches(str(format_name), FORMATS, n=1)
            hint = f"did you mean `{near[0]}`?" if near else f"known: {', '.join(FORMATS)}"
            raise CallError(f"unknown format `{format_name}`; {hint}")
        self.wanted: str | None = None
        self._format = format_name
        self._marks = marks_of(format_name)
        self._tools = tools
        self._is_repairing = is_repairing
        self._base = 0
        self._prior = ""
        self._calls: list[TextCall] = []
        self._notes: list[Diagnostic] = []
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._first = ""
        self._is_fresh = True
        self._has_thought = in_thinking
        self._until: tuple[str, ...] = CLOSERS if in_thinking else ()
        self._is_thinking = in_thinking
        self._opened: dict[str, int] = {}
        self._code: str | None = None
        self._ticks = 0
        self._is_doubtful = False

    def run(self, text: str, *, is_open: bool) -> int:
        """Take in `text` as far as it is certain; return where that ends. All of it is, unless it `is_open`."""
        scan = Scan(text, self._tools, is_open=is_open, base=self._base)
        scan.is_repairing, scan.opened, scan.prior = self._is_repairing, self._opened, self._prior
        self.wanted = None
        end = self._walk(scan)
        self._base += end
        self._prior = scan.before(end)
        return end

    def sizes(self) -> tuple[int, int, int, int]:
        """Return how much was found so far, for `result` to leave out."""
        return len(self._calls), len(self._content), len(self._reasoning), len(self._notes)

    def result(self, since: tuple[int, int, int, int] = (0, 0, 0, 0)) -> ParsedText:
        """Return what was found, or what was found since."""
        calls, content, reasoning, notes = since
        return ParsedText(
            tuple(self._calls[calls:]),
            "".join(self._content[content:]),
            "".join(self._reasoning[reasoning:]),
            tuple(self._notes[notes:]),
        )

    def _walk(self, scan: Scan) -> int:
        pos, text = 0, scan.text
        limit = -1
        while True:
            if self._until:
                pos = self._pass(scan, pos)
                if self._until:
                    return pos
            found = self._marks.pattern.search(text, pos)
            if limit < pos:
                limit = len(text) - (self._partial(text, pos) if scan.is_open else 0)
            if found is None or found.start() >= limit:
                self._say(text[pos:limit])
                return limit
            self._say(text[pos : found.start()])
            pos = found.start()
            try:
                pos = self._take(scan, pos, found.group())
            except MoreError as more:
                self.wanted = more.wanted
                return pos

    def _pass(self, scan: Scan, pos: int) -> int:
        """Skip text in which nothing is a call, up to the closing mark that ends it."""
        found = _any_of(self._until).search(scan.text, pos)
        section = -1 if found else self._section(scan, pos)
        if found:
            end = found.start()
        elif section >= 0:
            end = section
            self.wanted = self._until[0] if len(self._until) == 1 else None
        else:
            marks = (*self._until, *SECTIONS) if scan.is_open else ()
            end = len(scan.text) - max((_overlap(scan.text, pos, mark) for mark in marks), default=0)
        piece = scan.text[pos:end]
        if self._is_thinking and piece:
            self._reasoning.append(piece)
        else:
            self._say(piece)
        if found or (section >= 0 and not scan.is_open):
            self._until = ()
        return found.end() if found and found.group() != _NEXT else end

    def _section(self, scan: Scan, pos: int) -> int:
        """Return where thinking that nothing closes ends in calls of Kimi, or may do so, or -1."""
        if not self._is_thinking or _KIMI_CLOSER not in self._until or SECTIONS[0] not in self._marks.readers:
            return -1
        found = _any_of(SECTIONS).search(scan.text, pos)
        if found is None or not (scan.is_open or is_last_section(scan, found.start())):
            return -1
        return found.start()

    def _take(self, scan: Scan, start: int, text: str) -> int:
        """Take in the block that begins with the mark `text`, or the mark as text; return its end."""
        scan.code, scan.first, scan.is_doubtful = self._code, self._first, self._is_doubtful
        if self._opened.get(text):
            self._opened[text] -= 1
            return start + len(text)
        for mark, pattern in self._marks.readers[text]:
            if pattern is not None and not pattern.match(scan.text, start):
                continue
            scan.format = mark.format if self._format == "auto" or not mark.format else self._format
            try:
                block = _unquoted(scan, start, mark.read(scan, start, start + len(mark.text)))
            except BrokenError as error:
                return self._refuse(scan, start, error)
            if block is not None:
                self._keep(scan, start, block)
                return block.end
        self._fence(scan, start, text)
        self._say(scan.text[start])
        return start + 1

    def _refuse(self, scan: Scan, start: int, error: BrokenError) -> int:
        end = max(error.end, start + 1)
        self._is_doubtful = self._is_doubtful or error.is_in_string
        self._note(scan, error.message, start, end, is_broken=error.is_meant)
        self._say(scan.text[start:end])
        return end

    def _keep(self, scan: Scan, start: int, block: Block) -> None:
        if block.is_stray:
            self._end_thought(scan.text[start : block.end])
        self._calls += self._placed(block, start)
        self._say(block.content)
        if block.until:
            self._until, self._is_thinking = block.until, block.is_thinking
            self._has_thought = self._has_thought or block.is_thinking
        if block.closer:
            self._opened[block.closer] = self._opened.get(block.closer, 0) + 1
        self._note(scan, block.note, start, block.end, is_broken=block.is_broken)

    def _placed(self, block: Block, start: int) -> list[TextCall]:
        """Return the calls of a block; the first begins where it does, the last ends where it does."""
        calls = list(block.calls)
        if calls and calls[0].span[0] != self._base + start:
            calls[0] = attrs.evolve(calls[0], span=(self._base + start, calls[0].span[1]))
        if calls and calls[-1].span[1] != self._base + block.end:
            calls[-1] = attrs.evolve(calls[-1], span=(calls[-1].span[0], self._base + block.end))
        return calls

    def _note(self, scan: Scan, message: str | None, start: int, end: int, *, is_broken: bool) -> None:
        if message and len(self._notes) < _MOST_NOTES:
            is_last = len(self._notes) == _MOST_NOTES - 1
            message = "too many broken marks; no further notes" if is_last else message
            name = scan.format if scan.format in FORMATS else None
            self._notes.append(Diagnostic(message, self._base + start, self._base + end, name, is_broken))

    def _end_thought(self, mark: str) -> None:
        """Take what came before for reasoning: the text began inside it. Calls are never taken back."""
        if self._has_thought or self._calls:
            self._say(mark)
            return
        self._has_thought = True
        self._reasoning, self._content, self._first, self._is_fresh = self._content, [], "", True

    def _fence(self, scan: Scan, start: int, text: str) -> None:
        """Keep track of blocks of code. Who needs more than three backticks quotes a block, whatever its language."""
        if text != "```" or scan.before(start).endswith("`"):
            return
        end = scan.run(_TICKS, start)
        if self._code is None:
            self._ticks = end - start
            language = scan.text[end : scan.run(_LANGUAGE, end)].lower()
            self._code = language if self._ticks == len(text) else "`" * self._ticks
        elif end - start >= self._ticks:
            self._code = None

    def _say(self, piece: str) -> None:
        if piece:
            self._content.append(piece)
            if self._first != _MIXED:
                self._compare_lines(piece)

    def _compare_lines(self, piece: str) -> None:
        """Keep in mind with which character all lines of the content begin, or that they differ."""
        for number, line in enumerate(piece.split("\n")):
            self._is_fresh = self._is_fresh or number > 0
            char = line.lstrip()[:1]
            if char and self._is_fresh:
                char = "0" if char.isdigit() else char
                self._first = char if self._first in ("", char) else _MIXED
                self._is_fresh = False

    def _partial(self, text: str, pos: int) -> int:
        """Return the length of the longest start of a mark that `text` ends in."""
        marks = self._marks
        longest = min(marks.longest - 1, len(text) - pos)
        return next((size for size in range(longest, 0, -1) if text[-size:] in marks.starts), 0)


def _unquoted(scan: Scan, start: int, block: Block | None) -> Block | None:
    """Return the block, unless it is in backticks or in code: that is writing about it.

    Raises: `BrokenError` for calls; a mark that opens thinking is text then.
    """
    if block is None or not (block.calls or block.until):
        return block
    if scan.before(start).endswith("`") and scan.at("`", block.end):
        where = "backticks"
    elif scan.code is not None and scan.code not in DATA_FENCES and scan.find("```", block.end) >= 0:
        where = "a block of code"
    else:
        return block
    if block.calls:
        raise BrokenError(block.end, f"a call in {where} is a quotation", is_meant=False)
    return None


@lru_cache(maxsize=128)
def _any_of(texts: tuple[str, ...]) -> "re.Pattern[str]":
    return re.compile("|".join(map(re.escape, texts)))


def _overlap(text: str, pos: int, mark: str) -> int:
    longest = min(len(mark) - 1, len(text) - pos)
    return next((size for size in range(longest, 0, -1) if text.endswith(mark[:size])), 0)

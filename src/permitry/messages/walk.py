"""The walk through a text, from mark to mark: what is found, and what is only quoted."""

import difflib
import re
from functools import lru_cache
from types import MappingProxyType
from typing import Final

import attrs

from permitry.errors import CallError
from permitry.messages.formats.cursor import (
    Block,
    BrokenError,
    Cursor,
    Diagnostic,
    MoreError,
    ParsedText,
    Tools,
)
from permitry.messages.formats.json_calls import DATA_FENCES, SECTIONS, is_last_section
from permitry.messages.formats.marks import CLOSERS, FENCES, FORMATS, STRAY, Mark, marks_of
from permitry.messages.formats.quoting import Found, Lines, Wrappers, is_enclosed

__all__ = ["Walk"]

_LINE: Final = re.compile(r"[^\n]*+")
_LANGUAGE: Final = re.compile(r"[ \t]*+[\w+-]*+")
_TICKS, _TILDES = FENCES
_RUNS: Final = MappingProxyType({fence: re.compile(f"{fence[0]}*+") for fence in FENCES})
_MOST_NOTES: Final = 64
# One too many behind a list or an object is not text.
_BRACKETS: Final = "]} \t\r\n"
# What ends one message and begins another is still needed.
_NEXT: Final = "<|start|>"
_KIMI_CLOSER: Final = "</think>"
_LONGEST_STRAY: Final = max(map(len, STRAY))

_IN_LINE: Final = "a call in a quoted line is a quotation"
_IN_TICKS: Final = "a call in backticks or quotation marks is a quotation"
_IN_CODE: Final = "a call in a block of code is a quotation"
_IN_INDENTED: Final = "a call in an indented block is a quotation"
_IN_TEXT: Final = "a call that text follows is a quotation, where nothing marks the call"
_IN_THOUGHT: Final = "a mark that ends thinking follows the call, so it was perhaps only thought of"


class Walk:
    """Goes through a text once, from mark to mark, and keeps what it finds; the text may come in several parts.

    INVARIANT: no call is certain before the text ends. What follows it may tell that it was quoted, or only thought.
    """

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
        self._notes: list[Diagnostic] = []
        self._reasoning: list[str] = []
        self._has_thought = in_thinking
        self._until: tuple[str, ...] = CLOSERS if in_thinking else ()
        self._is_thinking = in_thinking
        self._shown = [0, 0, 0]
        self._forget()

    def _forget(self) -> None:
        """Begin again, but for the reasoning: what was said so far was a part of it."""
        self._content: list[str | Found] = []
        self._found: list[Found] = []
        self._plain: list[Found] = []
        self._quotes: dict[str, int] = {}
        self._wrappers = Wrappers()
        self._is_wrapped = False
        self._lines = Lines()
        self._at = 0
        self._code: str | None = None
        self._fence = ""
        self._in_fence = 0
        self._is_doubtful = False
        self._is_over = False
        self._tail = ""

    def run(self, text: str, *, is_open: bool) -> int:
        """Take in `text` as far as it is certain; return where that ends. All of it is, unless it `is_open`."""
        cur = Cursor(text, self._tools, is_open, self._base, self._prior, self._is_repairing)
        self.wanted = None
        self._at = 0
        end = self._walk(cur)
        self._move(cur, end)
        self._base += end
        self._prior = cur.before(end)
        return end

    def certain(self) -> ParsedText:
        """Return what is certain and was not returned before; not what a call comes before."""
        (start, thought_before, noted), content = self._shown, self._content
        end = start
        while end < len(content) and not isinstance(content[end], Found):
            end += 1
        said, thought = "".join(map(str, content[start:end])), "".join(self._reasoning[thought_before:])
        self._shown = [end, len(self._reasoning), len(self._notes)]
        return ParsedText((), said, thought, tuple(self._notes[noted:]))

    def result(self) -> ParsedText:
        """Return what was found, once the text has ended."""
        self._quote([found for found in self._found if self._lines.flat_at >= found.flat_from], _IN_INDENTED)
        for found in self._found:
            if not found.is_quoted:
                self._add_note(found.note, found.place, found.calls[0].format, is_broken=found.is_broken)
                found.note = None
        return ParsedText(
            tuple(call for found in self._found if not found.is_quoted for call in found.calls),
            self._text(),
            "".join(self._reasoning),
            tuple(sorted(self._notes, key=lambda note: note.start)),
        )

    def _text(self) -> str:
        return "".join(map(str, self._content))

    # Reading

    def _walk(self, cur: Cursor) -> int:
        pos, limit, text = 0, -1, cur.text
        while True:
            if self._is_over:
                self._is_thinking = False
                self._skip(text[pos:])
                return len(text)
            if self._until:
                pos = self._pass(cur, pos)
                if self._until:
                    return pos
            found = self._marks.pattern.search(text, pos)
            if limit < pos:
                limit = len(text) - (self._partial(text, pos) if cur.is_open else 0)
            if found is None or found.start() >= limit:
                self._say_up_to(cur, pos, limit)
                return limit
            self._say_up_to(cur, pos, found.start())
            pos = found.start()
            try:
                pos = self._take(cur, pos, found.group())
            except MoreError as more:
                self.wanted = more.wanted
                return pos

    def _pass(self, cur: Cursor, pos: int) -> int:
        """Skip text in which nothing is a call, up to the closing mark that ends it."""
        found = _any_of(self._until).search(cur.text, pos)
        section = -1 if found else self._section(cur, pos)
        if found:
            end = found.start()
        elif section >= 0:
            end = section
            self.wanted = self._until[0] if len(self._until) == 1 else None
        else:
            marks = (*self._until, *SECTIONS) if cur.is_open else ()
            end = len(cur.text) - max((_overlap(cur.text, pos, mark) for mark in marks), default=0)
        self._move(cur, end)
        self._skip(cur.text[pos:end])
        if found or (section >= 0 and not cur.is_open):
            self._until, self._tail = (), ""
        return found.end() if found and found.group() != _NEXT else end

    def _skip(self, piece: str) -> None:
        """Keep text in which nothing is a call."""
        if self._is_thinking and piece:
            self._reasoning.append(piece)
            return
        self._say(piece)
        self._tail += piece
        self._refuse_thoughts(self._tail)
        self._tail = self._tail[-_LONGEST_STRAY:]

    def _section(self, cur: Cursor, pos: int) -> int:
        """Return where thinking that nothing closes ends in calls of Kimi, or may do so, or -1."""
        if not self._is_thinking or _KIMI_CLOSER not in self._until or SECTIONS[0] not in self._marks.readers:
            return -1
        found = _any_of(SECTIONS).search(cur.text, pos)
        if found is None or not (cur.is_open or is_last_section(cur, found.start())):
            return -1
        return found.start()

    def _take(self, cur: Cursor, start: int, text: str) -> int:
        """Take in the block that begins with the mark `text`, or the mark alone; return its end."""
        cur.code, cur.first, cur.is_doubtful = self._code, self._lines.first, self._is_doubtful
        cur.opened = self._wrappers.opened
        if self._wrappers.opened.get(text):
            begin = self._wrappers.close(cur, text, start + len(text))
            self._quote([] if begin is None else self._found[begin:], _IN_TICKS)
            return start + len(text)
        for mark in self._marks.readers[text]:
            if not mark.is_at(cur, start):
                continue
            cur.format = mark.format if self._format == "auto" or not mark.format else self._format
            try:
                block = mark.read(cur.begin(start, start + len(mark.text)))
                why = self._quotation(cur, start, block)
            except BrokenError as error:
                return self._refuse(cur, start, error)
            if block is not None and why is None:
                self._keep(cur, start, block, mark)
                return block.end
            if block is not None and block.calls:
                return self._refuse(cur, start, BrokenError(block.end, why or "", is_meant=False))
        if text in FENCES:
            return self._take_fence(cur, start, text)
        self._say(cur.text[start])
        return start + 1

    def _quotation(self, cur: Cursor, start: int, block: Block | None) -> str | None:
        """Return why a block is a quotation, or None: what is written about calls is text."""
        if block is None or not any((block.calls, block.until, block.closer, block.quotes, block.is_last)):
            return None
        if self._lines.is_quoted and not block.until:
            return _IN_LINE
        if is_enclosed(cur, start, block.end) or (block.calls and self._wrappers.are_closed(cur, block.end)):
            return _IN_TICKS
        if self._lines.is_in_ticks and "`" in cur.text[block.end : cur.run(_LINE, block.end)]:
            return _IN_TICKS
        if block.calls or block.closer or self._code is None:
            return None
        is_code = block.is_last or self._code not in DATA_FENCES
        return _IN_CODE if is_code and cur.find(self._fence, block.end) >= 0 else None

    def _refuse(self, cur: Cursor, start: int, error: BrokenError) -> int:
        end = max(error.end, start + 1)
        self._is_doubtful |= error.is_in_string
        self._refuse_thoughts(cur.text[start:end])
        self._note(cur, error.message, start, end, is_broken=error.is_meant and not self._lines.is_quoted)
        self._say_up_to(cur, start, end)
        return end

    def _refuse_thoughts(self, text: str) -> None:
        """Take no call before `text` for one, if thinking may end there that nothing opened."""
        if self._found and _any_of(STRAY).search(text):
            self._quote(self._found, _IN_THOUGHT, is_broken=True)

    def _keep(self, cur: Cursor, start: int, block: Block, mark: Mark) -> None:
        if block.is_stray:
            self._end_thought(cur, start, block.end)
        if block.ends:
            # Nothing may have opened it: then all before it is quoted.
            begin = self._quotes.pop(block.ends, 0 if block.ends.startswith("<") else len(self._found))
            self._quote(self._found[begin:], f"a call before `{block.ends}` is a quotation")
        if block.calls:
            self._keep_calls(cur, start, block, mark)
        else:
            self._say(block.content)
            self._note(cur, block.note, start, block.end, is_broken=block.is_broken)
        if block.until:
            self._until, self._is_thinking = block.until, block.is_thinking
            self._has_thought |= block.is_thinking
        if block.closer:
            self._wrappers.open(cur, start, block.closer, len(self._found))
            self._is_wrapped |= not self._lines.is_indented
        if block.quotes:
            self._quotes.setdefault(block.quotes, len(self._found))
        self._is_over |= block.is_last

    def _keep_calls(self, cur: Cursor, start: int, block: Block, mark: Mark) -> None:
        """Keep calls; the first begins where the block does, the last ends with it, but for content."""
        place, calls = (self._base + start, self._base + block.end), list(block.calls)
        calls[0] = attrs.evolve(calls[0], span=(place[0], calls[0].span[1]))
        calls[-1] = attrs.evolve(calls[-1], span=(calls[-1].span[0], place[1] - len(block.content)))
        text = cur.text[start : block.end]
        found = Found(tuple(calls), text, block.content, place, block.note, is_broken=block.is_broken)
        self._found.append(found)
        self._content.append(found)
        if self._lines.is_indented and not self._is_wrapped and self._code is None:
            found.flat_from = len(self._found) if mark.is_token else 0
        if mark.is_plain:
            self._plain.append(found)
        self._lines.say(block.content, len(self._found))

    def _take_fence(self, cur: Cursor, start: int, text: str) -> int:
        """Keep track of blocks of code; return the end of the mark that begins or ends one, as far as it frames it.

        Who needs more than three backticks quotes a block, whatever its language.
        """
        end = cur.run(_RUNS[text], start)
        marks = cur.text[start:end]
        if self._code is not None:
            is_end = marks.startswith(self._fence)
            if is_end:
                self._end_fence()
            self._say(marks, is_frame=is_end)
            return end
        if text == _TILDES and self._lines.head.strip():
            self._say(marks)
            return end
        stop = cur.run(_LANGUAGE, end)
        self._fence, self._in_fence = marks, len(self._found)
        self._code = cur.text[end:stop].strip().lower() if len(marks) == len(text) else marks
        self._say(cur.text[start:stop], is_frame=True)
        return stop

    # Quotations

    def _end_fence(self) -> None:
        """Take the calls in a block of code for a quotation; where calls may be written so, only if text follows."""
        inside = self._found[self._in_fence :]
        if self._code in DATA_FENCES:
            self._plain += inside
        else:
            self._quote(inside, _IN_CODE)
        self._code = None

    def _end_thought(self, cur: Cursor, start: int, end: int) -> None:
        """Take what came before for reasoning: the text began inside it. A second time, only calls are taken back."""
        mark = cur.text[start:end]
        is_quoted = is_enclosed(cur, start, end)
        if self._has_thought or (is_quoted and not self._found):
            self._say(mark)
            self._refuse_thoughts(mark)
            return
        is_in_code = self._code is not None and cur.find(self._fence, end) >= 0
        self._has_thought = True
        for found in self._found:
            found.is_quoted = True
        self._reasoning, self._notes = [self._text()], []
        self._shown = [0, self._shown[1], 0]
        lines, code, fence, quotes = self._lines, self._code, self._fence, self._quotes
        self._forget()
        # What the mark is quoted in goes on behind it.
        self._lines, self._quotes = Lines(lines.head, lines.is_in_ticks), dict.fromkeys(quotes, 0)
        self._wrappers.enclose(cur, start, mark)
        if is_in_code:
            self._code, self._fence = code, fence
        self._at = end

    def _quote(self, found: list[Found], why: str, *, is_broken: bool = False) -> None:
        """Take calls for a quotation: their text is content."""
        for each in found:
            if not each.is_quoted:
                each.is_quoted = True
                self._add_note(why, each.place, each.calls[0].format, is_broken=is_broken)
                self._lines.say(each.text, len(self._found))

    # Keeping

    def _note(self, cur: Cursor, message: str | None, start: int, end: int, *, is_broken: bool) -> None:
        name = cur.format if cur.format in FORMATS else None
        self._add_note(message, (self._base + start, self._base + end), name, is_broken=is_broken)

    def _add_note(self, message: str | None, place: tuple[int, int], name: str | None, *, is_broken: bool) -> None:
        if message and len(self._notes) < _MOST_NOTES:
            is_last = len(self._notes) == _MOST_NOTES - 1
            message = "too many broken marks; no further notes" if is_last else message
            self._notes.append(Diagnostic(message, *place, name, is_broken))

    def _say_up_to(self, cur: Cursor, pos: int, end: int) -> None:
        """Go on to `end`; what is there from `pos` on is content."""
        # A backtick behind a line break opens a quotation in the new line: the line is begun before it is said.
        self._move(cur, end)
        self._say(cur.text[pos:end])

    def _say(self, piece: str, *, is_frame: bool = False) -> None:
        """Keep content. Calls that nothing marks are none where it follows them, unless it only frames a block."""
        if not piece:
            return
        if not piece.isspace():
            self._is_wrapped = False
            if not is_frame and piece.strip(_BRACKETS):
                self._quote(self._plain, _IN_TEXT)
                self._plain = []
        self._content.append(piece)
        self._lines.say(piece, len(self._found))

    def _move(self, cur: Cursor, end: int) -> None:
        self._lines.move(cur.text[self._at : end])
        self._at = end

    def _partial(self, text: str, pos: int) -> int:
        """Return the length of the longest start of a mark that `text` ends in."""
        marks = self._marks
        longest = min(marks.longest - 1, len(text) - pos)
        return next((size for size in range(longest, 0, -1) if text[-size:] in marks.starts), 0)


@lru_cache(maxsize=128)
def _any_of(texts: tuple[str, ...]) -> "re.Pattern[str]":
    return re.compile("|".join(map(re.escape, texts)))


def _overlap(text: str, pos: int, mark: str) -> int:
    longest = min(len(mark) - 1, len(text) - pos)
    return next((size for size in range(longest, 0, -1) if text.endswith(mark[:size])), 0)

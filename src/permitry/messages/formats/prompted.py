"""Calls of agents that were taught by prompts: ReAct's lines, LangChain's tags, and an object of arrows in brackets.

ReAct's input is what models make of it: JSON, or a Python literal, with a word around it. Anything but JSON counts as
repaired. An input that is plain text becomes the tool's only argument, or `input`.
"""

import re
from typing import Any, Final

import attrs

from permitry.messages.formats.cursor import Block, BrokenError, Cursor, TextCall, unique
from permitry.messages.formats.values import Dialect, read_json, read_lenient, read_literal, try_json

__all__ = ["Lead", "is_closed", "lead_of", "line_of", "next_line", "read_bracket", "read_langchain", "read_react"]

# Lines that are indented, quoted with `>` or in a list, by what comes before their first word

_ANY: Final = r"[ \t]*+(?:>[ \t]*+)*(?:(?:[-*+]|\d{1,3}[.)])[ \t]++)?"
_LEAD: Final = re.compile(_ANY)
_LEADS: Final = re.compile(r"[\s>\d.)*+-]*+")
_NUMBER: Final = re.compile(r"\d+")


@attrs.frozen
class Lead:
    """What comes before the first word of a line: blanks, marks of a quotation, the mark of a list's item."""

    text: str

    @property
    def marks(self) -> str:
        """All of it but blanks, any number as 0; empty for a line that is only indented."""
        return _NUMBER.sub("0", "".join(self.text.split()))

    def begins(self, character: str) -> bool:
        """Return whether `character`, any digit as 0, is the first of the marks."""
        return self.marks[:1] == character


def line_of(*words: str) -> "re.Pattern[str]":
    """Return the pattern of a line break, any lead, and one of `words`, which is its first group."""
    return re.compile(rf"\n{_ANY}({'|'.join(map(re.escape, words))})")


def lead_of(cur: Cursor, pos: int) -> Lead | None:
    """Return what comes before `pos` in its line, or None when that is more than a lead."""
    before = cur.before(pos)
    line = before[before.rfind("\n") + 1 :]
    is_whole = len(line) < len(before) or cur.base + pos == len(before)
    return Lead(line) if is_whole and _LEAD.fullmatch(line) else None


def next_line(cur: Cursor, pos: int, lead: Lead) -> int | None:
    """Return where the next words begin, or None when their line has other marks; an item may go on without its own."""
    if not lead.marks:
        return cur.blank_end(pos)
    begin = cur.run(_LEADS, pos)
    other = lead_of(cur, begin)
    return begin if other is not None and other.marks in (lead.marks, lead.marks.rstrip("-*+0.)")) else None


def is_closed(cur: Cursor, pos: int, lead: Lead) -> bool:
    """Return whether nothing but lines with such a lead follows `pos`, as far as the next line shows it."""
    after = cur.blank_end(pos)
    return cur.is_end(after) or lead.begins("0" if cur.text[after].isdigit() else cur.text[after])


# ReAct

_LINE: Final = re.compile(r"[^\n]*+")
_NEXT: Final = line_of("Observation", "Thought:", "Action:", "Final Answer:")
_ENDING: Final = ("Observation", "Thought:")
_INPUT: Final = "Action Input:"
_LONGEST_NAME: Final = 120
_LONGEST_LINE: Final = 240
_NONE: Final = frozenset({"none", "n/a", "finish"})
_ANSWER: Final = re.compile(r"final\s+answer", re.IGNORECASE)
_POSSIBLE: Final = re.compile(r"[\w.:/@-]+")
_FENCES: Final = frozenset({"", "```", "```json"})
_QUOTATION: Final = "a listed action among other text is perhaps none"
_REMARK: Final = re.compile(r"(?:\s+\([^()]*\)|\(\))\Z")


def read_react(cur: Cursor) -> Block | None:
    """Return the block of an action, its input, and the lines in which the model observes and thinks."""
    lead = lead_of(cur, cur.start)
    if lead is None:
        return None
    words = cur.skip().take(_LINE).strip()
    if not words:
        return None
    begin = next_line(cur, cur.pos, lead)
    if begin is None or not cur.at(_INPUT, begin):
        return None
    cur.pos = begin + len(_INPUT)
    brace = _brace(cur, cur.pos, lead)
    name = _REMARK.sub("", words.strip("`*\"'")) if len(words) <= _LONGEST_LINE else ""
    if not _is_tool(cur, name):
        raise _refusal(cur, f"the action `{words[:60]}` names no tool", cur.pos, brace)
    cur.is_repaired = name != words
    return _object(cur, name, lead, brace) if cur.at("{", brace) else _plain(cur, name, lead)


def _brace(cur: Cursor, begin: int, lead: Lead) -> int:
    """Return where the object of an input may begin: in its line, or in the next one, but for the mark of a fence."""
    end = cur.run(_LINE, begin)
    inline = cur.text[begin:end]
    if "{" in inline:
        return begin + inline.index("{")
    below = next_line(cur, end, lead) if inline.strip() in _FENCES else None
    if below is not None and cur.at("```", below):
        fence = cur.run(_LINE, below)
        below = next_line(cur, fence, lead) if cur.text[below:fence].strip() in _FENCES else None
    return end if below is None else below


def _is_tool(cur: Cursor, name: str) -> bool:
    """Return whether `name` is one of a tool: a declared one, or one that a tool could have."""
    if not name or len(name) > _LONGEST_NAME or _ANSWER.search(name):
        return False
    if cur.tools.knows(name):
        return True
    return name.lower() not in _NONE and _POSSIBLE.fullmatch(name) is not None and any(map(str.isalnum, name))


def _refusal(cur: Cursor, message: str, begin: int, brace: int) -> BrokenError:
    """Return the refusal of an action; JSON that is its input is not a call either."""
    if cur.text[begin:brace].strip(" \t\r\n`>") not in ("", "json") or not cur.at("{", brace):
        return BrokenError(begin, message, is_meant=False)
    cur.pos = brace
    try:
        try_json(cur)
    except BrokenError as error:
        return BrokenError(error.end, message, is_in_string=error.is_in_string, is_meant=False)
    return BrokenError(cur.pos, message, is_meant=False)


def _object(cur: Cursor, name: str, lead: Lead, brace: int) -> Block:
    """Return the block of an input that is an object, which begins with the brace."""
    words = cur.text[cur.pos : brace]
    cur.pos = brace
    value, is_literal = read_lenient(cur)
    if "```" in words and cur.at("```", cur.blank_end(cur.pos)):
        cur.skip().has("```")
    is_repaired = cur.is_repaired or is_literal or words.strip(" \t\r\n`>") not in ("", "json")
    note = "the action is in a list" if lead.marks else None
    note = "the input is not plain JSON" if is_repaired else note
    rest = cur.run(_LINE, cur.pos)
    cur.is_repaired = note is not None
    call = cur.call(name, value, format_name="react_json")
    if is_repaired or not cur.text[cur.pos : rest].strip(" \t`)"):
        cur.pos = rest
    return _with_steps(cur, call, note)


def _with_steps(cur: Cursor, call: TextCall, note: str | None = None) -> Block:
    """Return the block with the lines in which the model observes and thinks: they are content, and quote nothing."""
    end = cur.pos
    while True:
        begin = cur.run(_LEADS, end)
        is_next = "\n" in cur.text[end:begin]
        if not is_next or not any(cur.at(word, begin) for word in _ENDING):
            end = begin if is_next and cur.at("Action:", begin) else end
            return Block(end, (call,), content=cur.text[cur.pos : end], note=note)
        end = cur.run(_LINE, begin)


def _plain(cur: Cursor, name: str, lead: Lead) -> Block:
    """Return the block of an input that is plain text: all there is, up to what the agent observes or thinks."""
    begin = cur.pos
    text = _take_line(cur, lead) if lead.marks else _take_lines(cur, lead)
    text = text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text
    if not text:
        raise BrokenError(begin, "the input is missing")
    cur.is_repaired = cur.is_repaired or bool(lead.marks)
    format_name = "react" if cur.format == "react_json" else cur.format
    return _with_steps(cur, cur.call(name, {_only(cur, name): text}, format_name=format_name))


def _take_line(cur: Cursor, lead: Lead) -> str:
    """Return the text of one line in a quotation or list that is all of the content."""
    begin = cur.pos
    text = cur.take(_LINE).strip()
    if not lead.begins(cur.first) or not is_closed(cur, cur.pos, lead):
        raise BrokenError(begin, _QUOTATION, is_meant=False)
    return text


def _take_lines(cur: Cursor, lead: Lead) -> str:
    """Return a text that ends before an observation or a thought, of lines with one lead."""
    begin = cur.pos
    end = cur.search(_NEXT, begin)
    following = _NEXT.match(cur.text, end) if end >= 0 else None
    if following and following[1] not in _ENDING:
        raise BrokenError(begin, "another action or an answer follows the input")
    cur.pos = end if following else len(cur.text)
    first, *lines = cur.text[begin : cur.pos].strip().split("\n")
    if any(line.strip() and not line.startswith(lead.text) for line in lines):
        raise BrokenError(begin, "the input is indented less than its action")
    return "\n".join((first, *(line.removeprefix(lead.text) for line in lines)))


def _only(cur: Cursor, name: str) -> str:
    properties = cur.tools.schema(name).get("properties")
    return str(next(iter(properties))) if isinstance(properties, dict) and len(properties) == 1 else "input"


# LangChain

_TEXT: Final = re.compile(r"[^<>\n]*+")
_BODY, _BODY_END = "<tool_input>", "</tool_input>"


def read_langchain(cur: Cursor) -> Block | None:
    """Return the block of `<tool>NAME</tool><tool_input>` and JSON, or text."""
    name = cur.take(_TEXT).strip()
    if not name or not cur.has("</tool>") or not cur.skip().has(_BODY):
        return None
    begin, note = cur.pos, None
    stop = cur.find(_BODY_END, begin)
    if stop < 0:
        if cur.text.find("<", begin) >= 0 or not cur.text[begin:].strip():
            raise BrokenError(begin, f"`{_BODY_END}` is missing")
        stop = end = len(cur.text)
        note = f"`{_BODY_END}` is missing at the end of the text"
    else:
        end = stop + len(_BODY_END)
    value: object = {_only(cur, name): cur.text[begin:stop]}
    is_repaired = note is not None
    if cur.skip().at("{"):
        given = read_json(cur, _BODY_END)
        if not cur.text[cur.pos : stop].strip():
            value, is_repaired = given, False
    cur.pos, cur.is_repaired = end, is_repaired
    return attrs.evolve(cur.block(name, value), note=note)


# Arrows

_ARROWS: Final = Dialect(has_bare_keys=True, colons=(":", "=>"))
_TOOL_ARROW: Final = re.compile(r"\s*+\{?\s*+tool\s*+=>\s*+[\"']([^\"'\n]++)[\"']\s*+,?\s*+args\s*+=>\s*+")
_BRACKET: Final = "[/TOOL_CALL]"


def read_bracket(cur: Cursor) -> Block | None:
    """Return the block of `[TOOL_CALL]`, an object of arrows (`tool => "f"`), and `[/TOOL_CALL]`."""
    begin, stop = cur.pos, cur.find(_BRACKET, cur.pos)
    found = _TOOL_ARROW.match(cur.text, begin, stop) if stop >= 0 else None
    if not found:
        return None
    body, cur.pos = cur.text[found.end() : stop], stop + len(_BRACKET)
    arguments: object
    try:
        if body.lstrip("{ \t\r\n").startswith("--"):
            arguments, cur.is_repaired = _flags(_strip_braces(body, 1 + found.group().count("{")))
        else:
            arguments = _arrows(body)
    except BrokenError as error:
        raise BrokenError(cur.pos, error.message) from None
    return cur.block(found.group(1), arguments)


_FLAG: Final = re.compile(r"--([\w-]+)[ \t]+(\"(?:[^\"\\]++|\\.)*\"[ \t]*+(?=\n|\Z)|[^\n]*+)\s*+", re.DOTALL)


def _arrows(body: str) -> object:
    """Return the arguments of a body of arrows, behind which nothing but a bracket may follow."""
    cur = Cursor(body)
    arguments = read_literal(cur, _ARROWS)
    cur.require(body[cur.pos :].strip() in ("", "}"), "there is more than a call in the brackets")
    return arguments


def _flags(body: str) -> tuple[dict[str, Any], bool]:
    """Return the arguments of lines `--key value`, and whether their quotes were guessed at."""
    found: list[tuple[str, object]] = []
    pos, is_repaired = 0, False
    while pos < len(body):
        flag = _FLAG.match(body, pos)
        if flag is None:
            raise BrokenError(pos, "a line is not a `--key value`")
        value = flag.group(2).strip()
        if value.startswith('"'):
            value, is_guess = _strip_quotes(value)
            is_repaired = is_repaired or is_guess
        found.append((flag.group(1), value))
        pos = flag.end()
    return unique(found, pos), is_repaired


def _strip_braces(body: str, closing: int) -> str:
    """Return a body without its opening brace and that many closing ones; others belong to a value."""
    text = body.strip()
    for _ in range(closing if text.startswith("{") else closing - 1):
        if not text.endswith("}"):
            raise BrokenError(0, "a brace is missing")
        text = text[:-1].rstrip()
    return text.removeprefix("{").lstrip()


def _strip_quotes(value: str) -> tuple[str, bool]:
    """Return a text without its quotes, and whether quotes or escapes are in it, which no two programs read alike."""
    if len(value) < len('""') or not value.endswith('"'):
        raise BrokenError(0, "a quote is not closed")
    inner = value[1:-1]
    return re.sub(r'\\(["\\])', r"\1", inner), "\\" in inner or '"' in inner

"""Calls as prompts teach them: ReAct's lines, LangChain's tags, and literals: arrows in brackets, Python's and Gemma's.

ReAct's input is what models make of it: JSON, or a Python literal, with a word around it. Anything but JSON counts as
repaired. An input that is plain text becomes the tool's only argument, or `input`. Gemma's strings are between two
marks of its own, and its brackets may be round, as in Python; then every value is a literal. Nothing is evaluated.
"""

import re
from functools import cache
from typing import Any, Final

import attrs

from permitry.messages.formats.arguments import types_of
from permitry.messages.formats.cursor import Block, BrokenError, Cursor, TextCall, reader, unique
from permitry.messages.formats.values import PYTHON, Dialect, read_json, read_lenient, read_literal, try_json

__all__ = [
    "gemma_block", "lead_of", "marks_of_lead", "next_line", "python_block", "read_bare_python", "read_bracket",
    "read_langchain", "read_react",
]  # fmt: skip

# Lines that are indented, quoted with `>` or in a list, by what comes before their first word: their lead

_ANY: Final = r"[ \t]*+(?:>[ \t]*+)*(?:(?:[-*+]|\d{1,3}[.)])[ \t]++)?"
_LEAD: Final = re.compile(_ANY)
_LEADS: Final = re.compile(r"[\s>\d.)*+-]*+")
_NUMBER: Final = re.compile(r"\d+")


def lead_of(cur: Cursor, pos: int) -> str | None:
    """Return what comes before `pos` in its line, or None when that is more than a lead."""
    before = cur.before(pos)
    line = before[before.rfind("\n") + 1 :]
    is_whole = len(line) < len(before) or cur.base + pos == len(before)
    return line if is_whole and _LEAD.fullmatch(line) else None


def marks_of_lead(lead: str) -> str:
    """Return all of a lead but blanks, any number as 0: nothing of what is only indented."""
    return _NUMBER.sub("0", "".join(lead.split()))


def next_line(cur: Cursor, pos: int, marks: str) -> int | None:
    """Return where the next words begin, or None when their line has other marks; an item may go on without its own."""
    if not marks:
        return cur.blank_end(pos)
    begin = cur.run(_LEADS, pos)
    other = lead_of(cur, begin)
    is_same = other is not None and marks_of_lead(other) in (marks, marks.rstrip("-*+0.)"))
    return begin if is_same else None


# ReAct

_LINE: Final = re.compile(r"[^\n]*+")
_NEXT: Final = re.compile(rf"\n{_ANY}(Observation|Thought:|Action:|Final\ Answer:)")
_LINES: Final = re.compile(rf"(?:[^\n]++|(?!{_NEXT.pattern})\n)*")
_ENDING: Final = ("Observation", "Thought:")
_INPUT: Final = "Action Input:"
_LONGEST_NAME: Final = 120
_LONGEST_LINE: Final = 240
_NONE: Final = frozenset({"none", "n/a", "finish"})
_ANSWER: Final = re.compile(r"final\s+answer", re.IGNORECASE)
_POSSIBLE: Final = re.compile(r"[\w.:/@-]+")
_FENCES: Final = frozenset({"", "```", "```json"})
_QUOTED: Final = re.compile(r'\A"(.*)"\Z', re.DOTALL)
_QUOTATION: Final = "a listed action among other text is perhaps none"
_REMARK: Final = re.compile(r"(?:\s+\([^()]*\)|\(\))\Z")


def read_react(cur: Cursor) -> Block | None:
    """Return the block of an action, its input, and lines in which the model observes and thinks."""
    lead = lead_of(cur, cur.start)
    if lead is None:
        return None
    words, marks = cur.skip().take(_LINE).strip(), marks_of_lead(lead)
    begin = next_line(cur, cur.pos, marks) if words else None
    if begin is None or not cur.at(_INPUT, begin):
        return None
    cur.pos = begin + len(_INPUT)
    brace = _brace(cur, cur.pos, marks)
    name = _REMARK.sub("", words.strip("`*\"'")) if len(words) <= _LONGEST_LINE else ""
    if not _is_tool(cur, name):
        raise _refusal(cur, f"the action `{words[:60]}` names no tool", brace)
    cur.is_repaired = name != words
    return _object(cur, name, marks, brace) if cur.at("{", brace) else _plain(cur, name, lead)


def _brace(cur: Cursor, begin: int, marks: str) -> int:
    """Return where the object of an input may begin: in its line, or in the next one, but for the mark of a fence."""
    end = cur.run(_LINE, begin)
    inline = cur.text[begin:end]
    if "{" in inline:
        return begin + inline.index("{")
    below = next_line(cur, end, marks) if inline.strip() in _FENCES else None
    if below is not None and cur.at("```", below):
        fence = cur.run(_LINE, below)
        below = next_line(cur, fence, marks) if cur.text[below:fence].strip() in _FENCES else None
    return end if below is None else below


def _is_tool(cur: Cursor, name: str) -> bool:
    """Return whether `name` is one of a tool: a declared one, or one that a tool could have."""
    if not name or len(name) > _LONGEST_NAME or _ANSWER.search(name):
        return False
    if cur.tools.knows(name):
        return True
    return name.lower() not in _NONE and _POSSIBLE.fullmatch(name) is not None and any(map(str.isalnum, name))


def _refusal(cur: Cursor, message: str, brace: int) -> BrokenError:
    """Return the refusal of an action; JSON that is its input is not a call either."""
    refusal = BrokenError(cur.pos, message, is_meant=False)
    if _is_plain(cur.text[cur.pos : brace]) and cur.at("{", brace):
        cur.pos = brace
        try:
            try_json(cur)
            refusal.end = cur.pos
        except BrokenError as error:
            refusal.end, refusal.is_in_string = error.end, error.is_in_string
    return refusal


def _is_plain(words: str) -> bool:
    """Return whether the words before an object are none, or the mark of a fence."""
    return words.strip(" \t\r\n`>") in ("", "json")


def _object(cur: Cursor, name: str, marks: str, brace: int) -> Block:
    """Return the block of an input that is an object, which begins with the brace."""
    words = cur.text[cur.pos : brace]
    cur.pos = brace
    value, is_literal = read_lenient(cur)
    if "```" in words and cur.at("```", cur.blank_end(cur.pos)):
        cur.skip().has("```")
    is_repaired = cur.is_repaired or is_literal or not _is_plain(words)
    note = "the action is in a list" if marks else None
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


def _plain(cur: Cursor, name: str, lead: str) -> Block:
    """Return the block of a plain input: all there is, up to what the agent observes or thinks."""
    begin, marks = cur.pos, marks_of_lead(lead)
    text = _take_line(cur, marks) if marks else _take_lines(cur, lead)
    text = _QUOTED.sub(r"\1", text)
    if not text:
        raise BrokenError(begin, "the input is missing")
    cur.is_repaired |= bool(marks)
    format_name = "react" if cur.format == "react_json" else cur.format
    return _with_steps(cur, cur.call(name, {_only(cur, name): text}, format_name=format_name))


def _take_line(cur: Cursor, marks: str) -> str:
    """Return the text of one line in a quotation or list that is all of the content, as far as the next line shows."""
    refusal = BrokenError(cur.pos, _QUOTATION, is_meant=False)
    text = cur.take(_LINE).strip()
    if cur.first != marks[0]:
        raise refusal
    after = cur.blank_end(cur.pos)
    if not cur.is_end(after) and marks[0] != ("0" if cur.text[after].isdigit() else cur.text[after]):
        raise refusal
    return text


def _take_lines(cur: Cursor, lead: str) -> str:
    """Return a text that ends before an observation or a thought, of lines with one lead."""
    begin = cur.pos
    first, *lines = cur.take(_LINES).strip().split("\n")
    following = _NEXT.match(cur.text, cur.pos)
    if following and following[1] not in _ENDING:
        raise BrokenError(begin, "another action or an answer follows the input")
    if any(line.strip() and not line.startswith(lead) for line in lines):
        raise BrokenError(begin, "the input is indented less than its action")
    return "\n".join((first, *(line.removeprefix(lead) for line in lines)))


def _only(cur: Cursor, name: str) -> str:
    properties = cur.tools.schemas.get(name, {}).get("properties")
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
    """Return the block of an object of arrows, `tool => "f"`, up to `[/TOOL_CALL]`."""
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
            inner = Cursor(body)
            arguments = read_literal(inner, _ARROWS)
            inner.require(body[inner.pos :].strip() in ("", "}"), "there is more than a call in the brackets")
    except BrokenError as error:
        error.end = cur.pos
        raise
    return cur.block(found.group(1), arguments)


_FLAG: Final = re.compile(r"--([\w-]+)[ \t]+(\"(?:[^\"\\]++|\\.)*\"[ \t]*+(?=\n|\Z)|[^\n]*+)\s*+", re.DOTALL)


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
            quoted = _QUOTED.match(value)
            if quoted is None:
                raise BrokenError(pos, "a quote is not closed")
            # No two programs read quotes or escapes in it alike.
            is_repaired |= re.search(r'["\\]', quoted[1]) is not None
            value = re.sub(r'\\(["\\])', r"\1", quoted[1])
        found.append((flag.group(1), value))
        pos = flag.end()
    return unique(found, pos), is_repaired


def _strip_braces(body: str, closing: int) -> str:
    """Return a body without its opening brace and so many closing ones; others are a value's."""
    text = body.strip()
    for _ in range(closing if text.startswith("{") else closing - 1):
        if not text.endswith("}"):
            raise BrokenError(0, "a brace is missing")
        text = text[:-1].rstrip()
    return text.removeprefix("{").lstrip()


# Python

_NAME: Final = re.compile(r"[^\W\d][\w.-]*+")
_TOKEN: Final = re.compile(r"[\w.+-]*+")
_PADDED: Final = re.compile(r"0\d+\Z")
_BETWEEN: Final = re.compile(r"[\s,;]*+")
_END_TOKENS: Final = ("<|eom_id|>", "<|eot_id|>", "<|im_end|>", "</s>")


@reader
def python_block(cur: Cursor, *closers: str) -> Block | None:
    """Return a reader of calls, in a list or one after another, up to one of `closers`."""
    is_list = cur.skip().has("[")
    is_empty = is_list and cur.skip().has("]")
    if (is_empty or not is_list) and any(map(cur.skip().has, closers)):
        return Block(cur.pos)
    if is_empty or not _is_name(cur):
        return None
    return cur.close(_calls(cur, is_list=is_list), closers)


def read_bare_python(cur: Cursor) -> Block | None:
    """Return the block of a list of calls without marks: all of the content, or of declared tools."""
    if cur.code is not None or cur.is_doubtful or not _is_name(cur.skip()):
        return None
    try:
        calls, end = _calls(cur, is_list=True), cur.pos
    except BrokenError as error:
        error.message = ""
        raise
    if all(call.is_known for call in calls):
        return Block(end, calls)
    cur.skip()
    for token in _END_TOKENS:
        if cur.has(token):
            cur.skip()
    if cur.first or cur.tools.is_given or not cur.is_end(cur.pos):
        raise BrokenError(end)
    return Block(end, calls)


def _is_name(cur: Cursor) -> bool:
    """Return whether a name and an opening bracket come next."""
    end = cur.run(_NAME, cur.pos)
    return end > cur.pos and cur.at("(", end)


def _calls(cur: Cursor, *, is_list: bool) -> tuple[TextCall, ...]:
    """Move behind the calls that come next, and behind the end of the list; return the calls."""
    calls: list[TextCall] = []
    while True:
        calls.append(_call(cur))
        end = cur.pos
        if is_list:
            is_more = cur.skip().has(",")
            if cur.skip().has("]"):
                return tuple(calls)
            cur.require(is_more, "a comma is missing between two calls")
        else:
            cur.take(_BETWEEN)
            if not _is_name(cur):
                cur.pos = end
                return tuple(calls)
        cur.start = cur.pos


def _call(cur: Cursor) -> TextCall:
    """Move behind a call; digits with zeros in front are text where only text is asked for."""
    name = cur.take(_NAME)
    cur.need("(", "a call has no brackets")
    found: list[tuple[str, object]] = []
    while not cur.skip().has(")"):
        key = cur.take(_NAME)
        cur.skip().need("=", "an argument has no name")
        begin = cur.skip().pos
        value: object = cur.take(_TOKEN)
        if not _PADDED.match(str(value)) or types_of(cur.tools.property(name, key)) != {"string"}:
            cur.pos = begin
            value = read_literal(cur, PYTHON)
        found.append((key, value))
        cur.require(cur.skip().has(",") or cur.at(")"), "a comma or a closing bracket is missing")
    return cur.call(name, unique(found, cur.pos - 1))


_GEMMA_NAME: Final = re.compile(r"[^\s<>{}()]*+")


@cache
def _gemma(quote: str, *, is_round: bool) -> Dialect:
    if is_round:
        return Dialect(raw=(quote,), has_bare_keys=True, colons=(":", "="), is_round=True)
    return Dialect(quotes=('"',), raw=(quote,), is_loose=True, has_bare_keys=True)


@reader
def gemma_block(cur: Cursor, quote: str, closer: str) -> Block | None:
    """Return a reader of `call:NAME{key:value}`, whose strings are between two of `quote`."""
    if not cur.skip().has("call:"):
        return None
    name = cur.take(_GEMMA_NAME)
    is_round = cur.at("(")
    cur.require(is_round or cur.at("{"), "the call has no arguments")
    arguments = read_literal(cur, _gemma(quote, is_round=is_round))
    cur.skip().need(closer)
    return cur.block(name, arguments)

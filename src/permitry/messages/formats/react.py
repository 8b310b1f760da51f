"""Calls of agents that were taught by prompts: ReAct's lines, LangChain's tags, brackets, Functionary 3.2's names.

ReAct's input is what models make of it: JSON, or a Python literal, with a word around it. Anything but JSON counts as
repaired. An input that is plain text becomes the tool's only argument, or `input`.
"""

import re
from typing import Any, Final

import attrs

from permitry.messages.formats._lines import Lead, is_closed, lead_of, line_of, next_line
from permitry.messages.formats._literal import PYTHON, Dialect, read_literal
from permitry.messages.formats.mark import Block, Mark
from permitry.messages.formats.scan import BrokenError, Scan, unique
from permitry.messages.formats.tools import Tools

__all__ = ["MARKS"]

_LINE: Final = re.compile(r"[^\n]*+")
_NEXT: Final = line_of("Observation", "Thought:", "Action:", "Final Answer:")
_ENDING: Final = ("Observation", "Thought:")
_LEADS: Final = re.compile(r"[\s>\d.)*+-]*+")
_INPUT: Final = "Action Input:"
_LONGEST_NAME: Final = 120
_LONGEST_LINE: Final = 240
_NONE: Final = frozenset({"none", "n/a", "finish"})
_ANSWER: Final = re.compile(r"final\s+answer", re.IGNORECASE)
_POSSIBLE: Final = re.compile(r"[\w.:/@-]+")
_FENCES: Final = frozenset({"", "```", "```json"})
_QUOTATION: Final = "a listed action among other text is perhaps none"
_REMARK: Final = re.compile(r"(?:\s+\([^()]*\)|\(\))\Z")


def _react(scan: Scan, start: int, pos: int) -> Block | None:
    lead = lead_of(scan, start)
    if lead is None:
        return None
    pos = scan.skip(pos)
    end = scan.run(_LINE, pos)
    words = scan.text[pos:end].strip()
    if not words:
        return None
    begin = next_line(scan, end, lead)
    if begin is None or not scan.at(_INPUT, begin):
        return None
    place = begin + len(_INPUT), _brace(scan, begin + len(_INPUT), lead)
    name = _REMARK.sub("", words.strip("`*\"'")) if len(words) <= _LONGEST_LINE else ""
    if not _is_tool(scan, name):
        raise _refusal(scan, f"the action `{words[:60]}` names no tool", *place)
    read = _object if scan.at("{", place[1]) else _plain
    return read(scan, start, place, name, lead, is_repaired=name != words)


def _brace(scan: Scan, begin: int, lead: Lead) -> int:
    """Return where the object of an input may begin: in its line, or in the next one, but for the mark of a fence."""
    end = scan.run(_LINE, begin)
    inline = scan.text[begin:end]
    if "{" in inline:
        return begin + inline.index("{")
    below = next_line(scan, end, lead) if inline.strip() in _FENCES else None
    if below is not None and scan.at("```", below):
        fence = scan.run(_LINE, below)
        below = next_line(scan, fence, lead) if scan.text[below:fence].strip() in _FENCES else None
    return end if below is None else below


def _is_tool(scan: Scan, name: str) -> bool:
    """Return whether `name` is one of a tool: a declared one, or one that a tool could have."""
    if not name or len(name) > _LONGEST_NAME or _ANSWER.search(name):
        return False
    if scan.tools.knows(name):
        return True
    return name.lower() not in _NONE and _POSSIBLE.fullmatch(name) is not None and any(map(str.isalnum, name))


def _refusal(scan: Scan, message: str, begin: int, brace: int) -> BrokenError:
    """Return the refusal of an action; JSON that is its input is not a call either."""
    if scan.text[begin:brace].strip(" \t\r\n`>") not in ("", "json") or not scan.at("{", brace):
        return BrokenError(begin, message, is_meant=False)
    try:
        return BrokenError(scan.try_json(brace)[1], message, is_meant=False)
    except BrokenError as error:
        return BrokenError(error.end, message, is_in_string=error.is_in_string, is_meant=False)


def _object(scan: Scan, start: int, place: tuple[int, int], name: str, lead: Lead, *, is_repaired: bool) -> Block:
    """Return the block of an input that is an object; `place` is where the input begins, and its brace."""
    value, end, is_literal = _input(scan, place[1])
    if "```" in scan.text[slice(*place)] and scan.at("```", scan.skip(end)):
        end = scan.skip(end) + len("```")
    is_repaired = is_repaired or is_literal or scan.text[slice(*place)].strip(" \t\r\n`>") not in ("", "json")
    note = "the action is in a list" if lead.marks else None
    note = "the input is not plain JSON" if is_repaired else note
    rest = scan.run(_LINE, end)
    call = scan.call(name, value, start, end, is_repaired=note is not None, format_name="react_json")
    tail = rest if is_repaired or not scan.text[end:rest].strip(" \t`)") else end
    return _with_steps(scan, Block(tail, (call,), note=note))


def _with_steps(scan: Scan, block: Block) -> Block:
    """Return the block with the lines in which the model observes and thinks: they are content, and quote nothing."""
    end = block.end
    while True:
        begin = scan.run(_LEADS, end)
        is_next = "\n" in scan.text[end:begin]
        if not is_next or not any(scan.at(word, begin) for word in _ENDING):
            end = begin if is_next and scan.at("Action:", begin) else end
            return attrs.evolve(block, end=end, content=scan.text[block.end : end])
        end = scan.run(_LINE, begin)


def _plain(scan: Scan, start: int, place: tuple[int, int], name: str, lead: Lead, *, is_repaired: bool) -> Block:
    """Return the block of an input that is plain text: all there is, up to what the agent observes or thinks."""
    pos = place[0]
    text, end = _marked(scan, pos, lead) if lead.marks else _unmarked(scan, pos, lead)
    text = text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text
    if not text:
        raise BrokenError(pos, "the input is missing")
    shown_format = scan.format if scan.format != "react_json" else "react"
    arguments = {_only(scan, name): text}
    is_repaired = is_repaired or bool(lead.marks)
    call = scan.call(name, arguments, start, end, is_repaired=is_repaired, format_name=shown_format)
    return _with_steps(scan, Block(end, (call,)))


def _unmarked(scan: Scan, pos: int, lead: Lead) -> tuple[str, int]:
    """Return a text that ends before an observation or a thought, and its end; its lines have one lead.

    Raises: `BrokenError`.
    """
    end = scan.search(_NEXT, pos)
    following = _NEXT.match(scan.text, end) if end >= 0 else None
    if following and following[1] not in _ENDING:
        raise BrokenError(pos, "another action or an answer follows the input")
    end = end if following else len(scan.text)
    lines = scan.text[pos:end].strip().split("\n")
    if any(line.strip() and not line.startswith(lead.text) for line in lines[1:]):
        raise BrokenError(pos, "the input is indented less than its action")
    return "\n".join((lines[0], *(line.removeprefix(lead.text) for line in lines[1:]))), end


def _marked(scan: Scan, pos: int, lead: Lead) -> tuple[str, int]:
    """Return the text of one line in a quotation or list that is all of the content, and its end.

    Raises: `BrokenError`.
    """
    end = scan.run(_LINE, pos)
    if not lead.begins(scan.first) or not is_closed(scan, end, lead):
        raise BrokenError(pos, _QUOTATION, is_meant=False)
    return scan.text[pos:end].strip(), end


def _input(scan: Scan, pos: int) -> tuple[Any, int, bool]:
    try:
        value, end = scan.try_json(pos)
    except BrokenError:
        value, end = read_literal(scan, pos, PYTHON)
        return value, end, True
    return value, end, False


def _only(scan: Scan, name: str) -> str:
    properties = scan.tools.schema(name).get("properties")
    return str(next(iter(properties))) if isinstance(properties, dict) and len(properties) == 1 else "input"


_TAIL, _BODY = "</tool>", "<tool_input>"


def _langchain(scan: Scan, start: int, pos: int) -> Block | None:
    end = scan.run(re.compile(r"[^<>\n]*+"), pos)
    name = scan.text[pos:end].strip()
    if not name or not scan.at(_TAIL, end):
        return None
    begin = scan.skip(end + len(_TAIL))
    if not scan.at(_BODY, begin):
        return None
    begin += len(_BODY)
    stop = scan.find("</tool_input>", begin)
    if stop < 0:
        if scan.text.find("<", begin) >= 0 or not scan.text[begin:].strip():
            raise BrokenError(begin, "`</tool_input>` is missing")
        stop = end = len(scan.text)
        note = "`</tool_input>` is missing at the end of the text"
    else:
        end, note = stop + len("</tool_input>"), None
    text = scan.text[begin:stop]
    inner = scan.skip(begin)
    if scan.at("{", inner):
        value, after = scan.read_json(inner, "</tool_input>")
        if not scan.text[after:stop].strip():
            return Block(end, (scan.call(name, value, start, end),), note=note)
    arguments: dict[str, Any] = {_only(scan, name): text}
    return Block(end, (scan.call(name, arguments, start, end, is_repaired=note is not None),), note=note)


_ARROWS: Final = Dialect(has_bare_keys=True, colons=(":", "=>"))
_TOOL_ARROW: Final = re.compile(r"\s*+\{?\s*+tool\s*+=>\s*+[\"']([^\"'\n]++)[\"']\s*+,?\s*+args\s*+=>\s*+")


def _bracket(scan: Scan, start: int, pos: int) -> Block | None:
    """Return the block of `[TOOL_CALL]`, an object of arrows (`tool => "f"`), and `[/TOOL_CALL]`."""
    stop = scan.find("[/TOOL_CALL]", pos)
    if stop < 0:
        return None
    end = stop + len("[/TOOL_CALL]")
    found = _TOOL_ARROW.match(scan.text, pos, stop)
    if not found:
        return None
    body = scan.text[found.end() : stop]
    is_repaired = False
    try:
        if body.lstrip("{ \t\r\n").startswith("--"):
            arguments, is_repaired = _flags(_unbraced(body, 1 + found.group().count("{")))
        else:
            arguments = _arrows(body)
    except BrokenError as error:
        raise BrokenError(end, error.message) from None
    return Block(end, (scan.call(found.group(1), arguments, start, end, is_repaired=is_repaired),))


_FLAG: Final = re.compile(r"--([\w-]+)[ \t]+(\"(?:[^\"\\]++|\\.)*\"[ \t]*+(?=\n|\Z)|[^\n]*+)\s*+", re.DOTALL)


def _arrows(body: str) -> Any:  # noqa: ANN401 -- any literal
    """Return the arguments of a body of arrows, behind which nothing but a bracket may follow.

    Raises: `BrokenError`.
    """
    arguments, end = read_literal(Scan(body, Tools(None)), 0, _ARROWS)
    if body[end:].strip() not in ("", "}"):
        raise BrokenError(end, "there is more than a call in the brackets")
    return arguments


def _flags(body: str) -> tuple[dict[str, Any], bool]:
    """Return the arguments of a body of lines `--key value`, and whether their quotes had to be guessed at.

    Raises: `BrokenError` for other lines, or a key that comes twice.
    """
    found: list[tuple[str, object]] = []
    pos, is_repaired = 0, False
    while pos < len(body):
        flag = _FLAG.match(body, pos)
        if flag is None:
            raise BrokenError(pos, "a line is not a `--key value`")
        value = flag.group(2).strip()
        if value.startswith('"'):
            value, is_guess = _unquoted(value)
            is_repaired = is_repaired or is_guess
        found.append((flag.group(1), value))
        pos = flag.end()
    return unique(found, pos), is_repaired


def _unbraced(body: str, closing: int) -> str:
    """Return a body without its opening brace and that many closing ones; others belong to a value.

    Raises: `BrokenError` when they are not there.
    """
    text = body.strip()
    for _ in range(closing if text.startswith("{") else closing - 1):
        if not text.endswith("}"):
            raise BrokenError(0, "a brace is missing")
        text = text[:-1].rstrip()
    return text.removeprefix("{").lstrip()


def _unquoted(value: str) -> tuple[str, bool]:
    """Return a text without its quotes, and whether quotes or escapes are in it, which no two programs read alike."""
    if len(value) < len('""') or not value.endswith('"'):
        raise BrokenError(0, "a quote is not closed")
    inner = value[1:-1]
    return re.sub(r'\\(["\\])', r"\1", inner), "\\" in inner or '"' in inner


_NAME: Final = re.compile(r"[\w.-]*+")


def _functionary(scan: Scan, start: int, pos: int) -> Block | None:
    """Return the block of `>>>NAME`, a line break and JSON; to `all` the model writes text."""
    end = scan.run(_NAME, pos)
    name = scan.text[pos:end]
    if not name or not scan.at("\n", end):
        return None
    if name == "all":
        return Block(end + 1)
    begin = scan.skip(end)
    if not scan.at("{", begin):
        return None
    value, end = scan.read_json(begin)
    return Block(end, (scan.call(name, value, start, end),))


def _first(scan: Scan, start: int, pos: int) -> Block | None:  # noqa: ARG001 -- the signature of a reader
    """Return the block of JSON after a tool's name alone on the first line: Functionary's text begins after `>>>`."""
    lead = scan.before(start)
    if scan.base + start != len(lead) or not lead.endswith("\n"):
        return None
    name = lead.removesuffix("\n")
    if not scan.tools.knows(name) and (scan.format == _AUTO or not _NAME.fullmatch(name)):
        return None
    value, end = scan.read_json(start)
    return Block(end, (scan.call(name, value, start, end, format_name="functionary_v32"),))


_AUTO: Final = "functionary_first"

MARKS: Final = (
    Mark("{", _first, _AUTO, ("functionary_v32",), pattern=r'\{(?=\s*(?:"|\}|\Z))', is_plain=True),
    Mark("Action:", _react, "react_json", ("react",), is_plain=True),
    Mark("<tool>", _langchain, "langchain_xml"),
    Mark("[TOOL_CALL]", _bracket, "bracket_tool_call"),
    Mark(">>>", _functionary, "functionary_v32", is_plain=True),
)

"""Calls in a text: what is asked of all formats, and the text in pieces."""

import random
import time

import pytest
from tests.tables import for_each

from permitry.core.spec import ToolSpec
from permitry.errors import CallError
from permitry.messages.text import FORMATS, ParsedText, TextCallStream, parse_text

CALL = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'


def streamed(text: str, size: int) -> tuple[list[ParsedText], ParsedText]:
    """Return what each piece of a text gave, and the whole."""
    stream = TextCallStream()
    pieces = [stream.feed(text[pos : pos + size]) for pos in range(0, len(text), size)]
    return pieces, stream.finish()


def test_a_call_has_name_arguments_format_and_place() -> None:
    """The place is that of the block in the text."""
    (call,) = parse_text(f"Well. {CALL} Done.").calls
    assert (call.name, call.arguments, call.format, call.repaired) == ("f", {"a": 1}, "tool_call_json", False)
    assert f"Well. {CALL} Done."[slice(*call.span)] == CALL


def test_the_text_around_calls_is_kept() -> None:
    """Before, between and after."""
    assert parse_text(f"a {CALL} b {CALL} c").content == "a  b  c"


@for_each("text", ["", " \n", "plain", "<", "<tool_call", "[", "{", "`" * 5, "\ud800", "\x00"])
def test_text_without_calls_is_content(text: str) -> None:
    """Nothing is lost, nothing raises."""
    assert parse_text(text) == ParsedText(content=text)


@for_each(
    "tools",
    [
        [{"type": "function", "function": {"name": "f", "parameters": {}}}],
        [{"name": "f", "input_schema": {}}],
        [ToolSpec("f")],
        {"f": {"type": "object"}},
        (each for each in [{"name": "f"}]),
    ],
)
def test_tools_come_in_many_shapes(tools: object) -> None:
    """A declared tool is known."""
    assert [call.is_known for call in parse_text(CALL, tools).calls] == [True]  # type: ignore[arg-type]  # one of each


def test_an_unknown_tool_is_flagged() -> None:
    """The call is there, and says that no one declared its tool."""
    assert [call.is_known for call in parse_text(CALL, [{"name": "g"}]).calls] == [False]
    assert [call.is_known for call in parse_text(CALL).calls] == [None]
    assert [call.is_known for call in parse_text(CALL, ()).calls] == [None]


@for_each("junk", [[None, 7, {"function": 1}, {"name": 3}], [{"name": "f", "parameters": "text"}], {1: 2}])
def test_tools_that_are_none_are_passed_over(junk: object) -> None:
    """What declares no tool changes nothing."""
    assert len(parse_text(CALL, junk).calls) == 1  # type: ignore[arg-type]  # on purpose


def test_an_unknown_format_is_refused() -> None:
    """The error names the nearest."""
    with pytest.raises(CallError, match="did you mean `mistral`"):
        parse_text("", format="mistrall")
    with pytest.raises(CallError, match="known: apertus"):
        TextCallStream(format="?")


def test_a_told_format_is_the_only_one() -> None:
    """Calls of other formats are text then."""
    assert parse_text(CALL, format="mistral").calls == ()
    assert parse_text(CALL, format="mistral").content == CALL


def test_formats_are_sorted_and_complete() -> None:
    """Every family's names can be given."""
    assert list(FORMATS) == sorted(FORMATS)
    assert len(FORMATS) > 60
    assert {"auto", "function_xml", "tool_call_json", "json_array"} <= set(FORMATS)


@for_each("name", FORMATS)
def test_every_format_reads_any_text(name: str) -> None:
    """Plain text is content in all of them."""
    assert parse_text("Just text, 1 < 2.", format=name) == ParsedText(content="Just text, 1 < 2.")


@for_each("quoted", [f"Write `{CALL}` so.", 'Write `{"name": "f", "arguments": {}}`.'])
def test_a_call_in_backticks_is_a_quotation(quoted: str) -> None:
    """A note says so; in a fence of its own it counts."""
    pieces, whole = streamed(quoted, 1)
    assert whole == parse_text(quoted)
    assert (whole.calls, whole.content) == ((), quoted)
    assert "quotation" in whole.diagnostics[0].message
    assert [call for piece in pieces for call in piece.calls] == []
    assert len(parse_text(f"```\n{CALL}\n```").calls) == 1


def test_two_formats_may_stand_in_one_text() -> None:
    """Each call says in which it was written."""
    calls = parse_text(f'{CALL}\n[TOOL_CALLS]g[ARGS]{{}}\n{{"name": "h", "arguments": {{}}}}').calls
    assert [call.format for call in calls] == ["tool_call_json", "mistral", "json_object"]


def test_a_stream_gives_calls_in_the_end() -> None:
    """Until then, what follows may tell that they are none."""
    pieces, whole = streamed(f"{CALL}{CALL} and so on", 1)
    assert [call for piece in pieces for call in piece.calls] == []
    assert [call.name for call in whole.calls] == ["f", "f"]


def test_a_stream_goes_on_behind_thinking_that_nothing_opened() -> None:
    """What follows it is given with its piece."""
    stream = TextCallStream()
    assert stream.feed("hm.").content == "hm."
    assert stream.feed("a</think>Hello.").content == "Hello."
    assert (stream.finish().content, stream.finish().reasoning) == ("Hello.", "hm.a")


@for_each("size", [1, 2, 7, 100])
def test_a_stream_gives_content_that_cannot_become_a_mark(size: int) -> None:
    """All given content together is the content of the whole."""
    pieces, whole = streamed(f"1 < 2 <tool <think>a</think> to be < {CALL} b", size)
    given = "".join(piece.content for piece in pieces)
    assert (given, whole.content) == ("1 < 2 <tool  to be < ", "1 < 2 <tool  to be <  b")
    assert "".join(piece.reasoning for piece in pieces) == whole.reasoning == "a"


def test_a_partial_mark_is_held_back() -> None:
    """It is given as soon as it can be none any more."""
    stream = TextCallStream()
    assert stream.feed("so <tool_c").content == "so "
    assert stream.feed("at>.").content == "<tool_cat>."


def test_pieces_do_not_change_the_whole() -> None:
    """Marks that begin alike are reported apart, wherever the text is cut."""
    token = "]<]minimax[>["  # noqa: S105 -- no secret
    inner = f'{token}<invoke name="f">{token}</invoke>'
    text = f"<|channel>thought\nhm<channel|>{token}<tool_call>{inner}{CALL}"
    rng = random.Random(7)  # noqa: S311 -- no secret
    for _ in range(50):
        stream, rest = TextCallStream(), text
        while rest:
            size = rng.randint(1, 9)
            stream.feed(rest[:size])
            rest = rest[size:]
        assert stream.finish() == parse_text(text)


def test_an_empty_piece_gives_nothing() -> None:
    """It changes nothing either."""
    stream = TextCallStream()
    assert stream.feed("") == ParsedText()
    stream.feed(CALL)
    assert stream.finish() == parse_text(CALL)


def test_a_finished_stream_is_closed() -> None:
    """It gives its whole again, and takes no more."""
    stream = TextCallStream()
    stream.feed(CALL)
    assert stream.finish() == stream.finish()
    with pytest.raises(CallError, match="finished"):
        stream.feed("more")


def test_a_stream_knows_its_tools_and_settings() -> None:
    """They are those of `parse_text`."""
    stream = TextCallStream({"f": {}}, "tool_call_json", repair=True, in_thinking=True)
    stream.feed(f"{CALL}</think><tool_call>{{'name': 'f', 'arguments': {{}}")
    result = stream.finish()
    assert [(call.is_known, call.repaired) for call in result.calls] == [(True, True)]
    assert result.reasoning == CALL


def cost(text: str, size: int) -> float:
    """Return the processor time of a stream, in seconds; the least of three."""

    def once() -> float:
        start = time.process_time()
        streamed(text, size)
        return time.process_time() - start

    return min(once() for _ in range(3))


@for_each(
    ("start", "unit"),
    [("", '<tool_call>{"a": "'), ("", '{"a":"} '), ("", "[f(a=["), ("", "plain words "), ('{"a": [', "1, ")],
)
def test_the_work_of_a_stream_grows_with_the_text(start: str, unit: str) -> None:
    """Four times the text is not sixteen times the work."""
    small, large = (cost(start + unit * (length // len(unit)), 8) for length in (16_384, 65_536))
    assert large < 8 * small + 0.05


def test_a_piece_that_is_no_text_is_refused_and_the_stream_goes_on() -> None:
    """Providers send None for an empty piece."""
    stream = TextCallStream()
    stream.feed("a")
    with pytest.raises(TypeError, match="a piece of the text is a string, not NoneType"):
        stream.feed(None)  # type: ignore[arg-type]  # that is the test
    stream.feed("b")
    assert stream.finish().content == "ab"


@for_each(
    ("text", "broken"),
    [
        ('<tool_call>{"name": "add", "arguments": {</tool_call>', [True]),
        ('<tool_call>[{"name": "add", "arguments": {}}, {"nam": 1}]</tool_call>', [True]),
        ('<tool_call>{"name": "add", "arguments": {}}', [False]),
        ('`<tool_call>{"name": "add", "arguments": {}}</tool_call>`', [False]),
        ('{"name": "lift", "arguments": {}}', [False]),
    ],
    ids=["broken", "one of two", "not closed", "quoted", "data"],
)
def test_a_note_says_whether_a_call_is_lost(text: str, broken: list[bool]) -> None:
    """A quotation, data, and a call without its last mark are none that is."""
    assert [note.is_broken for note in parse_text(text, ["add"]).diagnostics] == broken

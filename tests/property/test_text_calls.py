"""What holds for every text a model may write: nothing raises, pieces do not matter, and work grows with the length."""

import ast
import re
import sys
import time
from collections.abc import Callable
from types import FrameType

from hypothesis import given
from hypothesis import strategies as st
from tests.tables import for_each

from permitry.messages.formats.marks import marks_of
from permitry.messages.text import ParsedText, TextCallStream, parse_text

_PIECES = (
    "f", " ", "\n", "{", "}", "[", "]", '"', "'", "\\", ":", ",", "=", "1", "<", ">",
    '{"name": "f", "arguments": {"a": 1}}',
    "[f(a='x')]", "call:f{a:", "<parameter=a>", "</parameter>", "<arg_key>a</arg_key>", "<arg_value>1</arg_value>",
    "</function>", "</invoke>", '<parameter name="a">', 'name="f">', "<|message|>", "\nAction Input: ", "```json\n",
    "\n  Action: f", "\n  Action Input: ", "\n> Action: f", "\n> Action Input: ", "\n- Action Input: ", "> ", "- ",
    "functions.f:0", "<|tool_call_begin|>f:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
    "to=functions.f", "commentary", "analysis", "final", "user", "<|tool_calls_section_end|>",
    "\n> ", "\n  Observation", "Final Answer", "\n    ", "\n\t", "`", "`` ", "\n```\n", "\n~~~\n", "\n```python\n",
    "\n`so ", " so`", "``", "prose", ".", '<tool_call>{"name": "f", "arguments": {}}</tool_call>', "</think>",
    "</code>", "-->",
)  # fmt: skip
_SECTION_ENDS = ("<|tool_calls_section_end|>", "<|tool_call_section_end|>", "<|im_end|>")
_MARKS = tuple(sorted(marks_of("auto").readers))

texts = st.lists(st.one_of(st.sampled_from(_MARKS), st.sampled_from(_PIECES)), max_size=16).map("".join)
sizes = st.lists(st.integers(1, 24), min_size=1, max_size=12)


def in_pieces(text: str, lengths: list[int]) -> tuple[list[ParsedText], ParsedText]:
    """Return what a stream gives for each piece, and in the end."""
    stream, given_out, pos, turn = TextCallStream(), [], 0, 0
    while pos < len(text):
        size = lengths[turn % len(lengths)]
        given_out.append(stream.feed(text[pos : pos + size]))
        pos, turn = pos + size, turn + 1
    return given_out, stream.finish()


@given(texts, sizes)
def test_pieces_do_not_matter(text: str, lengths: list[int]) -> None:
    """A stream gives what the whole text gives, and no call before the end, so that it takes none back."""
    given_out, whole = in_pieces(text, lengths)
    assert whole == parse_text(text)
    assert [call for piece in given_out for call in piece.calls] == []


@given(st.text(alphabet="`~<>{}[]|/ \n\t:.,\"'()=abfkthindFlAcoswer", max_size=80), sizes)
def test_pieces_of_any_text_do_not_matter(text: str, lengths: list[int]) -> None:
    """Made of single characters as well; what a stream gave is the start of the content, or was thought."""
    given_out, whole = in_pieces(text, lengths)
    assert whole == parse_text(text)
    given = "".join(piece.content for piece in given_out)
    assert whole.content.startswith(given) or "</think>" in text


@given(texts)
def test_nothing_before_the_end_of_thinking_is_a_call(text: str) -> None:
    """Also where nothing opened it, and after thinking that has ended before; not where another mark must end it."""
    for start in ("", "hm</think>", "<think>a</think>"):
        if parse_text(f"{start}{text}\ue000").content.endswith("\ue000"):
            result = parse_text(f"{start}{text}</think>")
            assert all(call.span[1] > len(start) + len(text) for call in result.calls)


@given(texts)
def test_nothing_in_a_quotation_is_a_call(text: str) -> None:
    """Behind an answer, whatever it looks like; in a line that is quoted, as far as that goes."""
    assert parse_text(f"Final Answer: {text}").calls == ()
    line = text.replace("\n", " ")
    assert parse_text(f"> {line}").calls == ()
    assert parse_text(f"> hm</think>{line}").calls == ()


@given(st.one_of(texts, st.text()))
def test_calls_stand_in_order_and_apart(text: str) -> None:
    """Their places follow one another in the text; calls of one list may share theirs."""
    result = parse_text(text)
    ends = [0, *(call.span[1] for call in result.calls)]
    for call, end in zip(result.calls, ends, strict=False):
        assert 0 <= call.span[0] < call.span[1] <= len(text)
        assert call.span[0] >= end or call.span[1] >= end
    for note in result.diagnostics:
        assert 0 <= note.start < note.end <= len(text)


@given(texts)
def test_strict_calls_are_found_by_repair_too(text: str) -> None:
    """Repair adds calls, and marks them; what needs none is not marked."""
    if all(not call.repaired for call in parse_text(text, repair=True).calls):
        assert parse_text(text, repair=True).calls == parse_text(text).calls


@given(texts)
def test_nothing_in_reasoning_is_a_call(text: str) -> None:
    """Whatever it looks like; but a text that nothing closes may end in a section of Kimi's calls."""
    inner = text.replace("</think>", "")
    result = parse_text(f"<think>{inner}</think>")
    assert (result.calls, result.reasoning) == ((), inner)
    calls = parse_text(f"<think>{inner}").calls
    assert not calls or (inner.rstrip().endswith(_SECTION_ENDS) and {call.format for call in calls} == {"kimi_k2"})


@given(
    texts, st.sampled_from(("analysis", "<|channel|>analysis", "<|start|>user", "<|start|>functions.f to=assistant"))
)
def test_nothing_in_a_message_without_recipient_is_a_call(text: str, header: str) -> None:
    """Harmony's reasoning, with or without its opening mark, and messages of others that the model has made up."""
    inner = re.sub(r"<\|(?:start|end|call|return|eom|eot)\|>", "", text)
    assert parse_text(f"{header}<|message|>{inner}").calls == ()


@given(texts)
def test_a_string_is_one_value(text: str) -> None:
    """What a string of a call holds is never a call of its own."""
    inner = text.translate(dict.fromkeys(map(ord, '\\"\n\t')))
    result = parse_text(f'<tool_call>{{"name": "f", "arguments": {{"a": "{inner}"}}}}</tool_call>')
    assert [call.arguments for call in result.calls] == [{"a": inner}]


_scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()
)
_values = st.recursive(
    _scalars,
    lambda inner: st.one_of(st.lists(inner), st.tuples(inner), st.dictionaries(st.text(), inner)),
    max_leaves=8,
)
_symbols = st.lists(st.sampled_from((*"0178{}[](),:._+-e", "10", "'a'", "'b'", "None", " ")), max_size=9).map("".join)


def of_json(value: object) -> object:
    """Return a value of Python as JSON has it: lists for tuples and sets."""
    if isinstance(value, dict):
        return {key: of_json(inner) for key, inner in value.items()}
    return [of_json(inner) for inner in value] if isinstance(value, list | tuple | set) else value


@given(_values)
def test_what_python_writes_is_read_back(value: object) -> None:
    """In a call that is Python, and for an argument that is declared as an object or a list."""
    wanted = of_json(value)
    assert [call.arguments for call in parse_text(f"<|python_start|>[f(a={value!r})]<|python_end|>").calls] == [
        {"a": wanted}
    ]
    tools = {"f": {"properties": {"a": {"type": ["object", "array"]}}}}
    (call,) = parse_text(f"<function=f><parameter=a>{{'k': {value!r}}}</parameter></function>", tools).calls
    assert call.arguments == {"a": {"k": wanted}}


@given(_symbols)
def test_no_literal_means_what_python_does_not_mean_by_it(text: str) -> None:
    """But for zeros in front of a number, which Python refuses."""
    for call in parse_text(f"<|python_start|>[f(a={text})]<|python_end|>").calls:
        try:
            (meant,) = ast.literal_eval(f"[{text}\n]")
        except SyntaxError:
            assert re.search(r"(?<![\d.])0\d", text)
        else:
            assert call.arguments == {"a": of_json(meant)} or "{" in text


_QUOTE = '\\"'
_TOOLS = {"f": {"properties": {"a": {"type": "object"}}}}
_FORMS: dict[str, Callable[[int], str]] = {
    **{mark: lambda count, mark=mark: mark * count for mark in _MARKS},  # type: ignore[misc]  # a default of the loop
    "openings and braces": lambda count: "<tool_call>{" * count,
    "nested objects": lambda count: '{"a":' * count,
    "nested lists of objects": lambda count: '[{"a":' * count,
    "keys": lambda count: '{"a"' * count,
    "parameters": lambda count: "<function=f><parameter=a>" * count,
    "closings of values": lambda count: "<function=f><parameter=a>" * count + "</parameter> x" * count,
    "closed values": lambda count: "<function=f><parameter=a>x</parameter>" * count,
    "keys of values": lambda count: "<tool_call>f<arg_key>a</arg_key><arg_value>" * count,
    "lists of calls": lambda count: "[f(" * count,
    "unclosed strings": lambda count: "[f(a='''" * count,
    "messages": lambda count: "<|channel|>analysis<|message|>x<|end|>" * count,
    "lines of agents": lambda count: "Action: f\nAction Input: {/*" * count,
    "plain inputs": lambda count: "Action: f\nAction Input: x\n" * count,
    "indented lines": lambda count: "  Action: f\n  Action Input: x\n" * count,
    "quoted lines": lambda count: "> Action: f\n> Action Input: x\n" * count,
    "quoted text": lambda count: "x\n> Action: f\n> Action Input: x\n" * count,
    "listed lines": lambda count: "- Action: f\n- Action Input: {\n" * count,
    "lines of marks": lambda count: "Action: f\n" + "> - " * count,
    "words of agents": lambda count: "Action: f\nAction Input: x Observation Action:" * count,
    "actions that name no tool": lambda count: 'Action: a b\nAction Input: {"a": [\n' * count,
    "headers": lambda count: "to=functions.f<|channel|>commentary<|message|>" * count,
    "messages of others": lambda count: "<|start|>user<|message|>" * count,
    "sections in thinking": lambda count: "<think>" + "<|tool_calls_section_begin|><|tool_call_begin|>" * count,
    "closed calls": lambda count: '<tool_call>{"name": "f", "arguments": {}}</tool_call>' * count,
    "quotes in deep text": lambda count: f'<function=f><parameter=a>{"{" * 70}"{_QUOTE * count}</parameter></function>',
    "blanks": lambda count: "{" + " " * 20 * count,
}


@for_each("form", _FORMS)
def test_work_grows_with_the_length(form: str) -> None:
    """Twice the text is less than 2.5 times the work, counted in calls of functions."""
    make = _FORMS[form]
    _work(make(1))
    assert _work(make(240)) < 2.5 * _work(make(120))


@for_each("form")
def test_time_grows_with_the_length(form: str) -> None:
    """Work inside one call of a function grows no faster: eight times the text, less than 20 times the time."""
    make, unit = _FORMS[form], len(_FORMS[form](1))
    short, long = (make(length // unit) for length in (32_768, 262_144))
    small = min(_seconds(short) for _ in range(3))
    # A busy machine makes once slow what is not: only what is slow each time has work that grows.
    assert any(_seconds(long) < 20 * small + 0.05 for _ in range(7))


def _seconds(text: str) -> float:
    begin = time.process_time()
    parse_text(text, _TOOLS)
    return time.process_time() - begin


def _work(text: str) -> int:
    """Return how many functions are called."""
    count = 0

    def note(_: FrameType, event: str, __: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        parse_text(text)
    finally:
        sys.setprofile(before)
    return count

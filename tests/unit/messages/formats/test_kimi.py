"""Kimi's calls, K2 and K3."""

from collections.abc import Callable
from typing import Any, TypeAlias

from tests.tables import for_each

from permitry.messages.text import ParsedText

Parsed: TypeAlias = Callable[..., ParsedText]
Calls: TypeAlias = Callable[..., list[tuple[str, dict[str, Any]]]]

BEGIN, END = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
K3 = '<|open|>call tool="a&amp;b" index="1"<|sep|>{}<|close|>call<|sep|>'
TOOLS = "<|open|>tools<|sep|>{}<|close|>tools<|sep|>"


def k2(call_id: str, arguments: str = '{"a": 1}') -> str:
    """Return one call of K2."""
    return f"<|tool_call_begin|>{call_id}<|tool_call_argument_begin|>{arguments}<|tool_call_end|>"


def k3(key: str, kind: str, value: str) -> str:
    """Return one argument of K3."""
    return f'<|open|>argument key="{key}" type="{kind}"<|sep|>{value}<|close|>argument<|sep|>'


@for_each(
    ("call_id", "name"),
    [("functions.f:0", "f"), (" functions.f:12 ", "f"), ("a.b:3", "a.b"), ("functions.x:y:1", "x:y")],
)
def test_the_name_is_cut_out_of_the_id(parsed: Parsed, call_id: str, name: str) -> None:
    """`functions.` and the index are no part of the name; the whole is the id."""
    result = parsed(f"Well.{BEGIN}{k2(call_id)}{END}")
    assert [(call.name, call.arguments, call.call_id) for call in result.calls] == [(name, {"a": 1}, call_id.strip())]
    assert result.content == "Well."


@for_each(
    "text",
    [
        k2("weird@id"),
        k2("0"),
        k2("functions.f:0", "text"),
        k2("functions.f:0", "{bad}"),
        "<|tool_call_begin|>functions.f:0",
        f"{BEGIN} nothing",
        "text<|tool_call_argument_begin|>more",
    ],
)
def test_a_broken_call_of_k2_is_text(parsed: Parsed, text: str) -> None:
    """An id without index names no tool for sure."""
    result = parsed(text)
    assert (result.calls, result.content) == ((), text)


@for_each("gap", ["", " ", "\n", "\n\n", "\r\n", " \n\t"])
@for_each("name", ["calls", "call"])
def test_blanks_may_stand_between_all_marks(parsed: Parsed, gap: str, name: str) -> None:
    """And line breaks; some servers print the singular."""
    marks = (
        BEGIN,
        "<|tool_call_begin|>",
        "functions.f:0",
        "<|tool_call_argument_begin|>",
        '{"a": 1}',
        "<|tool_call_end|>",
    )
    calls = gap.join((*marks, "<|tool_call_begin|>", "functions.g:1", *marks[3:4], "{}", "<|tool_call_end|>", END))
    result = parsed(f"Well.{calls.replace('calls_section', f'{name}_section')}")
    assert [(call.name, call.arguments, call.call_id) for call in result.calls] == [
        ("f", {"a": 1}, "functions.f:0"),
        ("g", {}, "functions.g:1"),
    ]
    assert result.content.strip() == "Well."


@for_each("call_id", ["functions.f", "f g:0", "f\ng:0", "functions.f:0 x", "functions.\nf"])
def test_no_blank_may_stand_in_a_name(calls: Calls, call_id: str) -> None:
    """Nor a line break."""
    assert calls(f"{BEGIN}\n{k2(call_id)}\n{END}") == []


SECTION = f"{BEGIN}{k2('functions.f:0')}{k2('functions.g:1', '{}')}{END}"


@for_each(
    "end",
    ["", "\n", "<|im_end|>", " <|im_end|>\n", f"\n{BEGIN}\n{k2('h:2')}\n{END}", "\n".join((BEGIN, k2("h:2"), END))],
)
def test_a_section_ends_thinking_that_nothing_closes(parsed: Parsed, end: str) -> None:
    """If it is complete, and the end of the text; the model forgets the mark."""
    for result in (
        parsed(f"<think>\nI look.{SECTION}{end}"),
        parsed(f"I look.{SECTION}{end}", in_thinking=True),
        parsed(f"<think>\nI look.{SECTION}{end}", format="kimi_k2"),
    ):
        assert [call.name for call in result.calls] == ["f", "g", "h"][: 3 if "h:2" in end else 2]
        assert result.reasoning.strip() == "I look."
        assert result.content.strip() == ""


@for_each(
    "text",
    [
        f"{SECTION}</think>",
        f"{SECTION} or not?</think>No.",
        f"{SECTION} or not?",
        f"{SECTION}{BEGIN}{k2('h:2')}",
        f"So: {BEGIN} begins a section, {SECTION}",
        SECTION.removesuffix(END),
        SECTION.removesuffix(END) + END.replace("calls", "call"),
        BEGIN + END,
        k2("functions.f:0"),
        f"{BEGIN}{k2('f')}{END}",
        f"{BEGIN}{k2('functions.f:0', '[1]')}{END}",
        f'{BEGIN}{k2("f:0")}<tool_call>{{"name": "f", "arguments": {{}}}}</tool_call>{END}',
        '<tool_call>{"name": "f", "arguments": {}}</tool_call>',
    ],
)
def test_nothing_else_ends_it(parsed: Parsed, text: str) -> None:
    """A section that is closed with the thinking, goes on, or is broken is only thought of."""
    result = parsed(f"<think>{text}")
    assert result.calls == ()
    assert result.reasoning == text.partition("</think>")[0]


@for_each("opener", ["<thinking>", "[THINK]", "<|channel>thought\n"])
def test_it_ends_only_its_own_kind_of_thinking(calls: Calls, opener: str) -> None:
    """Other models have other marks; so does a format that was given."""
    assert calls(f"{opener}I look.{SECTION}") == []
    assert calls(f"<think>I look.{SECTION}", format="glm45_47") == []


def test_k3_types_its_arguments(parsed: Parsed) -> None:
    """Attributes are unescaped, values are not; the type is with the value."""
    given = (
        k3("s", "string", "&lt;1") + k3("n", "number", "4.5") + k3("o", "object", '{"a": 1}') + k3("b", "object", "{x")
    )
    result = parsed(TOOLS.format(K3.format(given)))
    assert [(call.name, call.arguments) for call in result.calls] == [
        ("a&b", {"s": "&lt;1", "n": 4.5, "o": {"a": 1}, "b": "{x"})
    ]
    assert result.content == ""


def test_k3_marks_of_text_are_dropped(parsed: Parsed) -> None:
    """The response is content, the thinking reasoning."""
    result = parsed("<|open|>think<|sep|>hm<|close|>think<|sep|><|open|>response<|sep|>hi<|close|>response<|sep|>")
    assert (result.content, result.reasoning) == ("hi", "hm")


@for_each(
    "text",
    [
        K3.format("text"),
        '<|open|>call tool="f" index="1"',
        '<|open|>call tool="f" index="1"<|sep|><|open|>argument key="a"<|sep|>1',
        K3.format('<|open|>argument type="string"<|sep|>1<|close|>argument<|sep|>'),
        K3.format(k3("a", "string", "1") + k3("a", "string", "2")),
        K3.replace("tool=", "name=").format(""),
    ],
)
def test_a_broken_call_of_k3_is_text(parsed: Parsed, text: str) -> None:
    """A call must be closed, and every argument have one key."""
    result = parsed(text)
    assert (result.calls, result.content) == ((), text)


def test_a_flood_of_marks_is_text(parsed: Parsed) -> None:
    """Every mark is looked at once."""
    for text in (
        "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{" * 60,
        '<|open|>call tool="f"<|sep|>' * 60,
    ):
        assert parsed(text).content == text


@for_each(
    ("call_id", "name"),
    [
        ("functions_exec_2", "exec"),
        ("functions.exec5", "exec"),
        ("functionsexec5", "exec"),
        ("functions-exec-1", "exec"),
        ("exec_3", "exec"),
        ("functions_exec:4", "exec"),
        ("functions_read_file_0", "read_file"),
        ("functions_docs_search_7", "docs.search"),
        ("functions.page2_1", "page2"),
    ],
)
def test_the_only_tool_that_fits_is_called(parsed: Parsed, call_id: str, name: str) -> None:
    """Clients write the ids otherwise; the call counts as repaired, and the id stays as it is."""
    (call,) = parsed(k2(call_id), ["exec", "read_file", "docs.search", "page2"]).calls
    assert (call.name, call.repaired, call.is_known, call.call_id) == (name, True, True, call_id)


@for_each(
    ("call_id", "tools"),
    [
        ("functions_exec_2", ["exec", "exec_2"]),
        ("functionsexec12", ["exec", "exec1"]),
        ("functions_unknown_1", ["exec"]),
        ("functions_executed_1", ["exec"]),
        ("functions_exec_2", None),
        ("3", ["exec"]),
        ("call00003", ["exec", "call_me"]),
    ],
)
def test_an_id_that_names_no_tool_for_certain_is_refused(parsed: Parsed, call_id: str, tools: object) -> None:
    """Two tools fit, or none does, or none is known."""
    result = parsed(k2(call_id), tools)
    assert result.calls == ()
    assert [note.is_broken for note in result.diagnostics] == [True]


def test_an_id_as_it_should_be_is_not_guessed_at(parsed: Parsed) -> None:
    """Also where its tool is not declared, and another one is like it."""
    (call,) = parsed(k2("functions.exec_1:2"), ["exec"]).calls
    assert (call.name, call.repaired, call.is_known) == ("exec_1", False, False)

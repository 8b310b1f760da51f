"""JSON behind the name of its tool: Mistral's, DeepSeek's, Kimi's, Functionary's and PLaMo's calls."""

from typing import Any

from tests.parsing import calls, parsed, refused
from tests.tables import for_each

V3 = '<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{"a": "<｜tool▁call▁end｜>"}\n```<｜tool▁call▁end｜>'  # noqa: RUF001 -- DeepSeek's own characters
V31 = '<｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a": 1}<｜tool▁call▁end｜>'  # noqa: RUF001 -- as above
CALLS, CALLS_END = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"  # noqa: RUF001 -- as above


@for_each(
    ("text", "expected"),
    [
        ('[TOOL_CALLS] [{"name": "f", "arguments": {"a": 1}}]', [("f", {"a": 1})]),
        (
            '[TOOL_CALLS] [{"name": "f", "arguments": {"a": "[TOOL_CALLS]"}}][/TOOL_CALLS]',
            [("f", {"a": "[TOOL_CALLS]"})],
        ),
        ('[TOOL_CALLS]f[ARGS]{"a": 1}', [("f", {"a": 1})]),
        ('[TOOL_CALLS]f{"a": 1}[TOOL_CALLS]g{}', [("f", {"a": 1}), ("g", {})]),
    ],
)
def test_both_generations_of_mistral_are_read(text: str, expected: list[tuple[str, Any]]) -> None:
    """A list before version 11, a name and an object since."""
    assert calls(text) == expected == calls(text, format="mistral")


def test_an_id_of_mistral_is_kept() -> None:
    """The call bears the id between name and arguments."""
    assert [call.call_id for call in parsed("[TOOL_CALLS]f[CALL_ID]abc[ARGS]{}").calls] == ["abc"]


def test_both_versions_of_deepseek_are_reported_apart() -> None:
    """Version 3 has the word `function` and a fence, 3.1 name and object."""
    result = parsed(f"Well.{CALLS}{V3}\n{V31}{CALLS_END} Done.")
    assert [(call.name, call.arguments, call.format) for call in result.calls] == [
        ("f", {"a": "<｜tool▁call▁end｜>"}, "deepseek_v3"),  # noqa: RUF001 -- as above
        ("f", {"a": 1}, "deepseek_v31"),
    ]
    assert result.content == "Well.\n Done."


def test_plain_bars_count_too() -> None:
    """Some servers print the tokens with plain bars."""
    assert calls(V31.replace("｜", "|")) == [("f", {"a": 1})]  # noqa: RUF001 -- as above


def test_a_tool_named_function_is_version_31() -> None:
    """What follows the separator decides."""
    assert calls(V31.replace(">f<", ">function<")) == [("function", {"a": 1})]


def test_outputs_of_tools_are_text() -> None:
    """What is between the marks of an output is not a call."""
    result = parsed('<｜tool▁output▁begin｜>{"name": "f", "arguments": {}}<｜tool▁output▁end｜>')  # noqa: RUF001 -- as above
    assert (result.calls, result.content) == ((), '{"name": "f", "arguments": {}}')


@for_each(("bar", "gap"), [("\uff5c\uff5c", "\u2581"), ("|", "_"), ("||", "\u2581"), ("||", "_")])
def test_other_bars_that_servers_print_count_too(bar: str, gap: str) -> None:
    """Double ones, and plain ones with plain gaps."""
    names = (f"<{bar}tool{gap}{word}{bar}>" for word in (f"call{gap}begin", "sep", f"call{gap}end"))
    begin, between, end = names
    assert calls(f'{begin}f{between}{{"a": 1}}{end}') == [("f", {"a": 1})]


@for_each("bar", ["\u2016", "\u2502", "\u2223\u2223"])
@for_each("word", ["tool\u2581call\u2581begin", "tool_calls_begin"])
def test_any_other_bar_is_reported(bar: str, word: str) -> None:
    """There is no call, and a note says why."""
    result = parsed(f"<{bar}{word}{bar}>f")
    assert result.calls == ()
    assert [note.is_broken for note in result.diagnostics] == [True]
    assert "bars" in result.diagnostics[0].message
    assert parsed(f"about <{bar}tools{bar}>").diagnostics == ()


BEGIN, END = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"


def k2(call_id: str, arguments: str = '{"a": 1}') -> str:
    """Return one call of K2."""
    return f"<|tool_call_begin|>{call_id}<|tool_call_argument_begin|>{arguments}<|tool_call_end|>"


@for_each(
    ("call_id", "name"),
    [("functions.f:0", "f"), (" functions.f:12 ", "f"), ("a.b:3", "a.b"), ("functions.x:y:1", "x:y")],
)
def test_the_name_is_cut_out_of_the_id(call_id: str, name: str) -> None:
    """`functions.` and the index are no part of the name; the whole is the id."""
    result = parsed(f"Well.{BEGIN}{k2(call_id)}{END}")
    assert [(call.name, call.arguments, call.call_id) for call in result.calls] == [(name, {"a": 1}, call_id.strip())]
    assert result.content == "Well."


@for_each("gap", ["", " ", "\n", "\n\n", "\r\n", " \n\t"])
@for_each("name", ["calls", "call"])
def test_blanks_may_stand_between_all_marks(gap: str, name: str) -> None:
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
def test_no_blank_may_stand_in_a_name(call_id: str) -> None:
    """Nor a line break."""
    assert calls(f"{BEGIN}\n{k2(call_id)}\n{END}") == []


SECTION = f"{BEGIN}{k2('functions.f:0')}{k2('functions.g:1', '{}')}{END}"


@for_each(
    "end",
    [
        "",
        "\n",
        "<|im_end|>",
        " <|im_end|>\n",
        f"\n{BEGIN}\n{k2('h:2')}\n{END}",
        "\n".join((BEGIN, k2("h:2"), END)),
    ],
)
def test_a_section_ends_thinking_that_nothing_closes(end: str) -> None:
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
def test_nothing_else_ends_it(text: str) -> None:
    """A section that is closed with the thinking, goes on, or is broken is only thought of."""
    result = parsed(f"<think>{text}")
    assert result.calls == ()
    assert result.reasoning == text.partition("</think>")[0]


@for_each("opener", ["<thinking>", "[THINK]", "<|channel>thought\n"])
def test_it_ends_only_its_own_kind_of_thinking(opener: str) -> None:
    """Other models have other marks; so does a format that was given."""
    assert calls(f"{opener}I look.{SECTION}") == []
    assert calls(f"<think>I look.{SECTION}", format="glm45_47") == []


@for_each(("call_id", "name"))
def test_the_only_tool_that_fits_is_called(call_id: str, name: str) -> None:
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
def test_an_id_that_names_no_tool_for_certain_is_refused(call_id: str, tools: object) -> None:
    """Two tools fit, or none does, or none is known."""
    result = parsed(k2(call_id), tools)
    assert result.calls == ()
    assert [note.is_broken for note in result.diagnostics] == [True]


def test_an_id_as_it_should_be_is_not_guessed_at() -> None:
    """Also where its tool is not declared, and another one is like it."""
    (call,) = parsed(k2("functions.exec_1:2"), ["exec"]).calls
    assert (call.name, call.repaired, call.is_known) == ("exec_1", False, False)


@for_each("text", ['>>>f\n{"a": 1}', 'all\nhello>>>f\n{"a": 1}', '>>>all\nhello\n>>>f\n{"a": 1}'])
def test_functionary_names_its_recipient(text: str) -> None:
    """To `all` it speaks text."""
    assert calls(text) == [("f", {"a": 1})]


def test_functionary_may_begin_with_a_name() -> None:
    """Its prompt ends in the mark, so the first name is alone; it must be declared, or the format given."""
    text = 'f\n{"a": 1}'
    assert calls(text) == []
    assert calls(text, {"f": {}}) == calls(text, format="functionary_v32") == [("f", {"a": 1})]


def plamo(**parts: str) -> str:
    """Return a call in PLaMo's tags."""

    def tagged(word: str, inner: str) -> str:
        return f"<|plamo:begin_{word}:plamo|>{inner}<|plamo:end_{word}:plamo|>"

    inner = "".join(tagged(word, text) for word, text in parts.items())
    return tagged("tool_requests", tagged("tool_request", inner))


@for_each(
    "text",
    [
        "[TOOL_CALLS] then nothing",
        "[TOOL_CALLS]",
        "[TOOL_CALLS]f[ARGS]text",
        "[TOOL_CALLS] [{]",
        "[TOOL_CALLS] !",
        V31.removesuffix(">"),
        V31.replace('"a": 1', "bad"),
        V3.replace("function", "other"),
        V3.replace("```json", ""),
        V3.replace('{"a"', '["a"'),
        V31.replace("sep", "sap"),
        BEGIN,
        f"{CALLS} nothing",
        k2("weird@id"),
        k2("0"),
        k2("functions.f:0", "text"),
        k2("functions.f:0", "{bad}"),
        "<|tool_call_begin|>functions.f:0",
        f"{BEGIN} nothing",
        "text<|tool_call_argument_begin|>more",
        ">>> f\n{}",
        ">>>f {}",
        ">>>f\ntext",
        ">>>f\n{bad}",
        "[TOOL_CALLS]f[ARGS]{" * 200,
        "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{" * 60,
    ],
)
def test_anything_else_is_text(text: str) -> None:
    """A block that is not complete is not a call, and the mark alone makes none; a flood of them is read once."""
    refused(text)


@for_each(
    "text",
    [
        plamo(tool_name="f"),
        plamo(tool_arguments="{}"),
        plamo(tool_name="f", tool_arguments="text"),
        plamo(tool_name="f", tool_arguments='{"a": 1} text'),
        "<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>f",
    ],
)
def test_a_broken_call_of_plamo_is_none(text: str) -> None:
    """Every tag must be there."""
    assert calls(text) == []


def test_a_flood_of_marks_is_not_a_call() -> None:
    """Every mark is looked at once."""
    begin = "<｜tool▁call▁begin｜>f<｜tool▁sep｜>{"  # noqa: RUF001 -- as above
    for text in ((CALLS + begin) * 100, ">>>f\n{" * 60):
        assert calls(text) == []

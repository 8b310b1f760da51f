"""JSON calls, between marks and without any."""

from typing import Any

from tests.parsing import calls, parsed, refused
from tests.tables import for_each

from permitry.messages.text import parse_text

CALL = '{"name": "f", "arguments": {"a": 1}}'


@for_each("name", ["jamba", "apriel", "minimax_m1", "firefunction"])
def test_other_names_of_a_format_serve_too(name: str) -> None:
    """Some models write what another model writes; the call then bears the name that was given."""
    text = f" functools[{CALL}]" if name == "firefunction" else f"<tool_calls>\n{CALL}\n{CALL}\n</tool_calls>"
    assert {call.format for call in parsed(text, format=name).calls} == {name}


def test_several_objects_may_follow_one_another() -> None:
    """Llama puts a semicolon between them."""
    text = '<|python_tag|>{"name": "f", "parameters": {}}; {"name": "g", "parameters": {}}'
    assert calls(text) == [("f", {}), ("g", {})]


def test_a_mark_in_a_string_is_text() -> None:
    """The JSON decides where it ends, not the next closing mark."""
    text = '<tool_call>{"name": "f", "arguments": {"a": "</tool_call> <tool_call>"}}</tool_call>'
    assert calls(text) == [("f", {"a": "</tool_call> <tool_call>"})]


def test_arguments_may_be_json_text() -> None:
    """Some models write the arguments as a JSON string of a JSON object."""
    assert calls('<tool_call>{"name": "f", "arguments": "{\\"a\\": 1}"}</tool_call>') == [("f", {"a": 1})]


def test_an_id_is_kept() -> None:
    """The call bears the id the model gave it."""
    text = '<tool_call>{"name": "f", "arguments": {}, "id": "c7"}</tool_call>'
    assert [call.call_id for call in parsed(text).calls] == ["c7"]


def test_a_closing_mark_may_be_missing_at_the_end() -> None:
    """The JSON is complete, so nothing is guessed; a note says it."""
    result = parsed(f"<tool_call>{CALL}\n")
    assert len(result.calls) == 1
    assert "missing at the end" in result.diagnostics[0].message


@for_each(
    "body",
    [
        f"{CALL} and so on",
        f'{{"name": bad}} {CALL}',
        '{"name": "f"}',
        '{"name": "", "arguments": {}}',
        '{"name": 7, "arguments": {}}',
        '{"name": "f", "arguments": "text"}',
        '{"name": "f", "arguments": [1]}',
        '{"name": "f", "arguments": {"a": 1, "a": 2}}',
        '{"name": "f", "arguments": {"a": NaN}}',
        '{"name": "f", "arguments": {"a": 1e999}}',
        '{"name": " f ", "arguments": {}}',
        '{"name": "f\\u0000", "arguments": {}}',
        f'{{"name": "f", "arguments": {{"a": {"9" * 2_000}}}}}',
        '{"name": "f", "arguments": "{bad"}',
        "{'name': 'f', 'arguments': {}}",
        "[]",
        "[1]",
    ],
)
def test_a_broken_block_is_not_a_call(body: str) -> None:
    """What is not a call of the format is text, with a note where it looked like one."""
    text = f"<tool_call>{body}</tool_call>"
    refused(text)


@for_each("text")
def test_a_broken_block_of_others_is_text(text: str) -> None:
    """Names as keys need objects for arguments; without a closing mark the block ends where it is broken."""
    refused(text)


def test_good_calls_stay_next_to_a_broken_one() -> None:
    """A block that is broken ends at its closing mark."""
    text = f'<tool_call>{{"name": bad, "x": {CALL}}}</tool_call><tool_call>{CALL}</tool_call>'
    assert calls(text) == [("f", {"a": 1})]


@for_each("text", ["<tool_call> tags", "functools is a module", "<tools>none</tools>", "<tool_call>"])
def test_a_mark_alone_is_text(text: str) -> None:
    """A mark that no JSON follows is what someone says about it."""
    result = parsed(text)
    assert (result.calls, result.content, result.diagnostics) == ((), text, ())


@for_each(
    "body",
    ["{'name': 'f', 'arguments': {'a': 1,},}", '{"name": "f", "arguments": {"a": 1}', '{"name": "f", "args": {"a": 1'],
)
def test_json_is_repaired_only_when_asked(body: str) -> None:
    """Python's quotes, a comma too many and missing brackets at the end can be mended; the call says so."""
    assert parsed(f"<tool_call>{body}").calls == ()
    (call,) = parsed(f"<tool_call>{body}", repair=True).calls
    assert (call.name, call.arguments, call.repaired) == ("f", {"a": 1}, True)


def test_what_cannot_be_repaired_is_not_a_call() -> None:
    """The note is that of the strict reading."""
    result = parsed("<tool_call>{'name': what}</tool_call>", repair=True)
    assert result.calls == ()
    assert "not valid JSON" in result.diagnostics[0].message


def test_many_brackets_are_fine_if_they_are_shallow() -> None:
    """Depth counts, not number; brackets in strings are none."""
    text = '<tool_call>{{"name": "f", "arguments": {{"a": [{}], "b": "{}"}}}}</tool_call>'
    ((_, arguments),) = calls(text.format(", ".join(["[]"] * 100), "[" * 100))
    assert (len(arguments["a"]), arguments["b"]) == (100, "[" * 100)


def test_what_needs_no_repair_is_not_marked() -> None:
    """Only a call that was guessed at says so."""
    assert [call.repaired for call in parsed(f"<tool_call>{CALL}</tool_call>", repair=True).calls] == [False]


@for_each("depth", [70, 2_000, 20_000])
def test_deep_nesting_is_refused(depth: int) -> None:
    """More than 64 levels are not arguments, and cannot exhaust the stack."""
    deep = "[" * depth + "]" * depth
    result = parse_text(f'<tool_call>{{"name": "f", "arguments": {{"a": {deep}}}}}</tool_call>')
    assert result.calls == ()
    assert "nested deeper" in result.diagnostics[0].message


def test_sixty_levels_are_fine() -> None:
    """What a call may hold is read."""
    deep = "[" * 60 + "]" * 60
    assert len(parse_text(f'<tool_call>{{"name": "f", "arguments": {{"a": {deep}}}}}</tool_call>').calls) == 1


def test_a_flood_of_openings_is_text() -> None:
    """The notes are bounded too."""
    text = "<tool_call>{" * 300
    result = parsed(text)
    assert result.content == text
    assert len(result.diagnostics) == 64
    assert "too many" in result.diagnostics[-1].message


@for_each(
    "text",
    [
        f"I will look. {CALL}",
        f"The JSON: {CALL}",
        f"```\n[{CALL}]\n```",
        f"Do it:\n```json\n{CALL}\n```",
        '{"tool": "f", "args": {"a": 1}}',
        '{"type": "function", "name": "f", "parameters": {"a": 1}}',
        '{"tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{\\"a\\": 1}"}}]}',
        '{"function_call": {"name": "f", "arguments": {"a": 1}}}',
    ],
)
def test_a_call_in_prose_counts(text: str) -> None:
    """A complete call is one, if nothing follows it."""
    assert calls(text) == [("f", {"a": 1})]


def test_text_is_an_input() -> None:
    """LangChain's agents may give plain text."""
    assert calls('{"action": "f", "action_input": "x"}') == [("f", {"input": "x"})]


@for_each(
    "text",
    [
        'like {"name": "example"} or so',
        '[{"name": "Bob", "age": 3}]',
        "[special delivery]",
        "for { fmt.Println(1) }",
        '{"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}}',
        '{"name": "f", "parameters": {"type": "object", "properties": {}}}',
        '{"type": "function", "extra": 1, "function": {"name": "f", "arguments": {}}}',
        '{"action": "Final Answer", "action_input": {"a": 1}}',
        "{'name': 'f', 'arguments': {}}",
        f'{{"name": "jeff"}} {CALL}',
        f'{CALL}, {{"id": 1}}',
        f'{{"id": 1}}, {CALL}',
        f'{{"action": "Final Answer", "action_input": {{"a": 1}}}} {CALL}',
        f'{{"data": {CALL}}}',
        f'{{"name": bad, "then": {CALL}}}',
        f'[{{"name": bad}}, {CALL}]',
        f"```python\nx = {CALL}\n```",
        '{"text": "<tool_call>{\\"name\\": \\"f\\", \\"arguments\\": {}}</tool_call>"}',
        '{"name": "f", "arguments": {',
        '{"name": "f", "arguments": {"a": "1}}',
    ],
)
def test_data_and_prose_are_no_calls(text: str) -> None:
    """JSON that may be anything else is left alone."""
    refused(text)


def test_after_a_fence_of_code_calls_count_again() -> None:
    """The fence ends where it is closed."""
    assert calls(f"```python\nx = {CALL}\n```\n{CALL}") == [("f", {"a": 1})]


def test_an_undeclared_tool_is_data() -> None:
    """With tools given, unmarked JSON must name one of them; a note says what was skipped."""
    result = parsed(CALL, {"g": {}})
    assert (result.calls, result.content) == ((), CALL)
    assert "no tool `f` is declared" in result.diagnostics[0].message


def test_a_flood_of_brackets_is_text() -> None:
    """Nothing nests, nothing hangs."""
    for text in ("[" * 2_000, '{"a":' * 500, '[{"a":' * 1_000, '{"a"' * 500):
        assert parsed(text).content == text


# JSON behind the name of its tool: Mistral's, DeepSeek's, Kimi's, Functionary's and PLaMo's calls.

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

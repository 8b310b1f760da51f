"""JSON calls between marks."""

from collections.abc import Callable
from typing import Any, TypeAlias

from tests.tables import for_each

from permitry.messages.text import ParsedText, parse_text

Parsed: TypeAlias = Callable[..., ParsedText]
Calls: TypeAlias = Callable[..., list[tuple[str, dict[str, Any]]]]

CALL = '{"name": "f", "arguments": {"a": 1}}'

MARKED = {
    "tool_call_json": f"<tool_call>\n{CALL}\n</tool_call>",
    "granite3": f"<|tool_call|> [{CALL}]",
    "granite_20b_fc": f"<function_call> {CALL}",
    "nemotron_v2": f"<TOOLCALL>[{CALL}]</TOOLCALL>",
    "longcat": f"<longcat_tool_call>{CALL}</longcat_tool_call>",
    "k2_horizon": f"<ifm|tool_calls><ifm|tool_call>{CALL}</ifm|tool_call></ifm|tool_calls>",
    "dots": f"<dots_function_call>{CALL}</dots_function_call>",
    "tools_tag": f"<tools>\n{CALL}\n</tools>",
    "tool_use": f"<tool_use>{CALL}</tool_use>",
    "hunyuan_a13b": f"<tool_calls>[{CALL}]</tool_calls>",
    "function_calls_json": f"<function_calls>[{CALL}]</function_calls>",
    "phi4": f"functools[{CALL}]",
    "internlm2": '<|action_start|><|plugin|>\n{"name": "f", "parameters": {"a": 1}}<|action_end|>',
    "gigachat3": f"<|message_sep|>\n\nfunction call<|role_sep|>\n{CALL}</s>",
    "cohere_command": '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {"a": 1}}]<|END_ACTION|>',
    "apertus": '<|tools_prefix|>[{"f": {"a": 1}}]<|tools_suffix|>',
    "llama3_json": '<|python_tag|>{"name": "f", "parameters": {"a": 1}}',
    "lfm2": f"<|tool_call_start|>[{CALL}]<|tool_call_end|>",
    "inkling": '<|content_invoke_tool_json|>{"name": "f", "args": {"a": 1}}<|end_message|>',
}


@for_each("name", MARKED)
def test_a_marked_call_is_found(parsed: Parsed, name: str) -> None:
    """The format need not be given, and may be."""
    for settings in ({}, {"format": name}):
        result = parsed(f"Well. {MARKED[name]}", **settings)
        assert [(call.name, call.arguments, call.format) for call in result.calls] == [("f", {"a": 1}, name)]
        assert result.content == "Well. "


@for_each("name", ["jamba", "apriel", "minimax_m1", "firefunction"])
def test_other_names_of_a_format_serve_too(parsed: Parsed, name: str) -> None:
    """Some models write what another model writes; the call then bears the name that was given."""
    text = f" functools[{CALL}]" if name == "firefunction" else f"<tool_calls>\n{CALL}\n{CALL}\n</tool_calls>"
    assert {call.format for call in parsed(text, format=name).calls} == {name}


def test_several_objects_may_follow_one_another(calls: Calls) -> None:
    """Llama puts a semicolon between them."""
    text = '<|python_tag|>{"name": "f", "parameters": {}}; {"name": "g", "parameters": {}}'
    assert calls(text) == [("f", {}), ("g", {})]


def test_a_mark_in_a_string_is_text(calls: Calls) -> None:
    """The JSON decides where it ends, not the next closing mark."""
    text = '<tool_call>{"name": "f", "arguments": {"a": "</tool_call> <tool_call>"}}</tool_call>'
    assert calls(text) == [("f", {"a": "</tool_call> <tool_call>"})]


def test_arguments_may_be_json_text(calls: Calls) -> None:
    """Some models write the arguments as a JSON string of a JSON object."""
    assert calls('<tool_call>{"name": "f", "arguments": "{\\"a\\": 1}"}</tool_call>') == [("f", {"a": 1})]


def test_an_id_is_kept(parsed: Parsed) -> None:
    """The call bears the id the model gave it."""
    text = '<tool_call>{"name": "f", "arguments": {}, "id": "c7"}</tool_call>'
    assert [call.call_id for call in parsed(text).calls] == ["c7"]


def test_a_closing_mark_may_be_missing_at_the_end(parsed: Parsed) -> None:
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
def test_a_broken_block_is_not_a_call(parsed: Parsed, body: str) -> None:
    """What is not a call of the format is text, with a note where it looked like one."""
    text = f"<tool_call>{body}</tool_call>"
    result = parsed(text)
    assert (result.calls, result.content) == ((), text)


def test_good_calls_stay_next_to_a_broken_one(calls: Calls) -> None:
    """A block that is broken ends at its closing mark."""
    text = f'<tool_call>{{"name": bad, "x": {CALL}}}</tool_call><tool_call>{CALL}</tool_call>'
    assert calls(text) == [("f", {"a": 1})]


@for_each("text", ["<tool_call> tags", "functools is a module", "<tools>none</tools>", "<tool_call>"])
def test_a_mark_alone_is_text(parsed: Parsed, text: str) -> None:
    """A mark that no JSON follows is what someone says about it."""
    result = parsed(text)
    assert (result.calls, result.content, result.diagnostics) == ((), text, ())


@for_each(
    "body",
    ["{'name': 'f', 'arguments': {'a': 1,},}", '{"name": "f", "arguments": {"a": 1}', '{"name": "f", "args": {"a": 1'],
)
def test_json_is_repaired_only_when_asked(parsed: Parsed, body: str) -> None:
    """Python's quotes, a comma too many and missing brackets at the end can be mended; the call says so."""
    assert parsed(f"<tool_call>{body}").calls == ()
    (call,) = parsed(f"<tool_call>{body}", repair=True).calls
    assert (call.name, call.arguments, call.repaired) == ("f", {"a": 1}, True)


def test_what_cannot_be_repaired_is_not_a_call(parsed: Parsed) -> None:
    """The note is that of the strict reading."""
    result = parsed("<tool_call>{'name': what}</tool_call>", repair=True)
    assert result.calls == ()
    assert "not valid JSON" in result.diagnostics[0].message


@for_each("text", ['<|tools_prefix|>[{"f": 1}]<|tools_suffix|>', "<|tools_prefix|>[{}]<|tools_suffix|>"])
def test_names_need_objects_for_arguments(parsed: Parsed, text: str) -> None:
    """Apertus writes names as keys."""
    assert (parsed(text).calls, parsed(text).content) == ((), text)


@for_each("text", ["<|python_tag|>{bad}", "<function_call> {bad}", "<|tool_call|> {bad}"])
def test_a_broken_block_without_closing_mark_is_text(parsed: Parsed, text: str) -> None:
    """It ends where it is broken."""
    assert (parsed(text).calls, parsed(text).content) == ((), text)


def test_many_brackets_are_fine_if_they_are_shallow(calls: Calls) -> None:
    """Depth counts, not number; brackets in strings are none."""
    text = '<tool_call>{{"name": "f", "arguments": {{"a": [{}], "b": "{}"}}}}</tool_call>'
    ((_, arguments),) = calls(text.format(", ".join(["[]"] * 100), "[" * 100))
    assert (len(arguments["a"]), arguments["b"]) == (100, "[" * 100)


def test_what_needs_no_repair_is_not_marked(parsed: Parsed) -> None:
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


def test_a_flood_of_openings_is_text(parsed: Parsed) -> None:
    """The notes are bounded too."""
    text = "<tool_call>{" * 300
    result = parsed(text)
    assert result.content == text
    assert len(result.diagnostics) == 64
    assert "too many" in result.diagnostics[-1].message

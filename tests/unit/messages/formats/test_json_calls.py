"""JSON calls, between marks and without any."""

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

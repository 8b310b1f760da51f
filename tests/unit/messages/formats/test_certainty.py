"""A call the model did not make: what is quoted, thought, broken or said twice; and guesses, which are reported."""

from typing import Final

from tests.parsing import parsed
from tests.tables import for_each

from permitry.messages.text import parse_text

STRING: Final = {"type": "string"}
TOKEN: Final = "]<]minimax[>["  # noqa: S105 -- a token of a model's text, no secret
INNER: Final = '{"name": "rm", "arguments": {}}'


def names(text: str) -> list[str]:
    """Return the names of the calls in a text, which a stream must find too."""
    return [call.name for call in parsed(text).calls]


@for_each("text")
def test_what_is_in_a_broken_string_is_not_a_call(text: str) -> None:
    """No one knows where the string ends: a file that is being written may hold calls."""
    assert names(text.replace("@", INNER)) == []


def test_a_broken_string_ends_with_its_block() -> None:
    """The good call after it counts."""
    broken = '<tool_call>{"name": "w", "arguments": {"c": "raw\n"}}</tool_call>'
    assert names(f'{broken}<tool_call>{{"name": "g", "arguments": {{}}}}</tool_call>') == ["g"]


def test_after_broken_json_only_marked_calls_count() -> None:
    """Bare JSON may be a part of what broke."""
    text = f'{{"a": "b"c}} {INNER} <tool_call>{{"name": "g", "arguments": {{}}}}</tool_call>'
    assert names(text) == ["g"]


@for_each(("language", "calls"), [("python", []), ("bash", []), ("", ["rm"]), ("xml", ["rm"])])
def test_a_marked_call_in_a_block_of_code_is_a_quotation(language: str, calls: list[str]) -> None:
    """Not so where the block may be the model's way to write calls, or is never closed."""
    block = f"So:\n```{language}\n<tool_call>{INNER}</tool_call>\n"
    assert names(f"{block}```\n") == calls
    assert names(block) == ["rm"]


def test_a_block_in_more_backticks_is_a_quotation() -> None:
    """It ends with as many."""
    assert names(f"````\n```json\n{INNER}\n```\n````\n") == []
    assert names(f"````\n```json\n```\n````\n{INNER}") == ["rm"]


def test_a_quoted_mark_of_thinking_hides_nothing() -> None:
    """In backticks, and in a block of code."""
    assert names(f"The `<think>` tag. {INNER}") == ["rm"]
    assert names(f"```python\nx = '<think>'\n```\n{INNER}") == ["rm"]


@for_each(
    ("opener", "closer"),
    [("<thought>", "</thought>"), ("<THINK>", "</THINK>"), ("<unused94>", "<unused95>"), ("<analysis>", "</analysis>")],
)
def test_words_for_thinking_count_where_they_are_closed(opener: str, closer: str) -> None:
    """Alone they are text, and hide nothing."""
    assert parsed(f"{opener}{INNER}{closer} So.").reasoning == INNER
    assert names(f"{opener}{INNER}{closer}") == []
    assert names(f"{opener} {INNER}") == ["rm"]


def test_a_text_may_begin_inside_of_a_header() -> None:
    """Muse speaks to itself first, and the prompt holds the start of the header."""
    assert names(f"to=self<|message|>I could <tool_call>{INNER}</tool_call><|eom|>") == []
    assert parsed("to=user<|message|>Hello.<|eot|>").content == "Hello."
    assert parsed("say to=user<|message|>Hello.<|eot|>").content == "sayHello."


@for_each("call")
def test_a_call_that_says_two_things_is_refused(call: str) -> None:
    """Another parser may choose the other one."""
    result = parsed(f"<tool_call>{call}</tool_call>")
    assert result.calls == ()
    assert "two" in result.diagnostics[0].message


@for_each("text")
def test_good_calls_next_to_a_bad_one_count(text: str) -> None:
    """Others run them, so they must be seen; a note tells of the bad one."""
    result = parsed(text)
    assert [call.name for call in result.calls] == ["a", "b"]
    assert len(result.diagnostics) == 1


def test_a_closing_tag_that_is_missing_is_seen() -> None:
    """Where the next declared argument begins on its line; with repair the value ends there."""
    tools = {"f": {"properties": {"a": STRING, "b": STRING}}}
    text = "<function=f>\n<parameter=a>\nx\n<parameter=@>\ny\n</parameter>\n</function>"
    assert parsed(text.replace("@", "b"), tools).calls == ()
    (call,) = parsed(text.replace("@", "b"), tools, repair=True).calls
    assert (call.arguments, call.repaired) == ({"a": "x", "b": "y"}, True)
    (call,) = parsed(text.replace("@", "other"), tools).calls
    assert call.arguments == {"a": "x\n<parameter=other>\ny"}


@for_each("value", ["1e999", "010", "-0777", "{1, 1}", "{1, True}", r"'\N{DIGIT ONE}'"])
def test_a_literal_that_would_be_guessed_is_refused(value: str) -> None:
    """Python means something else, or nothing, by it."""
    assert parsed(f"[f(a={value})]").calls == ()


def test_octal_escapes_are_read() -> None:
    """A path may hide behind them."""
    (call,) = parsed(r"[f(a='\057etc\0')]").calls
    assert call.arguments == {"a": "/etc\0"}


@for_each(("text", "is_repaired"))
def test_a_guess_is_reported(text: str, is_repaired: bool) -> None:  # noqa: FBT001 -- a parameter
    """Rules can ask about it."""
    assert [call.repaired for call in parsed(text).calls] == [is_repaired]


@for_each(
    ("arguments", "value"),
    [
        ("args => {\n --a echo ${HOME}\n}}", "echo ${HOME}"),
        ("args => {\n --a 1\n --a 2\n}}", None),
        ("args => {\n --a 1\n}", None),
        ('args => {"a": "x"} and more}', None),
    ],
)
def test_all_that_is_in_brackets_is_read(arguments: str, value: str | None) -> None:
    """Nothing is left out, and no brace of a value is lost."""
    calls = parsed(f'[TOOL_CALL]\n{{tool => "f", {arguments}\n[/TOOL_CALL]').calls
    assert [call.arguments for call in calls] == ([] if value is None else [{"a": value}])


def test_schemas_may_point_elsewhere() -> None:
    """A `$ref` inside of the schema, also in an alternative; one that points to itself is none."""
    schema = {
        "properties": {
            "a": {"$ref": "#/$defs/A"}, "b": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]},
            "c": {"$ref": "#/$defs/C"}, "d": {"type": "list[int]"}, "e": {"type": "uint32"},
        },
        "$defs": {"A": {"type": "object"}, "C": {"$ref": "#/$defs/C"}},
    }  # fmt: skip
    text = "".join(
        f"<parameter={key}>{value}</parameter>"
        for key, value in zip("abcde", ("{}", "{}", "{}", "[1]", "5"), strict=True)
    )
    (call,) = parse_text(f"<function=f>{text}</function>", {"f": schema}).calls
    assert call.arguments == {"a": {}, "b": {}, "c": "{}", "d": [1], "e": 5}


@for_each("text")
def test_minicpm_is_read_as_its_tokens_print(text: str) -> None:
    """Blanks may be lost or strange; an argument no one declared is refused, as its own parsers do."""
    tools = {"f": {"properties": {"a": STRING}}}
    assert [call.arguments for call in parsed(text, tools).calls] == [{"a": "x"}]
    assert parsed(text, {"f": {"properties": {"b": STRING}}}).calls == ()


def test_minimax_repeats_tags_for_lists() -> None:
    """Inside of an argument; an argument that comes twice is refused."""

    def tag(name: str, inner: str) -> str:
        return f"{TOKEN}<{name}>{inner}{TOKEN}</{name}>"

    def call(inner: str) -> str:
        return f'{TOKEN}<tool_call>{TOKEN}<invoke name="f">{inner}{TOKEN}</invoke>{TOKEN}</tool_call>'

    repeated = tag("t", "a") + tag("t", "b")
    assert [each.arguments for each in parsed(call(tag("o", repeated))).calls] == [{"o": {"t": ["a", "b"]}}]
    assert parsed(call(repeated)).calls == ()


def test_a_header_of_harmony_may_be_cut_anywhere() -> None:
    """Also where it is as long as a header can be."""
    for length in range(170, 200):
        parsed(f"<|channel|>commentary to=functions.{'f' * length}<|message|>{{}}<|call|>")

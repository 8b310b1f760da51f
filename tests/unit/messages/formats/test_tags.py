"""Calls in tags: a tag for the call, and one for each argument."""

from tests.parsing import calls, parsed, refused
from tests.tables import for_each


def one(value: str) -> str:
    """Return a call of `f` with one parameter, written between its tags."""
    return f"<function=f>\n<parameter=x>{value}</parameter>\n</function>"


def test_a_call_has_its_parameters() -> None:
    """Parameters come in order, as text."""
    text = "<function=f>\n<parameter=b>\n1\n</parameter>\n<parameter=a>\nx y\n</parameter>\n</function>"
    assert calls(text) == [("f", {"b": "1", "a": "x y"})]


def test_the_wrapper_is_no_content() -> None:
    """The tag around the call is dropped, several calls may stand in it."""
    call = "<function=f>\n</function>\n"
    result = parsed(f"Look:\n<tool_call>\n{call}{call}</tool_call>")
    assert [each.name for each in result.calls] == ["f", "f"]
    assert result.content.split() == ["Look:"]


@for_each(("written", "kept"), [("\n  a\n", "  a"), ("\n\na\n\n", "\na\n"), ("  a ", "  a "), ("", "")])
def test_one_line_break_is_trimmed_at_each_end(written: str, kept: str) -> None:
    """What else a value holds is the model's, above all its indentation."""
    assert calls(one(written)) == [("f", {"x": kept})]


def test_a_schema_decides_the_type() -> None:
    """Without a schema a value is text."""
    tools = {"f": {"properties": {"x": {"type": "integer"}}}}
    assert calls(one("5")) == [("f", {"x": "5"})]
    assert calls(one("5"), tools) == [("f", {"x": 5})]


def test_seed_oss_is_reported_by_its_wrapper() -> None:
    """Its wrapper and its reasoning have tags of their own."""
    result = parsed(f"<seed:think>hm</seed:think><seed:tool_call>\n{one('1')}\n</seed:tool_call>")
    assert [call.format for call in result.calls] == ["seed_oss"]
    assert (result.content.strip(), result.reasoning) == ("", "hm")


def test_a_json_body_is_the_arguments() -> None:
    """Llama writes one JSON object between the tags."""
    result = parsed('<function=bash>{"command": "echo </function>"}</function>')
    assert [(call.name, call.arguments, call.format) for call in result.calls] == [
        ("bash", {"command": "echo </function>"}, "function_tag_json")
    ]


def test_a_parameter_that_comes_twice_is_refused() -> None:
    """No one can say which one is meant."""
    result = parsed("<function=f>\n<parameter=x>1</parameter>\n<parameter=x>2</parameter>\n</function>")
    assert result.calls == ()
    assert "occurs twice" in result.diagnostics[0].message


def test_a_missing_end_is_repaired_only_when_asked() -> None:
    """The call says that it was repaired."""
    text = "<tool_call>\n<function=f>\n<parameter=x>1</parameter>\n</tool_call>"
    assert parsed(text).calls == ()
    assert [call.repaired for call in parsed(text, repair=True).calls] == [True]


DSML = "｜DSML｜"  # noqa: RUF001 -- DeepSeek's own characters


def test_a_call_may_close_itself_or_hold_json() -> None:
    """A call without parameters may be one tag; one JSON object may mean all of them."""
    assert calls('<invoke name="f"/>') == [("f", {})]
    assert calls('<invoke name="f">\n{"a": [1]}\n</invoke>') == [("f", {"a": [1]})]


def test_deepseek_says_what_is_text() -> None:
    """`string="false"` makes JSON of a value, if it is some."""
    inner = "".join(
        f'<{DSML}parameter name="{key}" string="{is_text}">{value}</{DSML}parameter>'
        for key, is_text, value in (
            ("s", "true", "5"),
            ("n", "false", "5"),
            ("o", "false", '{"a": 1}'),
            ("t", "false", "x"),
        )
    )
    text = f'<{DSML}invoke name="f">{inner}</{DSML}invoke>'
    assert calls(text) == [("f", {"s": "5", "n": 5, "o": {"a": 1}, "t": "x"})]


@for_each("bar", ["\uff5c", "\uff5c\uff5c", "|", "||"])
@for_each("word", ["function_calls", "tool_calls", "calls"])
def test_the_bars_of_deepseek_may_be_plain_or_double(bar: str, word: str) -> None:
    """Servers print them so."""
    mark = f"{bar}DSML{bar}"
    inner = f'<{mark}invoke name="f"><{mark}parameter name="a" string="true">x</{mark}parameter></{mark}invoke>'
    assert calls(f"<{mark}{word}>{inner}{inner}</{mark}{word}>") == [("f", {"a": "x"})] * 2
    assert calls(f"<{mark} {word}>{inner.replace(mark, f'{mark} ')}</{mark} {word}>") == [("f", {"a": "x"})]


def test_any_other_bar_of_deepseek_is_reported() -> None:
    """There is no call, and a note says why; talk about the marks needs none."""
    for bar in ("\u2016", "\u2502", "\u2016\u2016"):
        mark = f"{bar}DSML{bar}"
        result = parsed(f'<{mark}tool_calls><{mark}invoke name="f"></{mark}invoke></{mark}tool_calls>')
        assert result.calls == ()
        assert "bars" in result.diagnostics[0].message
        assert parsed(f"The marks have {bar}DSML{bar} in them, as in <{mark}other>.").diagnostics == ()


def pair(key: str, value: str, prefix: str = "") -> str:
    """Return one argument."""
    return f"<{prefix}arg_key>{key}</{prefix}arg_key>\n<{prefix}arg_value>{value}</{prefix}arg_value>\n"


def test_other_models_write_the_same() -> None:
    """Their names may be given."""
    for name in ("poolside_v1", "ling3", "spark25"):
        assert [call.format for call in parsed("<tool_call>f</tool_call>", format=name).calls] == [name]


def test_a_name_alone_is_a_call() -> None:
    """A tool may need no arguments; a key without a value is none."""
    assert calls("<tool_call>f\n</tool_call>") == [("f", {})]
    assert calls("<tool_call>f<arg_key>a</arg_key></tool_call>") == [("f", {})]


def test_a_schema_decides_the_type_of_a_pair() -> None:
    """Without a schema a value is text, entities and blanks in it included."""
    text = f"<tool_call>f{pair('n', '5')}{pair('s', '  &lt;5')}</tool_call>"
    assert calls(text) == [("f", {"n": "5", "s": "  &lt;5"})]
    assert calls(text, {"f": {"properties": {"n": {"type": "number"}}}}) == [("f", {"n": 5, "s": "  &lt;5"})]


def test_a_type_may_stand_before_the_value() -> None:
    """K2 Horizon writes it where no schema is."""
    inner = "<ifm|arg_key>a</ifm|arg_key><ifm|arg_type>{}</ifm|arg_type><ifm|arg_value>5</ifm|arg_value>"
    text = f"<ifm|tool_call>f{inner}</ifm|tool_call>"
    assert calls(text.format("integer")) == [("f", {"a": 5})]
    assert calls(text.format("string")) == [("f", {"a": "5"})]
    assert calls(text.replace("</ifm|arg_type>", "")) == []


K3 = '<|open|>call tool="a&amp;b" index="1"<|sep|>{}<|close|>call<|sep|>'


TOOLS = "<|open|>tools<|sep|>{}<|close|>tools<|sep|>"


def k3(key: str, kind: str, value: str) -> str:
    """Return one argument of K3."""
    return f'<|open|>argument key="{key}" type="{kind}"<|sep|>{value}<|close|>argument<|sep|>'


def test_k3_types_its_arguments() -> None:
    """Attributes are unescaped, values are not; the type is with the value."""
    given = (
        k3("s", "string", "&lt;1") + k3("n", "number", "4.5") + k3("o", "object", '{"a": 1}') + k3("b", "object", "{x")
    )
    result = parsed(TOOLS.format(K3.format(given)))
    assert [(call.name, call.arguments) for call in result.calls] == [
        ("a&b", {"s": "&lt;1", "n": 4.5, "o": {"a": 1}, "b": "{x"})
    ]
    assert result.content == ""


def test_k3_marks_of_text_are_dropped() -> None:
    """The response is content, the thinking reasoning."""
    result = parsed("<|open|>think<|sep|>hm<|close|>think<|sep|><|open|>response<|sep|>hi<|close|>response<|sep|>")
    assert (result.content, result.reasoning) == ("hi", "hm")


T = "]<]minimax[>["


MINIMAX_TOOLS = {
    "f": {
        "properties": {
            "n": {"type": "integer"},
            "tags": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
            "place": {"type": "object", "properties": {"zip": {"type": "integer"}}},
        }
    }
}


def tag(name: str, inner: str) -> str:
    """Return an element."""
    return f"{T}<{name}>{inner}{T}</{name}>"


def call(inner: str) -> str:
    """Return a call of `f`."""
    return f'{T}<tool_call>{T}<invoke name="f">{inner}{T}</invoke>{T}</tool_call>'


def test_a_call_of_minimax_is_found() -> None:
    """Its marks are not content."""
    result = parsed(f"Well.{call(tag('a', ' x<y '))}")
    assert [(each.name, each.arguments, each.format) for each in result.calls] == [("f", {"a": " x<y "}, "minimax_m3")]
    assert result.content == "Well."


def test_elements_nest_and_schemas_type_them() -> None:
    """Items make a list, elements an object."""
    inner = (
        tag("n", "5")
        + tag("tags", tag("item", "1") + tag("item", "2"))
        + tag("place", tag("zip", "10") + tag("c", "x"))
    )
    assert calls(call(inner), MINIMAX_TOOLS) == [("f", {"n": 5, "tags": [1, 2], "place": {"zip": 10, "c": "x"}})]
    assert calls(call(tag("x", tag("item", "1")))) == [("f", {"x": ["1"]})]


@for_each(
    "inner",
    [
        f"{T}<a>1",
        f"{T}<a>1{T}</b>",
        f"{T}a",
        f"{T}<>{T}</>",
        f"{T}<a x>1{T}</a>",
        tag("a", "1") + tag("a", "2"),
        f"{T}<a>" * 70,
    ],
)
def test_a_broken_call_is_none(inner: str) -> None:
    """Tags must match, names be there, and nothing come twice."""
    assert calls(call(inner)) == []


@for_each(
    ("text", "value"),
    [
        (one("a</parameter> b"), {"x": "a</parameter> b"}),
        ('<invoke name="f"><parameter name="a">x</parameter>y</parameter></invoke>', {"a": "x</parameter>y"}),
        (f"<tool_call>f{pair('a', 'x</arg_value>y')}</tool_call>", {"a": "x</arg_value>y"}),
    ],
)
def test_a_value_may_hold_its_closing_tag(text: str, value: object) -> None:
    """The one that closes it is the one that an argument or the end of the call comes after."""
    assert calls(text) == [("f", value)]


@for_each(
    "text",
    [
        "<function=f>\n<parameter=x>1</parameter>\n",
        "<function=f>\n<parameter=x>1\n</function>",
        "<function=f>{bad}</function>",
        '<function=f>{"a": 1}',
        "<function=>\n</function>",
        "<function=f>\n<parameter=>1</parameter>\n</function>",
        "<function=f> text </function>",
        "<function=f",
        '<invoke name="">\n</invoke>',
        "<invoke name=>\n</invoke>",
        '<invoke name="f">text</invoke>',
        '<invoke name="f"><parameter name="a">1</invoke>',
        '<invoke name="f"><parameter>1</parameter></invoke>',
        '<invoke name="f"><parameter name="a">1</parameter><parameter name="a">2</parameter></invoke>',
        '<invoke name="f"><parameter name="a"',
        '<invoke name="f">{bad}</invoke>',
        "<function_calls> none </function_calls>",
        '<invoke name="f"',
        "<tool_call>not a name</tool_call>",
        "<tool_call>f<arg_key>a</tool_call>",
        "<tool_call>f<arg_key>a</arg_key><arg_value>1</tool_call>",
        f"<tool_call>f{pair('a', '1')} text</tool_call>",
        f"<tool_call>f{pair('a', '1')}{pair('a', '2')}</tool_call>",
        "<tool_call><arg_key>a</arg_key><arg_value>1</arg_value></tool_call>",
        K3.format("text"),
        '<|open|>call tool="f" index="1"',
        '<|open|>call tool="f" index="1"<|sep|><|open|>argument key="a"<|sep|>1',
        K3.format('<|open|>argument type="string"<|sep|>1<|close|>argument<|sep|>'),
        K3.format(k3("a", "string", "1") + k3("a", "string", "2")),
        K3.replace("tool=", "name=").format(""),
        "<function=f><parameter=a>" * 200,
        '<invoke name="f"><parameter name="a">' * 60,
        '<function name="f">' * 60,
        "<tool_call>f<arg_key>a</arg_key><arg_value>" * 60,
        "<tool_call>f<arg_key>" * 60,
        "</arg_value> x" * 60,
        '<|open|>call tool="f"<|sep|>' * 60,
    ],
)
def test_anything_else_is_text(text: str) -> None:
    """A block that is not complete is not a call, and nothing is guessed; a flood of marks is read once."""
    refused(text)


def test_floods_of_tokens_are_text() -> None:
    """Openings without end are read once."""
    for text in (T * 100, f'{T}<invoke name="f">{T}<a>' * 50, f'{T}<invoke name="f'):
        assert parsed(text).calls == ()

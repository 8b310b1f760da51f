"""Calls between `<invoke name="NAME">` and `</invoke>` in all their prefixes."""

from collections.abc import Callable
from typing import Any, TypeAlias

from tests.tables import for_each

from permitry.messages.text import ParsedText

Parsed: TypeAlias = Callable[..., ParsedText]
Calls: TypeAlias = Callable[..., list[tuple[str, dict[str, Any]]]]


def invoked(prefix: str, wrapper: str, call: str = "invoke", parameter: str = "parameter") -> str:
    """Return a call of `f` in a model's own tags."""
    inner = f'<{prefix}{call} name="f">\n<{prefix}{parameter} name="a">x y</{prefix}{parameter}>\n</{prefix}{call}>'
    return f"<{wrapper}>\n{inner}\n</{wrapper}>" if wrapper else inner


MUSE = invoked("atem:", "atem:function_calls")
DSML = "｜DSML｜"  # noqa: RUF001 -- DeepSeek's own characters
STEP = "<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜>{}<｜tool_call_end｜><｜tool_calls_end｜>"  # noqa: RUF001 -- as above

WRITTEN = {
    "invoke_xml": invoked("", "function_calls"),
    "minimax_m2_invoke": invoked("", "minimax:tool_call"),
    "dots": invoked("", "dots_function_call"),
    "minicpm5_xml": invoked("", "", "function", "param"),
    "step3": STEP.format(invoked("steptml:", "")),
    "deepseek_v32_dsml": invoked(DSML, f"{DSML}function_calls"),
    "deepseek_v4_dsml": invoked(DSML, f"{DSML}tool_calls"),
    "deepseek_v41_dsml": invoked(f"{DSML} ", f"{DSML} calls"),
    "muse_glimmer": f"<|start|>assistant to=f<|message|>{MUSE}<|eom|>",
    "muse": MUSE,
}


@for_each("name", WRITTEN)
def test_a_call_is_found(parsed: Parsed, name: str) -> None:
    """The format may be given, and need not be."""
    for settings in ({}, {"format": name}):
        result = parsed(WRITTEN[name], **settings)
        assert [(call.name, call.arguments) for call in result.calls] == [("f", {"a": "x y"})]
        assert result.calls[0].format == name or (name, settings) == ("muse", {})
        assert result.content.strip() == ""


def test_a_call_may_close_itself_or_hold_json(calls: Calls) -> None:
    """A call without parameters may be one tag; one JSON object may mean all of them."""
    assert calls('<invoke name="f"/>') == [("f", {})]
    assert calls('<invoke name="f">\n{"a": [1]}\n</invoke>') == [("f", {"a": [1]})]


def test_deepseek_says_what_is_text(calls: Calls) -> None:
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


def test_muse_types_what_no_schema_does(calls: Calls) -> None:
    """Lists and objects are JSON, and line breaks are the model's."""
    inner = '<atem:parameter name="n">1</atem:parameter><atem:parameter name="s">\nx\n</atem:parameter>'
    text = f'<|start|>assistant to=f<|message|><atem:function_calls><atem:invoke name="f.f">{inner}</atem:invoke>'
    assert calls(f"{text}</atem:function_calls>") == [("f", {"n": 1, "s": "\nx\n"})]


def test_muse_names_may_have_a_namespace(calls: Calls) -> None:
    """It is cut off where only the short name is declared."""
    text = "<|start|>assistant to=x.f<|message|>" + MUSE.replace('name="f"', 'name="x.f"')
    assert [name for name, _ in calls(text)] == ["x.f"]
    assert [name for name, _ in calls(text, {"f": {}})] == ["f"]


@for_each(
    "text",
    [
        f" to=self<|message|>I could write {MUSE}",
        f"<|start|>assistant to=user<|message|>Write {MUSE}<|eom|>",
        f"Example: {MUSE}",
        "<atem:function_calls> none",
        "<|start|>assistant to=f<|message|><atem:invoke name",
    ],
)
def test_muse_calls_only_what_it_addresses(calls: Calls, text: str) -> None:
    """What is said to the user or to itself is not a call."""
    assert calls(text) == []


def test_a_told_muse_glimmer_needs_its_header(calls: Calls) -> None:
    """Without a header no one is addressed."""
    assert calls(MUSE, format="muse_glimmer") == []


@for_each("text", ["to=x is the syntax.", "a to=<b", " to= is an assignment", "<|start|>assistant to=f"])
def test_a_header_alone_is_text(parsed: Parsed, text: str) -> None:
    """A header ends in its mark."""
    assert parsed(text, format="muse_glimmer").content == text


@for_each(
    "text",
    [
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
    ],
)
def test_anything_else_is_text(parsed: Parsed, text: str) -> None:
    """A block that is not complete is not a call."""
    result = parsed(text)
    assert (result.calls, result.content) == ((), text)


def test_a_value_may_hold_its_closing_tag(calls: Calls) -> None:
    """The one that closes it is the one a parameter or the end comes after."""
    text = '<invoke name="f"><parameter name="a">x</parameter>y</parameter></invoke>'
    assert calls(text) == [("f", {"a": "x</parameter>y"})]


def test_a_flood_of_marks_is_text(parsed: Parsed) -> None:
    """Every mark is looked at once."""
    for text in ('<invoke name="f"><parameter name="a">' * 60, '<function name="f">' * 60, " to=" * 200):
        assert parsed(text).content == text


@for_each("bar", ["\uff5c", "\uff5c\uff5c", "|", "||"])
@for_each("word", ["function_calls", "tool_calls", "calls"])
def test_the_bars_of_deepseek_may_be_plain_or_double(calls: Calls, bar: str, word: str) -> None:
    """Servers print them so."""
    mark = f"{bar}DSML{bar}"
    inner = f'<{mark}invoke name="f"><{mark}parameter name="a" string="true">x</{mark}parameter></{mark}invoke>'
    assert calls(f"<{mark}{word}>{inner}{inner}</{mark}{word}>") == [("f", {"a": "x"})] * 2
    assert calls(f"<{mark} {word}>{inner.replace(mark, f'{mark} ')}</{mark} {word}>") == [("f", {"a": "x"})]


def test_any_other_bar_of_deepseek_is_reported(parsed: Parsed) -> None:
    """There is no call, and a note says why; talk about the marks needs none."""
    for bar in ("\u2016", "\u2502", "\u2016\u2016"):
        mark = f"{bar}DSML{bar}"
        result = parsed(f'<{mark}tool_calls><{mark}invoke name="f"></{mark}invoke></{mark}tool_calls>')
        assert result.calls == ()
        assert "bars" in result.diagnostics[0].message
        assert parsed(f"The marks have {bar}DSML{bar} in them, as in <{mark}other>.").diagnostics == ()

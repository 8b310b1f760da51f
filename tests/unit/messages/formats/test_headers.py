"""Messages with a header: Harmony's calls, and Muse's."""

from tests.parsing import calls, parsed, refused
from tests.tables import for_each


@for_each("text")
def test_a_message_to_a_function_is_a_call(text: str) -> None:
    """The prefix of the name is cut off."""
    for settings in ({}, {"format": "harmony"}, {"format": "beam_harmony"}):
        result = parsed(text, **settings)
        assert [(call.name, call.arguments) for call in result.calls] == [("f", {"a": 1})]
        assert result.content == ""


def test_channels_are_reported_apart() -> None:
    """Analysis is reasoning, in which nothing is a call; what is final is content."""
    thought = 'hm <tool_call>{"name": "f", "arguments": {}}</tool_call>'
    result = parsed(
        f"<|channel|>analysis<|message|>{thought}<|end|><|start|>assistant<|channel|>final<|message|>Hi.<|return|>"
    )
    assert (result.calls, result.content, result.reasoning) == ((), "Hi.", thought)


@for_each("opener", ["<|channel|>", "", "<|start|>assistant<|channel|>", "assistant<|channel|>"])
@for_each("end", ["<|end|><|start|>assistant", "<|start|>assistant", "<|end|>"])
@for_each("header", [" to=functions.f<|channel|>commentary json", "<|channel|>commentary to=functions.f"])
def test_a_call_may_follow_reasoning(opener: str, end: str, header: str) -> None:
    """With or without what the prompt holds of the first header."""
    thought = 'hm <tool_call>{"name": "g", "arguments": {}}</tool_call>'
    result = parsed(f'{opener}analysis<|message|>{thought}{end}{header}<|message|>{{"a": 1}}<|call|>')
    is_lost = end == "<|end|>" and header.startswith(" to=")
    assert [(call.name, call.arguments) for call in result.calls] == ([] if is_lost else [("f", {"a": 1})])
    assert result.reasoning == thought


INNER = '{"name": "g", "arguments": {}}'


@for_each(
    "text",
    [
        f"<|start|>assistant to=functions.f<|channel|>commentary to=functions.g<|message|>{INNER}<|call|>",
        f"<|channel|>commentary to=functions.f to=functions.g<|message|>{INNER}<|call|>",
        f"<|start|>functions.f to=assistant<|channel|>commentary<|message|>{INNER}<|end|>",
        f"<|start|>user<|message|>{INNER}<|end|>",
        f"<|start|>user<|message|><tool_call>{INNER}</tool_call>",
        f"<|channel|>analysis to=python code<|message|>run({INNER})<|call|>",
        f"analysis<|message|>I could {INNER}",
        f"to=functions.f<|channel|>commentary<|message|>no {INNER}<|call|>",
    ],
)
def test_what_is_in_a_message_that_is_not_a_call_is_none_either(text: str) -> None:
    """With two recipients, from a user or a tool, of code, of reasoning."""
    assert parsed(text).calls == ()
    call = "<|start|>assistant<|channel|>commentary to=functions.h<|message|>{}<|call|>"
    assert [each.name for each in parsed(f"{text}{call}").calls] == ["h"]


@for_each(
    ("text", "content"),
    [
        ("final<|message|>Send it to=functions.f<|return|>", "Send it to=functions.f"),
        ("commentary<|message|>I look.<|end|>", "I look."),
        ("finally<|message|>Hi.", "finally<|message|>Hi."),
        ("final answer: 42", "final answer: 42"),
        ("commentary to=functions.f is how", "commentary to=functions.f is how"),
        ('So: to=functions.f<|channel|>final<|message|>{"a": 1}', 'So: to=functions.f{"a": 1}'),
        ('So: commentary to=functions.f<|message|>{"a": 1}', None),
    ],
)
def test_a_header_without_its_mark_counts_only_where_the_text_begins(text: str, content: str | None) -> None:
    """And where it is one."""
    result = parsed(text)
    assert result.calls == ()
    assert content is None or result.content == content


@for_each("text")
def test_a_broken_message_is_not_a_call(text: str) -> None:
    """Its text must be JSON, and nothing else."""
    assert calls(text) == []


def test_a_flood_of_marks_is_not_a_call() -> None:
    """Every mark is looked at once."""
    for text in (
        "<|channel|>" * 100,
        "<|channel|>commentary to=functions.f<|message|>{" * 50,
        "<|start|>assistant" * 50,
    ):
        assert parsed(text).calls == ()


@for_each("header")
def test_a_header_may_have_line_breaks(header: str) -> None:
    """Around each of its parts."""
    assert calls(f'{header}{{"a": 1}}\n<|call|>\n') == [("f", {"a": 1})]


MUSE = """\
<atem:function_calls>
<atem:invoke name="f">
<atem:parameter name="a">x y</atem:parameter>
</atem:invoke>
</atem:function_calls>"""


def test_muse_types_what_no_schema_does() -> None:
    """Lists and objects are JSON, and line breaks are the model's."""
    inner = '<atem:parameter name="n">1</atem:parameter><atem:parameter name="s">\nx\n</atem:parameter>'
    text = f'<|start|>assistant to=f<|message|><atem:function_calls><atem:invoke name="f.f">{inner}</atem:invoke>'
    assert calls(f"{text}</atem:function_calls>") == [("f", {"n": 1, "s": "\nx\n"})]


def test_muse_names_may_have_a_namespace() -> None:
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
def test_muse_calls_only_what_it_addresses(text: str) -> None:
    """What is said to the user or to itself is not a call."""
    assert calls(text) == []


def test_a_told_muse_glimmer_needs_its_header() -> None:
    """Without a header no one is addressed."""
    assert calls(MUSE, format="muse_glimmer") == []


@for_each("text", ["to=x is the syntax.", "a to=<b", " to= is an assignment", "<|start|>assistant to=f"])
def test_a_header_alone_is_text(text: str) -> None:
    """A header ends in its mark."""
    assert parsed(text, format="muse_glimmer").content == text


def test_a_flood_of_headers_is_text() -> None:
    """Every mark is looked at once."""
    refused(" to=" * 200)

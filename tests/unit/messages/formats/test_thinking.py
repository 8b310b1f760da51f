"""Reasoning, in which nothing is a call."""

from tests.parsing import parsed
from tests.tables import for_each

CALL = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'


PAIRS = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("<|content_thinking|>", "<|end_message|>"),
    ("◁think▷", "◁/think▷"),
    ("<|channel>thought\n", "<channel|>"),
    ("<|channel>", "<channel|>"),
    ("<ifm|think>", "</ifm|think>"),
]


@for_each(("opener", "closer"), PAIRS)
def test_a_call_in_reasoning_is_none(opener: str, closer: str) -> None:
    """What follows the reasoning counts."""
    result = parsed(f"{opener}I may {CALL}{closer}Now: {CALL}")
    assert (len(result.calls), result.content, result.reasoning) == (1, "Now: ", f"I may {CALL}")


def test_reasoning_that_does_not_end_is_all_reasoning() -> None:
    """A text that was cut off calls nothing."""
    result = parsed(f"Well.<think>{CALL}")
    assert (result.calls, result.content, result.reasoning) == ((), "Well.", CALL)


def test_a_text_may_begin_in_its_reasoning() -> None:
    """The caller can say so; then nothing before the closing mark is a call."""
    result = parsed(f"hm {CALL}</think>{CALL}", in_thinking=True)
    assert (len(result.calls), result.content, result.reasoning) == (1, "", f"hm {CALL}")


def test_a_closing_mark_alone_tells_of_reasoning() -> None:
    """What is before it was reasoning, calls as well; a second one is text."""
    result = parsed(f"hm {CALL}</think>Hi</think>")
    assert (result.calls, result.content, result.reasoning) == ((), "Hi</think>", f"hm {CALL}")


@for_each("closer", sorted({closer for _, closer in PAIRS} - {"<|end_message|>"}))
def test_every_closing_mark_tells_of_reasoning(closer: str) -> None:
    """Whatever the model has for it; what follows counts."""
    result = parsed(f"I may {CALL}{closer}Now: {CALL}")
    assert (len(result.calls), result.content, result.reasoning) == (1, "Now: ", f"I may {CALL}")


@for_each(
    "text",
    [
        f"<think>a <think>b</think>{CALL}</think>",
        f"<think>The file says: </think>{CALL} and so on.</think>",
        f"hm</think>{CALL}</think>",
        f"{CALL}<think>a</think></think>",
        f'{CALL}<tool_call>{{"name": "f</think>",}}</tool_call>',
        f"{CALL}<tool_response>a</think>b",
        f"{CALL}</thought>",
        f"{CALL}Final Answer: 3</think>",
        f"{CALL}Final Answer:</think>4",
        f"{CALL}\n**Final Answer:** [/THINK] Hi",
        f"{CALL}\nFinal Answer: {CALL}◁/think▷",
    ],
)
def test_a_call_before_an_unopened_mark_is_none(text: str) -> None:
    """A file that is quoted in the reasoning may hold the mark; what was said stays content."""
    result = parsed(text)
    assert result.calls == ()
    assert CALL in result.content


def test_what_was_only_thought_is_reported() -> None:
    """Where the reasoning had ended before, a call may have been meant."""
    assert [note.is_broken for note in parsed(f"<think>a</think>{CALL}</think>").diagnostics] == [True]
    assert parsed(f"hm {CALL}</think>").diagnostics == ()


def test_a_closing_mark_in_backticks_ends_nothing() -> None:
    """What comes before it stays content, if it holds no call."""
    assert parsed("So `</think>` ends it.").content == "So `</think>` ends it."
    assert parsed(f"{CALL} So `</think>` ends it.").calls == ()


def test_results_of_tools_are_text() -> None:
    """A model that makes up a result makes no call."""
    result = parsed(f"<tool_response>{CALL}</tool_response>{CALL}")
    assert (len(result.calls), result.content) == (1, CALL)


@for_each("token", ["<|im_end|>", "<|eot_id|>", "<|message_model|>"])
def test_tokens_are_dropped(token: str) -> None:
    """Tokens that only frame the text are not content."""
    assert parsed(f"a{token}b").content == "ab"

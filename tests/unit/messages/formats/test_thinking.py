"""Reasoning, in which nothing is a call."""

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from permitry.messages.text import ParsedText

Parsed: TypeAlias = Callable[..., ParsedText]
Calls: TypeAlias = Callable[..., list[tuple[str, dict[str, Any]]]]

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


@pytest.mark.parametrize(("opener", "closer"), PAIRS)
def test_a_call_in_reasoning_is_none(parsed: Parsed, opener: str, closer: str) -> None:
    """What follows the reasoning counts."""
    result = parsed(f"{opener}I may {CALL}{closer}Now: {CALL}")
    assert (len(result.calls), result.content, result.reasoning) == (1, "Now: ", f"I may {CALL}")


def test_reasoning_that_does_not_end_is_all_reasoning(parsed: Parsed) -> None:
    """A text that was cut off calls nothing."""
    result = parsed(f"Well.<think>{CALL}")
    assert (result.calls, result.content, result.reasoning) == ((), "Well.", CALL)


def test_a_text_may_begin_in_its_reasoning(parsed: Parsed) -> None:
    """The caller can say so; then nothing before the closing mark is a call."""
    result = parsed(f"hm {CALL}</think>{CALL}", in_thinking=True)
    assert (len(result.calls), result.content, result.reasoning) == (1, "", f"hm {CALL}")


def test_a_closing_mark_alone_tells_of_reasoning(parsed: Parsed) -> None:
    """What is before it was reasoning; a second one is text."""
    result = parsed("hm</think>Hi</think>")
    assert (result.content, result.reasoning) == ("Hi</think>", "hm")


def test_calls_are_never_taken_back(parsed: Parsed) -> None:
    """A stream has given them out already."""
    result = parsed(f"{CALL}</think>Hi")
    assert (len(result.calls), result.content) == (1, "</think>Hi")


def test_results_of_tools_are_text(parsed: Parsed) -> None:
    """A model that makes up a result makes no call."""
    result = parsed(f"<tool_response>{CALL}</tool_response>{CALL}")
    assert (len(result.calls), result.content) == (1, CALL)


@pytest.mark.parametrize("token", ["<|START_RESPONSE|>", "<|im_end|>", "<|eot_id|>", "<|message_model|>"])
def test_tokens_are_dropped(parsed: Parsed, token: str) -> None:
    """Tokens that only frame the text are not content."""
    assert parsed(f"a{token}b").content == "ab"

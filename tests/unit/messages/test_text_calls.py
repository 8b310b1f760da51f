"""Calls in the text of messages: where they are looked for, and what becomes of them."""

from typing import Any

from tests.tables import for_each

from permitry.core.call import ToolCall
from permitry.core.result import ToolResult
from permitry.core.spec import ToolSpec
from permitry.errors import CallError
from permitry.messages.text import TextCall
from permitry.messages.text_calls import as_tool_call, text_calls

CALL = '<tool_call>{"name": "read_file", "arguments": {"path": "a"}}</tool_call>'
TOOLS = [ToolSpec("read_file", parameters={"type": "object", "properties": {"path": {"type": "string"}}})]


def names(message: object) -> list[str]:
    """Return the names of the calls in a message."""
    return [call.name for call in text_calls(message, TOOLS)]


@for_each(
    "message",
    [
        {"role": "assistant", "content": CALL},
        {"role": "assistant", "content": [{"type": "text", "text": CALL}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": CALL}]},
        {"choices": [{"message": {"role": "assistant", "content": CALL}}]},
        {"output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": CALL}]}]},
        {"role": "model", "parts": [{"text": CALL}]},
        {"candidates": [{"content": {"role": "model", "parts": [{"text": CALL}]}}]},
        {"candidates": [{"content": {"parts": [{"text": CALL}]}}]},
    ],
)
def test_a_call_is_found_in_the_text_of_every_shape(message: object) -> None:
    """Messages and whole responses, of every provider."""
    (incoming,) = text_calls(message, TOOLS)
    assert incoming.call == ToolCall("read_file", {"path": "a"}, origin="text:tool_call_json")


@for_each(
    "message",
    [
        {"role": "user", "content": CALL},
        {"role": "system", "content": CALL},
        {"role": "tool", "tool_call_id": "c", "content": CALL},
        {"role": "user", "content": [{"type": "text", "text": CALL}]},
        {"role": "user", "parts": [{"text": CALL}]},
        {"candidates": [{"content": {"role": "user", "parts": [{"text": CALL}]}}]},
        {"output": [{"type": "function_call_output", "call_id": "c", "output": CALL}]},
        {"type": "tool_result", "content": CALL},
        {"choices": [{"message": {"role": "user", "content": CALL}}]},
        {"text": CALL},
        CALL,
        None,
    ],
)
def test_what_others_say_is_not_a_call(message: object) -> None:
    """A page, a file or a user that spells a call makes none."""
    assert text_calls(message, TOOLS) == []


@for_each(
    "message",
    [
        {"role": "assistant", "content": [{"type": "thinking", "thinking": CALL, "text": CALL}]},
        {"role": "assistant", "content": "ok", "reasoning_content": CALL},
        {"role": "assistant", "content": f"<think>{CALL}</think>ok"},
        {"role": "assistant", "content": f"<think>{CALL}"},
        {"role": "assistant", "content": f"{CALL}</think>ok"},
        {"role": "assistant", "content": [{"type": "text", "text": "<think>"}, {"type": "text", "text": CALL}]},
        {"role": "model", "parts": [{"text": CALL, "thought": True}]},
        {"output": [{"type": "reasoning", "content": [{"type": "reasoning_text", "text": CALL}]}]},
    ],
)
def test_thinking_is_not_a_call(message: object) -> None:
    """What a model weighs it has not done, however its thinking is marked, and wherever that begins."""
    assert text_calls(message, TOOLS) == []


@for_each(
    ("text", "count"),
    [
        (f"{CALL} or rather </think>{CALL}", 1),
        (f"{CALL} or rather [/THINK]{CALL}", 1),
        (f"<think>a</think>{CALL}", 1),
        (f"{CALL}<think>done?</think>yes", 1),
        (CALL.replace('"a"', '"</think>"') + CALL, 2),
    ],
)
def test_a_call_behind_the_thinking_counts(text: str, count: int) -> None:
    """The mark that ends it may have been opened before the text; in an argument it is only text."""
    assert len(names({"role": "assistant", "content": text})) == count


@for_each(
    "message",
    [
        {"role": "assistant", "content": [{"type": "text", "text": {"name": "read_file"}}, {"type": "text"}, 3, None]},
        {"role": "assistant", "content": {"text": CALL}},
        {"role": "model", "parts": [{"text": 3}, "text", None]},
        {"choices": [{"message": None}]},
        {"choices": []},
        {"candidates": [{"content": None}]},
        {"output": [None, [], "text"]},
    ],
)
def test_a_misshapen_message_holds_no_text(message: object) -> None:
    """Nothing raises: the one who reads the message for calls of its own has refused it, where it must be."""
    assert text_calls(message, TOOLS) == []


def test_calls_are_found_in_order_over_all_blocks() -> None:
    """One after the other, as the model wrote them."""
    other = CALL.replace("read_file", "list_files")
    blocks = [{"type": "text", "text": each} for each in (CALL, "and", other)]
    assert names({"role": "assistant", "content": blocks}) == ["read_file", "list_files"]


def test_an_unknown_tool_is_a_call_all_the_same() -> None:
    """So that it is refused, and reported so, and does not pass as text."""
    assert names({"role": "assistant", "content": CALL.replace("read_file", "nowhere")}) == ["nowhere"]


def test_a_fault_is_not_mended() -> None:
    """What a model has not written properly it may not have meant; no call is made of it."""
    assert names({"role": "assistant", "content": CALL.replace('"a"', '"a",')}) == []


def test_the_reply_has_the_plain_shape() -> None:
    """There is no other for a call without a shape."""
    (incoming,) = text_calls({"role": "assistant", "content": CALL}, TOOLS)
    assert incoming.reply(ToolResult(True, "text")) == {"name": "read_file", "ok": True, "content": "text"}


def test_a_name_that_no_tool_can_have_is_reported() -> None:
    """The call is there, with what is wrong with it."""
    call = text_calls({"role": "assistant", "content": CALL.replace("read_file", "mcp:a")}, TOOLS)
    assert [isinstance(each.call, CallError) for each in call] == [True]


def text_call(**changes: Any) -> TextCall:  # noqa: ANN401 -- TextCall's own fields
    """Return a call as it was found in a text."""
    usual: dict[str, Any] = {"name": "f", "arguments": {"a": 1}, "format": "kimi_k2", "span": (0, 1), "is_known": True}
    return TextCall(**{**usual, **changes})


def test_a_tool_call_says_where_it_comes_from() -> None:
    """The format is its origin; the id is that of the text, unless another one is given."""
    call = as_tool_call(text_call(call_id="functions.f:0"))
    assert (call.name, call.origin, call.call_id, call.repaired) == ("f", "text:kimi_k2", "functions.f:0", False)
    assert as_tool_call(text_call(call_id="functions.f:0"), call_id="mine").call_id == "mine"


def test_a_mended_call_says_so() -> None:
    """For the condition `repaired`."""
    assert as_tool_call(text_call(repaired=True)).repaired is True

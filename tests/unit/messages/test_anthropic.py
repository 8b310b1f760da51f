"""The shape of Anthropic's messages."""

from typing import Any

import pytest
from tests.tables import for_each

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.result import MediaPart, ToolResult
from permitry.errors import CallError
from permitry.messages import call_message, calls_in, result_message

_ORIGIN = "anthropic"
_IMAGE = MediaPart(b"png", "image/png")
_SOUND = MediaPart(b"sound", "audio/wav")
_BLOCK: dict[str, Any] = {"type": "tool_use", "id": "t1", "name": "look", "input": {"path": "a"}}


def _message(*blocks: object, role: str = "assistant") -> dict[str, Any]:
    return {"type": "message", "role": role, "content": list(blocks)}


def test_a_tool_use_block_in_a_message_is_read() -> None:
    """Name, input and id of a block become a call."""
    [incoming] = calls_in(_message({"type": "text", "text": "let me see"}, _BLOCK))
    assert incoming.call == ToolCall("look", {"path": "a"}, call_id="t1", origin=_ORIGIN)


def test_the_blocks_of_a_message_keep_their_order() -> None:
    """Parallel calls come in the order in which the model made them."""
    incoming = calls_in(_message({**_BLOCK, "id": "t2", "name": "write"}, _BLOCK))
    assert [each.name for each in incoming] == ["write", "look"]


def test_a_result_goes_back_in_a_user_message() -> None:
    """The result of a message's block is a message."""
    [incoming] = calls_in(_message(_BLOCK))
    block = {"type": "tool_result", "tool_use_id": "t1", "content": "done"}
    assert incoming.reply(ToolResult(True, "done")) == {"role": "user", "content": [block]}


def test_a_bare_block_is_answered_with_a_bare_block() -> None:
    """A block that came without a message gets its result without one."""
    [incoming] = calls_in(_BLOCK)
    assert incoming.call == ToolCall("look", {"path": "a"}, call_id="t1", origin=_ORIGIN)
    assert incoming.reply(ToolResult(True, "done")) == {"type": "tool_result", "tool_use_id": "t1", "content": "done"}


def test_a_failure_is_marked_as_an_error() -> None:
    """Only a result that went wrong carries `is_error`."""
    [incoming] = calls_in(_BLOCK)
    assert incoming.reply(ToolResult(False, "no"))["is_error"] is True
    assert "is_error" not in incoming.reply(ToolResult(True, "yes"))


@for_each("kind", ["server_tool_use", "mcp_tool_use", "tool_result", "text"])
def test_what_the_provider_runs_itself_is_not_a_call(kind: str) -> None:
    """A block that ran on the provider's side, or is not a call at all, is skipped."""
    assert calls_in(_message({**_BLOCK, "type": kind})) == []


@for_each("role", ["user", "system", "tool"])
def test_only_the_assistant_makes_calls(role: str) -> None:
    """A block quoted in anybody else's message is never a call."""
    assert calls_in(_message(_BLOCK, role=role)) == []


def test_a_message_of_text_has_no_calls() -> None:
    """Content that is text, not blocks, gives nothing."""
    assert calls_in({"role": "assistant", "content": "I would run rm"}) == []


@for_each("content", [_BLOCK, {}])
def test_content_that_is_one_object_is_an_error(content: dict[str, Any]) -> None:
    """A block without a list around it is not skipped in silence."""
    with pytest.raises(CallError, match="`content` must be text or a list of blocks"):
        calls_in({"role": "assistant", "content": content})


@for_each(
    "message",
    [
        {"role": "assistant", "name": "look", "ok": True, "content": _BLOCK},
        {"type": "message", "content": _BLOCK},
    ],
)
def test_only_a_plain_result_has_an_object(message: dict[str, Any]) -> None:
    """A message of the assistant stays one, whatever other keys it has."""
    assert calls_in({"name": "look", "ok": True, "content": _BLOCK}) == []
    with pytest.raises(CallError, match="`content` must be text or a list of blocks"):
        calls_in(message)


@for_each("block", ["text", None, [_BLOCK]])
def test_a_block_that_is_no_object_is_an_error(block: object) -> None:
    """It is not skipped in silence."""
    with pytest.raises(CallError, match="a block of `content` is an object"):
        calls_in(_message(block))


@for_each("given", ["{", [1], 7, {"a": float("nan")}])
def test_an_input_that_is_no_object_is_an_error(given: object) -> None:
    """The call is refused on its own, and its result still finds its way back."""
    [incoming] = calls_in(_message({**_BLOCK, "input": given}))
    assert isinstance(incoming.call, CallError)
    assert incoming.reply(ToolResult(False, "bad"))["content"][0]["tool_use_id"] == "t1"


def test_a_call_is_written_as_a_message_of_one_block() -> None:
    """The way back of what was read."""
    call = ToolCall("look", {"path": "a"}, call_id="t1")
    assert call_message(call, _ORIGIN) == {"role": "assistant", "content": [_BLOCK]}


def test_a_tool_of_a_server_is_written_by_its_full_name() -> None:
    """The shape has one field for server and name."""
    [block] = call_message(ToolCall("search", server="docs", call_id="t1"), _ORIGIN)["content"]
    assert block["name"] == "mcp:docs/search"


@for_each(
    ("call", "expected"),
    [
        (ToolCall("look"), "needs an id, and this call of `look` has none"),
        (ToolCall("sql", {"input": ""}, call_id="t1", kind=PayloadKind.CUSTOM), "cannot carry this `custom` call"),
        (ToolCall("local_shell", call_id="t1", kind=PayloadKind.LOCAL_SHELL), "cannot carry this `local_shell` call"),
        (ToolCall("search", call_id="t1", kind=PayloadKind.MCP), "cannot carry an MCP call without a server"),
        (ToolCall("a" * 250, server="docs", call_id="t1"), "longer than 256 characters"),
    ],
)
def test_a_call_that_would_come_back_as_another_is_refused(call: ToolCall, expected: str) -> None:
    """What the shape has no field for is not dropped in silence."""
    with pytest.raises(CallError, match=expected):
        call_message(call, _ORIGIN)


def test_a_result_is_written_for_a_call() -> None:
    """As the reply to the message would be."""
    written = result_message(ToolResult(False, "no"), ToolCall("look", call_id="t1"), _ORIGIN)
    block = {"type": "tool_result", "tool_use_id": "t1", "content": "no", "is_error": True}
    assert written == {"role": "user", "content": [block]}


def test_a_result_needs_the_id_of_its_call() -> None:
    """Without it, no one knows what was answered."""
    with pytest.raises(CallError, match="needs an id"):
        result_message(ToolResult(True, "done"), ToolCall("look"), _ORIGIN)


def test_an_image_goes_along_as_a_block() -> None:
    """In base64, after the text."""
    [incoming] = calls_in(_BLOCK)
    source = {"type": "base64", "media_type": "image/png", "data": "cG5n"}
    text = {"type": "text", "text": "seen\n[left out: audio/wav, 5 bytes]"}
    result = ToolResult(True, "seen", parts=[_SOUND, _IMAGE])
    assert incoming.reply(result)["content"] == [text, {"type": "image", "source": source}]


def test_an_image_without_text_is_the_only_block() -> None:
    """The API refuses an empty block of text."""
    [incoming] = calls_in(_BLOCK)
    [block] = incoming.reply(ToolResult(True, "", parts=[_IMAGE]))["content"]
    assert block["type"] == "image"


@for_each("kind", ["image/svg+xml", "audio/wav"])
def test_what_the_api_does_not_take_is_named_as_left_out(kind: str) -> None:
    """The model is informed of what it cannot see."""
    [incoming] = calls_in(_BLOCK)
    assert incoming.reply(ToolResult(True, "", parts=[MediaPart(b"", kind)]))["content"] == (
        f"[left out: {kind}, 0 bytes]"
    )


def test_an_error_is_text_alone() -> None:
    """The API refuses an image in a result that is marked as an error."""
    [incoming] = calls_in(_BLOCK)
    block = incoming.reply(ToolResult(False, "no", parts=[_IMAGE]))
    assert block["content"] == "no\n[left out: image/png, 3 bytes]"

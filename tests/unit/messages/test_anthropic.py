"""The shape of Anthropic's messages."""

from typing import Any

import pytest

from permitry.core.call import ToolCall
from permitry.errors import CallError
from permitry.messages import calls_in

_ORIGIN = "anthropic"
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
    assert incoming.reply(True, "done") == {"role": "user", "content": [block]}


def test_a_bare_block_is_answered_with_a_bare_block() -> None:
    """A block that came without a message gets its result without one."""
    [incoming] = calls_in(_BLOCK)
    assert incoming.call == ToolCall("look", {"path": "a"}, call_id="t1", origin=_ORIGIN)
    assert incoming.reply(True, "done") == {"type": "tool_result", "tool_use_id": "t1", "content": "done"}


def test_a_failure_is_marked_as_an_error() -> None:
    """Only a result that went wrong carries `is_error`."""
    [incoming] = calls_in(_BLOCK)
    assert incoming.reply(False, "no")["is_error"] is True
    assert "is_error" not in incoming.reply(True, "yes")


@pytest.mark.parametrize("kind", ["server_tool_use", "mcp_tool_use", "tool_result", "text"])
def test_what_the_provider_runs_itself_is_no_call(kind: str) -> None:
    """A block that ran on the provider's side, or is no call at all, is passed over."""
    assert calls_in(_message({**_BLOCK, "type": kind})) == []


@pytest.mark.parametrize("role", ["user", "system", "tool"])
def test_only_the_assistant_makes_calls(role: str) -> None:
    """A block quoted in anybody else's message is never a call."""
    assert calls_in(_message(_BLOCK, role=role)) == []


def test_a_message_of_text_has_no_calls() -> None:
    """Content that is text, not blocks, gives nothing."""
    assert calls_in({"role": "assistant", "content": "I would run rm"}) == []


@pytest.mark.parametrize("content", [_BLOCK, {}])
def test_content_that_is_one_object_is_an_error(content: dict[str, Any]) -> None:
    """A block without a list around it is not passed over in silence."""
    with pytest.raises(CallError, match="`content` must be text or a list of blocks"):
        calls_in({"role": "assistant", "content": content})


@pytest.mark.parametrize("given", ["{", [1], 7, {"a": float("nan")}])
def test_an_input_that_is_no_object_is_an_error(given: object) -> None:
    """The call is refused on its own, and its result still finds its way back."""
    [incoming] = calls_in(_message({**_BLOCK, "input": given}))
    assert isinstance(incoming.call, CallError)
    assert incoming.reply(False, "bad")["content"][0]["tool_use_id"] == "t1"

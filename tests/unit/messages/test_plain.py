"""The plain shape."""

import pytest
from tests.tables import for_each

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.result import MediaPart, ToolResult
from permitry.errors import CallError
from permitry.messages import call_message, calls_in, result_message
from permitry.messages.plain import call_from_object

_ORIGIN = "plain"


def test_a_plain_call_is_read() -> None:
    """Name and arguments are enough."""
    [incoming] = calls_in({"name": "look", "arguments": {"path": "a"}})
    assert incoming.call == ToolCall("look", {"path": "a"}, origin=_ORIGIN)


def test_an_id_goes_back_with_the_result() -> None:
    """A caller that numbers its calls gets the number back."""
    [incoming] = calls_in({"id": "7", "name": "look", "arguments": {}})
    assert incoming.reply(ToolResult(True, "done")) == {"id": "7", "name": "look", "ok": True, "content": "done"}


def test_a_number_as_id_goes_back_as_it_came() -> None:
    """Inside it is text like every other id."""
    [incoming] = calls_in({"id": 7, "name": "look", "arguments": {}})
    assert incoming.call == ToolCall("look", call_id="7", origin=_ORIGIN)
    assert incoming.reply(ToolResult(True, "done"))["id"] == 7


def test_without_an_id_the_result_has_none() -> None:
    """No id is made up for the caller."""
    [incoming] = calls_in({"name": "look", "arguments": {}})
    assert incoming.reply(ToolResult(False, "no")) == {"name": "look", "ok": False, "content": "no"}


@for_each("kind", list(PayloadKind))
def test_the_kind_is_read_by_its_word(kind: PayloadKind) -> None:
    """Every payload kind can be written."""
    [incoming] = calls_in({"name": "look", "arguments": {}, "kind": kind.value})
    assert incoming.call == ToolCall("look", kind=kind, origin=_ORIGIN)


def test_the_server_makes_it_that_servers_tool() -> None:
    """A server's tool has the server's name in front."""
    [incoming] = calls_in({"name": "search", "arguments": {}, "server": "docs"})
    assert incoming.call == ToolCall("mcp:docs/search", origin=_ORIGIN)


@for_each("kind", ["shell", None, [], 3])
def test_an_unknown_kind_is_an_error_that_names_the_known_ones(kind: object) -> None:
    """A kind no one knows is not read as a function call."""
    incoming = call_from_object({"name": "look", "arguments": {}, "kind": kind})
    assert isinstance(incoming.call, CallError)
    assert "known: function, custom, local_shell, unified_exec, mcp" in str(incoming.call)


@for_each("extra", [{"role": "user"}, {"role": "tool"}, {"role": "assistant", "content": ""}, {"type": "mcp_call"}])
def test_an_object_with_a_role_or_a_type_is_no_plain_call(extra: dict[str, str]) -> None:
    """Someone's message that happens to have a name is not run."""
    assert calls_in({"name": "look", "arguments": {}, **extra}) == []


@for_each("rest", [{"arguments": [1]}, {"server": 5}, {"server": "a/b"}, {"id": 1.5}, {"id": True}])
def test_a_field_of_the_wrong_type_is_an_error(rest: dict[str, object]) -> None:
    """Every field of a call is checked."""
    [incoming] = calls_in({"name": "look", "arguments": {}, **rest})
    assert isinstance(incoming.call, CallError)


@for_each("rest", [{}, {"id": "c1"}, {"input": {}}, {"args": {}}])
def test_without_arguments_it_is_not_a_call(rest: dict[str, object]) -> None:
    """A name alone may be anything; a call says what it is called with."""
    with pytest.raises(CallError, match="a call has `name` and `arguments`"):
        calls_in({"name": "look", **rest})


@for_each("ok", [True, False])
@for_each("head", [{}, {"id": "c1"}, {"id": 7}])
def test_a_plain_result_is_a_message_without_calls(head: dict[str, object], ok: bool) -> None:  # noqa: FBT001 -- a table
    """What `reply` writes is neither run again nor a bad line when it is fed back in."""
    [incoming] = calls_in({**head, "name": "run_shell", "arguments": {}})
    assert calls_in(incoming.reply(ToolResult(ok, "done"))) == []


def test_a_result_that_quotes_its_call_is_a_result() -> None:
    """What has already been answered is not run again."""
    assert calls_in({"name": "run_shell", "arguments": {}, "ok": True, "content": "done"}) == []


@for_each("extra", [{"ok": True}, {"content": "done"}])
def test_half_a_result_is_none(extra: dict[str, object]) -> None:
    """A call with a field too many is still a call, rather than skipped in silence."""
    assert len(calls_in({"name": "look", "arguments": {}, **extra})) == 1


def test_null_arguments_mean_none() -> None:
    """The key is what makes it a call."""
    [incoming] = calls_in({"name": "look", "arguments": None})
    assert incoming.call == ToolCall("look", origin=_ORIGIN)


def test_a_line_of_the_operator_comes_from_no_shape() -> None:
    """Only what came in as a message has an origin."""
    assert call_from_object({"name": "look", "arguments": {}}).call == ToolCall("look")


def test_a_call_is_written_with_what_it_has() -> None:
    """No id, server or kind is made up."""
    assert call_message(ToolCall("look", {"path": "a"}), _ORIGIN) == {"name": "look", "arguments": {"path": "a"}}


def test_id_kind_and_server_are_written() -> None:
    """Every field that sets a call apart has its key."""
    call = ToolCall("mcp:docs/search", call_id="c1")
    wanted = {"id": "c1", "name": "search", "arguments": {}, "server": "docs", "kind": "mcp"}
    assert call_message(call, _ORIGIN) == wanted


def test_a_result_is_written_for_a_call() -> None:
    """As the reply to the line would be."""
    written = result_message(ToolResult(False, "no"), ToolCall("look", call_id="c1"), _ORIGIN)
    assert written == {"id": "c1", "name": "look", "ok": False, "content": "no"}


def test_an_image_is_named_as_left_out() -> None:
    """The content is text."""
    result = ToolResult(True, "seen", parts=[MediaPart(b"12345", "image/png")])
    written = result_message(result, ToolCall("look"), _ORIGIN)
    assert written["content"] == "seen\n[left out: image/png, 5 bytes]"

"""The shape of MCP."""

from typing import Any

import pytest
from tests.tables import for_each

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.result import MediaPart, ToolResult
from permitry.errors import CallError
from permitry.messages import call_message, calls_in, result_message

_ORIGIN = "mcp"
_PARAMS: dict[str, Any] = {"name": "search", "arguments": {"q": "a"}}
_REQUEST: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": _PARAMS}
_CALL = ToolCall("search", {"q": "a"}, call_id="1", server="docs", origin=_ORIGIN)


def test_a_request_to_a_server_is_read() -> None:
    """The host says which server it is; the call is that server's tool."""
    [incoming] = calls_in(_REQUEST, server="docs")
    assert incoming.call == _CALL
    assert _CALL.kind is PayloadKind.MCP


def test_a_request_to_no_one_is_an_error() -> None:
    """By its bare name the call would meet the rules of the agent's own tools."""
    [incoming] = calls_in(_REQUEST)
    assert isinstance(incoming.call, CallError)
    assert "does not say of which MCP server `search` is a tool" in str(incoming.call)
    assert incoming.reply(ToolResult(False, "no"))["id"] == 1


def test_a_name_may_say_the_server() -> None:
    """A gateway for several servers lists their tools under names that are reported apart."""
    [incoming] = calls_in({**_REQUEST, "params": {**_PARAMS, "name": "mcp:docs/search"}})
    assert incoming.call == _CALL


def test_the_server_of_the_host_comes_first() -> None:
    """A name does not lead a call past the rules of the server it goes to."""
    [incoming] = calls_in({**_REQUEST, "params": {"name": "mcp:other/search"}}, server="docs")
    assert isinstance(incoming.call, ToolCall)
    assert incoming.call.tool == "mcp:docs/mcp:other/search"


@for_each("server", ["", "a/b", " docs"])
def test_a_server_of_a_bad_name_is_an_error(server: str) -> None:
    """Every field of a call is checked."""
    [incoming] = calls_in(_REQUEST, server=server)
    assert isinstance(incoming.call, CallError)


def test_the_server_is_nothing_to_the_other_shapes() -> None:
    """They say it themselves, or are not a server's calls."""
    [incoming] = calls_in({"name": "search", "arguments": {}}, server="docs")
    assert incoming.call == ToolCall("search", origin="plain")


@for_each("call_id", [1, "1", 0, -3])
def test_an_id_goes_back_as_it_came(call_id: object) -> None:
    """The one who sent a number does not know its text."""
    [incoming] = calls_in({**_REQUEST, "id": call_id}, server="docs")
    assert isinstance(incoming.call, ToolCall)
    assert incoming.call.call_id == str(call_id)
    assert incoming.reply(ToolResult(True, "done"))["id"] is call_id


@for_each("head", [{}, {"id": None}, {"id": 1.5}, {"id": True}, {"id": [1]}])
def test_a_request_no_one_can_answer_is_refused(head: dict[str, object]) -> None:
    """A call whose result is lost is not run."""
    message = {key: value for key, value in _REQUEST.items() if key != "id"}
    with pytest.raises(CallError, match="needs an `id`"):
        calls_in({**message, **head}, server="docs")


@for_each("params", [None, [], "search", {}, {"arguments": {}}, {"name": "search", "arguments": [1]}])
def test_a_broken_call_is_an_error_the_client_can_be_told(params: object) -> None:
    """The call is refused, and its result still finds its way back."""
    [incoming] = calls_in({**_REQUEST, "params": params}, server="docs")
    assert isinstance(incoming.call, CallError)
    assert incoming.reply(ToolResult(False, "bad"))["id"] == 1


@for_each("message")
def test_what_else_is_said_is_passed_over(message: dict[str, object]) -> None:
    """Lists, notifications and answers are not calls."""
    assert calls_in({"jsonrpc": "2.0", **message}) == []


@for_each(
    ("change", "expected"),
    [
        ({"method": "tools/cal"}, "unknown method 'tools/cal'"),
        ({"method": None}, "unknown method None"),
        ({"method": ["tools/call"]}, "unknown method"),
        ({"jsonrpc": "1.0"}, '`jsonrpc` must be "2.0"'),
        ({"jsonrpc": None}, '`jsonrpc` must be "2.0"'),
        ({"param": {}}, "unknown key `param` in a JSON-RPC message"),
    ],
)
def test_what_no_one_knows_is_refused(change: dict[str, object], expected: str) -> None:
    """A misspelt call must not vanish."""
    with pytest.raises(CallError, match=expected):
        calls_in({**_REQUEST, **change}, server="docs")


def test_a_message_that_says_nothing_is_refused() -> None:
    """Neither a request nor an answer."""
    with pytest.raises(CallError, match="neither `method` nor `result` nor `error`"):
        calls_in({"jsonrpc": "2.0", "id": 1, "params": _PARAMS})


def test_a_method_counts_next_to_a_result() -> None:
    """A call that also looks like an answer is still a call."""
    assert len(calls_in({**_REQUEST, "result": {}}, server="docs")) == 1


@for_each("ok", [True, False])
def test_a_result_goes_back_as_the_response(ok: bool) -> None:  # noqa: FBT001 -- a table
    """A tool that failed is a result too, so that the model sees why."""
    [incoming] = calls_in(_REQUEST, server="docs")
    result = {"content": [{"type": "text", "text": "told"}], "isError": not ok}
    assert incoming.reply(ToolResult(ok, "told")) == {"jsonrpc": "2.0", "id": 1, "result": result}


def test_images_and_sound_go_along() -> None:
    """In base64, after the text, and alone when there is none."""
    parts = [MediaPart(b"png", "image/png"), MediaPart(b"wav", "audio/wav")]
    image = {"type": "image", "data": "cG5n", "mimeType": "image/png"}
    sound = {"type": "audio", "data": "d2F2", "mimeType": "audio/wav"}
    for text, first in (("seen", [{"type": "text", "text": "seen"}]), ("", [])):
        written = result_message(ToolResult(True, text, parts=parts), _CALL, _ORIGIN)
        assert written["result"]["content"] == [*first, image, sound]


def test_an_empty_result_has_an_empty_text() -> None:
    """The list of contents is never empty."""
    written = result_message(ToolResult(True, ""), _CALL, _ORIGIN)
    assert written["result"]["content"] == [{"type": "text", "text": ""}]


def test_structured_content_goes_along() -> None:
    """As plain JSON."""
    written = result_message(ToolResult(True, "2", structured={"hits": [1, 2]}), _CALL, _ORIGIN)
    assert written["result"]["structuredContent"] == {"hits": [1, 2]}


def test_a_call_is_written_as_a_request() -> None:
    """To the server, which knows its tool by the bare name."""
    assert call_message(_CALL, _ORIGIN) == {**_REQUEST, "id": "1"}


@for_each(
    ("call", "expected"),
    [
        (ToolCall("search", server="docs"), "needs an id"),
        (ToolCall("search", call_id="1"), "calls of tools of MCP servers; `search` names none"),
        (ToolCall("search", call_id="1", kind=PayloadKind.MCP), "`search` names none"),
        (ToolCall("search", server="docs", call_id="1", kind=PayloadKind.CUSTOM), "carries calls of tools"),
    ],
)
def test_a_call_that_would_come_back_as_another_is_refused(call: ToolCall, expected: str) -> None:
    """What the shape has no field for is not dropped in silence."""
    with pytest.raises(CallError, match=expected):
        call_message(call, _ORIGIN)


def test_a_result_needs_the_id_of_its_call() -> None:
    """Without it, no one knows what was answered."""
    with pytest.raises(CallError, match="needs an id"):
        result_message(ToolResult(True, "done"), ToolCall("search", server="docs"), _ORIGIN)

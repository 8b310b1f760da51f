"""The shape of OpenAI's responses."""

from typing import Any

import pytest
from tests.tables import for_each

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.result import MediaPart, ToolResult
from permitry.errors import CallError
from permitry.messages import call_message, calls_in, result_message

_ORIGIN = "openai-responses"
_FUNCTION: dict[str, Any] = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "c1",
    "name": "look",
    "arguments": '{"path": "a"}',
}
_CUSTOM: dict[str, Any] = {"type": "custom_tool_call", "call_id": "c2", "name": "sql", "input": "select 1"}
_SHELL: dict[str, Any] = {
    "type": "local_shell_call",
    "call_id": "c3",
    "action": {"type": "exec", "command": ["ls", "-l"]},
}


def test_a_function_call_is_read() -> None:
    """The `call_id`, not the item's own id, is the id of the call."""
    [incoming] = calls_in(_FUNCTION)
    assert incoming.call == ToolCall("look", {"path": "a"}, call_id="c1", origin=_ORIGIN)


def test_a_custom_call_holds_its_text_as_input() -> None:
    """Free text becomes the argument `input` of a custom call."""
    [incoming] = calls_in(_CUSTOM)
    assert incoming.call == ToolCall(
        "sql", {"input": "select 1"}, call_id="c2", kind=PayloadKind.CUSTOM, origin=_ORIGIN
    )


def test_a_local_shell_call_holds_its_action() -> None:
    """The action's fields are the arguments of the tool `local_shell`."""
    [incoming] = calls_in(_SHELL)
    assert incoming.call == ToolCall(
        "local_shell", _SHELL["action"], call_id="c3", kind=PayloadKind.LOCAL_SHELL, origin=_ORIGIN
    )


@for_each("item", [_FUNCTION, _CUSTOM, _SHELL])
def test_a_result_goes_back_as_the_output_of_its_kind(item: dict[str, Any]) -> None:
    """Every kind of call has an output item of its own."""
    [incoming] = calls_in(item)
    wanted = {"type": f"{item['type']}_output", "call_id": item["call_id"], "output": "done"}
    assert incoming.reply(ToolResult(True, "done")) == wanted


def test_a_whole_response_gives_its_calls_in_order() -> None:
    """Messages and reasoning between the calls are skipped."""
    between: list[object] = [{"type": "reasoning"}, {"type": "message", "role": "assistant"}]
    incoming = calls_in({"object": "response", "output": [_SHELL, *between, _FUNCTION, _CUSTOM]})
    assert [each.name for each in incoming] == ["local_shell", "look", "sql"]


@for_each("item", ["text", None, [_FUNCTION]])
def test_an_item_that_is_no_object_is_an_error(item: object) -> None:
    """It is not skipped in silence."""
    with pytest.raises(CallError, match="an item of `output` is an object"):
        calls_in({"object": "response", "output": [item]})


def test_a_response_without_its_object_word_is_read() -> None:
    """The word `object` may be missing."""
    assert len(calls_in({"output": [_FUNCTION]})) == 1


@for_each("kind", ["mcp_call", "web_search_call", "file_search_call", "mcp_list_tools", "image_generation_call"])
def test_what_the_provider_runs_itself_is_not_a_call(kind: str) -> None:
    """An item that has already run on the provider's side is neither judged nor run again."""
    item = {"type": kind, "id": "x1", "name": "look", "arguments": "{}", "output": "ran"}
    assert calls_in(item) == []
    assert calls_in({"object": "response", "output": [item]}) == []


@for_each("kind", ["function_call_output", "custom_tool_call_output", "local_shell_call_output"])
def test_an_output_is_not_a_call(kind: str) -> None:
    """A result in the stream is skipped."""
    assert calls_in({"type": kind, "call_id": "c1", "output": "done"}) == []


@for_each("head")
def test_what_lies_in_another_objects_output_is_never_a_call(head: dict[str, str]) -> None:
    """A tool's result that quotes a call is skipped: a whole response has neither role nor type."""
    assert calls_in({**head, "output": [_FUNCTION]}) == []


@for_each("word", ["batch", "chat.completion", "list", None, 7])
def test_another_objects_output_is_not_read_as_a_response(word: object) -> None:
    """A list under `output` counts only in a response; in anything else it is refused."""
    with pytest.raises(CallError, match="neither a message nor a call"):
        calls_in({"object": word, "output": [_FUNCTION]})


@for_each("role", ["user", "tool", "system", "assistant", None])
@for_each("item", [_FUNCTION, _CUSTOM, _SHELL])
def test_an_item_with_a_role_is_a_message(item: dict[str, Any], role: object) -> None:
    """A call has no role; what has one is someone's words, and its neighbours are still read."""
    incoming = calls_in({"object": "response", "output": [{**item, "role": role}, _FUNCTION]})
    assert [each.name for each in incoming] == ["look"]


@for_each("arguments", ["{", "[]", '{"a": Infinity}', '{"a": 1, "a": 1}', 3])
def test_arguments_that_are_no_object_are_an_error(arguments: object) -> None:
    """The call is refused on its own, and its result still finds its way back."""
    [incoming] = calls_in({**_FUNCTION, "arguments": arguments})
    assert isinstance(incoming.call, CallError)
    assert incoming.reply(ToolResult(False, "bad"))["call_id"] == "c1"


def test_a_shell_call_without_an_action_has_no_arguments() -> None:
    """A missing action is an empty one, and still a shell call to the rules."""
    [incoming] = calls_in({"type": "local_shell_call", "call_id": "c3"})
    assert incoming.call == ToolCall("local_shell", call_id="c3", kind=PayloadKind.LOCAL_SHELL, origin=_ORIGIN)


def test_a_shell_call_whose_action_is_text_is_an_error() -> None:
    """An action is an object; a command line in its place is not guessed at."""
    [incoming] = calls_in({**_SHELL, "action": "ls -l"})
    assert isinstance(incoming.call, CallError)


def _read(item: dict[str, Any]) -> ToolCall:
    [incoming] = calls_in(item)
    assert isinstance(incoming.call, ToolCall)
    return incoming.call


def test_a_function_call_is_written_as_an_item() -> None:
    """The way back of what was read; the item's own id is the provider's."""
    assert call_message(_read(_FUNCTION), _ORIGIN) == {key: _FUNCTION[key] for key in _FUNCTION if key != "id"}


def test_a_custom_call_is_written_as_an_item() -> None:
    """Free text stays free text."""
    assert call_message(_read(_CUSTOM), _ORIGIN) == _CUSTOM


def test_a_local_shell_call_is_written_as_an_item() -> None:
    """The arguments are the action again, and what has been read is complete."""
    assert call_message(_read(_SHELL), _ORIGIN) == {**_SHELL, "status": "completed"}


@for_each("item", [_FUNCTION, _CUSTOM, _SHELL])
def test_a_result_is_written_for_a_call(item: dict[str, Any]) -> None:
    """As the reply to the item would be."""
    [incoming] = calls_in(item)
    result = ToolResult(True, "done", parts=[MediaPart(b"x", "image/gif")])
    assert result_message(result, _read(item), _ORIGIN) == incoming.reply(result)


@for_each(
    ("call", "expected"),
    [
        (ToolCall("look"), "needs an id"),
        (ToolCall("bash", call_id="c1", kind=PayloadKind.LOCAL_SHELL), "named `local_shell`, not `bash`"),
        (ToolCall("local_shell", server="s", call_id="c1", kind=PayloadKind.LOCAL_SHELL), "not `mcp:s/local_shell`"),
        (ToolCall("sql", {"a": 1}, call_id="c1", kind=PayloadKind.CUSTOM), "cannot carry a custom call"),
        (ToolCall("search", call_id="c1", kind=PayloadKind.MCP), "cannot carry an MCP call without a server"),
    ],
)
def test_a_call_that_would_come_back_as_another_is_refused(call: ToolCall, expected: str) -> None:
    """What the shape has no field for is not dropped in silence."""
    with pytest.raises(CallError, match=expected):
        call_message(call, _ORIGIN)


def test_a_result_needs_the_id_of_its_call() -> None:
    """Without it, no one knows what was answered."""
    with pytest.raises(CallError, match="needs an id"):
        result_message(ToolResult(True, "done"), ToolCall("look"), _ORIGIN)


@for_each("item", [_FUNCTION, _CUSTOM])
def test_an_image_goes_along_as_a_data_url(item: dict[str, Any]) -> None:
    """The output is then a list; without text it holds the image alone."""
    [incoming] = calls_in(item)
    image = {"type": "input_image", "image_url": "data:image/png;base64,cG5n", "detail": "auto"}
    parts = [MediaPart(b"png", "image/png"), MediaPart(b"sound", "audio/wav")]
    text = {"type": "input_text", "text": "seen\n[left out: audio/wav, 5 bytes]"}
    assert incoming.reply(ToolResult(True, "seen", parts=parts))["output"] == [text, image]
    assert incoming.reply(ToolResult(True, "", parts=parts[:1]))["output"] == [image]


def test_the_output_of_a_local_shell_is_text() -> None:
    """An image is named as left out."""
    [incoming] = calls_in(_SHELL)
    result = ToolResult(True, "seen", parts=[MediaPart(b"png", "image/png")])
    assert incoming.reply(result)["output"] == "seen\n[left out: image/png, 3 bytes]"

"""The shape of OpenAI's responses."""

from typing import Any

import pytest

from permitry.core.call import PayloadKind, ToolCall
from permitry.errors import CallError
from permitry.messages import calls_in

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


@pytest.mark.parametrize("item", [_FUNCTION, _CUSTOM, _SHELL])
def test_a_result_goes_back_as_the_output_of_its_kind(item: dict[str, Any]) -> None:
    """Every kind of call has an output item of its own."""
    [incoming] = calls_in(item)
    wanted = {"type": f"{item['type']}_output", "call_id": item["call_id"], "output": "done"}
    assert incoming.reply(True, "done") == wanted


def test_a_whole_response_gives_its_calls_in_order() -> None:
    """Messages and reasoning between the calls are passed over."""
    between: list[object] = [{"type": "reasoning"}, {"type": "message", "role": "assistant"}]
    incoming = calls_in({"object": "response", "output": [_SHELL, *between, _FUNCTION, _CUSTOM]})
    assert [each.name for each in incoming] == ["local_shell", "look", "sql"]


def test_a_response_without_its_object_word_is_read() -> None:
    """The word `object` may be missing."""
    assert len(calls_in({"output": [_FUNCTION]})) == 1


@pytest.mark.parametrize(
    "kind", ["mcp_call", "web_search_call", "file_search_call", "mcp_list_tools", "image_generation_call"]
)
def test_what_the_provider_runs_itself_is_no_call(kind: str) -> None:
    """An item that has already run on the provider's side is neither judged nor run again."""
    item = {"type": kind, "id": "x1", "name": "look", "arguments": "{}", "output": "ran"}
    assert calls_in(item) == []
    assert calls_in({"object": "response", "output": [item]}) == []


@pytest.mark.parametrize("kind", ["function_call_output", "custom_tool_call_output", "local_shell_call_output"])
def test_an_output_is_no_call(kind: str) -> None:
    """A result in the stream is passed over."""
    assert calls_in({"type": kind, "call_id": "c1", "output": "done"}) == []


@pytest.mark.parametrize(
    "head",
    [
        {"role": "user"},
        {"role": "tool"},
        {"role": "assistant", "content": "done"},
        {"type": "message"},
        {"type": "function_call_output", "call_id": "c1"},
    ],
)
def test_what_lies_in_another_objects_output_is_never_a_call(head: dict[str, str]) -> None:
    """A tool's result that quotes a call is passed over: a whole response has neither role nor type."""
    assert calls_in({**head, "output": [_FUNCTION]}) == []


@pytest.mark.parametrize("word", ["batch", "chat.completion", "list", None, 7])
def test_another_objects_output_is_not_read_as_a_response(word: object) -> None:
    """A list under `output` counts only in a response; in anything else it is refused."""
    with pytest.raises(CallError, match="neither a message nor a call"):
        calls_in({"object": word, "output": [_FUNCTION]})


@pytest.mark.parametrize("role", ["user", "tool", "system", "assistant", None])
@pytest.mark.parametrize("item", [_FUNCTION, _CUSTOM, _SHELL])
def test_an_item_with_a_role_is_a_message(item: dict[str, Any], role: object) -> None:
    """A call has no role; what has one is somebody's words, and its neighbours are still read."""
    incoming = calls_in({"object": "response", "output": [{**item, "role": role}, _FUNCTION]})
    assert [each.name for each in incoming] == ["look"]


@pytest.mark.parametrize("arguments", ["{", "[]", '{"a": Infinity}', '{"a": 1, "a": 1}', 3])
def test_arguments_that_are_no_object_are_an_error(arguments: object) -> None:
    """The call is refused on its own, and its result still finds its way back."""
    [incoming] = calls_in({**_FUNCTION, "arguments": arguments})
    assert isinstance(incoming.call, CallError)
    assert incoming.reply(False, "bad")["call_id"] == "c1"


def test_a_shell_call_without_an_action_has_no_arguments() -> None:
    """A missing action is an empty one, and still a shell call to the rules."""
    [incoming] = calls_in({"type": "local_shell_call", "call_id": "c3"})
    assert incoming.call == ToolCall("local_shell", call_id="c3", kind=PayloadKind.LOCAL_SHELL, origin=_ORIGIN)


def test_a_shell_call_whose_action_is_text_is_an_error() -> None:
    """An action is an object; a command line in its place is not guessed at."""
    [incoming] = calls_in({**_SHELL, "action": "ls -l"})
    assert isinstance(incoming.call, CallError)

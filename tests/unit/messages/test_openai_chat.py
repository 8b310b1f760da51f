"""The shape of OpenAI's chat completions."""

from typing import Any

import pytest
from tests.tables import for_each

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.result import MediaPart, ToolResult
from permitry.errors import CallError
from permitry.messages import call_message, calls_in, follow_up_message, result_message

_ORIGIN = "openai-chat"


def _entry(call_id: str = "c1", name: str = "look", arguments: object = '{"path": "a"}') -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _message(*entries: object, role: str = "assistant") -> dict[str, Any]:
    return {"role": role, "content": None, "tool_calls": list(entries)}


def test_a_tool_call_is_read() -> None:
    """Name, arguments and id of a tool call become a call."""
    [incoming] = calls_in(_message(_entry()))
    assert incoming.name == "look"
    assert incoming.call == ToolCall("look", {"path": "a"}, call_id="c1", origin=_ORIGIN)


def test_a_result_goes_back_as_a_tool_message() -> None:
    """The result names the call it answers."""
    [incoming] = calls_in(_message(_entry()))
    assert incoming.reply(ToolResult(True, "done")) == {"role": "tool", "tool_call_id": "c1", "content": "done"}


def test_the_calls_of_a_message_keep_their_order() -> None:
    """Parallel calls come in the order in which the model made them."""
    incoming = calls_in(_message(_entry("c2", "write"), _entry("c1"), _entry("c3", "edit")))
    assert [each.name for each in incoming] == ["write", "look", "edit"]


def test_a_message_without_a_role_is_the_assistants() -> None:
    """A bare object with `tool_calls` is taken as the model's."""
    assert len(calls_in({"tool_calls": [_entry()]})) == 1


def test_a_whole_completion_gives_the_calls_of_its_first_choice() -> None:
    """Only one of several choices is what the model did."""
    choices = [{"index": 0, "message": _message(_entry())}, {"index": 1, "message": _message(_entry("c9", "write"))}]
    assert [each.name for each in calls_in({"object": "chat.completion", "choices": choices})] == ["look"]


@for_each("choices", [[], [None], ["text"], [{"message": {"role": "user"}}]])
def test_a_completion_without_a_message_has_no_calls(choices: list[object]) -> None:
    """A choice that holds no assistant message gives no call."""
    assert calls_in({"choices": choices}) == []


@for_each("choice", [{}, {"message": None}, {"mesage": {}}, {"delta": {}}, {"text": "hello"}])
def test_a_choice_without_a_message_is_refused(choice: dict[str, object]) -> None:
    """A piece of a stream, or a misspelt message, is not skipped."""
    with pytest.raises(CallError, match="a piece of a stream"):
        calls_in({"choices": [choice]})


def test_a_legacy_function_call_is_read_and_answered() -> None:
    """The shape before `tool_calls` still works, in both directions."""
    [incoming] = calls_in({"role": "assistant", "function_call": {"name": "look", "arguments": "{}"}})
    assert incoming.call == ToolCall("look", origin=_ORIGIN)
    assert incoming.reply(ToolResult(False, "no")) == {"role": "function", "name": "look", "content": "no"}


def test_a_custom_call_holds_its_text_as_input() -> None:
    """Free text is not JSON: it becomes the argument `input` of a custom call."""
    [incoming] = calls_in(_message({"id": "c1", "type": "custom", "custom": {"name": "sql", "input": "{not json"}}))
    assert incoming.call == ToolCall(
        "sql", {"input": "{not json"}, call_id="c1", kind=PayloadKind.CUSTOM, origin=_ORIGIN
    )


def test_a_custom_call_is_answered_like_any_other() -> None:
    """The result of a custom call is a tool message too."""
    [incoming] = calls_in(_message({"id": "c1", "custom": {"name": "sql", "input": ""}}))
    assert incoming.reply(ToolResult(True, "1 row"))["tool_call_id"] == "c1"


@for_each("arguments", [None, "", "  \n", "{}", {}])
def test_empty_arguments_mean_none(arguments: object) -> None:
    """No arguments can be written in several ways."""
    [incoming] = calls_in(_message(_entry(arguments=arguments)))
    assert incoming.call == ToolCall("look", call_id="c1", origin=_ORIGIN)


def test_arguments_may_be_an_object() -> None:
    """Some servers send the arguments already parsed."""
    [incoming] = calls_in(_message(_entry(arguments={"path": "a"})))
    assert incoming.call == ToolCall("look", {"path": "a"}, call_id="c1", origin=_ORIGIN)


@for_each("role", ["user", "tool", "system", "developer", "function"])
def test_only_the_assistant_makes_calls(role: str) -> None:
    """What looks like a call in anybody else's message is never one."""
    assert calls_in(_message(_entry(), role=role)) == []


@for_each("role", ["user", "tool", "system", "developer", "function"])
def test_only_the_assistant_makes_calls_in_a_completion(role: str) -> None:
    """The role inside a choice counts as well, for calls of either shape."""
    message = {**_message(_entry()), "function_call": {"name": "look", "arguments": "{}"}, "role": role}
    assert calls_in({"choices": [{"message": message}]}) == []


@for_each("role", [None, 7, "Assistant"])
def test_a_role_no_one_knows_is_an_error(role: object) -> None:
    """A misspelt role must not make the calls of a completion vanish."""
    with pytest.raises(CallError, match="unknown role"):
        calls_in({"choices": [{"message": {**_message(_entry()), "role": role}}]})


def test_a_message_without_a_role_in_a_completion_is_the_assistants() -> None:
    """As it is outside of one."""
    assert len(calls_in({"choices": [{"message": {"tool_calls": [_entry()]}}]})) == 1


@for_each("tool_calls", [None, []])
def test_a_message_may_hold_no_tool_calls(tool_calls: object) -> None:
    """An empty field, which some servers send along with text, gives nothing."""
    assert calls_in({"role": "assistant", "tool_calls": tool_calls, "function_call": None}) == []


@for_each("tool_calls", ["run_shell", {"0": {}}, {}, 7, False])
def test_tool_calls_that_are_no_list_are_an_error(tool_calls: object) -> None:
    """A call no one can read is not skipped in silence, in a whole completion neither."""
    message = {"role": "assistant", "tool_calls": tool_calls}
    for given in (message, {"choices": [{"message": message}]}):
        with pytest.raises(CallError, match="`tool_calls` must be a list"):
            calls_in(given)


@for_each("arguments", ['{"path": ', '{"a": NaN}', '{"a": 1, "a": 2}', "[1]", '"text"', "null", 7, [1]])
def test_arguments_that_are_no_object_are_an_error_the_model_can_be_told(arguments: object) -> None:
    """The call is refused on its own, and its result still finds its way back."""
    [incoming] = calls_in(_message(_entry(arguments=arguments)))
    assert isinstance(incoming.call, CallError)
    assert incoming.reply(ToolResult(False, "bad"))["tool_call_id"] == "c1"


def test_a_bad_call_does_not_hide_its_neighbours() -> None:
    """One broken call of several leaves the others as they are."""
    bad, good = calls_in(_message(_entry(arguments="{"), _entry("c2")))
    assert isinstance(bad.call, CallError)
    assert good.call == ToolCall("look", {"path": "a"}, call_id="c2", origin=_ORIGIN)


@for_each("call_id", [5, True, " ", ["c1"]])
def test_an_id_that_is_no_text_is_refused(call_id: object) -> None:
    """A call no one can answer by id is not a call."""
    [incoming] = calls_in(_message({**_entry(), "id": call_id}))
    assert isinstance(incoming.call, CallError)


@for_each("entry", [{"id": "c1"}, {"id": "c1", "function": "look"}])
def test_an_entry_without_a_function_is_answered(entry: dict[str, object]) -> None:
    """Even an entry that names no tool gets one result with its id."""
    [incoming] = calls_in(_message(entry))
    assert incoming.reply(ToolResult(False, "no tool"))["tool_call_id"] == "c1"


def test_a_call_is_written_as_a_message_of_one_call() -> None:
    """The way back of what was read."""
    assert call_message(ToolCall("look", {"path": "a"}, call_id="c1"), _ORIGIN) == _message(_entry())


def test_arguments_are_written_as_the_model_wrote_them() -> None:
    """In their order, and without escaping letters."""
    [entry] = call_message(ToolCall("look", {"z": "ä", "a": 1}, call_id="c1"), _ORIGIN)["tool_calls"]
    assert entry["function"]["arguments"] == '{"z": "ä", "a": 1}'


def test_a_call_without_an_id_is_written_in_the_old_form() -> None:
    """It is the form that has none."""
    function = {"name": "look", "arguments": "{}"}
    wanted = {"role": "assistant", "content": None, "function_call": function}
    assert call_message(ToolCall("look"), _ORIGIN) == wanted
    written = result_message(ToolResult(True, "done"), ToolCall("look"), _ORIGIN)
    assert written == {"role": "function", "name": "look", "content": "done"}


def test_a_custom_call_is_written_with_its_text() -> None:
    """Free text stays free text."""
    call = ToolCall("sql", {"input": "{not json"}, call_id="c1", kind=PayloadKind.CUSTOM)
    entry = {"id": "c1", "type": "custom", "custom": {"name": "sql", "input": "{not json"}}
    assert call_message(call, _ORIGIN)["tool_calls"] == [entry]


def test_a_session_call_is_written_as_a_function_call() -> None:
    """On the wire it is one; the router knows better."""
    call = ToolCall("exec_command", {"cmd": "ls"}, call_id="c1", kind=PayloadKind.UNIFIED_EXEC)
    [entry] = call_message(call, _ORIGIN)["tool_calls"]
    assert entry["function"]["name"] == "exec_command"


@for_each(
    ("call", "expected"),
    [
        (ToolCall("sql", {"input": "x"}, kind=PayloadKind.CUSTOM), "needs an id"),
        (ToolCall("sql", {"input": 3}, call_id="c1", kind=PayloadKind.CUSTOM), "cannot carry a custom call whose"),
        (ToolCall("sql", {"input": "", "a": 1}, call_id="c1", kind=PayloadKind.CUSTOM), "cannot carry a custom call"),
        (ToolCall("local_shell", call_id="c1", kind=PayloadKind.LOCAL_SHELL), "cannot carry this `local_shell` call"),
        (ToolCall("x", server="s", call_id="c1", kind=PayloadKind.UNIFIED_EXEC), "carry this `unified_exec` call"),
    ],
)
def test_a_call_that_would_come_back_as_another_is_refused(call: ToolCall, expected: str) -> None:
    """What the shape has no field for is not dropped in silence."""
    with pytest.raises(CallError, match=expected):
        call_message(call, _ORIGIN)


SEEN = ToolResult(True, "seen", parts=[MediaPart(b"12345", "image/png"), MediaPart(b"", "audio/wav")])


def test_an_image_follows_in_a_message_of_the_user() -> None:
    """A message of a tool holds text only, in either form: it says what follows, and what is left out."""
    wanted = "seen\n[left out: audio/wav, 0 bytes]\n[image/png, 5 bytes: in a message of the user that follows]"
    assert result_message(SEEN, ToolCall("look", call_id="c1"), _ORIGIN)["content"] == wanted
    assert result_message(SEEN, ToolCall("look"), _ORIGIN)["content"] == wanted
    assert follow_up_message(SEEN, _ORIGIN) == {
        "role": "user",
        "content": [
            {"type": "text", "text": "The result of a tool: image/png, 5 bytes."},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,MTIzNDU="}},
        ],
    }


@for_each("message")
def test_each_call_gives_the_message_that_follows(message: dict[str, Any]) -> None:
    """Whatever its form; without images there is none."""
    (incoming,) = calls_in(message)
    assert incoming.follow_up(SEEN) == follow_up_message(SEEN, _ORIGIN)
    assert incoming.follow_up(ToolResult(True, "seen")) is None


def test_what_follows_is_no_call() -> None:
    """Nothing in it is the model's: the id of a call may hold anything."""
    message = follow_up_message(SEEN, _ORIGIN)
    assert calls_in(message) == []


def test_a_call_of_two_kinds_is_refused() -> None:
    """Another reader may take the other one."""
    entry = {"id": "c1", "custom": {"name": "a", "input": "x"}, "function": {"name": "b", "arguments": "{}"}}
    (found,) = calls_in({"role": "assistant", "tool_calls": [entry]}) or []
    assert isinstance(found.call, CallError)


def test_a_message_of_two_shapes_is_refused() -> None:
    """Only one of its calls would be decided."""
    block = {"type": "tool_use", "id": "c2", "name": "a", "input": {}}
    entry = {"id": "c1", "function": {"name": "b", "arguments": "{}"}}
    with pytest.raises(CallError, match="one shape"):
        calls_in({"role": "assistant", "content": [block], "tool_calls": [entry]})
    text = {"role": "assistant", "content": [{"type": "text", "text": "x"}], "tool_calls": [entry]}
    assert [each.name for each in calls_in(text) or []] == ["b"]

"""One call as it came in."""

from tests.tables import for_each

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.result import ToolResult
from permitry.errors import CallError
from permitry.messages import calls_in
from permitry.messages.incoming import incoming


def _reply(result: ToolResult) -> dict[str, str]:
    return {"content": result.text}


def test_text_arguments_are_parsed() -> None:
    """JSON text becomes the object it says."""
    assert incoming("look", ' {"a": [1, null]} ', _reply).call == ToolCall("look", {"a": [1, None]})


@for_each(("text", "expected"))
def test_bad_text_is_an_error_that_says_what_is_wrong(text: str, expected: str) -> None:
    """The model can be shown how its arguments were wrong."""
    call = incoming("look", text, _reply).call
    assert isinstance(call, CallError)
    assert expected in str(call)


@for_each("arguments", [{}, "{}", None])
@for_each("name", [None, 5, True, ["x"], {"x": 1}])
def test_a_name_that_is_no_text_is_an_error(name: object, arguments: object) -> None:
    """`None` is not a tool of the name "None"."""
    found = incoming(name, arguments, _reply)
    assert isinstance(found.call, CallError)
    assert found.name == "?"


@for_each(
    "message",
    [
        {"name": None, "arguments": {}},
        {"role": "assistant", "tool_calls": [{"id": "c1"}]},
        {"role": "assistant", "function_call": {"arguments": "{}"}},
        {"type": "tool_use", "id": "t1", "input": {}},
        {"type": "function_call", "call_id": "c1", "arguments": "{}"},
        {"type": "custom_tool_call", "call_id": "c1", "input": "x"},
    ],
)
def test_a_missing_name_is_an_error_in_every_shape(message: dict[str, object]) -> None:
    """The call is refused, and still answered."""
    [found] = calls_in(message)
    assert isinstance(found.call, CallError)
    assert found.reply(ToolResult(False, "no name"))


@for_each("name", ["", " look", "lo\nok", "mcp:docs"])
def test_a_bad_name_is_an_error(name: str) -> None:
    """A name no tool can have is refused, and still shown."""
    found = incoming(name, {}, _reply)
    assert isinstance(found.call, CallError)
    assert found.name == name


def test_the_rest_is_handed_to_the_call() -> None:
    """Id, kind and origin reach the call."""
    call = incoming("look", None, _reply, call_id="c1", kind=PayloadKind.CUSTOM, origin="here").call
    assert call == ToolCall("look", call_id="c1", kind=PayloadKind.CUSTOM, origin="here")


def test_an_empty_id_is_none() -> None:
    """Some servers send the field and leave it blank; the handler then gives the call an id of its own."""
    assert incoming("look", {}, _reply, call_id="").call == ToolCall("look")


def test_the_reply_is_the_one_given() -> None:
    """How a result goes back is the shape's business."""
    assert incoming("look", {}, _reply).reply(ToolResult(True, "done")) == {"content": "done"}

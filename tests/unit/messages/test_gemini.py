"""The shape of Gemini's contents."""

from typing import Any

import pytest
from tests.tables import for_each

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.result import MediaPart, ToolResult
from permitry.errors import CallError
from permitry.messages import call_message, calls_in, result_message

_ORIGIN = "gemini"
_PART: dict[str, Any] = {"functionCall": {"id": "f1", "name": "look", "args": {"path": "a"}}}
_CALL = ToolCall("look", {"path": "a"}, call_id="f1", origin=_ORIGIN)


def _content(*parts: object, role: str = "model") -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


def test_a_function_call_is_read() -> None:
    """Name, arguments and id of a part become a call."""
    [incoming] = calls_in(_content({"text": "let me see"}, {**_PART, "thoughtSignature": "c2ln"}))
    assert incoming.call == _CALL


def test_the_parts_of_a_content_keep_their_order() -> None:
    """Parallel calls come in the order in which the model made them."""
    incoming = calls_in(_content({"functionCall": {"name": "write"}}, _PART))
    assert [each.name for each in incoming] == ["write", "look"]


def test_a_content_without_a_role_is_the_models() -> None:
    """The role may be left out."""
    assert len(calls_in({"parts": [_PART]})) == 1


def test_a_part_dumped_by_python_is_read() -> None:
    """Its keys have underscores, and what it does not hold is null."""
    part = {"function_call": {**_PART["functionCall"], "partial_args": None, "will_continue": None}, "text": None}
    [incoming] = calls_in(_content({**part, "inline_data": None, "code_execution_result": None}))
    assert incoming.call == _CALL


def test_a_call_written_in_both_spellings_is_two_calls() -> None:
    """Neither hides the other."""
    assert len(calls_in(_content({**_PART, "function_call": {"name": "write"}}))) == 2


def test_a_whole_response_gives_the_calls_of_its_first_candidate() -> None:
    """Only one of several candidates is what the model did."""
    candidates = [{"content": _content(_PART), "index": 0}, {"content": _content(_PART, _PART), "index": 1}]
    assert len(calls_in({"candidates": candidates, "usageMetadata": {}})) == 1


@for_each(
    "candidates",
    [
        [],
        [{"finishReason": "SAFETY", "safetyRatings": []}],
        [{"content": None, "finish_reason": "MALFORMED_FUNCTION_CALL", "finish_message": "Malformed"}],
        [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}],
        [{"content": {"role": "user", "parts": [_PART]}}],
    ],
)
def test_a_response_without_calls_gives_none(candidates: list[object]) -> None:
    """An answer that was blocked or cut off holds no call."""
    assert calls_in({"candidates": candidates}) == []


@for_each(
    ("candidate", "expected"),
    [
        (None, "a candidate is an object"),
        ({"contents": _content(_PART), "finishReason": "STOP"}, "unknown key `contents` in a candidate"),
        ({"content": [_PART]}, "`content` of a candidate is an object"),
        ({"content": {"role": "model", "part": [_PART]}}, "unknown key `part` in a content"),
        ({"content": {"role": "Model", "parts": [_PART]}}, "unknown role 'Model'"),
    ],
)
def test_a_misspelt_response_is_refused(candidate: object, expected: str) -> None:
    """What may have been a call is not skipped."""
    with pytest.raises(CallError, match=expected):
        calls_in({"candidates": [candidate]})


@for_each("role", ["user", "function", "tool", "system"])
def test_only_the_model_makes_calls(role: str) -> None:
    """What looks like a call in anybody else's content is never one."""
    assert calls_in(_content(_PART, role=role)) == []


def test_an_assistant_has_no_parts() -> None:
    """A content of another program is shown what the role is called here."""
    with pytest.raises(CallError, match="`model`, not `assistant`"):
        calls_in(_content(_PART, role="assistant"))


@for_each(
    "part",
    [
        {"text": "I would run rm"},
        {"thought": True, "text": "hm"},
        {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK"}},
        {"inlineData": {"mimeType": "image/png", "data": ""}},
        {"toolCall": {"id": "s1", "toolType": "GOOGLE_SEARCH_WEB"}},
        {"functionResponse": {"name": "look", "response": {}}},
        {"functionCall": None},
        {},
    ],
)
def test_what_is_not_a_call_is_passed_over(part: dict[str, object]) -> None:
    """What the model says, and what the provider has run itself, is not to be decided."""
    assert calls_in(_content(part)) == []


@for_each(
    ("message", "expected"),
    [
        (_content({"functoinCall": {"name": "look"}}), "unknown key `functoinCall` in a part"),
        (_content("text"), "a part is an object"),
        ({"role": "model", "parts": _PART}, "`parts` must be a list"),
        ({"role": "model", "content": "text"}, "unknown key `content` in a content"),
        ({"role": "model", "parts": [], "calls": [_PART]}, "unknown key `calls` in a content"),
        (_content({"functionCall": {"name": "look", "partialArgs": [{}]}}), "a piece of a stream"),
        (_content({"function_call": {"name": "look", "will_continue": True}}), "a piece of a stream"),
    ],
)
def test_what_no_one_knows_is_refused(message: dict[str, object], expected: str) -> None:
    """A misspelt call must not vanish."""
    with pytest.raises(CallError, match=expected):
        calls_in(message)


@for_each("function", [{"id": "f1"}, {"id": "f1", "name": "look", "args": [1]}, {"id": "f1", "name": 7}])
def test_a_broken_call_is_an_error_the_model_can_be_told(function: dict[str, object]) -> None:
    """The call is refused on its own, and its result still finds its way back."""
    [incoming] = calls_in(_content({"functionCall": function}))
    assert isinstance(incoming.call, CallError)
    [part] = incoming.reply(ToolResult(False, "bad"))["parts"]
    assert part["functionResponse"]["id"] == "f1"


@for_each("function", ["look", 7, []])
def test_a_call_that_is_no_object_is_an_error(function: object) -> None:
    """It names no tool."""
    [incoming] = calls_in(_content({"functionCall": function}))
    assert isinstance(incoming.call, CallError)


@for_each(("ok", "key"), [(True, "output"), (False, "error")])
def test_a_result_goes_back_as_the_users_content(ok: bool, key: str) -> None:  # noqa: FBT001 -- a table
    """The key says whether the call worked."""
    [incoming] = calls_in(_content(_PART))
    response = {"id": "f1", "name": "look", "response": {key: "text"}}
    assert incoming.reply(ToolResult(ok, "text")) == _content({"functionResponse": response}, role="user")


def test_without_an_id_the_result_has_none() -> None:
    """Most calls of this shape have none; the name says what is answered."""
    [incoming] = calls_in(_content({"functionCall": {"name": "look"}}))
    [part] = incoming.reply(ToolResult(True, "done"))["parts"]
    assert part["functionResponse"] == {"name": "look", "response": {"output": "done"}}


def test_an_image_goes_along_inside_of_the_response() -> None:
    """A part next to the response would count as the result of another call."""
    parts = [MediaPart(b"png", "image/png"), MediaPart(b"gif", "image/gif"), MediaPart(b"sound", "audio/wav")]
    [part] = result_message(ToolResult(True, "seen", parts=parts), _CALL, _ORIGIN)["parts"]
    assert part["functionResponse"]["parts"] == [{"inlineData": {"mimeType": "image/png", "data": "cG5n"}}]
    shown = "seen\n[left out: image/gif, 3 bytes]\n[left out: audio/wav, 5 bytes]"
    assert part["functionResponse"]["response"] == {"output": shown}


def test_a_call_is_written_as_a_content_of_one_part() -> None:
    """The way back of what was read."""
    assert call_message(_CALL, _ORIGIN) == _content(_PART)


def test_a_call_without_an_id_is_written_without_one() -> None:
    """No id is made up."""
    assert call_message(ToolCall("look"), _ORIGIN) == _content({"functionCall": {"name": "look", "args": {}}})


@for_each("kind", [PayloadKind.CUSTOM, PayloadKind.LOCAL_SHELL, PayloadKind.MCP])
def test_a_call_that_would_come_back_as_another_is_refused(kind: PayloadKind) -> None:
    """What the shape has no field for is not dropped in silence."""
    with pytest.raises(CallError, match="the shape `gemini` cannot carry"):
        call_message(ToolCall("look", {"input": "x"}, kind=kind), _ORIGIN)

"""What the shapes write alike."""

import pytest
from tests.tables import for_each

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.result import MediaPart, ToolResult
from permitry.errors import CallError
from permitry.messages.outgoing import base64_text, divided, free_text, function_name, images_message, text_only

_IMAGE = MediaPart(b"\xff\x00", "image/png")
_SOUND = MediaPart(b"sound", "audio/wav")


def test_parts_are_divided_by_their_media_type() -> None:
    """What is not carried is named in the text, after it."""
    result = ToolResult(True, "seen", parts=[_SOUND, _IMAGE])
    text, carried = divided(result, lambda media_type: media_type == "image/png")
    assert (text, carried) == ("seen\n[left out: audio/wav, 5 bytes]", (_IMAGE,))


def test_a_text_stays_as_it_is_when_nothing_is_left_out() -> None:
    """No line is added, and an empty text stays empty."""
    assert divided(ToolResult(True, "", parts=[_IMAGE]), lambda _: True) == ("", (_IMAGE,))
    assert text_only(ToolResult(False, "no\n")) == "no\n"


def test_parts_without_text_are_named_alone() -> None:
    """The model is informed of every one."""
    result = ToolResult(True, "", parts=[_IMAGE, _IMAGE])
    assert text_only(result) == "[left out: image/png, 2 bytes]\n[left out: image/png, 2 bytes]"


def test_what_is_left_out_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """The model reads it in the text, and the host here."""
    text_only(ToolResult(True, "", parts=[_SOUND]))
    assert [record.getMessage() for record in caplog.records] == [
        "audio/wav, 5 bytes of a result is left out: its message has no place for it"
    ]


def test_images_of_a_result_come_in_one_message() -> None:
    """Sound does not; without images there is none."""
    message = images_message(ToolResult(False, "", parts=[_IMAGE, _SOUND, _IMAGE]))
    assert message is not None
    assert [each["type"] for each in message["content"]] == ["text", "image_url"] * 2
    assert images_message(ToolResult(True, "", parts=[_SOUND])) is None


def test_data_is_written_in_base64() -> None:
    """Bytes become text that JSON can hold."""
    assert base64_text(_IMAGE) == "/wA="


@for_each(
    ("call", "name"),
    [
        (ToolCall("look"), "look"),
        (ToolCall("a/b", server="docs"), "mcp:docs/a/b"),
        (ToolCall("exec_command", kind=PayloadKind.UNIFIED_EXEC), "exec_command"),
    ],
)
def test_a_function_call_bears_the_name_that_rules_see(call: ToolCall, name: str) -> None:
    """Server and name stand in one field."""
    assert function_name(call, "gemini") == name


def test_a_name_too_long_for_one_field_is_refused() -> None:
    """It could not be read back."""
    call = ToolCall("a" * 256, server="docs", kind=PayloadKind.CUSTOM, arguments={"input": "x"})
    for write in (function_name, free_text):
        with pytest.raises(CallError):
            write(call, "openai-chat")
    with pytest.raises(CallError, match="longer than 256"):
        function_name(ToolCall("a" * 256, server="docs"), "openai-chat")

"""What a tool gives back."""

from typing import Any

import pytest
from tests.tables import for_each

from permitry.core.result import MediaPart, ToolResult


@for_each(("ok", "text"), [("yes", "done"), (1, "done"), (True, b"done"), (True, None)])
def test_a_result_is_a_bool_and_a_text(ok: Any, text: Any) -> None:  # noqa: ANN401 -- wrong types are the point
    """A result of other types is refused where it is made."""
    with pytest.raises(TypeError):
        ToolResult(ok, text)


def test_parts_are_kept_in_their_order() -> None:
    """Whatever sequence they are given in."""
    parts = [MediaPart(b"a", "image/png"), MediaPart(b"b", "image/jpeg")]
    assert ToolResult(True, "seen", parts=parts).parts == tuple(parts)


@for_each("rest", [{"ends_session": 1}, {"parts": ["a part"]}])
def test_what_else_a_result_holds_has_its_type(rest: dict[str, Any]) -> None:
    """What ends a session, and what is sent as an image, is no accident."""
    with pytest.raises(TypeError):
        ToolResult(True, "done", **rest)


def test_a_result_does_not_end_the_session_unasked() -> None:
    """The user says so, and then a loop can see it."""
    assert ToolResult(True, "done").ends_session is False
    assert ToolResult(False, "stop", ends_session=True).ends_session is True


def test_an_object_is_text_for_the_model_and_itself_for_the_host() -> None:
    """Letters outside ASCII stay letters."""
    result = ToolResult.of_object({"name": "Zoë"})
    assert (result.ok, result.text, result.structured) == (True, '{"name": "Zoë"}', {"name": "Zoë"})

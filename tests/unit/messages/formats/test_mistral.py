"""Mistral's calls."""

from collections.abc import Callable
from typing import Any, TypeAlias

from tests.tables import for_each

from permitry.messages.text import ParsedText

Parsed: TypeAlias = Callable[..., ParsedText]
Calls: TypeAlias = Callable[..., list[tuple[str, dict[str, Any]]]]


@for_each(
    ("text", "expected"),
    [
        ('[TOOL_CALLS] [{"name": "f", "arguments": {"a": 1}}]', [("f", {"a": 1})]),
        (
            '[TOOL_CALLS] [{"name": "f", "arguments": {"a": "[TOOL_CALLS]"}}][/TOOL_CALLS]',
            [("f", {"a": "[TOOL_CALLS]"})],
        ),
        ('[TOOL_CALLS]f[ARGS]{"a": 1}', [("f", {"a": 1})]),
        ('[TOOL_CALLS]f{"a": 1}[TOOL_CALLS]g{}', [("f", {"a": 1}), ("g", {})]),
    ],
)
def test_both_generations_are_read(calls: Calls, text: str, expected: list[tuple[str, Any]]) -> None:
    """A list before version 11, a name and an object since."""
    assert calls(text) == expected == calls(text, format="mistral")


def test_an_id_is_kept(parsed: Parsed) -> None:
    """The call bears the id between name and arguments."""
    assert [call.call_id for call in parsed("[TOOL_CALLS]f[CALL_ID]abc[ARGS]{}").calls] == ["abc"]


@for_each(
    "text",
    ["[TOOL_CALLS] then nothing", "[TOOL_CALLS]", "[TOOL_CALLS]f[ARGS]text", "[TOOL_CALLS] [{]", "[TOOL_CALLS] !"],
)
def test_anything_else_is_text(parsed: Parsed, text: str) -> None:
    """The mark alone makes no call."""
    result = parsed(text)
    assert (result.calls, result.content) == ((), text)


def test_a_flood_of_marks_is_text(parsed: Parsed) -> None:
    """Every mark is looked at once."""
    text = "[TOOL_CALLS]f[ARGS]{" * 200
    assert parsed(text).content == text

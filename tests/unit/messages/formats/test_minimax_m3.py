"""MiniMax M3's calls."""

from collections.abc import Callable
from typing import Any, TypeAlias

from tests.tables import for_each

from permitry.messages.text import ParsedText

Parsed: TypeAlias = Callable[..., ParsedText]
Calls: TypeAlias = Callable[..., list[tuple[str, dict[str, Any]]]]

T = "]<]minimax[>["
TOOLS = {
    "f": {
        "properties": {
            "n": {"type": "integer"},
            "tags": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
            "place": {"type": "object", "properties": {"zip": {"type": "integer"}}},
        }
    }
}


def tag(name: str, inner: str) -> str:
    """Return an element."""
    return f"{T}<{name}>{inner}{T}</{name}>"


def call(inner: str) -> str:
    """Return a call of `f`."""
    return f'{T}<tool_call>{T}<invoke name="f">{inner}{T}</invoke>{T}</tool_call>'


def test_a_call_is_found(parsed: Parsed) -> None:
    """Its marks are not content."""
    result = parsed(f"Well.{call(tag('a', ' x<y '))}")
    assert [(each.name, each.arguments, each.format) for each in result.calls] == [("f", {"a": " x<y "}, "minimax_m3")]
    assert result.content == "Well."


def test_elements_nest_and_schemas_type_them(calls: Calls) -> None:
    """Items make a list, elements an object."""
    inner = (
        tag("n", "5")
        + tag("tags", tag("item", "1") + tag("item", "2"))
        + tag("place", tag("zip", "10") + tag("c", "x"))
    )
    assert calls(call(inner), TOOLS) == [("f", {"n": 5, "tags": [1, 2], "place": {"zip": 10, "c": "x"}})]
    assert calls(call(tag("x", tag("item", "1")))) == [("f", {"x": ["1"]})]


@for_each(
    "inner",
    [
        f"{T}<a>1",
        f"{T}<a>1{T}</b>",
        f"{T}a",
        f"{T}<>{T}</>",
        f"{T}<a x>1{T}</a>",
        tag("a", "1") + tag("a", "2"),
        f"{T}<a>" * 70,
    ],
)
def test_a_broken_call_is_none(calls: Calls, inner: str) -> None:
    """Tags must match, names be there, and nothing come twice."""
    assert calls(call(inner)) == []


def test_floods_are_text(parsed: Parsed) -> None:
    """Openings without end are read once."""
    for text in (T * 100, f'{T}<invoke name="f">{T}<a>' * 50, f'{T}<invoke name="f'):
        assert parsed(text).calls == ()

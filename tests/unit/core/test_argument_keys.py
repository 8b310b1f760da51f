"""Which values of a call a key of `roles` means."""

from typing import Any

from tests.tables import for_each

from permitry.core.argument_keys import Misshapen, values_of
from permitry.core.call import ToolCall


@for_each(
    ("key", "arguments", "expected"),
    [
        ("a", {"a": "x"}, [("a", "x")]),
        ("a?", {}, []),
        ("a", {"a": None}, []),
        ("a|b", {"b": 1, "a": 2}, [("a", 2), ("b", 1)]),
        ("a.b", {"a": {"b": "x"}}, [("a.b", "x")]),
        ("a.b?", {"a": {}}, []),
        ("a.b", {"a": {}}, [("a.b", Misshapen(None))]),
        ("a.b", {"a": "x"}, [("a", Misshapen("x"))]),
        ("a.b.c", {"a": 7}, [("a", Misshapen(7))]),
        ("a[]", {"a": ["x", None]}, [("a[0]", "x"), ("a[1]", Misshapen(None))]),
        ("a[].b", {"a": [{"b": "x"}]}, [("a[0].b", "x")]),
        ("a[]", {"a": "x"}, [("a", Misshapen("x"))]),
    ],
)
def test_a_key_means_values_by_their_places(
    key: str, arguments: dict[str, Any], expected: list[tuple[str, Any]]
) -> None:
    """Each with its name; what has another shape is marked, and null is left out."""
    assert values_of(ToolCall("t", arguments).arguments, key) == expected

"""Parts of lines, and what they are merged to."""

from permitry_ops.diff.contexts import argument_at, merge
from permitry_ops.diff.values import ABSENT


def test_parts_are_merged() -> None:
    """Objects key by key, and what was heard one after the other; the line itself stays as it is."""
    line = {"name": "a", "arguments": {"x": 1}}
    parts = [
        argument_at(("y", "z"), [2]),
        argument_at(("w",), ABSENT),
        {"context": {"heard": ["one"]}},
        {"context": {"heard": ["two", "one"], "mode": "plan"}},
    ]
    assert merge(line, parts) == {
        "name": "a",
        "arguments": {"x": 1, "y": {"z": [2]}},
        "context": {"heard": ["one", "two"], "mode": "plan"},
    }
    assert line == {"name": "a", "arguments": {"x": 1}}

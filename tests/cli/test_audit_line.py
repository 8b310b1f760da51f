"""A record as a line for people."""

from tests.tables import for_each

from permitry.cli.audit_line import line_of


@for_each(
    ("fields", "shown"),
    [
        ({"approved": True}, "approved look"),
        ({"approved": True, "by": "ann"}, "approved look [by ann]"),
        ({"approved": True, "by": "ann", "edited": True}, "approved look [by ann, edited]"),
        ({"approved": True, "edited": True}, "approved look [edited]"),
        ({"approved": True, "edited": False}, "approved look"),
        ({"approved": False}, "rejected look"),
        ({"approved": False, "responded": True}, "responded look"),
        ({"approved": True, "grant": "a1"}, "approved look [grant-a1]"),
        ({"outcome": "ok"}, "ok       look"),
        ({"verdict": "block", "rule": "r", "arguments": {"a": 1}}, 'block    look [r] {"a": 1}'),
    ],
)
def test_a_line_says_what_came_of_it(fields: dict[str, object], shown: str) -> None:
    """Who has answered, and whether the arguments were changed."""
    record = {"number": 1, "event": "x", "tool": "look", "call_id": "c", **fields}
    assert line_of(record) == f"     1 x           {shown}"


def test_a_long_record_is_shortened() -> None:
    """And on one line."""
    line = line_of({"number": 1, "event": "x", "call_id": "c", "arguments": {"a": "b\nc" * 100}})
    assert "(437 characters)" in line
    assert len(line) < 250
    assert "\n" not in line

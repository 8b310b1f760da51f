"""One line of `permitry rules`."""

from permitry.cli._row import COLUMNS, Row, lines_of


def test_the_whole_text_goes_to_other_programs() -> None:
    """One line a rule, however long, and no text makes a cell or a line."""
    row = Row("a", "permission", None, "allow", "x" * 300 + "\t\n\x1b", "user", "f:1", ("b", "c"))
    head, line = lines_of([row], COLUMNS)
    assert head.split("\t") == list(COLUMNS)
    about = "x" * 300 + "\\t\\n\\u001b"
    assert line.split("\t") == ["permission", "", "a", "allow", about, "user", "f:1", "2: b, c"]


def test_columns_may_be_left_out() -> None:
    """Such as the places."""
    row = Row("a", "permission", 250, "allow", "x", "user", "f:1")
    assert list(lines_of([row], ("id", "priority", "examples"))) == ["id\tpriority\texamples", "a\t250\t0"]

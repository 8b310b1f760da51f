"""The lines of a TOML text."""

from tests.tables import for_each

from permitry_ops.fmt.tokens import Line, lines_of


@for_each(
    ("text", "lines"),
    [
        ("", []),
        ("a = 1", [Line(("a", "=", "1"))]),
        ("a = 1\n", [Line(("a", "=", "1"))]),
        ("\n", [Line()]),
        ("# x  \n", [Line((), "# x")]),
        ("[[rule]] # x", [Line(("[", "[", "rule", "]", "]"), "# x")]),
        ('a.b = ["#", "[", "="]#x', [Line(("a.b", "=", "[", '"#"', ",", '"["', ",", '"="', "]"), "#x")]),
        ('a = """\n [ \n"""\nb = 1', [Line(("a", "=", '"""\n [ \n"""')), Line(("b", "=", "1"))]),
        ("a = 1979-05-27 07:32:00", [Line(("a", "=", "1979-05-27", "07:32:00"))]),
    ],
)
def test_a_text_is_read_line_by_line(text: str, lines: list[Line]) -> None:
    """Marks within texts and comments are none, and a long text is one word."""
    assert list(lines_of(text)) == lines


@for_each(
    ("before", "after"),
    [
        ("'x'", '"x"'),
        ("''", '""'),
        ("'a\tb'", '"a\tb"'),
        ("'a\"b'", "'a\"b'"),
        ("'a\\d'", "'a\\d'"),
        ("'''x'''", "'''x'''"),
        ('"it\'s"', '"it\'s"'),
    ],
)
def test_quotes_are_double_where_they_can_be(before: str, after: str) -> None:
    """What would need a backslash in them is left as it is."""
    [line] = lines_of(before)
    assert line.words == (after,)

"""Regular expressions that are about a few texts."""

from tests.tables import for_each

from permitry_hosts.importers.gemini_patterns import End, Text, texts_of


@for_each(
    ("regex", "texts"),
    [
        ("git push", [Text("git push", End.ANYTHING)]),
        (r"^make\b", [Text("make", End.BOUNDARY)]),
        ("^make( |$)", [Text("make", End.BLANK), Text("make", End.NOTHING)]),
        (r"(?:rm|rmdir)\s+-r", [Text("rm -r", End.ANYTHING), Text("rmdir -r", End.ANYTHING)]),
        (r"a\.b c*", None),
        (r"a\.b( c)?$", [Text("a.b", End.NOTHING), Text("a.b c", End.NOTHING)]),
        ("a.b", None),
        ("a[bc]", None),
        ("(a", None),
        ("a)", None),
        ("?a", None),
        ("a$b", None),
        ("", None),
        ("(a|b)" * 7, None),
    ],
)
def test_the_texts_and_their_ends(regex: str, texts: list[Text] | None) -> None:
    """None where there are too many, or something else is in the expression."""
    assert texts_of(regex) == texts

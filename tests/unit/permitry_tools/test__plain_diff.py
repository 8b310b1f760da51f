"""The change of one file, shown without git: sections, modes, names, and what is not compared."""

import pytest
from tests.tables import for_each

from permitry_tools._plain_diff import PlainDiff, quote
from permitry_tools._tree import Contents, Entry

A, B, BINARY, LONG, LOST = (letter * 40 for letter in "abcde")


def _file(blob: str | None, mode: str = "100644") -> Entry:
    return Entry(mode, (), 1, blob)


@pytest.fixture
def diff() -> PlainDiff:
    """Return a diff that knows two texts of one line, and something that is not text."""
    contents = Contents()
    for blob, data in ((A, b"one\n"), (B, b"two\n"), (BINARY, b"a\0b")):
        contents.keep(blob, data, 1_000)
    return PlainDiff(contents)


def test_a_new_file_is_compared_with_nothing(diff: PlainDiff) -> None:
    """Its other side is `/dev/null`, under an id of zeros."""
    assert diff.section("f", None, _file(A)) == (
        f"diff --git a/f b/f\nnew file mode 100644\nindex {'0' * 7}..{A[:7]}\n"
        "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+one\n"
    )


def test_a_changed_mode_alone_has_no_lines(diff: PlainDiff) -> None:
    """The contents are the same, so neither ids nor hunks are shown."""
    shown = diff.section("f", _file(A), _file(A, "100755"))
    assert shown == "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n"


def test_a_file_that_becomes_a_link_is_two_sections(diff: PlainDiff) -> None:
    """One is deleted and another is new, as git has it."""
    shown = diff.section("f", _file(A), _file(B, "120000"))
    assert shown.count("diff --git") == 2
    assert "deleted file mode 100644\n" in shown
    assert "new file mode 120000\n" in shown


@pytest.mark.parametrize("blob", [BINARY, LOST, None])
def test_what_is_not_text_or_not_kept_only_differs(diff: PlainDiff, blob: str | None) -> None:
    """A change that cannot be shown is still named."""
    shown = diff.section("f", _file(A), _file(blob))
    assert shown.endswith("Binary files a/f and b/f differ\n")
    assert "@@" not in shown


def test_past_the_bound_of_lines_files_only_differ(diff: PlainDiff) -> None:
    """The bound is one for all sections: what comes behind a long file is named, and not compared."""
    diff.contents.keep(LONG, b"x\n" * 20_000, 1_000)
    assert diff.section("long", None, _file(LONG)).endswith("+x\n")
    assert diff.section("f", _file(A), _file(B)).endswith("differ\n")


@for_each(
    ("name", "shown"),
    [("a b", "a b"), ('a"b', '"a\\"b"'), ("a\nb", '"a\\nb"'), ("é", '"\\303\\251"'), ("\udcff", '"\\377"'), ("", "")],
)
def test_odd_names_are_quoted(name: str, shown: str) -> None:
    """A newline in a name cannot begin a line of the diff."""
    assert quote(name) == shown

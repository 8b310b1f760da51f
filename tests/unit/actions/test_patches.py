"""The paths of patches; patches of other agents are read in `tests/peers/test_patch_samples.py`."""

from tests.tables import for_each

from permitry.actions.patches import PatchPaths, hidden_patch, paths_of
from permitry.core.action import Access, Word

READ, WRITE, DELETE = Access.READ, Access.WRITE, Access.DELETE
HUNK = "@@ -1 +1 @@\n-old\n+new\n"


def begun(*lines: str) -> str:
    """Return a patch with these lines between its markers."""
    return "\n".join(("*** Begin Patch", *lines, "*** End Patch", ""))


@for_each(
    ("lines", "touched"),
    [
        (["*** Add File: a b/c.md", "+text"], [(WRITE, "a b/c.md")]),
        (["*** Update File: a", "@@", "-x", "+y", "*** End of File"], [(WRITE, "a")]),
        (["*** Delete File: ../a"], [(DELETE, "../a")]),
        (["*** Update File: a", "*** Move to: b", "@@", "+x"], [(WRITE, "a"), (DELETE, "a"), (WRITE, "b")]),
        (["*** Add File: a", "+*** Delete File: b", "+--- c"], [(WRITE, "a")]),
        (["*** Add File: a", "+x", "*** Add File: /b", "+y"], [(WRITE, "a"), (WRITE, "/b")]),
        (["*** Update File: a", "@@", "--- a comment in Lua", "+-- another", "", " ***"], [(WRITE, "a")]),
    ],
)
def test_headers_name_the_files(lines: list[str], touched: list[tuple[Access, str]]) -> None:
    """Between the markers every exact header names a path, and content names none."""
    assert paths_of(begun(*lines)) == PatchPaths(tuple(touched))


@for_each(
    ("text", "touched"),
    [
        ("--- a/x\n+++ b/x\n" + HUNK, [(WRITE, "x")]),
        ("--- a/x y\t2026-01-01\n+++ b/x y\t2026-01-01\n" + HUNK, [(WRITE, "x y")]),
        ("--- /dev/null\n+++ b/d/x\n@@ -0,0 +1 @@\n+new\n", [(WRITE, "d/x")]),
        ("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n", [(DELETE, "x")]),
        ("--- x\n+++ x\n" + HUNK, [(WRITE, "x")]),
        ("--- a/x\n+++ b/y\n" + HUNK, [(WRITE, "x"), (WRITE, "y")]),
        ("--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@ f()\n--- no header\n+++ none either\n+z\n\n", None),
        ("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n--- a comment\n \n", [(WRITE, "x")]),
        ("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", [(WRITE, "x")]),
        ("diff --git a/x b/x\ndeleted file mode 100644\nindex 1..0\n", [(WRITE, "x"), (DELETE, "x")]),
        ("diff --git a/x b/x b/x b/x\nold mode 100644\n", [(WRITE, "x b/x")]),
        (
            "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n",
            [(WRITE, "x"), (WRITE, "y"), (DELETE, "x")],
        ),
        ("diff --git a/x b/y\ncopy from x\ncopy to y\n", [(WRITE, "x"), (WRITE, "y"), (READ, "x")]),
        ("A message.\n\nIndex: x\n--- x\n+++ x\n" + HUNK, [(WRITE, "x")]),
        (
            "--- a/x\n+++ b/x\n" + HUNK + "\\ No newline at end of file\n--- a/y\n+++ b/y\n" + HUNK,
            [(WRITE, "x"), (WRITE, "y")],
        ),
    ],
)
def test_unified_diffs_name_the_files(text: str, touched: list[tuple[Access, str]] | None) -> None:
    """Names before a hunk are paths; the lines its head counts are content, unless they look too much like names."""
    reading = paths_of(text)
    if touched is None:
        assert reading.doubt == "the header of a file is inside a hunk"
    else:
        assert reading == PatchPaths(tuple(touched))


@for_each(
    ("text", "path"),
    [
        (begun("  *** Update File: secret", "@@", "+x"), "secret"),
        (begun("*** Delete File: a", "*** delete file: secret"), "secret"),
        (begun("*** Add File:\tsecret", "+x"), "secret"),
        (begun("***Add File: secret", "+x"), "secret"),
        (begun("** Add File: secret", "+x"), None),
        (begun(" **** Add File: secret", "+x"), "secret"),
        (begun("*** Add File:  secret", "+x"), "secret"),
        (begun("*** Add File: secret ", "+x"), "secret"),
        (begun("*** Add File: secret\r", "+x"), "secret"),
        (begun("*** Add File: se\x00cret", "+x"), "se\x00cret"),
        (begun("*** Add\u200b File: secret", "+x"), "secret"),
        (begun("*** Rename File: secret"), "secret"),
        (begun("*** Environment ID: x", "*** Add File: secret", "+x"), "secret"),
        (begun("*** Add File: a", "+x\u2028*** Delete File: secret"), "secret"),
        (begun("*** Add File: a", "+x\r*** Delete File: secret"), "secret"),
        (begun("*** Update File: a", "--- a/secret", "+++ b/secret", *HUNK.splitlines()), "secret"),
        (begun("*** Update File: a", "@@", "+x", "diff --git a/secret b/secret", "old mode 100644"), "secret"),
        (begun("*** Add File: a", "+x") + begun("*** Delete File: secret"), "secret"),
        ("*** Begin Patch\n*** Add File: secret\n+x\n", "secret"),
        ("please\n" + begun("*** Add File: secret", "+x"), "secret"),
        ("*** begin patch\n*** Add File: secret\n*** end patch", "secret"),
        ("--- a/secret\n+++ b/secret\n@@\n-x\n", "secret"),
        ("  --- a/secret\n  +++ b/secret\n" + HUNK, "secret"),
        ("--- a/secret\r\n+++ b/secret\r\n" + HUNK, "secret"),
        ("--- a/x\n+++ b/x\n" + HUNK + " *** Delete File: secret\n", "secret"),
        ("--- d/secret\n+++ d/secret\n" + HUNK, "d/secret"),
        ("--- a/secret x\n+++ b/secret x\n" + HUNK, "a/secret"),
        ('--- "a/\\163ecret"\n+++ "b/\\163ecret"\n' + HUNK, None),
        ("--- a/secret\n" + HUNK, "a/secret"),
        ("+++ b/secret\n" + HUNK, "secret"),
        ("--- a/secret\n+++ b/secret\n@@ -1,9 +1,9 @@\n-x\n", "secret"),
        ("--- a/secret\n+++ b/secret\n@@ -1,2 +1,2 @@\nx\n-x\n+y\n", "secret"),
        ("--- a/secret\n+++ b/secret\n@@ -1 +1 @@\n-x\nodd\n+y\n", "secret"),
        ('diff --git a/x b/secret\nrename from "x"\nrename to secret\n', "secret"),
        ("diff --git a/x y b/z b/secret\nrename to secret\n", "secret"),
        ("diff --git a/secret b/secret\nnew file mode 120000\n", "secret"),
        ("---\ta/secret\n+++\tb/secret\n" + HUNK, None),
        ("Diff --Git a/x b/x\n", None),
        (begun(), None),
        ("", None),
        ("nothing at all", None),
    ],
)
def test_what_is_odd_leaves_a_doubt(text: str, path: str | None) -> None:
    """Whatever someone else may read in another way is in doubt, and the path in it is found all the same."""
    reading = paths_of(text)
    assert reading.doubt
    assert path is None or path in {name for _, name in reading.touched}


def test_a_patch_over_a_mebibyte_is_not_read() -> None:
    """Nothing is said of a patch that no call can hold, but that it is too long."""
    reading = paths_of(begun("*** Add File: a", "+" * 1_048_576))
    assert reading == PatchPaths(doubt="the patch is longer than 1048576 characters")


def test_carriage_returns_leave_a_doubt() -> None:
    """A whole patch with carriage returns is in doubt, though its paths are found."""
    reading = paths_of(begun("*** Add File: a", "+x").replace("\n", "\r\n"))
    assert reading.touched == ((WRITE, "a"),)
    assert reading.doubt


@for_each(
    "text",
    [
        "*** Begin Patch\n" + "*** Add File: \n" * 60_000,
        "--- a\n" * 170_000,
        " " * 1_000_000 + "*",
        "*" * 1_000_000,
        ("diff --git a/x" + " b/x" * 200 + "\n") * 1_200,
        "@@ -1,999999999 +1,999999999 @@\n" + " \n" * 500_000,
    ],
)
def test_the_longest_patch_is_read(text: str) -> None:
    """A patch of the greatest length is read in one pass: none of these would end soon otherwise."""
    assert paths_of(text).doubt


@for_each(
    ("argv", "here", "text"),
    [
        (["apply_patch", "P"], None, "P"),
        (["applypatch", "P"], None, "P"),
        (["/usr/bin/Apply_Patch", "P"], None, "P"),
        (["apply_patch"], "P\n", "P\n"),
        (["apply_patch", "x"], "P", "x\nP"),
        (["apply_patch"], None, None),
        (["patch", "P"], "P", None),
        ([], "P", None),
    ],
)
def test_a_hidden_patch_is_taken_out(argv: list[str], here: str | None, text: str | None) -> None:
    """What `apply_patch` is given is the patch, wherever it stands."""
    assert hidden_patch([Word(word) for word in argv], here) == text

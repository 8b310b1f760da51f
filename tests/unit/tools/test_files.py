"""The tools `list_files`, `read_file` and `write_file`."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from permitry.core.spec import ArgumentRole
from permitry.dispatch.registry import ToolRegistry
from permitry.dispatch.result import ToolResult
from permitry.tools import files
from permitry.tools.files import unified_diff

Use = Callable[..., ToolResult]
Preview = Callable[..., str | None]

_MEBIBYTE = 1024 * 1024
_ODD_BREAKS = ["\x0c", "\x0b", "\r", "\u2028", "\x85", "\x1c"]


# list_files -------------------------------------------------------------------------------------------------------


@pytest.fixture
def tree(root: Path) -> Path:
    """Return a workspace with some files."""
    for name in ("README.md", "src/a.py", "src/deep/b.py", ".git/config"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"")
    return root


@pytest.mark.parametrize(
    ("glob", "wanted"),
    [
        ("*", "README.md\nsrc/a.py\nsrc/deep/b.py"),
        ("*.py", "src/a.py\nsrc/deep/b.py"),
        ("src/*", "src/a.py\nsrc/deep/b.py"),
        ("src/?.py", "src/a.py"),
        ("b.py", "src/deep/b.py"),
        ("src/a.py", "src/a.py"),
        ("*.rs", "(no files)"),
        (".git/*", "(no files)"),
        ("", "(no files)"),
    ],
)
@pytest.mark.usefixtures("tree")
def test_files_are_listed_by_pattern(use: Use, glob: str, wanted: str) -> None:
    """A pattern fits a whole path or a bare name."""
    assert use("list_files", glob=glob) == ToolResult(True, wanted)


@pytest.mark.usefixtures("tree")
def test_without_a_pattern_all_files_are_listed(use: Use) -> None:
    """All but the inside of `.git`."""
    assert use("list_files").text == "README.md\nsrc/a.py\nsrc/deep/b.py"


@pytest.mark.parametrize(
    ("count", "last"), [(3, "2.txt"), (4, "...[1 files left out]..."), (7, "...[4 files left out]...")]
)
def test_a_long_list_is_cut_with_a_marker(
    root: Path, use: Use, monkeypatch: pytest.MonkeyPatch, count: int, last: str
) -> None:
    """The rest is counted, not passed over in silence."""
    monkeypatch.setattr(files, "_MOST_FILES", 3)
    for number in range(count):
        (root / f"{number}.txt").touch()
    lines = use("list_files").text.splitlines()
    assert (len(lines), lines[-1]) == (min(count, 4), last)


def test_at_most_400_files_are_listed(root: Path, use: Use) -> None:
    """A list is to be read by a model."""
    for number in range(401):
        (root / str(number)).touch()
    assert len(use("list_files").text.splitlines()) == 401
    assert use("list_files").text.endswith("\n...[1 files left out]...")


@pytest.mark.parametrize(("count", "is_marked"), [(3, False), (4, True)])
def test_a_search_that_gives_up_says_so(
    root: Path,
    use: Use,
    monkeypatch: pytest.MonkeyPatch,
    count: int,
    is_marked: bool,  # noqa: FBT001 -- a table of flags
) -> None:
    """No match among the first files is not no match at all."""
    monkeypatch.setattr(files, "_MOST_SEEN", 3)
    for number in range(count):
        (root / f"{number}.txt").touch()
    marker = "...[only the first 3 files were looked at]..."
    assert use("list_files", glob="0.txt").text == "\n".join(["0.txt", *[marker] * is_marked])
    assert use("list_files", glob="none").text == (marker if is_marked else "(no files)")


def test_both_limits_of_a_list_are_told(root: Path, use: Use, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that were found and left out, and files nobody looked at."""
    monkeypatch.setattr(files, "_MOST_SEEN", 3)
    monkeypatch.setattr(files, "_MOST_FILES", 2)
    for number in range(5):
        (root / str(number)).touch()
    assert use("list_files").text.splitlines() == [
        "0",
        "1",
        "...[1 files left out]...",
        "...[only the first 3 files were looked at]...",
    ]


def test_a_name_cannot_forge_another_line_of_the_list(root: Path, use: Use) -> None:
    """A name with a line break is one line, spelled out."""
    (root / "a\nb.txt").touch()
    assert use("list_files").text == "a\\nb.txt"


def test_a_name_with_undecodable_bytes_does_not_break_the_list(root: Path, use: Use) -> None:
    """The list is text whatever the names are."""
    try:
        (root / os.fsdecode(b"\xff.txt")).write_bytes(b"")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    assert use("list_files") == ToolResult(True, "\ufffd.txt")


# read_file --------------------------------------------------------------------------------------------------------


@pytest.fixture
def ten(root: Path) -> Path:
    """Return a file of ten lines."""
    path = root / "ten.txt"
    path.write_text("".join(f"line {number}\n" for number in range(1, 11)), encoding="utf-8")
    return path


@pytest.mark.usefixtures("ten")
def test_a_file_is_read_with_numbered_lines(use: Use) -> None:
    """The first line says which file it is."""
    lines = use("read_file", path="./ten.txt").text.splitlines()
    assert (lines[0], lines[1], lines[-1], len(lines)) == ("# ten.txt", "1|line 1", "10|line 10", 11)


@pytest.mark.parametrize(
    ("offset", "limit", "wanted"),
    [
        (1, 2, "1|line 1\n2|line 2\n...[8 lines left out]..."),
        (9, 2, "9|line 9\n10|line 10"),
        (9, 100, "9|line 9\n10|line 10"),
        (5, 1, "5|line 5\n...[5 lines left out]..."),
    ],
)
@pytest.mark.usefixtures("ten")
def test_a_part_of_a_file_is_read(use: Use, offset: int, limit: int, wanted: str) -> None:
    """Lines keep their numbers, and what follows is counted."""
    assert use("read_file", path="ten.txt", offset=offset, limit=limit).text == f"# ten.txt\n{wanted}"


@pytest.mark.parametrize("offset", [11, 1000])
@pytest.mark.usefixtures("ten")
def test_reading_past_the_end_fails(use: Use, offset: int) -> None:
    """The model is told how long the file is, rather than that nothing is in it."""
    told = f"`ten.txt` has 10 lines; line {offset} is past its end."
    assert use("read_file", path="ten.txt", offset=offset) == ToolResult(False, told)


@pytest.mark.parametrize("odd", [*_ODD_BREAKS[:2], *_ODD_BREAKS[3:], "\rx"])
def test_only_a_newline_ends_a_line(root: Path, use: Use, odd: str) -> None:
    """Line numbers are those of an editor, whatever else Python takes for a line end."""
    (root / "odd").write_bytes(f"one{odd}\ntwo\n".encode())
    assert use("read_file", path="odd").text == f"# odd\n1|one{odd}\n2|two"


def test_a_carriage_return_before_a_newline_belongs_to_the_end_of_the_line(root: Path, use: Use) -> None:
    """A file with CRLF reads like one without."""
    (root / "dos").write_bytes(b"one\r\ntwo\r\n")
    assert use("read_file", path="dos").text == "# dos\n1|one\n2|two"


def test_an_empty_file_is_read(root: Path, use: Use) -> None:
    """It has no lines."""
    (root / "empty").touch()
    assert use("read_file", path="empty") == ToolResult(True, "# empty")


def test_a_link_is_told_as_what_it_leads_to(root: Path, use: Use) -> None:
    """The model learns which file it has really read."""
    (root / "a.txt").write_bytes(b"hello")
    (root / "link").symlink_to("a.txt")
    assert use("read_file", path="link").text == "# a.txt\n1|hello"


def test_binary_is_shown_with_replacement_characters(root: Path, use: Use) -> None:
    """A result is text in any case."""
    (root / "a.bin").write_bytes(b"\xff\xfe\x00ok")
    assert use("read_file", path="a.bin") == ToolResult(True, "# a.bin\n1|\ufffd\ufffd\x00ok")


def test_a_long_file_is_clipped(root: Path, use: Use) -> None:
    """The text has at most about 20,000 characters, with a visible gap."""
    (root / "long.txt").write_text("x" * 100_000, encoding="utf-8")
    text = use("read_file", path="long.txt").text
    assert 20_000 < len(text) < 20_100
    assert "characters left out]..." in text


@pytest.mark.parametrize(("size", "ok"), [(4 * _MEBIBYTE, True), (4 * _MEBIBYTE + 1, False)])
def test_a_file_larger_than_the_limit_is_not_read(root: Path, use: Use, size: int, ok: bool) -> None:  # noqa: FBT001 -- a table
    """Four MiB are the most."""
    (root / "large").write_bytes(b"x" * size)
    result = use("read_file", path="large")
    assert result.ok is ok
    assert ("`large` is larger than 4194304 bytes." in result.text) is not ok


@pytest.mark.parametrize("path", ["../outside/secret.txt", "link", "missing", "."])
def test_what_cannot_be_read_is_told(root: Path, outside: Path, use: Use, path: str) -> None:
    """The model gets a sentence, and nothing of the content or of the place on the disk."""
    (root / "link").symlink_to(outside / "secret.txt")
    result = use("read_file", path=path)
    assert result.ok is False
    assert f"`{path}`" in result.text
    assert str(root.parent) not in result.text


# write_file -------------------------------------------------------------------------------------------------------


def test_a_file_is_written(root: Path, use: Use) -> None:
    """The content arrives as it is, line endings and all."""
    result = use("write_file", path="sub/../new/a.txt", content="ä\r\nb")
    assert result == ToolResult(True, "Wrote 4 characters to new/a.txt.")
    assert (root / "new" / "a.txt").read_bytes() == "ä\r\nb".encode()


def test_a_file_is_replaced(root: Path, use: Use) -> None:
    """Nothing of the old content is left."""
    (root / "a.txt").write_bytes(b"a long old content")
    assert use("write_file", path="a.txt", content="new").ok
    assert (root / "a.txt").read_bytes() == b"new"


@pytest.mark.parametrize("path", ["../outside/secret.txt", "link", "."])
def test_what_cannot_be_written_is_told(root: Path, outside: Path, use: Use, path: str) -> None:
    """Nothing outside changes, and nothing of the disk is told."""
    (root / "link").symlink_to(outside / "secret.txt")
    result = use("write_file", path=path, content="new")
    assert result.ok is False
    assert str(root.parent) not in result.text
    assert (outside / "secret.txt").read_bytes() == b"secret"


# Previews ---------------------------------------------------------------------------------------------------------


def test_the_preview_of_a_new_file_adds_all_of_it(preview: Preview) -> None:
    """Every line is an addition."""
    shown = preview("write_file", path="a.txt", content="one\ntwo\n")
    assert shown == "--- a/a.txt\n+++ b/a.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n"


def test_the_preview_of_a_change_shows_the_change(root: Path, preview: Preview) -> None:
    """A unified diff against what is on the disk; the disk stays as it is."""
    (root / "a.txt").write_bytes(b"one\ntwo\nthree\n")
    shown = preview("write_file", path="a.txt", content="one\n2\nthree\n")
    assert shown == "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
    assert (root / "a.txt").read_bytes() == b"one\ntwo\nthree\n"


def test_a_missing_end_of_line_is_shown() -> None:
    """A diff tells whether the last line ends."""
    assert unified_diff(Path("a"), "one", "one\n") == (
        "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n\\ No newline at end of file\n+one\n"
    )


def test_no_change_is_an_empty_preview() -> None:
    """Nothing would change, so nothing is shown."""
    assert unified_diff(Path("a"), "same\n", "same\n") == ""


@pytest.mark.parametrize("odd", _ODD_BREAKS)
def test_only_a_newline_ends_a_line_of_a_diff(odd: str) -> None:
    """Other characters that Python takes for line ends do not make a wrong diff."""
    assert unified_diff(Path("a"), f"one{odd}two\n", f"one{odd}2\n") == (
        f"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one{odd}two\n+one{odd}2\n"
    )


def test_a_changed_line_ending_is_a_change() -> None:
    """A diff from CRLF to LF is not empty."""
    assert "-one\r\n+one\n" in unified_diff(Path("a"), "one\r\n", "one\n")


@pytest.mark.parametrize("name", ["a\n+++ b/other", "a\r+++ b/other", "a\u2028b", "a\x1b[2Kb"])
def test_a_path_cannot_forge_the_head_of_a_diff(name: str) -> None:
    """The human sees one file named, the one that is written."""
    head = unified_diff(Path(name), "", "x\n").split("\n@@")[0]
    assert len(head.split("\n")) == 2
    assert head.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (2_000, 2_000, "@@ -1,"),
        (2_000, 2_001, "(2000 lines become 2001; too many to compare)"),
        (0, 4_001, "(0 lines become 4001; too many to compare)"),
        (4_001, 0, "(4001 lines become 0; too many to compare)"),
    ],
)
def test_a_diff_of_many_lines_is_told_in_a_sentence(old: int, new: int, told: str) -> None:
    """Nobody waits minutes for a preview, nor takes it for an empty one."""
    assert told in unified_diff(Path("a"), "old\n" * old, "new\n" * new)


def test_the_preview_names_the_file_that_would_be_written(root: Path, preview: Preview) -> None:
    """A link or a detour shows as what it leads to."""
    (root / "real.txt").write_bytes(b"old\n")
    (root / "link").symlink_to("real.txt")
    for path in ("link", "./sub/../real.txt", str(root.resolve() / "link")):
        shown = preview("write_file", path=path, content="new\n")
        assert shown == "--- a/real.txt\n+++ b/real.txt\n@@ -1 +1 @@\n-old\n+new\n"


@pytest.mark.parametrize("large", [True, False])
def test_what_cannot_be_compared_is_not_shown_as_new(
    root: Path,
    preview: Preview,
    large: bool,  # noqa: FBT001 -- a table of flags
) -> None:
    """Replacing a file that is too large to read, or no file at all, is not creating one."""
    if large:
        (root / "there").write_bytes(b"x" * (4 * _MEBIBYTE + 1))
    else:
        (root / "there").mkdir()
    shown = str(preview("write_file", path="there", content="new\n"))
    assert shown.startswith("(no preview: `there` is ")


def test_the_preview_does_not_look_outside(outside: Path, preview: Preview) -> None:
    """A path that leads out shows nothing of what is there."""
    assert outside.is_dir()
    assert "secret\n" not in str(preview("write_file", path="../outside/secret.txt", content="new"))


def test_a_tool_that_only_reads_has_no_preview(preview: Preview) -> None:
    """There is nothing it would change."""
    assert preview("read_file", path="a.txt") is None
    assert preview("list_files") is None


# What the tools declare -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "only_reads", "roles"),
    [
        ("list_files", True, {}),
        ("read_file", True, {"path": ArgumentRole.READ_PATH}),
        ("write_file", False, {"path": ArgumentRole.WRITE_PATH}),
    ],
)
def test_a_tool_says_what_it_is(
    registry: ToolRegistry,
    name: str,
    only_reads: bool,  # noqa: FBT001 -- a table of flags
    roles: dict[str, ArgumentRole],
) -> None:
    """Traits and roles are what rules go by."""
    spec = registry.get(name)
    assert spec is not None
    assert (spec.traits.only_reads, dict(spec.roles or {})) == (only_reads, roles)

"""The tools `list_files`, `read_file` and `write_file`."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.core.call import ToolCall
from permitry.core.result import ToolResult
from permitry.core.spec import ArgumentRole
from permitry.dispatch.registry import ToolRegistry
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry_tools import _looking, edit, files, hashline
from permitry_tools._reading import ReadMemory
from permitry_tools.files import unified_diff
from permitry_tools.workspace import Workspace

Use = Callable[..., ToolResult]
Preview = Callable[..., str | None]

_MEBIBYTE = 1024 * 1024
_ODD_BREAKS = ["\x0c", "\x0b", "\r", "\u2028", "\x85", "\x1c"]


@pytest.fixture
def registry(workspace: Workspace) -> ToolRegistry:
    """Return the file tools and those that edit, with one memory of what was read."""
    registry, memory = ToolRegistry(), ReadMemory()
    for family in (files, edit, hashline):
        family.register(registry, workspace, memory)
    return registry


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
        ("", "README.md\nsrc/a.py\nsrc/deep/b.py"),
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
    ("count", "last"), [(3, "2.txt"), (4, "...[omitted 1 files]..."), (7, "...[omitted 4 files]...")]
)
def test_a_long_list_is_cut_with_a_marker(
    root: Path, use: Use, monkeypatch: pytest.MonkeyPatch, count: int, last: str
) -> None:
    """The rest is counted, not skipped in silence."""
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
    assert use("list_files").text.endswith("\n...[omitted 1 files]...")


@pytest.mark.parametrize(("count", "is_marked"), [(3, False), (4, True)])
def test_a_search_that_gives_up_says_so(
    root: Path,
    use: Use,
    monkeypatch: pytest.MonkeyPatch,
    count: int,
    is_marked: bool,  # noqa: FBT001 -- a table of flags
) -> None:
    """No match among the first files is not no match at all."""
    monkeypatch.setattr(_looking, "_MOST_SEEN", 3)
    for number in range(count):
        (root / f"{number}.txt").touch()
    marker = "...[only the first 3 files were looked at]..."
    assert use("list_files", glob="0.txt").text == "\n".join(["0.txt", *[marker] * is_marked])
    assert use("list_files", glob="none").text == (marker if is_marked else "(no files)")


def test_both_limits_of_a_list_are_reported(root: Path, use: Use, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that were found and left out, and files no one looked at."""
    monkeypatch.setattr(_looking, "_MOST_SEEN", 3)
    monkeypatch.setattr(files, "_MOST_FILES", 2)
    for number in range(5):
        (root / str(number)).touch()
    assert use("list_files").text.splitlines() == [
        "0",
        "1",
        "...[omitted 1 files]...",
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
    """The first line says which file it is; every other has its number and its hash."""
    lines = use("read_file", path="./ten.txt").text.splitlines()
    assert (lines[0], lines[1], lines[-1], len(lines)) == ("# ten.txt", "1:d6dd|line 1", "10:189e|line 10", 11)


@pytest.mark.usefixtures("ten")
def test_a_file_is_read_without_hashes(use: Use) -> None:
    """Who only reads needs none."""
    lines = use("read_file", path="ten.txt", hashline=False).text.splitlines()
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
    result = use("read_file", path="ten.txt", offset=offset, limit=limit, hashline=False)
    assert result.text == f"# ten.txt\n{wanted}"


@pytest.mark.parametrize("offset", [11, 1000])
@pytest.mark.usefixtures("ten")
def test_reading_past_the_end_fails(use: Use, offset: int) -> None:
    """The model is shown how long the file is, rather than that nothing is in it."""
    shown = f"`ten.txt` has 10 lines; line {offset} is past its end."
    assert use("read_file", path="ten.txt", offset=offset) == ToolResult(False, shown)


@pytest.mark.parametrize("odd", [*_ODD_BREAKS[:2], *_ODD_BREAKS[3:], "\rx"])
def test_only_a_newline_ends_a_line(root: Path, use: Use, odd: str) -> None:
    """Line numbers are those of an editor, whatever else Python takes for a line end."""
    (root / "odd").write_bytes(f"one{odd}\ntwo\n".encode())
    assert use("read_file", path="odd", hashline=False).text == f"# odd\n1|one{odd}\n2|two"


def test_a_carriage_return_before_a_newline_belongs_to_the_end_of_the_line(root: Path, use: Use) -> None:
    """A file with CRLF reads like one without."""
    (root / "dos").write_bytes(b"one\r\ntwo\r\n")
    assert use("read_file", path="dos", hashline=False).text == "# dos\n1|one\n2|two"


def test_an_empty_file_is_read(root: Path, use: Use) -> None:
    """It has no lines."""
    (root / "empty").touch()
    assert use("read_file", path="empty") == ToolResult(True, "# empty")


def test_a_link_is_reported_as_what_it_leads_to(root: Path, use: Use) -> None:
    """The model learns which file it has really read."""
    (root / "a.txt").write_bytes(b"hello")
    (root / "link").symlink_to("a.txt")
    assert use("read_file", path="link", hashline=False).text == "# a.txt\n1|hello"


def test_binary_is_shown_with_replacement_characters(root: Path, use: Use) -> None:
    """A result is text in any case."""
    (root / "a.bin").write_bytes(b"\xff\xfe\x00ok")
    assert use("read_file", path="a.bin", hashline=False) == ToolResult(True, "# a.bin\n1|\ufffd\ufffd\x00ok")


def test_of_a_long_file_whole_lines_are_shown(root: Path, use: Use) -> None:
    """As many as fit into 20,000 characters; the marker counts the rest and is not a line of the file."""
    (root / "long.txt").write_text("x" * 99 + "\n" + ("y" * 99 + "\n") * 999, encoding="utf-8")
    *lines, marker = use("read_file", path="long.txt").text.split("\n")
    shown = len(lines) - 1
    assert 170 < shown < 200
    assert marker == f"...[truncated {100 * (1000 - shown)} chars]..."
    assert sum(map(len, lines)) < 20_000
    assert lines[-1].endswith("|" + "y" * 99)


def test_what_was_not_shown_can_be_read_from_there(root: Path, use: Use) -> None:
    """The number of the last line shown says where to go on."""
    (root / "long.txt").write_text("".join(f"{n} {'x' * 99}\n" for n in range(300)), encoding="utf-8")
    last = use("read_file", path="long.txt", hashline=False).text.split("\n")[-2]
    offset = int(last.split("|")[0]) + 1
    assert f"\n{offset}|{offset - 1} xxx" in use("read_file", path="long.txt", offset=offset, hashline=False).text


def test_a_line_that_is_too_long_is_clipped(root: Path, use: Use) -> None:
    """Its beginning and its end are shown, with a visible gap between."""
    (root / "long.txt").write_text("x" * 100_000 + "end", encoding="utf-8")
    text = use("read_file", path="long.txt").text
    assert 20_000 < len(text) < 20_200
    assert "characters left out" in text
    assert text.endswith("xend")


@pytest.mark.parametrize(("size", "ok"), [(4 * _MEBIBYTE, True), (4 * _MEBIBYTE + 1, False)])
def test_a_file_larger_than_the_limit_is_not_read(root: Path, use: Use, size: int, ok: bool) -> None:  # noqa: FBT001 -- a table
    """Four MiB are the most."""
    (root / "large").write_bytes(b"x" * size)
    result = use("read_file", path="large")
    assert result.ok is ok
    assert ("`large` is larger than 4194304 bytes." in result.text) is not ok


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("../outside/secret.txt", "Path escapes workspace: ../outside/secret.txt"),
        ("link", "Path escapes workspace: link"),
        ("missing", "File not found: missing"),
        ("there/below", "File not found: there/below"),
        (".", "Path is a directory, not a file: ."),
        ("", "read_file requires path"),
        ("a\0b", "The path is empty or holds a NUL character."),
        ("circle", "The path `circle` runs in a circle of links, or changed while it was opened."),
        ("x" * 300, f"File not found: {'x' * 300}"),
    ],
)
def test_what_cannot_be_read_is_reported(root: Path, outside: Path, use: Use, path: str, expected: str) -> None:
    """The model gets a sentence, and nothing of the content or of the place on the disk."""
    (root / "link").symlink_to(outside / "secret.txt")
    (root / "circle").symlink_to("circle")
    (root / "there").touch()
    assert use("read_file", path=path) == ToolResult(False, expected)


@pytest.mark.parametrize("path", [{}, {"path": None}])
def test_a_missing_path_is_asked_for(use: Use, path: dict[str, None]) -> None:
    """In the words of the seed, for each of the tools."""
    for tool, rest in (("read_file", {}), ("write_file", {"content": "x"})):
        assert use(tool, **path, **rest) == ToolResult(False, f"{tool} requires path")


def test_a_missing_path_is_still_one_the_schema_requires(registry: ToolRegistry) -> None:
    """Rules and models see that it must be there."""
    required = {spec.name: spec.parameters.get("required") for spec in registry}
    assert required["read_file"] == ("path",)
    assert required["write_file"] == ("path", "content")


# write_file -------------------------------------------------------------------------------------------------------


def test_a_file_is_written(root: Path, use: Use) -> None:
    """The content arrives as it is, line endings and all."""
    result = use("write_file", path="sub/../new/a.txt", content="ä\r\nb")
    assert result == ToolResult(True, "Wrote 4 chars to new/a.txt")
    assert (root / "new" / "a.txt").read_bytes() == "ä\r\nb".encode()


def test_a_file_that_was_read_is_replaced(root: Path, use: Use) -> None:
    """Nothing of the old content is left."""
    (root / "a.txt").write_bytes(b"a long old content")
    assert use("read_file", path="a.txt").ok
    assert use("write_file", path="a.txt", content="new").ok
    assert (root / "a.txt").read_bytes() == b"new"


def _blocked(why: str) -> ToolResult:
    way_out = "Use read_file('a.txt') first, then edit via apply_patch or write_file."
    return ToolResult(False, f"BLOCKED: a.txt already exists but {why}. {way_out}")


def test_a_file_that_was_not_read_is_not_replaced(root: Path, use: Use) -> None:
    """What the model has not seen it does not know to be worth nothing."""
    (root / "a.txt").write_bytes(b"old")
    assert use("write_file", path="a.txt", content="new") == _blocked("has not been read")
    assert (root / "a.txt").read_bytes() == b"old"


def test_a_file_that_has_changed_since_is_not_replaced(root: Path, use: Use) -> None:
    """Someone else's work is not lost."""
    (root / "a.txt").write_bytes(b"old")
    assert use("read_file", path="a.txt").ok
    (root / "a.txt").write_bytes(b"new!")
    assert use("write_file", path="a.txt", content="x") == _blocked("has changed since it was read")
    assert (root / "a.txt").read_bytes() == b"new!"
    assert use("read_file", path="a.txt").ok
    assert use("write_file", path="a.txt", content="x").ok


def test_a_file_the_model_wrote_itself_is_replaced(use: Use) -> None:
    """It knows what is in there."""
    assert use("write_file", path="a.txt", content="one").ok
    assert use("write_file", path="./a.txt", content="two").ok


def test_a_file_is_known_by_what_it_is(root: Path, use: Use) -> None:
    """Whatever it was called when it was read."""
    (root / "a.txt").write_bytes(b"old")
    (root / "link").symlink_to("a.txt")
    assert use("read_file", path="link").ok
    assert use("write_file", path="sub/../a.txt", content="new").ok


def test_a_failed_reading_is_none(root: Path, use: Use) -> None:
    """Nothing was shown."""
    (root / "a.txt").write_bytes(b"old")
    assert not use("read_file", path="a.txt", offset=9).ok
    assert use("write_file", path="a.txt", content="new") == _blocked("has not been read")


_EDITS = [
    ("edit_file", {"old_text": "one", "new_text": "1"}),
    ("hashline_edit", {"edits": [{"set_line": "1:86f1", "content": "1"}]}),
]


@pytest.mark.parametrize(("tool", "edit"), _EDITS)
def test_a_known_file_stays_known_when_it_is_edited(root: Path, use: Use, tool: str, edit: dict[str, object]) -> None:
    """The model knows what it has changed."""
    (root / "a.txt").write_bytes(b"one\n")
    assert use("read_file", path="a.txt").ok
    assert use(tool, path="a.txt", **edit).ok
    assert use("write_file", path="a.txt", content="new").ok


@pytest.mark.parametrize(("tool", "edit"), _EDITS)
def test_an_unknown_file_stays_unknown_when_it_is_edited(
    root: Path, use: Use, tool: str, edit: dict[str, object]
) -> None:
    """One place of a file is not the file."""
    (root / "a.txt").write_bytes(b"one\n")
    assert use(tool, path="a.txt", **edit).ok
    assert use("write_file", path="a.txt", content="new") == _blocked("has not been read")


def test_each_registry_remembers_for_itself(root: Path, workspace: Workspace, use: Use) -> None:
    """What one model has read, another has not."""
    (root / "a.txt").write_bytes(b"old")
    assert use("read_file", path="a.txt").ok
    other = ToolRegistry()
    files.register(other, workspace)
    handler = ToolHandler(Session(yolo_mode=True), registry=other)
    assert handler.handle(ToolCall("write_file", {"path": "a.txt", "content": "new"})) == _blocked("has not been read")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("../outside/secret.txt", "Path escapes workspace: ../outside/secret.txt"),
        ("link", "Path escapes workspace: link"),
        (".", "Path is a directory, not a file: ."),
        ("pipe", "`pipe` is not a regular file."),
        (".git/config", "`.git/config` belongs to git or to permitry; the file tools do not write there."),
    ],
)
def test_what_cannot_be_written_is_reported(root: Path, outside: Path, use: Use, path: str, expected: str) -> None:
    """Nothing outside changes, and nothing of the disk is reported."""
    (root / "link").symlink_to(outside / "secret.txt")
    os.mkfifo(root / "pipe")
    assert use("write_file", path=path, content="new") == ToolResult(False, expected)
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


@for_each("odd", _ODD_BREAKS)
def test_only_a_newline_ends_a_line_of_a_diff(odd: str) -> None:
    """Other characters that Python takes for line ends do not make a wrong diff."""
    assert unified_diff(Path("a"), f"one{odd}two\n", f"one{odd}2\n") == (
        f"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one{odd}two\n+one{odd}2\n"
    )


def test_a_changed_line_ending_is_a_change() -> None:
    """A diff from CRLF to LF is not empty."""
    assert "-one\r\n+one\n" in unified_diff(Path("a"), "one\r\n", "one\n")


@for_each("name", ["a\n+++ b/other", "a\r+++ b/other", "a\u2028b", "a\x1b[2Kb"])
def test_a_path_cannot_forge_the_head_of_a_diff(name: str) -> None:
    """The human sees one file named, the one that is written."""
    head = unified_diff(Path(name), "", "x\n").split("\n@@")[0]
    assert len(head.split("\n")) == 2
    assert head.replace("\n", "").isprintable()


@for_each(("old", "new", "expected"))
def test_a_diff_of_many_lines_is_reported_in_a_sentence(old: int, new: int, expected: str) -> None:
    """No one waits minutes for a preview, nor takes it for an empty one."""
    assert expected in unified_diff(Path("a"), "old\n" * old, "new\n" * new)


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
    assert shown.startswith(("(no preview: `there` is ", "(no preview: Path is a directory"))


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

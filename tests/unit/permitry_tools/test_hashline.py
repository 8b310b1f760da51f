"""The tool `hashline_edit`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from permitry.core.result import ToolResult
from permitry.core.spec import ArgumentRole
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import ToolError
from permitry_tools import hashline
from permitry_tools._reading import line_hash
from permitry_tools.hashline import HashlineEdit, _Lines
from permitry_tools.workspace import Workspace

Use = Callable[..., ToolResult]
Preview = Callable[..., str | None]
Edits = list[dict[str, Any]]

_RANGE = "edits.0.replace_lines.replace_lines"
_TEXT = "one\ntwo\nthree\nfour\n"


def _at(number: int, text: str = _TEXT) -> str:
    return f"{number}:{line_hash(text.split(chr(10))[number - 1].removesuffix(chr(13)))}"


def _set(number: int, content: str, text: str = _TEXT) -> dict[str, Any]:
    return {"set_line": _at(number, text), "content": content}


def _insert(number: int, content: str, text: str = _TEXT) -> dict[str, Any]:
    return {"insert_after": _at(number, text), "content": content}


def _replace(start: int, end: int, content: str, text: str = _TEXT) -> dict[str, Any]:
    return {"replace_lines": {"start": _at(start, text), "end": _at(end, text)}, "content": content}


@pytest.fixture
def registry(workspace: Workspace) -> ToolRegistry:
    """Return the tool alone."""
    registry = ToolRegistry()
    hashline.register(registry, workspace)
    return registry


@pytest.fixture
def edited(root: Path) -> Path:
    """Return a file of four lines."""
    path = root / "a.txt"
    path.write_bytes(_TEXT.encode())
    return path


# What edits do ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edits", "after"),
    [
        ([_set(2, "2")], "one\n2\nthree\nfour\n"),
        ([_set(2, "2\n2b\n")], "one\n2\n2b\nthree\nfour\n"),
        ([_set(2, "")], "one\n\nthree\nfour\n"),
        ([_insert(2, "2b")], "one\ntwo\n2b\nthree\nfour\n"),
        ([_insert(4, "5")], "one\ntwo\nthree\nfour\n5\n"),
        ([_insert(1, "")], "one\n\ntwo\nthree\nfour\n"),
        ([_replace(2, 3, "x")], "one\nx\nfour\n"),
        ([_replace(1, 4, "")], ""),
        ([_replace(2, 2, "")], "one\nthree\nfour\n"),
        ([_replace(2, 2, "\n")], "one\n\nthree\nfour\n"),
        ([_set(4, "4"), _insert(1, "x\ny"), _set(2, "2")], "one\nx\ny\n2\nthree\n4\n"),
        ([_set(2, "2"), _insert(2, "2b")], "one\n2\n2b\nthree\nfour\n"),
        ([_insert(2, "2b"), _set(2, "2")], "one\n2\n2b\nthree\nfour\n"),
        ([_insert(2, "a"), _insert(2, "b")], "one\ntwo\na\nb\nthree\nfour\n"),
        ([_replace(1, 2, "x"), _replace(3, 4, "y")], "x\ny\n"),
    ],
)
def test_lines_are_edited(edited: Path, use: Use, edits: Edits, after: str) -> None:
    """Each edit means the lines as they are before any, in whatever order they come."""
    result = use("hashline_edit", path="./a.txt", edits=edits)
    assert result == ToolResult(True, f"Edited a.txt ({len(edits)} edit(s) applied)")
    assert edited.read_bytes() == after.encode()


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (f"{_at(2)}|2", "2"),
        ("2:ffff|2", "2"),
        ("12:30|lunch", "12:30|lunch"),
        ("2:FFFF|2", "2:FFFF|2"),
        ("2:ffff 2", "2:ffff 2"),
        (" 2:ffff|2", " 2:ffff|2"),
    ],
)
def test_a_copied_anchor_is_taken_off(edited: Path, use: Use, content: str, line: str) -> None:
    """What `read_file` puts before a line is not part of it; what only resembles that stays."""
    assert use("hashline_edit", path="a.txt", edits=[_set(2, content)]).ok
    assert edited.read_text(encoding="utf-8").split("\n")[1] == line


@pytest.mark.parametrize(
    ("before", "edits", "after"),
    [
        ("a\r\nb\r\n", [_set(1, "x\ny", "a\r\nb\r\n")], "x\r\ny\r\nb\r\n"),
        ("a\r\nb\r\n", [_insert(2, "x\r\ny", "a\r\nb\r\n")], "a\r\nb\r\nx\r\ny\r\n"),
        ("a\r\nb", [_insert(2, "x", "a\r\nb")], "a\r\nb\r\nx"),
        ("a\nb", [_set(2, "x\n", "a\nb")], "a\nx"),
        ("a\nb", [_replace(2, 2, "", "a\nb")], "a"),
        ("a", [_insert(1, "b", "a")], "a\nb"),
        ("a", [_replace(1, 1, "", "a")], ""),
        ("a\nb\r\n", [_set(2, "x\ny", "a\nb\r\n")], "a\nx\r\ny\r\n"),
        ("a\rb\n", [_set(1, "x", "a\rb\n")], "x\n"),
    ],
)
def test_line_ends_stay_as_they_are(edited: Path, use: Use, before: str, edits: Edits, after: str) -> None:
    """New lines end like those around, and the last one ends or does not end as before."""
    edited.write_bytes(before.encode())
    assert use("hashline_edit", path="a.txt", edits=edits).ok
    assert edited.read_bytes() == after.encode()


@pytest.mark.parametrize("edits", [[], [_set(2, "two")], [_replace(1, 2, "one\ntwo\n")]])
def test_an_edit_that_changes_nothing_says_so(edited: Path, use: Use, edits: Edits) -> None:
    """Nothing is written, and nothing has failed."""
    before = edited.stat().st_ino
    assert use("hashline_edit", path="a.txt", edits=edits) == ToolResult(True, "No changes needed in a.txt")
    assert edited.stat().st_ino == before


# What is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edits", "line"),
    [
        ([_set(2, "x"), _set(2, "y")], 2),
        ([_replace(1, 3, "x"), _set(2, "y")], 2),
        ([_set(3, "y"), _replace(1, 3, "x")], 3),
        ([_replace(1, 2, ""), _replace(2, 3, "")], 2),
        ([_replace(1, 3, "x"), _insert(2, "y")], 2),
        ([_replace(1, 3, "x"), _insert(1, "y")], 1),
    ],
)
def test_edits_that_meet_are_refused(edited: Path, use: Use, edits: Edits, line: int) -> None:
    """No one knows what was meant, and nothing is changed."""
    shown = f"Edits overlap at line {line}: each line may be changed by one edit only. Nothing was changed."
    assert use("hashline_edit", path="a.txt", edits=edits) == ToolResult(False, shown)
    assert edited.read_bytes() == _TEXT.encode()


@pytest.mark.parametrize("now", ["two ", " two", "\ttwo", "Two", ""])
def test_a_line_that_has_changed_is_not_edited(edited: Path, use: Use, now: str) -> None:
    """Not even when only its blanks have; the model sees what is there now."""
    edited.write_text(f"one\n{now}\nthree\nfour\n", encoding="utf-8")
    result = use("hashline_edit", path="a.txt", edits=[_set(2, "x"), _set(1, "y")])
    shown = "".join(f"\n  {n}:{line_hash(line)}|{line}" for n, line in enumerate(["one", now, "three", "four"], 1))
    message = f"Hash mismatch at line 2: expected {line_hash('two')}, got {line_hash(now)}. Current context:{shown}"
    assert result == ToolResult(False, message)
    assert edited.read_text(encoding="utf-8") == f"one\n{now}\nthree\nfour\n"


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        ({"set_line": "5:0000", "content": ""}, "Line 5 out of range (file has 4 lines)"),
        ({"insert_after": "0:0000", "content": ""}, "Line 0 out of range (file has 4 lines)"),
        ({"set_line": "two", "content": ""}, "Invalid anchor format: 'two' (expected N:HHHH)"),
        ({"set_line": "2", "content": ""}, "Invalid anchor format: '2' (expected N:HHHH)"),
        ({"set_line": f"{'9' * 5_000}:0", "content": ""}, f"Invalid anchor format: '{'9' * 200}' (expected N:HHHH)"),
        ({"set_line": "\u0662:0463", "content": ""}, "Invalid anchor format: '\u0662:0463' (expected N:HHHH)"),
        (_replace(3, 2, "x"), "End line 2 is before start line 3"),
        ({"content": "x"}, "Unknown edit operation: {'content': 'x'}. Use set_line, replace_lines, or insert_after."),
        ("x", "Unknown edit operation: 'x'. Use set_line, replace_lines, or insert_after."),
        (
            {"set_line": 1, "insert_after": 2},
            "Unknown edit operation: {'set_line': 1, 'insert_after': 2}. Use set_line, replace_lines, or insert_after.",
        ),
        ({"set_line": "2:0463"}, "The arguments do not fit: `edits.0.set_line.content` is missing."),
        (
            {"replace_lines": "2:0463", "content": ""},
            f"The arguments do not fit: `{_RANGE}` must be an object.",
        ),
    ],
)
def test_what_does_not_fit_is_reported(edited: Path, use: Use, edit: object, expected: str) -> None:
    """Everything is checked before anything is written."""
    assert use("hashline_edit", path="a.txt", edits=[_set(1, "x"), edit][::-1]) == ToolResult(False, expected)
    assert edited.read_bytes() == _TEXT.encode()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"path": "", "edits": []}, "hashline_edit requires path"),
        ({"path": "a.txt"}, "hashline_edit requires edits array"),
        ({"path": "a.txt", "edits": {}}, "hashline_edit requires edits array"),
        ({"path": "missing", "edits": []}, "File not found: missing"),
        ({"path": "../outside/secret.txt", "edits": []}, "Path escapes workspace: ../outside/secret.txt"),
        ({"path": "bytes", "edits": []}, "`bytes` is not UTF-8 text."),
    ],
)
@pytest.mark.usefixtures("edited", "outside")
def test_what_is_missing_is_reported(root: Path, use: Use, arguments: dict[str, Any], expected: str) -> None:
    """As in the other tools that edit."""
    (root / "bytes").write_bytes(b"\xff")
    assert use("hashline_edit", **arguments) == ToolResult(False, expected)


@pytest.mark.parametrize("edit", [{"set_line": "1:0000"}, {"insert_after": "1:0000"}, {"insert_after": "0:0000"}])
def test_an_empty_file_has_no_line(root: Path, use: Use, edit: dict[str, str]) -> None:
    """It is written, not edited."""
    (root / "empty").touch()
    result = use("hashline_edit", path="empty", edits=[{**edit, "content": "x"}])
    assert result.text.endswith(" out of range (file has 0 lines)")


# Laws -------------------------------------------------------------------------------------------------------------

_LINES = st.lists(st.text("ab \r\t", max_size=3), max_size=6)


@given(_LINES, st.sampled_from(["", "\n", "\r\n"]), st.data())
def test_the_rest_of_the_file_stays(bodies: list[str], last: str, data: st.DataObject) -> None:
    """Whatever the lines and their ends, only the lines named by an edit change."""
    text = "\n".join(bodies) + last
    lines = _Lines.of(text)
    assert lines.apply([]) == text
    if not lines.bodies:
        return
    at = data.draw(st.integers(0, len(lines.bodies) - 1))
    arguments = {"path": "a", "edits": [{"set_line": f"{at + 1}:{line_hash(lines.bodies[at])}", "content": "new"}]}
    after = _Lines.of(lines.apply(HashlineEdit.model_validate(arguments).edits))
    assert after.bodies == [*lines.bodies[:at], "new", *lines.bodies[at + 1 :]]
    assert after.ends == lines.ends


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=4))
def test_two_edits_never_change_one_line(ranges: list[tuple[int, int]]) -> None:
    """Ranges that share a line are refused, others are not."""
    ranges = [(min(pair), max(pair)) for pair in ranges]
    text = "1\n2\n3\n4\n5\n"
    edits = HashlineEdit.model_validate({"path": "a", "edits": [_replace(a, b, "x", text) for a, b in ranges]}).edits
    touched = [line for a, b in ranges for line in range(a, b + 1)]
    if len(touched) != len(set(touched)):
        with pytest.raises(ToolError, match="overlap"):
            _Lines.of(text).apply(edits)
    else:
        kept = [str(line) for line in range(1, 6) if line not in touched]
        assert sorted(_Lines.of(text).apply(edits).split()) == sorted([*kept, *["x"] * len(ranges)])


# What the tool declares -------------------------------------------------------------------------------------------


def test_the_preview_is_the_edit(edited: Path, preview: Preview) -> None:
    """The human sees the place, and the file stays as it is."""
    shown = preview("hashline_edit", path="a.txt", edits=[_set(2, "2")])
    assert shown == "--- a/a.txt\n+++ b/a.txt\n@@ -1,4 +1,4 @@\n one\n-two\n+2\n three\n four\n"
    assert edited.read_bytes() == _TEXT.encode()


@pytest.mark.usefixtures("edited")
def test_an_edit_that_would_fail_shows_why(preview: Preview) -> None:
    """The human sees it before the model does."""
    shown = preview("hashline_edit", path="a.txt", edits=[{"set_line": "9:0000", "content": ""}])
    assert shown == "(no preview: Line 9 out of range (file has 4 lines))"


def test_the_tool_says_that_it_writes(registry: ToolRegistry) -> None:
    """Its path is one that is written, and both arguments must be there."""
    spec = registry.get("hashline_edit")
    assert spec is not None
    assert (spec.only_reads, dict(spec.roles or {})) == (False, {"path": ArgumentRole.WRITE_PATH})
    assert spec.parameters["required"] == ("path", "edits")

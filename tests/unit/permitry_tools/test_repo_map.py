"""The tool `repo_map`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from permitry.core.result import ToolResult
from permitry.core.spec import ArgumentRole
from permitry.dispatch.registry import ToolRegistry
from permitry_tools import repo_map
from permitry_tools.workspace import Workspace

Use = Callable[..., ToolResult]


@pytest.fixture
def registry(workspace: Workspace) -> ToolRegistry:
    """Return the tool alone."""
    registry = ToolRegistry()
    repo_map.register(registry, workspace)
    return registry


@pytest.fixture
def mapped(use: Use) -> Callable[..., dict[str, Any]]:
    """Return a function that maps and reads the answer."""

    def mapped(**arguments: object) -> dict[str, Any]:
        result = use("repo_map", **arguments)
        assert result.ok
        shown: dict[str, Any] = json.loads(result.text)
        return shown

    return mapped


Mapped = Callable[..., dict[str, Any]]


def _symbols(mapped: Mapped, root: Path, name: str, text: str) -> list[tuple[str, str, int]]:
    (root / name).write_text(text, encoding="utf-8")
    (file,) = mapped()["files"]
    return [(each["kind"], each["name"], each["line"]) for each in file["symbols"]]


def test_an_empty_workspace_has_an_empty_map(root: Path, use: Use) -> None:
    """The answer is JSON in any case."""
    shown = f'{{\n  "root": "{root.resolve()}",\n  "files": [],\n  "total": 0\n}}'
    assert use("repo_map") == ToolResult(True, shown)


def test_python_is_read_as_python(root: Path, mapped: Mapped) -> None:
    """Functions, classes and their methods; nothing inside of strings or functions."""
    text = 'class A:\n    """\n    def no(): ...\n    """\n    async def b(self): ...\n    class C: ...\n\n'
    text += "def d():\n    def e(): ...\n\nif x:\n    def f(): ...\n"
    assert _symbols(mapped, root, "a.py", text) == [("class", "A", 1), ("method", "A.b", 5), ("function", "d", 8)]


@pytest.mark.parametrize("text", [r'x = "\d \' \\"', "x = r'\\'' + b'\\x'", 'x = f"\\N{DASH}{y}" \\\n  + "\\\n"'])
def test_odd_escapes_neither_warn_nor_hide_what_follows(root: Path, mapped: Mapped, text: str) -> None:
    """The files are not ours; what Python thinks of them is no one's business here."""
    text += "\ndef a(): ...\n"
    assert _symbols(mapped, root, "a.py", text) == [("function", "a", text.count("\n"))]


@pytest.mark.parametrize(
    "text", ["def (", "(" * 5_000, "-" * 100_000 + "1", "x" + ".a" * 100_000, "\0def a(): ...", "\ud7ff" * 3 + "="]
)
def test_what_is_no_python_has_no_symbols(root: Path, mapped: Mapped, text: str) -> None:
    """Whatever it is, the map is made."""
    (root / "a.py").write_text(text, encoding="utf-8")
    (root / "b.py").write_text("def b(): ...", encoding="utf-8")
    files = mapped()["files"]
    assert [file["symbols"] for file in files if file["path"] == "a.py"] in ([], [[]])
    assert files[-1]["symbols"] == [{"kind": "function", "name": "b", "line": 1}]


@pytest.mark.parametrize(
    ("name", "line", "symbol"),
    [
        ("a.js", "export default async function go() {", ("function", "go")),
        ("a.mjs", "function* go() {", ("function", "go")),
        ("a.ts", "export abstract class Go<T> {", ("class", "Go")),
        ("a.tsx", "export const go = async (a: B, c) => {", ("function", "go")),
        ("a.tsx", "export const Go = (props) => <b/>", ("function", "Go")),
        ("a.js", "let go = x => x", ("function", "go")),
        ("a.js", "let go = 5", None),
        ("a.go", "func (s *Server) Go(x int) error {", ("function", "Go")),
        ("a.rs", "    pub(crate) unsafe fn go<T>(x: T) {", ("function", "go")),
        ("a.rs", "pub trait Go {", ("class", "Go")),
        ("a.rb", "  def self.go", ("function", "go")),
        ("A.java", "public static final class Go {", ("class", "Go")),
        ("a.kt", "fun go() {}", ("function", "go")),
        ("a.c", "struct go {", ("class", "go")),
        ("a.js", "// no function go() here", None),
        ("a.js", f"function go() {{ {'x' * 500} }}", None),
    ],
)
def test_other_languages_are_read_line_by_line(
    root: Path, mapped: Mapped, name: str, line: str, symbol: tuple[str, str] | None
) -> None:
    """Three patterns for all of them: what declares a function or a class."""
    assert _symbols(mapped, root, name, f"\n{line}\n") == ([] if symbol is None else [(*symbol, 2)])


def test_only_source_files_are_mapped(root: Path, mapped: Mapped) -> None:
    """With their language and the number of their lines; the suffix alone makes none."""
    for name in ("notes.md", "a.PY", "b.tsx", ".py", "Makefile"):
        (root / name).write_text("x\ny", encoding="utf-8")
    files = [(file["path"], file["language"], file["lines"]) for file in mapped()["files"]]
    assert files == [("a.PY", "python", 2), ("b.tsx", "typescript", 2)]


@pytest.mark.parametrize(("most", "count"), [(-3, 1), (0, 1), (2, 2), (3, 3), (501, 3)])
def test_at_most_so_many_files_are_mapped(root: Path, mapped: Mapped, most: int, count: int) -> None:
    """All are counted, and what is not a source takes no place."""
    for name in ("a.md", "b.py", "c.py", "d.py"):
        (root / name).touch()
    shown = mapped(max_files=most)
    assert (len(shown["files"]), shown["total"]) == (count, 3)


def test_a_pattern_narrows_the_map(root: Path, mapped: Mapped) -> None:
    """As it does for a list of files."""
    for name in ("a.py", "b.js"):
        (root / name).touch()
    assert [file["path"] for file in mapped(glob="*.js")["files"]] == ["b.js"]


def test_at_most_200_symbols_of_a_file_are_reported(root: Path, mapped: Mapped) -> None:
    """A generated file does not fill the answer."""
    assert len(_symbols(mapped, root, "a.py", "def a(): ...\n" * 201)) == 200


def test_the_map_of_many_files_is_whole(root: Path, use: Use) -> None:
    """As many files as fit; half a JSON object would be none."""
    for number in range(30):
        (root / f"{number:02}.py").write_text("def a(): ...\n" * 100, encoding="utf-8")
    text = use("repo_map").text
    shown = json.loads(text)
    assert 40_000 < len(text) < 52_500
    assert 3 < len(shown["files"]) < 10
    assert shown["total"] == 30
    assert shown["notes"] == [f"...[only the first {len(shown['files'])} files fit in here]..."]


def test_one_file_fits_in_any_case(root: Path, mapped: Mapped) -> None:
    """A name as long as the file is cut."""
    (root / "a.py").write_text("".join(f"def {'a' * 2_000}{n}(): ...\n" for n in range(250)), encoding="utf-8")
    (file,) = mapped()["files"]
    assert {len(symbol["name"]) for symbol in file["symbols"]} == {100}


def test_what_is_too_long_to_parse_has_no_symbols(root: Path, mapped: Mapped) -> None:
    """Its lines are counted all the same."""
    (root / "a.py").write_text("def a(): ...\n" * 50_000, encoding="utf-8")
    (file,) = mapped()["files"]
    assert (file["lines"], file["symbols"]) == (50_000, [])


def test_what_was_skipped_is_reported(root: Path, mapped: Mapped) -> None:
    """A binary file with the suffix of a language is none."""
    (root / "a.py").write_bytes(b"\0")
    shown = mapped()
    assert (shown["files"], shown["total"]) == ([], 1)
    assert shown["notes"] == ["...[skipped 1 files: binary, over 4 MiB, or not readable]..."]


def test_the_tool_says_that_it_reads_everything(registry: ToolRegistry) -> None:
    """Rules about paths see a reading of the whole workspace."""
    spec = registry.get("repo_map")
    assert spec is not None
    assert (spec.only_reads, dict(spec.roles or {})) == (True, {"path?": ArgumentRole.READ_TREE})

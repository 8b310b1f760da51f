"""The tool `repo_map`."""

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

import attrs
from pydantic import Field

from permitry.port import ToolRegistry
from permitry_tools._looking import LONGEST_GLOB, LONGEST_LOOK, Look
from permitry_tools._reading import lines_of
from permitry_tools._spec import READS, ROLES, Arguments, tool
from permitry_tools.workspace import Workspace

__all__ = ["register"]

_MOST_MAPPED = 500
_MOST_SYMBOLS = 200
_MOST_PARSED = 512 * 1024
_LONGEST_LINE = 500
_LONGEST_NAME = 100
_MOST_SHOWN = 60_000

_LANGUAGES = {
    "py": "python", "pyi": "python", "js": "javascript", "jsx": "javascript", "mjs": "javascript", "ts": "typescript",
    "tsx": "typescript", "go": "go", "rs": "rust", "java": "java", "kt": "kotlin", "swift": "swift", "rb": "ruby",
    "php": "php", "c": "c", "h": "c", "cpp": "cpp", "hpp": "cpp", "cs": "csharp",
}  # fmt: skip

_BEFORE = (
    r"(?:export |default |public |private |protected |static |abstract |final |async |unsafe |pub(?:\([a-z]*\))? )*"
)
_NAME = r"([A-Za-z_$][\w$]*)"
_KINDS = (
    ("function", re.compile(rf"\s*{_BEFORE}(?:function\*?|func|fn|fun|def)\s+(?:\([^()]*\)\s*|self\.)?{_NAME}")),
    ("class", re.compile(rf"\s*{_BEFORE}(?:class|struct|interface|trait|enum)\s+{_NAME}")),
    ("function", re.compile(rf"\s*{_BEFORE}(?:const|let|var)\s+{_NAME}\s*=\s*(?:async\s*)?(?:\([^()]*\)|[\w$]+)\s*=>")),
)
_ESCAPE = re.compile(r"\\([^\n\r\\'\"])")


class RepoMap(Arguments):
    """The arguments of `repo_map`."""

    glob: str = Field("*", max_length=LONGEST_GLOB, description="Which files to map, as for `list_files`.")
    max_files: int = Field(200, description=f"How many files to map at most; from 1 to {_MOST_MAPPED}.")


def register(registry: ToolRegistry, workspace: Workspace) -> None:
    """Add `repo_map` to `registry`, confined to `workspace`."""

    # It reads what lies below the workspace: the role of an argument that there is not says so.
    @tool(
        registry, RepoMap, "Outline the source files.", READS,
        roles={"path?": ROLES.READ_TREE}, timeout=LONGEST_LOOK, output_limit=_MOST_SHOWN,
    )  # fmt: skip
    def repo_map(arguments: RepoMap) -> tuple[bool, str]:
        look = Look(workspace, arguments.glob)
        room = _Room(min(max(arguments.max_files, 1), _MOST_MAPPED))
        total = 0
        for path in look.names():
            language = _language(path)
            total += language is not None
            text = look.text(path) if language is not None and room.is_open else None
            if text is not None:
                lines, symbols = len(lines_of(text)), _symbols(text, language)[:_MOST_SYMBOLS]
                room.take({"path": path, "language": language, "lines": lines, "symbols": symbols})
        notes = [*room.notes(), *look.notes()]
        more = {"notes": notes} if notes else {}
        return True, _json({"root": str(workspace.root), "files": room.files, "total": total, **more})


@attrs.define
class _Room:
    """The files of one answer: at most `most`, and no more than fit, as half an object would be none."""

    most: int
    files: list[dict[str, Any]] = attrs.field(factory=list, init=False)
    _left: int = attrs.field(default=_MOST_SHOWN - 8 * 1024, init=False)

    @property
    def is_open(self) -> bool:
        return self._left >= 0 and len(self.files) < self.most

    def take(self, file: dict[str, Any]) -> None:
        text = _json(file)
        # Inside of the answer it is two steps further to the right.
        self._left -= len(text) + 4 * text.count("\n") + 8
        if self._left >= 0 or not self.files:
            self.files.append(file)

    def notes(self) -> list[str]:
        return [f"...[only the first {len(self.files)} files fit in here]..."] if self._left < 0 else []


def _json(answer: object) -> str:
    return json.dumps(answer, indent=2, ensure_ascii=False)


def _language(path: str) -> str | None:
    name, dot, suffix = path.rsplit("/", 1)[-1].rpartition(".")
    return _LANGUAGES.get(suffix.lower()) if name and dot else None


def _symbols(text: str, language: str | None) -> list[dict[str, Any]]:
    if len(text) > _MOST_PARSED:
        return []
    found = _of_python(text) if language == "python" else _of_others(text)
    return [{"kind": kind, "name": name[:_LONGEST_NAME], "line": line} for kind, name, line in found]


def _of_python(text: str) -> list[tuple[str, str, int]]:
    try:
        # Python warns of escapes it does not know, and so would we, of files that are not ours.
        tree = ast.parse(_ESCAPE.sub("__", text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return list(_of_body(tree.body))


def _of_body(body: list[ast.stmt]) -> Iterator[tuple[str, str, int]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield "function", node.name, node.lineno
        elif isinstance(node, ast.ClassDef):
            yield "class", node.name, node.lineno
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield "method", f"{node.name}.{inner.name}", inner.lineno


def _of_others(text: str) -> list[tuple[str, str, int]]:
    found: list[tuple[str, str, int]] = []
    for number, line in enumerate(lines_of(text), 1):
        # A line that long declares nothing, and a search in it could take long.
        matches = ((kind, pattern.match(line)) for kind, pattern in _KINDS if len(line) <= _LONGEST_LINE)
        found += [(kind, match[1], number) for kind, match in matches if match is not None]
    return found

"""How large and how dense the source is, a row for each room: the figures of CONVENTIONS, "Sizes".

`python -m tests.density` prints the table. `--tighten` also lowers the bounds in `tests/density.json`, the most that
each room may have, to what is measured; none is ever raised, so that what became calmer stays so.
"""

import ast
import io
import json
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import attrs

__all__ = ["FILE", "SOURCE", "Figures", "bounded", "bounds", "figures_of", "participle", "rooms", "table", "tightened"]

FILE = Path(__file__).with_suffix(".json")
SOURCE = Path(__file__).parents[1] / "src"

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_BRANCHES = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.IfExp,
    ast.match_case,
    ast.comprehension,
    ast.Assert,
)
_NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
}  # fmt: skip
_LONG_LINE = 100
_PARTICIPLE = re.compile(
    r"(?!need|feed|seed|embed|speed|proceed|exceed|string|bring|ring|ping|sibling)[a-z]+(?:ed|ing)"
)
_WORDS = "built done found given held kept known left lost made met seen sent shown spent taken told unread written"
_IRREGULAR = frozenset(_WORDS.split())


@attrs.frozen
class Figures:
    """What is measured of some files; of everything less is better.

    `complexity` is the 90th percentile over functions, `most_complex` the highest: one and a branch for each condition,
    loop, handler, comprehension and boolean operator. `long_lines`, `participles` are percentages, `conditionals` are
    counted for 100 functions, `branches` for ten lines of their bodies, `ignores` (`noqa`) for 1,000 lines of code.
    """

    lines: int
    longest_file: int
    longest_function: int
    tokens: float
    branches: float
    conditionals: float
    complexity: float
    most_complex: int
    long_lines: float
    participles: float
    ignores: float


def rooms() -> dict[str, list[Path]]:
    """Return the files of each folder of a package by its name, such as `core` or `hosts/hooks`; tools are one room."""
    found: dict[str, list[Path]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        package, *folders = path.relative_to(SOURCE).parts[:-1]
        name = "/".join([package.removeprefix("permitry_"), *folders[:1]]).removeprefix("permitry/")
        name = package if package == "permitry_tools" else name
        found.setdefault(name, []).append(path)
    return found


def bounds() -> dict[str, dict[str, float]]:
    """Return the most that each room may have."""
    found: dict[str, dict[str, float]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def figures_of(paths: Iterable[Path]) -> Figures:
    """Return the figures of some files together."""
    files = [_File(path.read_text(encoding="utf-8")) for path in paths]
    functions = [function for file in files for function in file.functions]
    code = sum(file.code for file in files) or 1
    lines = sum(len(file.lines) for file in files)
    sizes = [_size(function) for function in functions] or [0]
    complexity = sorted(1 + _count_branches(function) for function in functions) or [0]
    return Figures(
        lines=lines,
        longest_file=max((len(file.lines) for file in files), default=0),
        longest_function=max(sizes),
        tokens=_share(sum(file.tokens for file in files), code),
        branches=_share(10 * (sum(complexity) - len(functions)), sum(sizes)),
        conditionals=_share(100 * sum(map(_count_conditionals, functions)), len(functions)),
        complexity=complexity[len(complexity) * 9 // 10],
        most_complex=complexity[-1],
        long_lines=_share(100 * sum(len(line) > _LONG_LINE for file in files for line in file.lines), lines),
        participles=_share(100 * sum(participle(function.name) for function in functions), len(functions)),
        ignores=_share(1000 * sum(file.ignores for file in files), code),
    )


def bounded(figures: Figures) -> dict[str, float]:
    """Return the figures that have a bound: all but the number of lines, which grows with what permitry can do."""
    return {name: value for name, value in attrs.asdict(figures).items() if name != "lines"}


def participle(name: str) -> bool:
    """Return whether the name of a function begins with a participle, such as `checked` or `kept`."""
    first = name.lstrip("_").split("_")[0]
    return first in _IRREGULAR or _PARTICIPLE.fullmatch(first) is not None


def tightened(old: Mapping[str, Mapping[str, float]], new: Mapping[str, Figures]) -> dict[str, dict[str, float]]:
    """Return the bounds of the rooms that are there: the lower of what was and what is, for each figure."""
    return {
        room: {name: min(value, old.get(room, {}).get(name, value)) for name, value in bounded(figures).items()}
        for room, figures in new.items()
    }


class _File:
    """A source file: its lines, how many of them are code, the tokens in them, the ignores and the functions."""

    def __init__(self, text: str) -> None:
        self.lines = text.splitlines()
        nodes = list(ast.walk(ast.parse(text)))
        self.functions = [node for node in nodes if isinstance(node, _Function)]
        documented = {line for node in nodes for line in _lines_of_docstring(node)}
        code: set[int] = set()
        self.tokens = self.ignores = 0
        for token in _tokens(text):
            self.ignores += token.type == tokenize.COMMENT and "noqa" in token.string
            if token.type not in _NO_CODE and token.start[0] not in documented:
                self.tokens += 1
                code.update(range(token.start[0], token.end[0] + 1))
        self.code = len(code)


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    """Yield the tokens of a text; an f-string is one, as in Python 3.11, and not all that is in it."""
    starts: list[tuple[int, int]] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        name = tokenize.tok_name[token.type]
        if name == "FSTRING_START":
            starts.append(token.start)
        start = starts.pop() if name == "FSTRING_END" else token.start
        if not starts:
            yield token._replace(start=start)


def _docstring(node: ast.AST) -> ast.stmt | None:
    """Return the statement that is the docstring of a module, a class or a function."""
    if not isinstance(node, ast.Module | ast.ClassDef | _Function) or ast.get_docstring(node, clean=False) is None:
        return None
    return node.body[0]


def _lines_of_docstring(node: ast.AST) -> Iterable[int]:
    found = _docstring(node)
    return () if found is None else range(found.lineno, (found.end_lineno or found.lineno) + 1)


def _size(function: _Function) -> int:
    """Return how many lines the body of a function has, without its docstring."""
    body = function.body[1:] if _docstring(function) else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def _count_branches(function: _Function) -> int:
    return sum(map(_branches_at, ast.walk(function)))


def _branches_at(node: ast.AST) -> int:
    return len(node.values) - 1 if isinstance(node, ast.BoolOp) else isinstance(node, _BRANCHES)


def _count_conditionals(function: _Function) -> int:
    return sum(isinstance(node, ast.IfExp) for node in ast.walk(function))


def _share(part: float, whole: float) -> float:
    """Return a share with one decimal."""
    return round(part / (whole or 1), 1)


def table(rows: Mapping[str, Figures]) -> Iterator[str]:
    """Yield the lines of a table."""
    names = [field.name for field in attrs.fields(Figures)]
    widths = [max(len(name), 6) for name in names]
    yield " ".join([f"{'':16}", *(f"{name:>{width}}" for name, width in zip(names, widths, strict=True))])
    for room, figures in sorted(rows.items(), key=lambda row: -row[1].lines):
        values = attrs.astuple(figures)
        yield " ".join([f"{room:16}", *(f"{value:>{width}}" for value, width in zip(values, widths, strict=True))])


if __name__ == "__main__":
    measured = {room: figures_of(paths) for room, paths in rooms().items()}
    everything = figures_of(path for paths in rooms().values() for path in paths)
    print(*table({**measured, "all": everything}), sep="\n")  # noqa: T201 -- a command
    if sys.argv[1:] == ["--tighten"]:
        before = bounds() if FILE.exists() else {}
        FILE.write_text(json.dumps(tightened(before, measured), indent=2) + "\n", encoding="utf-8")

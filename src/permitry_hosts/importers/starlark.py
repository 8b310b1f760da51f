"""The part of Starlark in which rule files are written, evaluated without running anything.

Calls with values by name; names for values; lists, tuples and texts, and `+` of them; loops over lists; functions
without a value, and `if` over what is known. It is read by Python's parser.
"""

import ast
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import attrs

from permitry.errors import ConfigError, Problem
from permitry_hosts.importers.drafts import Source

__all__ = ["Called", "problem_at", "read_calls"]

_MOST_STEPS = 10_000
_MOST_DEPTH = 16


@attrs.frozen
class Called:
    """One call of a known function, with its arguments by name, and where it is."""

    what: str
    values: Mapping[str, Any]
    node: ast.Call


@attrs.frozen
class _Function:
    names: tuple[str, ...]
    defaults: Mapping[str, Any]
    body: list[ast.stmt]


def read_calls(source: Source, known: Collection[str]) -> list[Called]:
    """Return the calls of known functions, in order. Raises: `ConfigError` for anything else."""
    try:
        body = ast.parse(source.text.strip("\ufeff")).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", 0) or 0
        raise ConfigError([Problem(source.name, line, 1, 1, f"it is not Starlark: {error}")]) from None
    evaluator = _Evaluator(source, known)
    try:
        return list(evaluator.run(body, {}))
    except RecursionError:
        raise ConfigError([Problem(source.name, 1, 1, 1, "it is nested too deeply")]) from None


def problem_at(source: Source, node: ast.stmt | ast.expr, message: str) -> ConfigError:
    """Return the error that is shown at a place of a file."""
    text = source.text.strip("\ufeff").split("\n")[node.lineno - 1]
    return ConfigError([Problem(source.name, node.lineno, node.col_offset + 1, 1, message, text=text)])


@attrs.define
class _Evaluator:
    source: Source
    known: Collection[str]
    steps: int = 0
    depth: int = 0

    def run(self, body: list[ast.stmt], names: dict[str, Any]) -> Iterator[Called]:
        """Yield the calls of known functions; `names` get what is assigned."""
        for node in body:
            self.count(node)
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    names[name] = self.value(value, names)
                case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value) if name in names:
                    names[name] = self.add(node, names[name], self.value(value, names))
                case ast.FunctionDef(name=name):
                    names[name] = self.function(node, names)
                case ast.For(target=target, iter=listed, body=inner, orelse=[]):
                    for each in self.items(listed, names):
                        self.count(node)
                        self.bind(target, each, names)
                        yield from self.run(inner, names)
                case ast.If(test=test, body=inner, orelse=other):
                    yield from self.run(inner if self.value(test, names) else other, names)
                case ast.Expr(value=ast.Call() as call):
                    yield from self.call(call, names)
                case ast.Pass() | ast.Expr(value=ast.Constant(value=str())):
                    pass
                case _:
                    raise self.problem(node)

    def call(self, node: ast.Call, names: Mapping[str, Any]) -> Iterator[Called]:
        match node.func:
            case ast.Name(id=name) if name in names:
                function = names[name]
            case ast.Name(id=name) if name in self.known:
                yield Called(name, self.by_name(node, names), node)
                return
            case _:
                raise self.problem(node)
        if not isinstance(function, _Function) or len(node.args) > len(function.names):
            raise self.problem(node)
        given = dict(zip(function.names, (self.value(each, names) for each in node.args), strict=False))
        by_name = {str(each.arg): self.value(each.value, names) for each in node.keywords}
        values = {**function.defaults, **given, **by_name}
        self.depth += 1
        if set(values) != set(function.names) or self.depth > _MOST_DEPTH:
            raise self.problem(node)
        yield from self.run(function.body, {**names, **values})
        self.depth -= 1

    def by_name(self, node: ast.Call, names: Mapping[str, Any]) -> dict[str, Any]:
        if node.args or any(keyword.arg is None for keyword in node.keywords):
            raise problem_at(self.source, node, "its arguments are given by name")
        return {str(keyword.arg): self.value(keyword.value, names) for keyword in node.keywords}

    def function(self, node: ast.FunctionDef, names: Mapping[str, Any]) -> _Function:
        arguments = node.args
        if node.decorator_list or arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
            raise self.problem(node)
        own = tuple(each.arg for each in arguments.args)
        given = own[len(own) - len(arguments.defaults) :]
        defaults = {name: self.value(value, names) for name, value in zip(given, arguments.defaults, strict=True)}
        return _Function(own, defaults, node.body)

    def value(self, node: ast.expr, names: Mapping[str, Any]) -> Any:  # noqa: ANN401 -- any value of Starlark
        self.count(node)
        match node:
            case ast.Constant(value=str() | int() | bool() | None as value):
                return value
            case ast.Name(id=name) if name in names and not isinstance(names[name], _Function):
                return names[name]
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                return [self.value(each, names) for each in elements]
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self.add(node, self.value(left, names), self.value(right, names))
            case ast.ListComp(elt=element, generators=[ast.comprehension(target=target, iter=listed, ifs=[])]):
                return list(self.map_items(element, target, listed, dict(names)))
        raise self.problem(node)

    def map_items(self, element: ast.expr, target: ast.expr, listed: ast.expr, names: dict[str, Any]) -> Iterator[Any]:
        for each in self.items(listed, names):
            self.bind(target, each, names)
            yield self.value(element, names)

    def items(self, node: ast.expr, names: Mapping[str, Any]) -> list[Any]:
        found = self.value(node, names)
        if not isinstance(found, list):
            raise self.problem(node)
        return found

    def bind(self, target: ast.expr, value: Any, names: dict[str, Any]) -> None:  # noqa: ANN401 -- any value of Starlark
        match target:
            case ast.Name(id=name):
                names[name] = value
            case ast.Tuple(elts=targets) | ast.List(elts=targets) if isinstance(value, list) and len(value) == len(
                targets
            ):
                for inner, each in zip(targets, value, strict=True):
                    self.bind(inner, each, names)
            case _:
                raise self.problem(target)

    def add(self, node: ast.stmt | ast.expr, left: Any, right: Any) -> Any:  # noqa: ANN401 -- any value of Starlark
        if type(left) is not type(right) or not isinstance(left, str | list):
            raise self.problem(node)
        self.steps += len(left) + len(right)
        self.count(node)
        return left + right

    def count(self, node: ast.stmt | ast.expr) -> None:
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise problem_at(self.source, node, "it takes too many steps to read")

    def problem(self, node: ast.stmt | ast.expr) -> ConfigError:
        functions = ", ".join(sorted(self.known))
        read = f"only calls of {functions} are read, with names, lists, `+`, loops and functions of the file"
        return problem_at(self.source, node, read)

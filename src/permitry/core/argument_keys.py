"""Which values of a call a key of `roles` means: `path`, `options.path`, `items[].path`, `path|file`, `path?`."""

import functools
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import attrs

from permitry.core.json_values import JsonValue

__all__ = ["Misshapen", "names_of", "values_of"]


@attrs.frozen
class Misshapen:
    """An argument that does not have the shape that its role requires; it becomes an unknown action."""

    value: JsonValue


_Found: TypeAlias = "tuple[str, JsonValue | Misshapen]"


@functools.lru_cache(maxsize=512)
def _steps(key: str) -> tuple[tuple[str, tuple[str, ...], bool], ...]:
    """Return for each name in a key of `roles` the argument, the path inside it, and whether it may be left out."""
    names = key.split("|")
    paths = (name.removesuffix("?").replace("[]", ".[]").split(".") for name in names)
    return tuple((first, tuple(steps), name.endswith("?")) for name, (first, *steps) in zip(names, paths, strict=True))


def names_of(key: str) -> list[str]:
    """Return the names of the arguments in a key of `roles`: `edits` and `file` of `edits[].path|file?`."""
    return [first for first, _, _ in _steps(key)]


def values_of(arguments: Mapping[str, JsonValue], key: str) -> list[_Found]:
    """Return the arguments a key of `roles` means, each with its name; null counts as left out.

    If the key lists several names, all arguments that are given count: which one the tool uses is not known.
    """
    given: list[_Found] = []
    for first, steps, is_optional in _steps(key):
        found: list[_Found] = [(first, arguments[first])] if arguments.get(first) is not None else []
        for step in steps:
            may_lack = is_optional and step is steps[-1]
            found = [inner for origin, value in found for inner in _inside(origin, value, step, may_lack=may_lack)]
        given += found
    return given


def _inside(origin: str, value: "JsonValue | Misshapen", step: str, *, may_lack: bool) -> Iterator[_Found]:
    if isinstance(value, Misshapen):
        yield origin, value
    elif step == "[]" and isinstance(value, tuple):
        yield from ((f"{origin}[{i}]", Misshapen(item) if item is None else item) for i, item in enumerate(value))
    elif step != "[]" and isinstance(value, Mapping):
        inner = value.get(step)
        if inner is not None:
            yield f"{origin}.{step}", inner
        elif not may_lack:
            yield f"{origin}.{step}", Misshapen(None)
    else:
        yield origin, Misshapen(value)

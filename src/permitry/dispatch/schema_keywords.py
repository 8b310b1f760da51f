"""The keywords of JSON Schema for hostile schemas: work is counted, and patterns are RE2's."""

import contextlib
import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any, Final

from permitry.errors import RuleError

__all__ = ["TooMuchWorkError", "bound_work", "brief", "count_steps", "program"]

_MOST_STEPS = 150_000
"""How much work a check may take, a second or two: a step is a keyword, 32 items or characters."""
_ITEMS_A_STEP = 32
_LONGEST_PATTERN = 1_000
_MAX_MEMORY = 1 << 17

_LEFT: ContextVar[list[int]] = ContextVar("permitry_schema_steps")


class TooMuchWorkError(Exception):
    """A check takes more steps than one may."""


@contextlib.contextmanager
def count_steps() -> Iterator[None]:
    """Count the steps of a check that is made inside."""
    token = _LEFT.set([_MOST_STEPS])
    try:
        yield
    finally:
        _LEFT.reset(token)


def _spend(items: int) -> None:
    left = _LEFT.get()
    left[0] -= 1 + items // _ITEMS_A_STEP
    if left[0] < 0:
        raise TooMuchWorkError


def bound_work(checker: Any, schema: Any, references: Iterable[str]) -> Any:  # noqa: ANN401 -- jsonschema's own types
    """Return a validator of `schema` that counts its work, fetches nothing, and has each reference."""
    import jsonschema  # noqa: PLC0415 -- slow to import
    import referencing  # noqa: PLC0415 -- as above
    import referencing.jsonschema  # noqa: PLC0415 -- as above

    draft = referencing.jsonschema.specification_with(checker.META_SCHEMA["$schema"])
    registry: Any = referencing.Registry().with_resource("", draft.create_resource(schema))
    for each in references:
        registry.resolver().lookup(each)
    keywords = {**checker.VALIDATORS, **_OWN}
    counted = {name: _count_work(keyword) for name, keyword in keywords.items()}
    extend: Any = jsonschema.validators.extend
    return extend(checker, counted)(schema, registry=referencing.Registry())


def _count_work(keyword: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
    def check(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:  # noqa: ANN401 -- as above
        _spend(_size(value) + _size(instance))
        yield from keyword(validator, value, instance, schema) or ()

    return check


def _size(value: object) -> int:
    return len(value) if isinstance(value, dict | list) else 0


class _Text(str):
    __slots__ = ()

    def __repr__(self) -> str:
        return "a text"


class _List(list[Any]):
    def __repr__(self) -> str:
        return "a list"


class _Object(dict[str, Any]):
    def __repr__(self) -> str:
        return "an object"


def brief(value: Any) -> Any:  # noqa: ANN401 -- any JSON value
    """Return an equal value that prints in a few characters: jsonschema prints whole values, often."""
    if isinstance(value, str):
        return _Text(value)
    if isinstance(value, Mapping):
        return _Object({_Text(key): brief(each) for key, each in value.items()})
    if isinstance(value, list | tuple):
        return _List(map(brief, value))
    # To JSON Schema 1.0 is 1.
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _text(value: object) -> str:
    """Return the same text for equal values."""
    text = json.dumps(value, sort_keys=True)
    _spend(len(text))
    return text


@functools.lru_cache(maxsize=512)
def program(pattern: str) -> Any:  # noqa: ANN401 -- re2 has no types
    """Return a pattern compiled by RE2, which takes linear time; `RuleError` for one it does not take."""
    import re2  # type: ignore[import-untyped]  # noqa: PLC0415 -- untyped, large, and needed only by patterns

    if len(pattern) > _LONGEST_PATTERN:
        raise RuleError(f"it has more than {_LONGEST_PATTERN} characters")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MAX_MEMORY
    options.never_capture = True
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        raise RuleError("RE2 does not take it") from error


def _matches(pattern: str, text: str) -> bool:
    _spend(len(text))
    return program(pattern).search(text) is not None


def _error(message: str = "") -> Any:  # noqa: ANN401 -- jsonschema's own type
    import jsonschema  # noqa: PLC0415 -- slow to import

    return jsonschema.ValidationError(message)


def _pattern(_: Any, value: Any, instance: Any, __: Any) -> Iterator[Any]:  # noqa: ANN401 -- jsonschema's own types
    if isinstance(instance, str) and not _matches(value, instance):
        yield _error()


def _pattern_properties(validator: Any, value: Any, instance: Any, _: Any) -> Iterator[Any]:  # noqa: ANN401 -- as above
    for pattern, schema in value.items() if isinstance(instance, dict) else ():
        for name, each in instance.items():
            if _matches(pattern, name):
                yield from validator.descend(each, schema, path=name, schema_path=pattern)


def _additional_properties(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:  # noqa: ANN401 -- as above
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for name, each in instance.items() if isinstance(instance, dict) else ():
        if name in known or any(_matches(pattern, name) for pattern in patterns):
            continue
        if value is False:
            yield _error(name)
        else:
            yield from validator.descend(each, value, path=name)


def _enum(_: Any, value: Any, instance: Any, __: Any) -> Iterator[Any]:  # noqa: ANN401 -- as above
    if isinstance(instance, str):
        is_one = instance in value
    else:
        text = _text(instance)
        is_one = any(_text(each) == text for each in value)
    if not is_one:
        yield _error()


def _unique_items(_: Any, value: Any, instance: Any, __: Any) -> Iterator[Any]:  # noqa: ANN401 -- as above
    if value and isinstance(instance, list) and len(set(map(_text, instance))) < len(instance):
        yield _error()


_OWN: Final = {
    "additionalProperties": _additional_properties,
    "const": lambda validator, value, instance, schema: _enum(validator, [value], instance, schema),
    "enum": _enum,
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "uniqueItems": _unique_items,
}

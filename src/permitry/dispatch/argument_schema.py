"""Checks arguments against the JSON Schema of a tool, in bounded time.

A schema may come from a plugin or an MCP server, and arguments come from a model: both may be hostile.
So no reference is fetched, patterns are matched by RE2, and the work of a check is counted.
"""

import itertools
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from permitry.core.json_values import mutable
from permitry.dispatch.arguments import without_nulls
from permitry.dispatch.schema_keywords import TooMuchWorkError, bound_work, brief, count_steps, program
from permitry.errors import RegistryError, RuleError, ToolError, count

if TYPE_CHECKING:
    from jsonschema.exceptions import SchemaError, ValidationError
    from jsonschema.protocols import Validator

__all__ = ["ArgumentSchema"]

_MOST_OBJECTS = 2_000
_MOST_PROBLEMS = 8
_LONGEST = 120
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_REFUSED = {
    "$id": "leave it out",
    "$schema": "name the draft at the top only",
    "unevaluatedItems": "use `items`",
    "unevaluatedProperties": "use `additionalProperties`",
}
"""What no part of a schema may have, and what to do; the first two change how the part is checked."""
_DRAFTS: Final = {
    "https://json-schema.org/draft/2020-12/schema": "Draft202012Validator",
    "https://json-schema.org/draft/2019-09/schema": "Draft201909Validator",
    "http://json-schema.org/draft-07/schema": "Draft7Validator",
    "http://json-schema.org/draft-06/schema": "Draft6Validator",
}

# In order: the first one that fits a value is its type, so an integer comes before a number.
_TYPES: Final = ("string", "boolean", "integer", "number", "array", "object", "null")
_BOUNDS: Final = {
    "const": "exactly", "exclusiveMaximum": "less than", "exclusiveMinimum": "more than", "maximum": "at most",
    "minimum": "at least", "multipleOf": "a multiple of",
}  # fmt: skip
_LENGTHS: Final = {
    "maxItems": ("most", "item"), "maxLength": ("most", "character"), "minItems": ("least", "item"),
    "minLength": ("least", "character"),
}  # fmt: skip


class ArgumentSchema:
    """The JSON Schema of a tool's arguments; `RegistryError` for one that is not valid or takes too long."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        import jsonschema  # noqa: PLC0415 -- slow to import, and needed only by tools without a check of their own
        from referencing.exceptions import Unresolvable  # noqa: PLC0415 -- as above

        self._schema = schema
        plain = mutable(schema)
        plain.pop("$id", None)
        draft = plain.pop("$schema", next(iter(_DRAFTS)))
        name = _DRAFTS.get(str(draft).removesuffix("#"))
        if name is None:
            raise _unusable(f"`$schema` is {_show(draft)}; leave it out, or use draft 2020-12")
        references = _references(plain)
        checker = getattr(jsonschema, name)
        try:
            checker.check_schema(plain, format_checker=None)
            self._validator = bound_work(checker, brief(plain), references)
        except jsonschema.SchemaError as error:
            where = f"{_path(error)}: " if error.absolute_path else ""
            raise _unusable(f"{where}{_cut(error.message)}") from error
        except Unresolvable as error:
            raise _unusable(f"nothing is at the reference `{_cut(str(error.ref))}`; define it in `$defs`") from error
        except RecursionError as error:
            raise _unusable("it is nested too deeply; make it flatter") from error

    def fit(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments without nulls that mean "left out"; `ToolError` for those that do not fit."""
        given = without_nulls(arguments, self._schema)
        try:
            with count_steps():
                errors = list(itertools.islice(self._validator.iter_errors(brief(given)), _MOST_PROBLEMS))
        except (TooMuchWorkError, RecursionError) as error:
            raise ToolError("The arguments do not fit: it takes too long to check them; pass less.") from error
        except Exception as error:
            raise ToolError("The arguments do not fit: the schema of this tool cannot be used.") from error
        if errors:
            problems = dict.fromkeys(words for error in errors for words in _problems(error, self._validator))
            raise ToolError(f"The arguments do not fit: {'; '.join(problems)}.")
        return given


def _unusable(why: str) -> RegistryError:
    return RegistryError(f"the schema of the arguments cannot be used: {why}")


def _references(schema: dict[str, Any]) -> list[str]:
    """Return what the parts of a schema, data included, refer to; refuse what takes too long to check."""
    found: list[str] = []
    parts: list[Any] = [schema]
    # It grows while it is gone through.
    for part in parts:
        if len(parts) > _MOST_OBJECTS:
            raise _unusable(f"it has more than {_MOST_OBJECTS} objects and lists; make it smaller")
        inside = part
        if isinstance(part, dict):
            inside = part.values()
            found += _references_of(part)
            _check_patterns(part)
        parts += [each for each in inside if isinstance(each, dict | list)]
    return found


def _references_of(part: dict[str, Any]) -> list[str]:
    """Return what one object of a schema refers to. A property may be named like a keyword."""
    for key, instead in _REFUSED.items():
        is_schema = isinstance(part.get(key), bool | dict) and key.startswith("unevaluated")
        if isinstance(part.get(key), str) or is_schema:
            raise _unusable(f"it has `{key}` inside; {instead}")
    found = [part[key] for key in _REFERENCES if isinstance(part.get(key), str)]
    for each in found:
        if not each.startswith("#"):
            raise _unusable(f"it refers to `{_cut(each)}`, and nothing is fetched; put the definition in `$defs`")
    return found


def _check_patterns(part: dict[str, Any]) -> None:
    named = part.get("patternProperties")
    for pattern in (part.get("pattern"), *(named if isinstance(named, dict) else ())):
        if isinstance(pattern, str):
            try:
                program(pattern)
            except RuleError as error:
                raise _unusable(f"the pattern `{_cut(pattern)}`: {error}; RE2 has no look-around") from error


def _problems(error: "ValidationError", validator: "Validator") -> Iterator[str]:
    """Yield what is wrong, in words for the model; values are not repeated."""
    # Of any JSON type, by the keyword.
    instance: Any = error.instance
    expected: Any = error.validator_value
    schema: Any = error.schema
    path = _path(error)
    place = f"`{path}`" if path else "the object"
    match error.validator:
        case "required":
            yield from (f"`{_below(path, each)}` is missing" for each in expected if each not in instance)
        case "additionalProperties":
            known = schema.get("properties", {})
            more = f" (known: {_cut(', '.join(known))})" if known else ""
            yield f"`{_below(path, error.message)}` is not an argument of this tool{more}"
        case "type":
            types = [expected] if isinstance(expected, str) else expected
            yield f"{place} must be {' or '.join(types)}, not {_type_of(error, validator)}"
        case "enum":
            yield f"{place} must be one of {_cut(', '.join(map(_show, expected)))}"
        case None:
            # For a schema that is `false`; jsonschema does not say where it is.
            yield "an argument is given that the schema never takes"
        case keyword if keyword in _BOUNDS:
            yield f"{place} must be {_BOUNDS[keyword]} {_show(expected)}"
        case keyword if keyword in _LENGTHS:
            limit, noun = _LENGTHS[keyword]
            yield f"{place} must have at {limit} {count(expected, noun)}"
        case keyword if isinstance(expected, dict | list):
            yield f"{place} does not fit `{keyword}`"
        case keyword:
            yield f"{place} does not fit `{keyword}`: {_show(expected)}"


def _type_of(error: "ValidationError", validator: "Validator") -> str:
    value: Any = error.instance
    return next((name for name in _TYPES if validator.is_type(value, name)), type(value).__name__)


def _path(error: "ValidationError | SchemaError") -> str:
    return _cut(error.json_path.removeprefix("$").removeprefix("."))


def _below(path: str, name: str) -> str:
    return _cut(f"{path}.{name}" if path else name)


def _show(value: object) -> str:
    return _cut(json.dumps(value, ensure_ascii=False))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"

"""Whether a JSON Schema of arguments has an argument."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

__all__ = ["Schema", "has_argument", "says_arguments", "top_names"]

Schema: TypeAlias = Mapping[str, Any]

_DEEPEST = 32
# Each of these may have arguments of its own; with the keys of `_UNSURE`, any argument is possible.
_BRANCHES = ("allOf", "anyOf", "oneOf")
_UNSURE = ("patternProperties", "if", "then", "else", "dependentSchemas", "not")


def says_arguments(schema: Schema) -> bool:
    """Return whether the schema defines which arguments there are."""
    return "properties" in schema or "$ref" in schema or any(key in schema for key in _BRANCHES)


def has_argument(schema: Schema, path: Sequence[str]) -> bool:
    """Return whether a call may have an argument at `path`, one that is listed where some are."""
    return _has(schema, schema, tuple(path), _DEEPEST)


def top_names(schema: Schema) -> set[str]:
    """Return the names of the arguments that the schema lists."""
    return {name for each in _alternatives(schema, schema, _DEEPEST) for name in _properties(each) or ()}


def _has(node: object, root: Schema, path: tuple[str, ...], left: int) -> bool:
    if not path or not isinstance(node, Mapping) or not left:
        return True
    return any(_has_itself(each, root, path, left) for each in _alternatives(node, root, left))


def _has_itself(node: Schema, root: Schema, path: tuple[str, ...], left: int) -> bool:
    if any(key in node for key in _UNSURE) or "$ref" in node:
        return True
    properties = _properties(node)
    if properties is None:
        # If alternatives define the properties, the rest of the schema need not repeat them.
        return not any(key in node for key in _BRANCHES) and _may_be_object(node)
    if path[0] in properties:
        return _has(properties[path[0]], root, path[1:], left - 1)
    return node.get("additionalProperties", False) is not False


def _alternatives(node: Schema, root: Schema, left: int) -> Iterator[Schema]:
    """Yield the schema, and all that it is composed of; what cannot be resolved is left in."""
    target = _target(node, root) if left else None
    if target is not None:
        yield from _alternatives(target, root, left - 1)
        node = {key: value for key, value in node.items() if key != "$ref"}
        if not says_arguments(node):
            return
    yield node
    for key in _BRANCHES:
        branches = node.get(key)
        for branch in branches if left and isinstance(branches, list | tuple) else ():
            # A schema that is not an object, such as `true`, allows everything.
            yield from _alternatives(branch if isinstance(branch, Mapping) else {}, root, left - 1)


def _target(node: Schema, root: Schema) -> Schema | None:
    reference = node.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    found: Any = root
    for part in reference.removeprefix("#").split("/")[1:]:
        found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else None


def _properties(node: Schema) -> Mapping[str, object] | None:
    properties = node.get("properties")
    return properties if isinstance(properties, Mapping) else None


def _may_be_object(node: Schema) -> bool:
    kinds = node.get("type", "object")
    return "object" in ([kinds] if isinstance(kinds, str) else kinds)

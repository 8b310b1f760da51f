"""The declared tools: their names, and the types of their arguments."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

__all__ = ["Tools", "declared", "items_of"]

_LONGEST_CHAIN: Final = 4
# The common types come first: to ask the abstract ones takes long.
_COLLECTION: Final = (list, tuple, dict, Collection)
_MAPPING: Final = (dict, Mapping)
_LIST: Final = (list, tuple)
_GROUPS: Final = ("functionDeclarations", "function_declarations")
_INNER: Final = ("function", "custom")
_SCHEMAS: Final = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema")


class Tools:
    """The tools a text may call, read from whatever shape they come in.

    `given` holds tool objects as OpenAI (with or without `function`), Anthropic, Gemini or MCP have them, objects with
    `name` and `parameters`, names alone, or is a mapping of names to JSON schemas. What is none of these is passed
    over. Nothing given, or an empty collection, means that nothing is known about tools.
    """

    def __init__(self, given: Iterable[Any] | None) -> None:
        self._given = None if isinstance(given, _COLLECTION) and len(given) == 0 else given
        self._schemas: dict[str, Mapping[str, Any]] | None = None

    @property
    def is_given(self) -> bool:
        """Whether anything is known about tools at all."""
        return self._given is not None

    def knows(self, name: str) -> bool | None:
        """Return whether a tool of this name is declared, or None when no tools were given."""
        return None if self._given is None else name in self._all()

    def names(self) -> Iterable[str]:
        """Return the names of the declared tools."""
        return self._all()

    def schema(self, name: str) -> Mapping[str, Any]:
        """Return the schema of a tool's arguments, empty when there is none."""
        return self._all().get(name, {})

    def property(self, name: str, argument: str) -> object:
        """Return the schema of one argument, or None."""
        schema = self.schema(name)
        properties = schema.get("properties")
        return _resolve(properties.get(argument), schema, _LONGEST_CHAIN) if isinstance(properties, _MAPPING) else None

    def lacks(self, name: str, argument: str) -> bool:
        """Return whether the arguments of a tool are declared, and this is none of them."""
        properties = self.schema(name).get("properties")
        return isinstance(properties, Mapping) and bool(properties) and argument not in properties

    def _all(self) -> dict[str, Mapping[str, Any]]:
        if self._schemas is None:
            given = self._given
            if isinstance(given, _MAPPING):
                pairs = list(given.items())
            else:
                pairs = [pair for tool in (given or ()) for pair in declared(tool)]
            self._schemas = {
                name: schema if isinstance(schema, _MAPPING) else {} for name, schema in pairs if isinstance(name, str)
            }
        return self._schemas


def _resolve(schema: object, root: Mapping[str, Any], depth: int) -> object:
    """Return a schema with what its `$ref` points to inside of `root` in its place, also in its alternatives."""
    if not isinstance(schema, _MAPPING) or not depth:
        return schema
    pointer = schema.get("$ref")
    if isinstance(pointer, str) and pointer.startswith("#/"):
        target: object = root
        for step in pointer[2:].split("/"):
            target = target.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(target, Mapping) else None
        return _resolve(target, root, depth - 1)
    found = {word: schema[word] for word in ("anyOf", "oneOf", "allOf") if isinstance(schema.get(word), list | tuple)}
    parts = {word: [_resolve(part, root, depth - 1) for part in items] for word, items in found.items()}
    return {**schema, **parts} if parts else schema


def declared(tool: object) -> list[tuple[str, object]]:
    """Return the names in a tool as some provider takes it, with their schemas; nothing for what is not a tool."""
    if isinstance(tool, str):
        return [(tool, None)]
    if not isinstance(tool, _MAPPING):
        name = getattr(tool, "name", None)
        schemas = (getattr(tool, key, None) for key in _SCHEMAS)
        return [(name, _first(schemas))] if isinstance(name, str) else []
    for word in _GROUPS:
        if isinstance(tool.get(word), _LIST):
            return [pair for each in tool[word] if isinstance(each, Mapping) for pair in declared(each)]
    inner = _first((*map(tool.get, _INNER), tool))
    name = inner.get("name")
    return [(name, _first(map(inner.get, _SCHEMAS)))] if isinstance(name, str) else []


def items_of(value: object) -> Sequence[Any]:
    """Return a list as it is; nothing for what is none."""
    return value if isinstance(value, _LIST) else ()


def _first(values: Iterable[object]) -> Any:  # noqa: ANN401 -- any mapping, or None
    for value in values:
        if isinstance(value, _MAPPING):
            return value
    return None

"""The declared tools: their names, and the types of their arguments."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

__all__ = ["Tools"]

_LONGEST_CHAIN: Final = 4


class Tools:
    """The tools a text may call, read from whatever shape they come in.

    `given` holds OpenAI's tool objects (with or without `function`), objects with `name` and `parameters`, or a
    mapping of names to JSON schemas. What is none of these is passed over. Nothing given, or an empty collection, means
    that nothing is known about tools.
    """

    def __init__(self, given: Iterable[Any] | None) -> None:
        self._given = None if isinstance(given, Collection) and len(given) == 0 else given
        self._schemas: dict[str, Mapping[str, Any]] | None = None

    @property
    def is_given(self) -> bool:
        """Whether anything is known about tools at all."""
        return self._given is not None

    def knows(self, name: str) -> bool | None:
        """Return whether a tool of this name is declared, or None when no tools were given."""
        return None if self._given is None else name in self._all()

    def schema(self, name: str) -> Mapping[str, Any]:
        """Return the schema of a tool's arguments, empty when there is none."""
        return {} if self._given is None else self._all().get(name, {})

    def property(self, name: str, argument: str) -> object:
        """Return the schema of one argument, or None."""
        if self._given is None:
            return None
        schema = self._all().get(name, {})
        properties = schema.get("properties")
        return _resolved(properties.get(argument), schema, _LONGEST_CHAIN) if isinstance(properties, Mapping) else None

    def lacks(self, name: str, argument: str) -> bool:
        """Return whether the arguments of a tool are declared, and this is none of them."""
        properties = self.schema(name).get("properties")
        return isinstance(properties, Mapping) and bool(properties) and argument not in properties

    def _all(self) -> dict[str, Mapping[str, Any]]:
        if self._schemas is None:
            given = self._given
            pairs = given.items() if isinstance(given, Mapping) else map(_declared, given or ())
            self._schemas = {
                name: schema if isinstance(schema, Mapping) else {} for name, schema in pairs if isinstance(name, str)
            }
        return self._schemas


def _resolved(schema: object, root: Mapping[str, Any], depth: int) -> object:
    """Return a schema with what its `$ref` points to inside of `root` in its place, also in its alternatives."""
    if not isinstance(schema, Mapping) or not depth:
        return schema
    pointer = schema.get("$ref")
    if isinstance(pointer, str) and pointer.startswith("#/"):
        target: object = root
        for step in pointer[2:].split("/"):
            target = target.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(target, Mapping) else None
        return _resolved(target, root, depth - 1)
    found = {word: schema[word] for word in ("anyOf", "oneOf", "allOf") if isinstance(schema.get(word), list | tuple)}
    parts = {word: [_resolved(part, root, depth - 1) for part in items] for word, items in found.items()}
    return {**schema, **parts} if parts else schema


def _declared(tool: object) -> tuple[object, object]:
    if isinstance(tool, Mapping):
        function = tool.get("function")
        inner = function if isinstance(function, Mapping) else tool
        return inner.get("name"), inner.get("parameters", inner.get("input_schema"))
    return getattr(tool, "name", None), getattr(tool, "parameters", None)

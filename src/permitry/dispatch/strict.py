"""JSON Schema in the form that OpenAI's strict mode takes."""

from collections.abc import Mapping
from typing import Any

from permitry.errors import RegistryError

__all__ = ["strict_schema"]

_MAPS = ("$defs", "definitions", "properties")
_VALUES = ("const", "enum")
_DROPPED = ("default", "discriminator", "examples")
_REFUSED = ("not", "if", "then", "else", "patternProperties", "prefixItems", "dependentSchemas")
_SAYING = ("$ref", "anyOf", "const", "enum", "type")
_MOST_REFERENCES = 32


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema in OpenAI's strict form: no properties but the named ones, and all of them required.

    A property that could be left out may be null instead. Defaults are dropped, `oneOf` becomes `anyOf`, and keys
    next to a `$ref` are merged with the schema it refers to.

    Raises: `RegistryError` for what has no such form: an object with any properties, a value of any type.
    """
    return _Strict(schema).of(schema)


class _Strict:
    """Makes the parts of one schema strict."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root

    def of(self, schema: Any) -> dict[str, Any]:  # noqa: ANN401 -- any part of a schema
        """Return one schema in strict form."""
        if not isinstance(schema, Mapping):
            raise RegistryError(f"`{schema}` in the schema has no strict form")
        plain = self._merge(schema)
        for key in _REFUSED:
            if key in plain:
                raise RegistryError(f"`{key}` in the schema has no strict form")
        if "oneOf" in plain:
            plain["anyOf"] = [*plain.pop("oneOf"), *plain.get("anyOf", ())]
        if not any(key in plain for key in _SAYING):
            raise RegistryError("a value of any type in the schema has no strict form")
        return {key: self._part(key, value) for key, value in self._close(plain).items() if key not in _DROPPED}

    def _part(self, key: str, value: Any) -> Any:  # noqa: ANN401 -- as above
        if key in _VALUES:
            return value
        if key in _MAPS and isinstance(value, Mapping):
            return {name: self.of(each) for name, each in value.items()}
        if key == "items":
            return self.of(value)
        return [self.of(each) for each in value] if key == "anyOf" else value

    def _merge(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return the schema without `allOf`, and without a `$ref` that has other keys next to it."""
        plain = dict(schema)
        for _ in range(_MOST_REFERENCES):
            parts = plain.get("allOf", ())
            if "$ref" in plain and len(plain.keys() - {*_DROPPED}) > 1:
                plain = {**self._look_up(plain.pop("$ref")), **plain}
            elif len(parts) == 1 and isinstance(parts[0], Mapping):
                del plain["allOf"]
                plain = {**parts[0], **plain}
            elif parts:
                raise RegistryError("`allOf` in the schema has no strict form")
            else:
                return plain
        raise RegistryError("the references in the schema lead in a circle")

    def _look_up(self, reference: object) -> Mapping[str, Any]:
        found: Any = self._root
        for part in str(reference).removeprefix("#/").split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            found = found.get(key) if isinstance(found, Mapping) else None
        if not isinstance(found, Mapping) or not str(reference).startswith("#/"):
            raise RegistryError(f"the reference `{reference}` in the schema leads nowhere")
        return found

    def _close(self, schema: dict[str, Any]) -> dict[str, Any]:
        kind = schema.get("type")
        if kind != "object" and not (isinstance(kind, list | tuple) and "object" in kind):
            return schema
        properties = schema.get("properties", {})
        if schema.get("additionalProperties", "properties" not in schema) is not False:
            raise RegistryError("an object with any properties in the schema has no strict form")
        required = schema.get("required", ())
        nullable = {name: each if name in required else self._nullable(each) for name, each in properties.items()}
        return {**schema, "properties": nullable, "required": list(properties), "additionalProperties": False}

    def _nullable(self, schema: Any) -> Any:  # noqa: ANN401 -- any part of a schema
        if not isinstance(schema, Mapping):
            return schema
        plain = self._merge(schema)
        if "enum" in plain and "anyOf" not in plain and "type" in plain:
            values = plain["enum"]
            plain["enum"] = [*values] if None in values else [*values, None]
        choices = plain.get("anyOf")
        kind = plain.get("type")
        if isinstance(choices, list):
            is_there = any(isinstance(each, Mapping) and each.get("type") == "null" for each in choices)
            return plain if is_there else {**plain, "anyOf": [*choices, {"type": "null"}]}
        if isinstance(kind, list | tuple):
            return plain if "null" in kind else {**plain, "type": [*kind, "null"]}
        if isinstance(kind, str) and kind != "object" and "const" not in plain:
            return plain if kind == "null" else {**plain, "type": [kind, "null"]}
        kept = {key: plain.pop(key) for key in ("description", "title") if key in plain}
        return {"anyOf": [plain, {"type": "null"}], **kept}

"""JSON values that name a tool and its arguments."""

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from permitry.core.json_values import parse_json
from permitry.errors import CallError
from permitry.messages.formats._coerce import is_too_deep

__all__ = ["ARGUMENT_KEYS", "NAME_KEYS", "Named", "named", "named_all", "object_of"]

Named: TypeAlias = tuple[str, dict[str, Any], object]

NAME_KEYS: Final = ("name", "tool", "function", "tool_name", "action")
ARGUMENT_KEYS: Final = ("arguments", "parameters", "args", "input", "tool_input", "action_input")
_TEXT_KEYS: Final = ("tool_input", "action_input")
_ID_KEYS: Final = ("id", "tool_call_id", "call_id")
_TWO_NAMES: Final = "the object names two tools"
_MORE: Final = "the object holds more than a call"
_OTHER_KEYS: Final = frozenset({"id", "type", "call_id", "tool_call_id", "index", "thought"})
_ENVELOPES: Final = ("tool_calls", "function_call")
_SCHEMA_WORDS: Final = frozenset({"type", "properties"})


def named_all(value: object, *, is_bare: bool = False, needs_arguments: bool = True) -> list[Named] | str:
    """Return name, arguments and id of each call in a JSON value, or why it is none.

    A list must be of calls throughout. `is_bare` is for JSON in text with no mark around it: keys a call
    does not have, or a schema for arguments, tell that it is data.
    """
    if isinstance(value, dict) and len(value) == 1:
        value = next((value[word] for word in _ENVELOPES if word in value), value)
    items = value if isinstance(value, list) else [value]
    found: list[Named] = []
    for item in items:
        one = named(item, is_bare=is_bare, needs_arguments=needs_arguments)
        if isinstance(one, str):
            return one
        found.append(one)
    return found or "the list is empty"


def named(item: object, *, is_bare: bool = False, needs_arguments: bool = True) -> Named | str:
    """Return name, arguments and id of the call a JSON object is, or why it is none."""
    if not isinstance(item, dict):
        return "not a JSON object"
    call_id = next((item[key] for key in _ID_KEYS if key in item), None)
    inner = item.get("function")
    if isinstance(inner, dict):
        if item.get("name", inner.get("name")) != inner.get("name"):
            return _TWO_NAMES
        if is_bare and not set(item) - {"function"} <= _OTHER_KEYS:
            return _MORE
        item = inner
    names = [key for key in NAME_KEYS if key in item]
    keys = [key for key in ARGUMENT_KEYS if key in item]
    if _differ(item, names):
        return _TWO_NAMES
    if _differ(item, keys):
        return "the call has two sets of arguments"
    name_key, key = names[0] if names else None, keys[0] if keys else None
    name = item[name_key] if name_key else None
    arguments = object_of(item[key], is_text=key in _TEXT_KEYS) if key else {}
    why = _refusal(name, key, arguments, needs_arguments=needs_arguments)
    why = why or (_is_data(item, name_key, key) if is_bare else None)
    return why or (str(name), arguments or {}, call_id)


def _differ(item: dict[str, Any], keys: Sequence[str]) -> bool:
    """Return whether the values of `keys` differ: it is unknown which one is meant."""
    return len(keys) > 1 and any(item[key] != item[keys[0]] for key in keys[1:])


def _refusal(name: object, key: str | None, arguments: object, *, needs_arguments: bool) -> str | None:
    if not isinstance(name, str) or not name:
        return "the object names no tool"
    if key is None and needs_arguments:
        return f"the call of `{name[:60]}` has no arguments"
    return f"the arguments of `{name[:60]}` are not a JSON object" if arguments is None else None


def object_of(value: object, *, is_text: bool = False) -> dict[str, Any] | None:
    """Return a JSON object, given as such or as JSON text, or None; other text is `input` where it `is_text`."""
    if isinstance(value, str) and value.lstrip().startswith("{") and not is_too_deep(value):
        try:
            value = parse_json(value)
        except CallError:
            return None
    if is_text and isinstance(value, str):
        return {"input": value}
    return value if isinstance(value, dict) else None


def _is_data(item: dict[str, Any], name_key: str | None, key: str | None) -> str | None:
    if not set(item) <= {name_key, key, *_OTHER_KEYS}:
        return _MORE
    arguments = item.get(key) if key else None
    if key == "parameters" and isinstance(arguments, dict) and set(arguments) >= _SCHEMA_WORDS:
        return "the object declares a tool"
    return None

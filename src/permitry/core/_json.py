"""Strict JSON: parse without surprises, freeze against later change, and print in one canonical form."""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, NoReturn, TypeAlias

from permitry.errors import CallError

MAX_DEPTH = 64
MAX_BYTES = 1_048_576

JsonValue: TypeAlias = "str | int | float | bool | tuple[JsonValue, ...] | Mapping[str, JsonValue] | None"

# Where in a value: the place around it, and a key or index. Text is made of it only for an error.
_Place: TypeAlias = "tuple[_Place, str | int] | None"

_TOP: Final = (None, "arguments")
_LONGEST_KEY = 60
_LONGEST_NUMBER = 4_096
_PLAIN = frozenset({str, int, float, bool, type(None)})
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False, default=dict)


def _canonical_parts() -> Callable[[Any, int], Iterable[str]]:
    """Return what `_ENCODER` does, without the making of a C encoder for every value; other Pythons have none."""
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return _ENCODER.iterencode  # type: ignore[return-value]  # its second argument may be an int as well
    text = json.encoder.encode_basestring_ascii
    parts: Callable[[Any, int], Iterable[str]] = make(None, dict, text, None, ":", ",", True, False, False)
    return parts


_parts = _canonical_parts()


def parse_json(text: str) -> Any:  # noqa: ANN401 -- what JSON text holds is known only after looking
    """Return the value of JSON `text`, refusing what JSON does not define.

    Raises: `CallError` for a syntax error, a duplicate key, NaN or Infinity, or nesting Python cannot parse.
    """
    if not isinstance(text, str):
        raise CallError(f"JSON text must be a string, not {_kind(text)}")
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise CallError(f"not valid JSON: {_placed(error)}") from error
    except RecursionError as error:
        raise CallError(f"nested deeper than {MAX_DEPTH} levels") from error
    except ValueError as error:
        if isinstance(error, CallError):
            raise
        raise CallError(f"not valid JSON: {error}") from error


def freeze_object(value: object) -> Mapping[str, JsonValue]:
    """Return a deep, read-only copy of the JSON object `value`; later changes to `value` do not reach it.

    Raises: `CallError` for anything that is not a plain JSON object, deeper than 64 levels or over 1 MiB.
    """
    if type(value) is not dict and not isinstance(value, Mapping):
        raise CallError(f"arguments must be a JSON object, not {_kind(value)}")
    return _Freezer().mapping(value, _TOP, 1)


def canonical_json(value: JsonValue) -> str:
    """Return the one canonical text of a frozen value: sorted keys, no blanks, ASCII only.

    `1` and `1.0` differ, as they do for the tool that receives them.
    """
    # A frozen value holds no circle, which this would not see; what is no dict takes a detour through `dict`.
    return "".join(_parts(dict(value) if type(value) is MappingProxyType else value, 0))


def canonical_text(value: str | None) -> str:
    """Return what `canonical_json` does for a text or None, sooner."""
    return "null" if value is None else json.encoder.encode_basestring_ascii(value)


def mutable(value: JsonValue) -> Any:  # noqa: ANN401 -- the mirror of parse_json
    """Return a fresh, mutable copy of a frozen value: plain dicts and lists."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, tuple):
        return [mutable(item) for item in value]
    # Only an object is left. To ask `isinstance(value, Mapping)` takes longer than to copy a few arguments.
    frozen: Any = value
    return {key: item if type(item) in _PLAIN else mutable(item) for key, item in frozen.items()}


class _Freezer:
    """Copies a value once, counting what it copies, so that shared references cannot explode."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = MAX_BYTES

    def freeze(self, value: object, place: _Place, depth: int) -> JsonValue:
        if type(value) in _PLAIN:
            return self._scalar(value, place)
        if depth > MAX_DEPTH:
            raise CallError(f"`{_told(place)}` is nested deeper than {MAX_DEPTH} levels")
        if isinstance(value, Mapping):
            return self.mapping(value, place, depth)
        if isinstance(value, list | tuple):
            self._spend(2)
            return tuple(self.freeze(item, (place, i), depth + 1) for i, item in enumerate(value))
        raise CallError(f"`{_told(place)}` is {_kind(value)}, which JSON cannot hold")

    def mapping(self, value: Mapping[Any, object], place: _Place, depth: int) -> Mapping[str, JsonValue]:
        """Return a read-only copy of an object; a text in it, as most of them are, takes no call of its own."""
        self._spend(2)
        frozen: dict[str, JsonValue] = {}
        for key, item in value.items():
            if type(key) is not str:
                raise CallError(f"`{_told(place)}` has a key that is {_kind(key)}; keys must be strings")
            if type(item) is str and item.isascii() and key.isascii():
                self._spend(len(key) + len(item) + 4)
                frozen[key] = item
            else:
                self._text(key, place)
                frozen[key] = self.freeze(item, (place, key), depth + 1)
        return MappingProxyType(frozen)

    def _scalar(self, value: Any, place: _Place) -> JsonValue:  # noqa: ANN401 -- narrowed by the caller
        if type(value) is str:
            self._text(value, place)
        elif type(value) is float and not math.isfinite(value):
            raise CallError(f"`{_told(place)}` is {value}, which JSON cannot hold")
        elif type(value) is int and value.bit_length() > _LONGEST_NUMBER:
            raise CallError(f"`{_told(place)}` is a number with too many digits")
        else:
            self._spend(1)
        frozen: JsonValue = value
        return frozen

    def _text(self, value: str, place: _Place) -> None:
        self._spend(len(value) + 2)
        if not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
            raise CallError(f"`{_told(place)}` holds half of a surrogate pair, which is not text")

    def _spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise CallError(f"the arguments are larger than {MAX_BYTES} bytes")


def _told(place: _Place) -> str:
    """Return a place as text, `arguments.items[3].path`, shortened where keys are long."""
    parts: list[str] = []
    while place is not None:
        place, key = place
        shown = key if isinstance(key, int) or len(key) <= _LONGEST_KEY else f"{key[:_LONGEST_KEY]}..."
        parts.append(f"[{shown}]" if isinstance(key, int) else f".{shown}")
    return "".join(reversed(parts)).removeprefix(".")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = next(key for key, count in counts.items() if count > 1)
        raise CallError(f"the key `{twice[:_LONGEST_KEY]}` occurs twice in one object")
    return result


def _placed(error: json.JSONDecodeError) -> str:
    line = f"line {error.lineno}, " if error.lineno > 1 else ""
    return f"{error.msg.removesuffix(' at')} at {line}column {error.colno}"


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise CallError(f"the number {text[:20]} is too large")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise CallError(f"{name} is not JSON")


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a string", int: "a number", float: "a number"}
    return names.get(type(value), f"a `{type(value).__name__}`")

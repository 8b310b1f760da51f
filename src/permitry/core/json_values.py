"""Strict JSON: parsed without surprises, frozen against change, printed in one canonical form."""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, NoReturn, TypeAlias

from permitry.errors import CallError

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "JsonValue",
    "canonical_json",
    "canonical_text",
    "freeze_bounded",
    "freeze_object",
    "mutable",
    "parse_json",
    "strict_decoder",
]

MAX_DEPTH = 64
MAX_BYTES = 1_048_576

JsonValue: TypeAlias = "str | int | float | bool | tuple[JsonValue, ...] | Mapping[str, JsonValue] | None"

# Where in a value: the place around it, and a key or index. Text is made of it only for an error.
_Place: TypeAlias = "tuple[_Place, str | int] | None"

_TOP: Final = (None, "arguments")
_LONGEST_KEY = 60
_LONGEST_NUMBER = 4_096
_SMALL = 10**15
_LONGEST_FORM = 24
"""The most characters in canonical text for each that is counted: those of a float."""
_PLAIN = frozenset({str, int, float, bool, type(None)})
canonical_text: Callable[[str], str] = json.encoder.encode_basestring_ascii
"""What `canonical_json` does for a text, sooner."""
# What `json.dumps` makes for every text, made once: keys are sorted, and there is no NaN.
_parts: Callable[[Any, int], Iterable[str]] = json.encoder.c_make_encoder(  # type: ignore[attr-defined]  # of CPython
    None, dict, canonical_text, None, ":", ",", True, False, False
)


def parse_json(text: str) -> Any:  # noqa: ANN401 -- what JSON text holds is known only after looking
    """Return the value of JSON `text`, or raise `CallError`: for a duplicate key, NaN and deep nesting as well."""
    if not isinstance(text, str):
        raise CallError(f"JSON text must be a string, not {_kind(text)}")
    try:
        if text[:1] == "{":
            # The usual text: an object without blanks around it takes one look less at either end.
            value, end = _DECODER.raw_decode(text)
            if end == len(text):
                return value
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        what = error.msg.removesuffix(" at")
        raise CallError(f"not valid JSON: {what} at {line}column {error.colno}") from error
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
    return freeze_bounded(value)[0]


def freeze_bounded(value: object) -> tuple[Mapping[str, JsonValue], int]:
    """Do what `freeze_object` does, and return as well how long the canonical text can be at most."""
    if type(value) is not dict and not isinstance(value, Mapping):
        raise CallError(f"arguments must be a JSON object, not {_kind(value)}")
    frozen, left = _frozen_mapping(value, _TOP, 1, MAX_BYTES)
    return frozen, (MAX_BYTES - left) * _LONGEST_FORM


def canonical_json(value: JsonValue) -> str:
    """Return the one text of a frozen value: sorted keys, no blanks, ASCII; `1` and `1.0` differ."""
    # A frozen value holds no circle, which this would not see; what is not a dict takes a detour through `dict`.
    return "".join(_parts(value.copy() if type(value) is MappingProxyType else value, 0))


def mutable(value: JsonValue) -> Any:  # noqa: ANN401 -- the mirror of parse_json
    """Return a fresh, mutable copy of a frozen value: plain dicts and lists."""
    if type(value) is MappingProxyType:
        copy: dict[str, Any] = value.copy()
        for key, item in copy.items():
            if type(item) not in _PLAIN:
                copy[key] = mutable(item)
        return copy
    return [mutable(item) for item in value] if isinstance(value, tuple) else value


# Freezing: each returns the frozen value, and what is left of the characters that all of it may take. These are
# counted from below, as they are without any escape, each with the comma or bracket after it: shared references cannot
# explode.


def _frozen(value: object, place: _Place, depth: int, left: int) -> tuple[JsonValue, int]:
    if type(value) in _PLAIN:
        scalar: Any = value
        return scalar, left - _check_length(value, place)
    if depth > MAX_DEPTH:
        raise CallError(f"`{_json_path(place)}` is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, Mapping):
        return _frozen_mapping(value, place, depth, left)
    if not isinstance(value, list | tuple):
        raise CallError(f"`{_json_path(place)}` is {_kind(value)}, which JSON cannot hold")
    left = _subtract(left, 1)
    items: list[JsonValue] = []
    for index, item in enumerate(value):
        frozen, left = _frozen(item, (place, index), depth + 1, left)
        left = _subtract(left, 1)
        items.append(frozen)
    return tuple(items), left


def _frozen_mapping(
    value: Mapping[Any, Any], place: _Place, depth: int, left: int
) -> tuple[Mapping[str, JsonValue], int]:
    copy = value.copy() if type(value) is dict else _plain_dict(value, place)
    left -= 1
    for key, item in copy.items():
        if type(key) is not str:
            raise CallError(f"`{_json_path(place)}` has a key that is {_kind(key)}; keys must be strings")
        if not key.isascii():
            _check_text(key, place)
        # Most arguments are plain text or small numbers, which take no call.
        if type(item) is str and item.isascii():
            left -= len(item) + 2
        elif type(item) is int and -_SMALL < item < _SMALL:
            left -= 1
        else:
            copy[key], left = _frozen(item, (place, key), depth + 1, left)
        left -= len(key) + 4
        if left < 0:
            raise _too_large()
    return MappingProxyType(copy), left


def _plain_dict(value: Mapping[Any, object], place: _Place) -> dict[Any, Any]:
    """Return a copy of a mapping that may be of any kind, even without an end."""
    copy = {}
    for key, item in value.items():
        if type(key) is not str:
            raise CallError(f"`{_json_path(place)}` has a key that is {_kind(key)}; keys must be strings")
        copy[key] = item
        _subtract(MAX_BYTES, len(copy))
    return copy


def _check_length(value: Any, place: _Place) -> int:  # noqa: ANN401 -- narrowed by the caller
    """Return how many characters a scalar takes at least, or raise `CallError` for no JSON."""
    if type(value) is int:
        size = value.bit_length()
        if size > _LONGEST_NUMBER:
            raise CallError(f"`{_json_path(place)}` is a number with too many digits")
        return 1 + size // 4
    if type(value) is str:
        _check_text(value, place)
        return len(value) + 2
    if type(value) is float and not math.isfinite(value):
        raise CallError(f"`{_json_path(place)}` is {value}, which JSON cannot hold")
    return 1


def _check_text(value: str, place: _Place) -> None:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise CallError(f"`{_json_path(place)}` holds half of a surrogate pair, which is not text") from error


def _subtract(left: int, size: int) -> int:
    if left < size:
        raise _too_large()
    return left - size


def _too_large() -> CallError:
    return CallError(f"the arguments are larger than {MAX_BYTES} bytes")


def _json_path(place: _Place) -> str:
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


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise CallError(f"the number {text[:20]} is too large")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise CallError(f"{name} is not JSON")


def strict_decoder(parse_int: Callable[[str], int] = int) -> json.JSONDecoder:
    """Return a decoder that refuses duplicate keys and numbers beyond a float, with a `CallError`."""
    return json.JSONDecoder(
        object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=_finite, parse_int=parse_int
    )


# Made once: `json.loads` makes one for every text that it reads so.
_DECODER: Final = strict_decoder()


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a string", int: "a number", float: "a number"}
    return names.get(type(value), f"a `{type(value).__name__}`")

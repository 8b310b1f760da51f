"""Law 5: arguments are frozen and canonicalised before the decision."""

import copy
import json
import pickle
from types import MappingProxyType
from typing import Any

import attrs
from hypothesis import given
from hypothesis import strategies as st

from permitry.core.call import ToolCall

_numbers = st.one_of(st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False))
_scalars = st.one_of(st.none(), st.booleans(), _numbers, st.text(max_size=8))
_values = st.recursive(
    _scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=4), inner, max_size=4)),
    max_leaves=8,
)
_objects = st.dictionaries(st.text(max_size=4), _values, max_size=4)


def _wreck(value: object) -> None:
    """Change every container within `value`."""
    if isinstance(value, dict):
        for item in value.values():
            _wreck(item)
        value["wrecked"] = True
    elif isinstance(value, list):
        for item in value:
            _wreck(item)
        value.append("wrecked")


def _is_frozen(value: object) -> bool:
    if isinstance(value, MappingProxyType):
        return all(map(_is_frozen, value.values()))
    if isinstance(value, tuple):
        return all(map(_is_frozen, value))
    return not isinstance(value, dict | list)


def _reversed(value: object) -> object:
    """Return `value` with the keys of all its objects the other way round."""
    if isinstance(value, dict):
        return {key: _reversed(item) for key, item in reversed(value.items())}
    return [_reversed(item) for item in value] if isinstance(value, list) else value


@given(_objects)
def test_a_call_gives_back_what_it_was_given(arguments: dict[str, object]) -> None:
    """Frozen, thawed, and read from their canonical text, arguments are what they were, types included."""
    call = ToolCall("tool", arguments)
    assert repr(call.to_dict()) == repr(arguments)
    assert repr(_reversed(json.loads(call.canonical))) == repr(
        _reversed(json.loads(json.dumps(arguments, sort_keys=True)))
    )


@given(_objects)
def test_what_is_kept_is_frozen_all_the_way_down(arguments: dict[str, object]) -> None:
    """No dict and no list is left in a call."""
    assert _is_frozen(ToolCall("tool", arguments).arguments)


@given(_objects)
def test_no_alias_reaches_a_call(arguments: dict[str, object]) -> None:
    """Neither the object given nor a thawed copy changes the call."""
    untouched = copy.deepcopy(arguments)
    call = ToolCall("tool", arguments)
    _wreck(arguments)
    _wreck(call.to_dict())
    assert repr(call.to_dict()) == repr(untouched)
    assert attrs.evolve(call).digest == call.digest == ToolCall("tool", untouched).digest


@given(_objects)
def test_the_order_of_keys_is_no_part_of_the_digest(arguments: dict[str, object]) -> None:
    """Objects that differ in the order of their keys are one call."""
    turned: Any = _reversed(arguments)
    assert ToolCall("tool", turned) == ToolCall("tool", arguments)


@given(_objects, _objects)
def test_a_digest_is_for_the_arguments(one: dict[str, object], other: dict[str, object]) -> None:
    """Two calls have one digest exactly when their arguments are the same JSON."""
    is_same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (ToolCall("tool", one).digest == ToolCall("tool", other).digest) is is_same


@given(_objects)
def test_text_and_objects_make_the_same_call(arguments: dict[str, object]) -> None:
    """A call read from JSON text is the call of the object."""
    assert ToolCall.from_json("tool", json.dumps(arguments)) == ToolCall("tool", arguments)


@given(_objects)
def test_a_copy_is_the_same_call(arguments: dict[str, object]) -> None:
    """Copied, deep-copied and pickled calls are equal and frozen."""
    call = ToolCall("tool", arguments, call_id="c1")
    for again in (copy.copy(call), copy.deepcopy(call), pickle.loads(pickle.dumps(call))):  # noqa: S301 -- our own bytes
        assert again == call
        assert _is_frozen(again.arguments)

"""What all hosts have in common."""

import pytest

from permitry.errors import CallError
from permitry_hosts.hooks.host import arguments_in, optional, text_in


def test_parts_of_a_payload_are_of_their_type() -> None:
    """What is absent, empty or of another type is not read as something."""
    assert text_in({"a": "x"}, "a") == "x"
    assert optional({"a": ""}, "a") is None
    assert arguments_in({"a": {}}, "a") == {}
    values: tuple[object, ...] = (None, "", 7, [])
    for value in values:
        with pytest.raises(CallError):
            text_in({"a": value}, "a")
    with pytest.raises(CallError):
        optional({"a": 7}, "a")
    with pytest.raises(CallError):
        arguments_in({"a": "{}"}, "a")

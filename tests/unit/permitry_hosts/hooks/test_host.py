"""What all hosts have in common."""

import pytest
from tests.tables import for_each
from tests.unit.permitry_hosts.hooks.payloads import PAYLOADS

from permitry.errors import CallError
from permitry_hosts.hooks.answering import host_named
from permitry_hosts.hooks.host import agent_in, arguments_in, call_key, optional, text_in


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


def test_the_key_of_a_call_names_the_sub_agent() -> None:
    """An id that is absent stays absent."""
    assert call_key({"id": "c1"}, "id") == "c1"
    assert call_key({"id": "c1", "agent_id": "a1"}, "id") == "a1/c1"
    assert call_key({"agent_id": "a1"}, "id") is None


@for_each(
    ("payload", "agent"),
    [
        ({}, "main"),
        ({"agent_type": "reviewer"}, "reviewer"),
        ({"agent_id": "a1", "agent_type": "reviewer"}, "reviewer"),
        ({"agent_id": "a1"}, "sub-agent"),
        ({"agent_id": "a1", "agent_type": "main"}, "sub-agent"),
    ],
)
def test_a_sub_agent_is_not_the_main_one(payload: dict[str, str], agent: str) -> None:
    """Whatever its kind is called, and if it has none."""
    assert agent_in(payload) == agent
    for name in ("claude-code", "codex"):
        assert host_named(name).read({**PAYLOADS[name], **payload}, {"PWD": "/p"}).agent == agent

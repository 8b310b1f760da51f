"""The names of tools as providers take them."""

import pytest

from permitry.dispatch.names import wire_name


@pytest.mark.parametrize(
    ("name", "wire"), [("look", "look"), ("mcp:bees/hives", "mcp__bees__hives"), ("my tool", "my_tool")]
)
def test_a_name_becomes_one_that_providers_take(name: str, wire: str) -> None:
    """One that is taken already stays as it is."""
    assert wire_name(name) == wire


def test_long_names_stay_different() -> None:
    """They end in digits of a digest."""
    one, other = wire_name("n" * 80), wire_name("n" * 81)
    assert (len(one), len(other), one == other) == (64, 64, False)

"""Parts and methods of a guard, read, set and called at what has it."""

import pytest

from permitry.guard.forwarding import Part
from permitry.guard.guard import Guard
from permitry.guard.session import Session
from permitry.handler import ToolHandler


def test_a_part_is_that_of_the_guard() -> None:
    """There is no second one that could differ."""
    handler, session = ToolHandler(), Session(id="other")
    handler.session = session
    assert handler.guard.session is session
    assert handler.session is session
    assert isinstance(ToolHandler.session, Part)


def test_a_part_is_checked_when_it_is_set() -> None:
    """As a guard does."""
    with pytest.raises(TypeError, match="must be an AuthorizationPolicy"):
        ToolHandler().policy = "rules.toml"  # type: ignore[assignment]  # the point


def test_a_misspelt_part_is_an_error() -> None:
    """And not an attribute that nobody reads."""
    with pytest.raises(AttributeError):
        ToolHandler().polcy = None  # type: ignore[attr-defined]  # the point


def test_a_method_is_called_at_the_guard() -> None:
    """With its name and its words."""
    assert ToolHandler.check.__doc__ == Guard.check.__doc__
    assert ToolHandler.check.__name__ == "check"

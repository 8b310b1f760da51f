"""The declaration of a tool is looked up once."""

import pytest
from tests.unit.guard.stubs import CALL, guard_of

from permitry.core.spec import ToolSpec
from permitry.dispatch.registry import ToolRegistry
from permitry.guard.case import Case
from permitry.guard.stages.resolve import resolve
from permitry.handler import ToolHandler


def test_a_registry_says_what_its_tools_are() -> None:
    """Whatever came with the call."""
    registry, spec = ToolRegistry(), ToolSpec("x", description="the one")
    registry.register(spec, lambda _: (True, ""))
    guard = ToolHandler(registry=registry).guard
    assert resolve(Case(CALL, spec=ToolSpec("x")), guard).spec is spec


def test_what_a_host_says_is_taken_if_it_is_about_the_tool() -> None:
    """The declaration of another tool is a mistake of the program."""
    case = Case(CALL, spec=ToolSpec("x"))
    assert resolve(case, guard_of()) is case
    with pytest.raises(ValueError, match="came with the declaration of `y`"):
        resolve(Case(CALL, spec=ToolSpec("y")), guard_of())

"""What a handler takes, and what is null because it was left out."""

import functools
from typing import Any, cast

import pytest
from tests.tables import for_each

from permitry.core.spec import ToolSpec
from permitry.dispatch.arguments import without_nulls
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import RegistryError


@for_each("schema", [{}, {"required": 3, "properties": []}, {"additionalProperties": {}}])
def test_a_schema_that_says_nothing_leaves_nulls(schema: dict[str, Any]) -> None:
    """They may be meant."""
    assert without_nulls({"a": None, "b": 1}, schema) == {"a": None, "b": 1}


def _mail(to: str, subject: str, body: str) -> str:
    """Return what was sent."""
    return f"{to}: {subject} {body}"


def _named(*, to: str) -> str:
    """Return the recipient."""
    return to


def _postponed(to: "str") -> str:
    """Return the recipient."""
    return to


@pytest.mark.parametrize("function", [_mail, _named, _postponed, lambda: "done"])
def test_a_function_that_cannot_take_one_dict_is_refused(registry: ToolRegistry, function: Any) -> None:  # noqa: ANN401 -- wrong types are the point
    """It would crash at every call, and only the model would see it."""
    with pytest.raises(RegistryError, match=r"takes one dict, .*; decorate .* with `@registry.tool`"):
        registry.register(ToolSpec("send_mail"), function)
    assert len(registry) == 0


@pytest.mark.parametrize("way", ["register_call_time", "register_with_context"])
def test_a_function_that_cannot_take_two_arguments_is_refused(registry: ToolRegistry, way: str) -> None:
    """The message names both."""
    with pytest.raises(RegistryError, match=r"takes `\(arguments, (scope|invocation)\)`"):
        getattr(registry, way)(ToolSpec("send_mail"), len)


@pytest.mark.parametrize("handler", [print, dict, functools.partial(cast("Any", map), len)])
def test_a_function_that_may_take_one_dict_is_a_tool(registry: ToolRegistry, handler: Any) -> None:  # noqa: ANN401 -- any callable
    """Also one whose signature is not known."""
    registry.register(ToolSpec("tool"), handler)
    assert "tool" in registry

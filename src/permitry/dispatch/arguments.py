"""Handlers with a check of arguments or other results, and arguments that are null to leave them out."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

__all__ = ["Canonical", "Check", "convert_result", "is_async", "takes", "with_check", "without_nulls"]

Check: TypeAlias = Callable[[dict[str, Any]], object]
"""Checks arguments, and nothing else; raises a `ToolError` that says what is wrong with them."""

Canonical: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]
"""Returns arguments in the one form that rules, record and tool see, unchanged if they have it."""


def with_check(handler: Callable[..., Any], check: Check, *, canonical: Canonical | None = None) -> Callable[..., Any]:
    """Return `handler` with a `check` that finds wrong arguments before anything is decided about a call.

    It raises a `ToolError` whose text is shown to the model. `canonical` is for a tool that takes the same
    arguments in several forms: it brings them into the form whose names have roles, or raises.
    """
    checked = convert_result(handler, lambda result: result, is_async=is_async(handler))
    vars(checked).update(check=check, canonical=canonical)
    return checked


def convert_result(
    call: Callable[..., Any], convert: Callable[[object], object], *, is_async: bool
) -> Callable[..., Any]:
    """Return `call`, which certainly returns an awaitable if it `is_async`, with `convert` for its result."""

    async def await_result(outcome: Awaitable[object]) -> object:
        return convert(await outcome)

    async def ahandle(*given: Any) -> object:  # noqa: ANN401 -- whatever the tool takes
        return convert(await call(*given))

    def handle(*given: Any) -> object:  # noqa: ANN401 -- as above
        outcome = call(*given)
        return await_result(outcome) if inspect.isawaitable(outcome) else convert(outcome)

    return ahandle if is_async else handle


_NO_DICT = (str, int, float, bool, list, "str", "int", "float", "bool", "list")
"""Annotations of a parameter that does not take a dict; text is what a postponed annotation is."""


def takes(handler: Callable[..., Any], count: int) -> bool:
    """Return whether a handler takes one dict, and `count` parameters in all, or cannot be asked."""
    try:
        signature = inspect.signature(handler)
    except (TypeError, ValueError):
        return True
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return next(iter(signature.parameters.values())).annotation not in _NO_DICT


def is_async(handler: Callable[..., Any]) -> bool:
    """Return whether calling `handler` certainly returns an awaitable."""
    return inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(getattr(handler, "__call__", None))  # noqa: B004 -- its kind is asked, not whether it is there


def without_nulls(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments without those that are null, may be left out, and may not be null by the schema.

    A model under a strict schema must name every argument, and gives null for one it means to leave out.
    """
    required, known = schema.get("required"), schema.get("properties")
    required = required if isinstance(required, list | tuple) else ()
    known = known if isinstance(known, Mapping) else {}
    return {
        name: value
        for name, value in arguments.items()
        if value is not None or name in required or name not in known or _has_null(known[name])
    }


def _has_null(schema: Any) -> bool:  # noqa: ANN401 -- any part of a schema
    if not isinstance(schema, Mapping):
        return True
    kind = schema.get("type")
    if kind is not None:
        return kind == "null" or (isinstance(kind, list | tuple) and "null" in kind)
    if "enum" in schema:
        return None in schema["enum"]
    choices = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    # A schema without a type, an enum or alternatives allows null, unless a `$ref` or `const` may exclude it.
    return any(map(_has_null, choices)) if choices else "$ref" not in schema and "const" not in schema

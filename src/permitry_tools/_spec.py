"""From a pydantic model of the arguments to a registered tool."""

from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict

from permitry.port import ArgumentRole, Check, Handler, Preview, ToolResult, ToolSpec, ToolTraits, validated, with_check

__all__ = ["Arguments", "handler", "preview", "spec"]


class Arguments(BaseModel):
    """The arguments of a tool: strict, and nothing besides them."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


Model = TypeVar("Model", bound=Arguments)


def spec(
    name: str,
    description: str,
    model: type[Arguments],
    traits: ToolTraits,
    **rest: Any,  # noqa: ANN401 -- ToolSpec's own keywords
) -> ToolSpec:
    """Return the spec of a tool whose parameters are the fields of `model`; without `roles` none touches anything."""
    rest.setdefault("roles", {})
    schema = model.model_json_schema()
    schema.pop("description", None)
    return ToolSpec(name, description, parameters=schema, traits=traits, **rest)


def handler(model: type[Model], run: Callable[[Model], ToolResult | tuple[bool, str]], *checks: Check) -> Handler:
    """Return a handler of arguments that pass all `checks` and fit `model`; what is wrong is shown to the model."""

    def check(given: dict[str, Any]) -> Model:
        for each in checks:
            each(given)
        return validated(model, given)

    return with_check(lambda given: run(check(given)), check)


def preview(model: type[Model], describe: Callable[[Model], str]) -> Preview:
    """Return a preview over checked arguments."""
    return lambda arguments: describe(validated(model, arguments))


READS = ToolTraits(read_only=True, destructive=False, idempotent=True, open_world=False, spawns_agent=False)
WRITES = ToolTraits(read_only=False, destructive=True, idempotent=True, open_world=False, spawns_agent=False)
RUNS = ToolTraits(read_only=False, destructive=True, idempotent=False, open_world=True, spawns_agent=False)
ROLES = ArgumentRole

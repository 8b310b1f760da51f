"""From a pydantic model of the arguments to a registered tool."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from permitry.port import (
    ArgumentRole,
    Check,
    Handler,
    Preview,
    ToolError,
    ToolLimits,
    ToolRegistry,
    ToolResult,
    ToolSpec,
    ToolTraits,
    unfit,
    with_check,
)

__all__ = ["Arguments", "fit", "handler", "preview", "require", "spec", "tool"]


class Arguments(BaseModel):
    """The arguments of a tool: strict, and nothing besides them."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


Checked = TypeVar("Checked", bound=BaseModel)
Model = TypeVar("Model", bound=Arguments)
Run: TypeAlias = Callable[[Model], ToolResult | tuple[bool, str]]


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


def handler(model: type[Model], run: Run[Model], *checks: Check) -> Handler:
    """Return a handler of arguments that pass all `checks` and fit `model`; what is wrong is shown to the model."""

    def check(given: dict[str, Any]) -> Model:
        for each in checks:
            each(given)
        return fit(model, given)

    return with_check(lambda given: run(check(given)), check)


def fit(model: type[Checked], arguments: Mapping[str, Any]) -> Checked:
    """Return the arguments as an instance of `model`; `ToolError` names each that does not fit."""
    # A model under OpenAI's strict mode must name every argument, and says null for those it means to leave out.
    given = {name: value for name, value in arguments.items() if value is not None or not _is_left_out(model, name)}
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise unfit(error) from error


def _is_left_out(model: type[BaseModel], name: str) -> bool:
    field = model.model_fields.get(name)
    return field is not None and not field.is_required() and type(None) not in get_args(field.annotation)


def require(argument: str, request: str) -> Check:
    """Return a check of calls that give `argument`, and no blanks; the model is shown `request` otherwise."""

    def check(arguments: dict[str, Any]) -> None:
        given = arguments.get(argument)
        if given is None or (isinstance(given, str) and not given.strip()):
            raise ToolError(request)

    return check


def preview(model: type[Model], describe: Callable[[Model], str]) -> Preview:
    """Return a preview over checked arguments."""
    return lambda arguments: describe(fit(model, arguments))


def tool(
    registry: ToolRegistry,
    model: type[Model],
    description: str,
    traits: ToolTraits,
    *checks: Check,
    preview: Preview | None = None,
    limits: ToolLimits | None = None,
    **rest: object,
) -> Callable[[Run[Model]], Run[Model]]:
    """Return a decorator that adds a function to `registry`, as the tool of its name; see `spec` and `handler`."""

    def add(run: Run[Model]) -> Run[Model]:
        declared = spec(run.__name__, description, model, traits, **rest)
        registry.register(declared, handler(model, run, *checks), preview=preview, limits=limits)
        return run

    return add


READS = ToolTraits(read_only=True, destructive=False, idempotent=True, open_world=False, spawns_agent=False)
WRITES = ToolTraits(read_only=False, destructive=True, idempotent=True, open_world=False, spawns_agent=False)
RUNS = ToolTraits(read_only=False, destructive=True, idempotent=False, open_world=True, spawns_agent=False)
ROLES = ArgumentRole

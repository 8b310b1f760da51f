"""A tool's declaration from a function, and declarations in the formats of providers."""

import difflib
import inspect
import json
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import docstring_parser
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo

from permitry.core.call import PayloadKind
from permitry.core.json_values import mutable
from permitry.core.names import wire_name
from permitry.core.result import ToolResult
from permitry.core.spec import ArgumentRole, ToolSpec, ToolTraits, names_of
from permitry.dispatch.arguments import convert_result, is_async, with_check, without_nulls
from permitry.dispatch.strict import strict_schema
from permitry.errors import RegistryError, ToolError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

__all__ = ["SCHEMA_SHAPES", "exported", "handler_of", "is_exportable", "spec_of", "unfit"]

SCHEMA_SHAPES = ("anthropic", "gemini", "mcp", "openai-chat", "openai-responses")
"""The formats of providers that `exported` knows."""

_BY_SCHEMA = frozenset({PayloadKind.FUNCTION, PayloadKind.MCP, PayloadKind.UNIFIED_EXEC})
_FREE_FORMS = ("openai-chat", "openai-responses")
_TYPES = frozenset({"bool", "float", "int", "str"})
_MUST_BE = "must be "
_SHOULD = re.compile(r"^(?:Input|[A-Z][a-z]+) should ")
_WORDS = {
    "missing": "is missing",
    "extra_forbidden": "is not an argument of this tool",
    "string_type": "must be a text",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
}

_CONFIG = ConfigDict(extra="forbid", strict=True, frozen=True)


def spec_of(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    description: str | None = None,
    traits: ToolTraits | None = None,
    roles: Mapping[str, ArgumentRole] | None = None,
    **rest: Any,  # noqa: ANN401 -- ToolSpec's own keywords
) -> ToolSpec:
    """Return the declaration of a function: its name, the head of its docstring, and its annotated parameters.

    What a docstring says of single arguments goes into the schema, in the style of Google, NumPy, Sphinx or Epydoc.

    Raises: `RegistryError` for a parameter without an annotation or JSON Schema, `*args`, `**kwargs`, and a role of
    a parameter that the function does not have.
    """
    summary, _ = _read_docstring(function)
    own = _name(function)
    if name is None and not own.isidentifier():
        raise RegistryError(f"the function `{own}` has no name of its own; say `name=…`")
    spec = ToolSpec(
        own if name is None else name,
        summary if description is None else description,
        parameters=_schema(_model(function)[0]),
        traits=ToolTraits() if traits is None else traits,
        roles=roles,
        **rest,
    )
    _check_roles(spec, own)
    return spec


def _check_roles(spec: ToolSpec, function: str) -> None:
    """Raise `RegistryError` for a key of `roles` of which no name is a parameter."""
    known = list(mutable(spec.parameters).get("properties", ()))
    for key in spec.roles or ():
        names = names_of(key)
        if not set(known) & set(names):
            near = difflib.get_close_matches(names[0], known, n=1)
            hint = f"did you mean `{near[0]}`?" if near else f"its parameters: {', '.join(known) or 'none'}"
            raise RegistryError(f"`roles` names `{key}`, which is not a parameter of `{function}`; {hint}")


def handler_of(function: Callable[..., Any]) -> Callable[[dict[str, Any]], Any]:
    """Return a handler that checks its arguments, and shows a result that is not a tool result as text."""
    arguments_of = _check_of(function)

    def call(arguments: dict[str, Any]) -> Any:  # noqa: ANN401 -- what the function returns
        return function(**arguments_of(arguments))

    return with_check(convert_result(call, _as_result, is_async=is_async(function)), arguments_of)


def _check_of(function: Callable[..., Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a function that checks arguments, and converts them to those of `function`."""
    model, names = _model(function)
    schema = _schema(model)

    def arguments_of(arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            # As JSON, not as Python: Python mode refuses a list for a tuple, and a text for a date, path or enum.
            checked = model.model_validate_json(json.dumps(without_nulls(arguments, schema)))
        except ValidationError as error:
            raise unfit(error) from error
        return {names[field]: getattr(checked, field) for field in checked.model_fields_set}

    return arguments_of


def unfit(error: ValidationError) -> ToolError:
    """Return the error for arguments that do not fit a model, for the model that made the call."""
    wrong: dict[str, list[str]] = {}
    for each in error.errors(include_url=False):
        name, words = _wrong(each)
        wrong.setdefault(name, []).append(words)
    problems = "; ".join(each for name, words in wrong.items() for each in _sentences(name, words))
    return ToolError(f"The arguments do not fit: {problems}.")


def _sentences(name: str, words: list[str]) -> list[str]:
    """Return what is wrong with one argument; the types it may have are joined in one phrase."""
    if not name:
        return words
    if all(each.startswith(_MUST_BE) for each in words):
        words = [_MUST_BE + " or ".join(each.removeprefix(_MUST_BE) for each in dict.fromkeys(words))]
    return [f"{name} {each}" if each.startswith(("must ", "is ")) else f"{name}: {each}" for each in words]


def _wrong(each: "ErrorDetails") -> tuple[str, str]:
    """Return the name of an argument and what is wrong with it; empty where it is about all of them."""
    # Of an argument that may be of several types, pydantic also names the type.
    parts = [str(part) for part in each["loc"] if isinstance(part, int) or part.isidentifier()]
    if len(parts) > 1 and parts[-1] in _TYPES:
        parts.pop()
    name = f"`{'.'.join(parts)}`" if parts else ""
    words = _WORDS.get(each["type"])
    if words is None:
        words = _SHOULD.sub("must ", each["msg"].removeprefix("Value error, "))
        words = words.replace(" after validation", "")
    return name, words


def _as_result(outcome: object) -> object:
    """Return what a function returned as a tool result: "Done." for None, otherwise text or an object."""
    match outcome:
        case None:
            return "Done."
        case bool() | int() | float():
            return str(outcome)
        case list():
            return "\n".join(map(_line, outcome))
        case Mapping():
            return ToolResult.of_object(outcome)
        case BaseModel():
            return ToolResult.of_object(outcome.model_dump(mode="json"))
        case _:
            return outcome


def _line(item: object) -> str:
    return json.dumps(item, ensure_ascii=False) if isinstance(item, Mapping | list) else str(item)


def _model(function: Callable[..., Any]) -> tuple[type[BaseModel], dict[str, str]]:
    """Return the model of the arguments, and the name of the argument for each of its fields."""
    name, (_, said) = _name(function), _read_docstring(function)
    try:
        parameters = list(inspect.signature(function, eval_str=True).parameters.values())
    except (NameError, SyntaxError, TypeError, ValueError) as error:
        raise RegistryError(f"the function `{name}` has no usable signature: {error}") from error
    for parameter in parameters:
        _check_parameter(name, parameter)
    # The fields have names that no attribute of a model has: an argument may be called `json` or `schema`.
    names = {f"field_{index}": parameter.name for index, parameter in enumerate(parameters)}
    fields: dict[str, Any] = {}
    for field, parameter in zip(names, parameters, strict=True):
        default = ... if parameter.default is parameter.empty else parameter.default
        field_info: Any = Field(default, alias=parameter.name)
        if parameter.name in said:
            field_info = Field(default, alias=parameter.name, description=said[parameter.name])
        fields[field] = (parameter.annotation, field_info)
    try:
        model = create_model(name, __config__=_CONFIG, **fields)
        _schema(model)
    except (PydanticUserError, NameError, TypeError, ValueError) as error:
        first = str(error).partition("\n")[0]
        raise RegistryError(f"the function `{name}` has no JSON Schema: {first}") from error
    return model, names


def _check_parameter(name: str, parameter: inspect.Parameter) -> None:
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
        raise RegistryError(f"the function `{name}`: `{parameter}` is nothing a model could name")
    if parameter.annotation is parameter.empty:
        raise RegistryError(f"the function `{name}`: `{parameter.name}` has no annotation")
    if isinstance(parameter.default, FieldInfo):
        raise RegistryError(f"the function `{name}`: write `{parameter.name}: Annotated[..., Field(...)]`")


def _name(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _read_docstring(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """Return the first paragraph of a docstring, and what it says of single arguments."""
    text = inspect.getdoc(function) or ""
    try:
        found = docstring_parser.parse(text)
    except (docstring_parser.ParseError, IndexError):
        # The parser raises errors of its own for some malformed docstrings, and crashes on others.
        return " ".join(text.partition("\n\n")[0].split()), {}
    head = found.short_description or ""
    if not found.blank_after_short_description:
        head += " " + (found.long_description or "").partition("\n\n")[0]
    said = {each.arg_name: " ".join(each.description.split()) for each in found.params if each.description}
    return " ".join(head.split()), said


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    schema = model.model_json_schema()
    for key in ("description", "title"):
        schema.pop(key, None)
    return schema


def is_exportable(spec: ToolSpec, shape: str) -> bool:
    """Return whether a provider of this shape can call the tool at all."""
    if spec.kinds & _BY_SCHEMA:
        return True
    kinds = {"openai-chat": {PayloadKind.CUSTOM}, "openai-responses": {PayloadKind.CUSTOM, PayloadKind.LOCAL_SHELL}}
    return not kinds.get(shape, set()).isdisjoint(spec.kinds)


def exported(spec: ToolSpec, shape: str, *, strict: bool = False, free_form: bool = False) -> dict[str, Any]:
    """Return a declaration in the format of a provider; `shape` is one of `SCHEMA_SHAPES`.

    With `strict` the schema is brought into the form of OpenAI's strict mode; one that has no such form is
    exported unchanged, and not marked as strict. A tool that takes no function calls is exported as a custom tool
    or a local shell, and with `free_form` one that takes both custom calls and function calls as a custom tool.
    Raises: `RegistryError` for an unknown shape, and for a tool for which `is_exportable` is false.
    """
    if shape not in SCHEMA_SHAPES:
        raise RegistryError(f"unknown shape `{shape}`; known: {', '.join(SCHEMA_SHAPES)}")
    if not is_exportable(spec, shape):
        raise RegistryError(f"the tool `{spec.name}` takes no calls of a kind that {shape} has")
    is_free = free_form and PayloadKind.CUSTOM in spec.kinds and shape in _FREE_FORMS
    if is_free or not spec.kinds & _BY_SCHEMA:
        return _own_kind(spec, shape)
    parameters: dict[str, Any] = mutable(spec.parameters) or {"type": "object", "properties": {}}
    if strict:
        try:
            parameters = strict_schema(parameters)
        except RegistryError:
            strict = False
    named: dict[str, Any] = {"name": wire_name(spec.name), "description": spec.description}
    match shape:
        case "openai-chat":
            function = {**named, "parameters": parameters, **({"strict": True} if strict else {})}
            return {"type": "function", "function": function}
        case "openai-responses":
            return {"type": "function", **named, "parameters": parameters, "strict": strict}
        case "anthropic":
            return {**named, "input_schema": parameters}
        case "gemini":
            return {**named, "parametersJsonSchema": parameters}
        case _:
            return {**named, "inputSchema": parameters, "annotations": _annotations(spec.traits)}


def _own_kind(spec: ToolSpec, shape: str) -> dict[str, Any]:
    if PayloadKind.LOCAL_SHELL in spec.kinds:
        return {"type": "local_shell"}
    is_response = shape == "openai-responses"
    text: dict[str, Any] = {"type": "text"}
    if spec.grammar is not None:
        grammar = {"syntax": "lark", "definition": spec.grammar}
        text = {"type": "grammar", **(grammar if is_response else {"grammar": grammar})}
    custom = {"name": wire_name(spec.name), "description": spec.description, "format": text}
    return {"type": "custom", **custom} if is_response else {"type": "custom", "custom": custom}


def _annotations(traits: ToolTraits) -> dict[str, bool]:
    hints = {
        "readOnlyHint": traits.read_only,
        "destructiveHint": traits.destructive,
        "idempotentHint": traits.idempotent,
        "openWorldHint": traits.open_world,
    }
    return {name: value for name, value in hints.items() if value is not None}

"""From pydantic's errors to problems with a message and a hint for users."""

from collections.abc import Mapping

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from permitry.conditions.keys import CONDITIONS, condition
from permitry.conditions.written import Words, bare_type
from permitry.config.diagnostics import SourceText, nearest
from permitry.config.locate import KeyPath
from permitry.config.schema import BudgetTable, FullExampleTable, Header, PolicyTable, RuleFile, WhenTable
from permitry.errors import Problem

__all__ = ["problems_of", "type_problem"]

_WANTED = {
    "string_type": "a string",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
}
_HAVE = {str: "a string", bool: "true or false", int: "a number", float: "a fraction", list: "a list", dict: "a table"}
_HINTS = {
    "true or false": "write `true` or `false`, without quotes",
    "budget": 'write `budget = { calls = 5, per = "1h" }`',
    "roles": 'write `roles.path = "read_path"`',
    "args": "write `when.args.NAME = …`",
    "text": 'write `when.text = { contains = "…" }`',
    "a string": "put it in quotes",
    "a whole number": "leave it out to get the effect's default",
    "a list": "write a list: `[…]`",
    "a table": "write a table",
    "when": 'write `when.mode = "plan"`',
    "match": "an example is a tool name, or a table with `tool` and conditions",
    "no_match": "an example is a tool name, or a table with `tool` and conditions",
    "rule": "write `[[rule]]` with two brackets, once for each rule",
    "template": "write `[template.NAME]`",
    "list": "write `[list.NAME]` with `values = [...]`",
    "policy": "write `[policy]`",
    "program": "write `[program.NAME]`",
}
_READABLE = 1_000_000
_EITHER = tuple(key for key in CONDITIONS if bare_type(condition(key).table)[0] == Words)
_ANY = 'the patterns of one key are alternatives: `path = ["a", "b"]`; else write one rule for each'
_ALL = "all keys of `when` must hold: write them side by side"
_JOINTS = {
    **dict.fromkeys(("or", "any", "any_of", "anyOf", "one_of"), _ANY),
    **dict.fromkeys(("and", "all", "all_of", "allOf"), _ALL),
    **dict.fromkeys(("not", "none", "except"), "write what is excepted under `unless`, next to `when`"),
}
_MISSING = {
    "schema": "begin the file with `schema = 1`",
    "id": 'give the rule a stable name, such as `id = "no-secrets"`',
    "effect": "choose `allow`, `confirm` or `block`",
    "values": 'write `values = ["a", "b"]`, or `values = []` where the host fills the list',
    "tool": "an example is a tool name, or a table with `tool` and conditions",
}
# Keys of other programs' rules, and those that were renamed, in a file or a rule.
_ELSEWHERE: Mapping[str, str] = {
    **dict.fromkeys(("taint", "taints", "add_label", "set_label", "labels"), "permitry says `adds_label`"),
    **dict.fromkeys(("decision", "action", "permission", "verdict"), "permitry says `effect`"),
    **dict.fromkeys(("toolName", "tool_name", "matcher"), 'write `tools = ["NAME"]`'),
    "allow": 'write a rule with `effect = "allow"` for each',
    "ask": 'write a rule with `effect = "confirm"` for each',
    "deny": 'write a rule with `effect = "block"` for each',
    "permissions": "write a `[[rule]]` with an `effect` for each",
    "mcpName": 'write `tools = ["mcp:NAME/*"]`',
    "commandPrefix": 'write `when.command = "PREFIX *"`',
    "commandRegex": "write `when.command`; its patterns are made of words",
    "argsPattern": "name the argument: `when.args.NAME = { regex = … }`",
    "modes": "write `when.mode`",
}
_NESTED: Mapping[str, type[BaseModel]] = {
    "when": WhenTable, "unless": WhenTable, "budget": BudgetTable, "match": FullExampleTable,
    "no_match": FullExampleTable, "policy": PolicyTable,
}  # fmt: skip


def problems_of(source: SourceText, path: KeyPath, error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """Return one problem per mistake in the table at `path`, which was checked against `model`."""
    return [_problem(source, path, details, model) for details in error.errors(include_url=False)]


def type_problem(source: SourceText, path: KeyPath, wanted: str, value: object) -> Problem:
    """Return the problem of a value that has the wrong type."""
    words = [part for part in path if isinstance(part, str)]
    name, have = words[-1], _HAVE.get(type(value), "a date or time")
    if isinstance(path[-1], int):
        message = f"`{name}` holds {have}; it must be a list of {wanted.removeprefix('a ')}s"
    else:
        message = f"`{name}` must be {wanted}, not {have}"
    return source.problem(path, message, _type_hint(words, wanted, value))


def _problem(source: SourceText, path: KeyPath, details: ErrorDetails, model: type[BaseModel]) -> Problem:
    where = source.as_written((*path, *details["loc"]))
    kind, value = details["type"], details["input"]
    if kind == "permitry":
        context = details["ctx"]
        return source.problem(where, context["message"], context["hint"])
    if kind == "missing":
        name = str(where[-1])
        return source.problem(where[:-1], f"missing key `{name}`", _MISSING.get(name, ""), key=True)
    if kind == "extra_forbidden":
        return _unknown_key(source, where, details["loc"], model)
    if kind == "literal_error":
        return source.problem(where, *_about_literal(str(where[-1]), value, details["ctx"]["expected"]))
    if kind in _WANTED:
        wanted = _WANTED[kind]
        if wanted == "a list" and where[-1] in _EITHER and _is_group(where[:-1]):
            wanted = "a string or a list of strings"
        return type_problem(source, where, wanted, value)
    return _out_of_range(source, where, value, details.get("ctx", {}))


def _about_literal(name: str, value: object, expected: str) -> tuple[str, str]:
    """Return what is wrong with a value that is none of the words expected, and the way out."""
    if expected in ("True", "False"):
        return f"`{name}` can only be `{expected.lower()}`", "take it out"
    known = expected.replace("'", "`")
    return f"unknown word `{value}` for `{name}`", f"choose {known}"


def _is_group(path: KeyPath) -> bool:
    return path[-1:] == ("when",) or "unless" in path[-2:]


def _unknown_key(source: SourceText, where: KeyPath, loc: tuple[int | str, ...], model: type[BaseModel]) -> Problem:
    table = next((_NESTED[part] for part in reversed(loc[:-1]) if part in _NESTED), model)  # type: ignore[index]  # a str by then
    known = [field.alias or name for name, field in (RuleFile if table is Header else table).model_fields.items()]
    name = str(where[-1])
    hint = _ELSEWHERE.get(name, "") if {"effect", "rule"} & {*known} else ""
    hint = hint or (_JOINTS.get(name, "") if table is WhenTable else "")
    is_condition = "when" in known and name in WhenTable.model_fields
    hint = hint or (f"write `when.{name}`" if is_condition else nearest(name, known))
    return source.problem(where, f"unknown key `{name}`", hint, key=True)


def _out_of_range(source: SourceText, where: KeyPath, value: object, limits: Mapping[str, object]) -> Problem:
    shown = f" is {value}," if type(value) is int and abs(value) < _READABLE else " is"
    if where[-1] != "priority":
        limit = f"at least {limits['ge']}" if "ge" in limits else f"at most {limits.get('le')}"
        return source.problem(where, f"`{where[-1]}`{shown} out of range", f"write a whole number of {limit}")
    return source.problem(where, f"`{where[-1]}`{shown} outside 0 to 399", _HINTS["a whole number"])


def _type_hint(words: list[str], wanted: str, value: object) -> str:
    name = words[-1]
    if wanted == "a table" and words[-2:-1] in (["template"], ["tool"], ["list"], ["program"]):
        return f"write `[{words[-2]}.{name}]`"
    if wanted == "a list" and isinstance(value, str):
        return f'write `{name} = ["{value}"]`'
    if wanted == "a whole number" and isinstance(value, str):
        return "write the number without quotes"
    return _HINTS.get(name) or _HINTS.get(wanted) or _HINTS["a string"]

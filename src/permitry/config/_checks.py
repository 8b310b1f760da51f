"""Checks of the values in a rule file beyond their types; every mistake comes with a hint how to correct it."""

import json
import math
import re
from collections.abc import Callable
from enum import Enum
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict, ValidationInfo
from pydantic_core import PydanticCustomError

from permitry.conditions.tools import name_problem, own_name, selector_problem
from permitry.config.diagnostics import nearest
from permitry.core.decision import Verdict
from permitry.core.spec import ArgumentRole
from permitry.rules import BUILT_IN_RULES
from permitry.rules.exclusive_template import ExclusiveTemplateRule

__all__ = [
    "FindProblem",
    "StrictTable",
    "as_example",
    "check_duration",
    "check_effect",
    "check_example",
    "check_field",
    "check_folder",
    "check_id",
    "check_name",
    "check_pattern",
    "check_roles",
    "check_selector",
    "check_selectors",
    "check_traits",
    "check_value",
    "check_version",
    "check_with",
    "flat_roles",
    "listed",
    "not_blank",
    "not_blank_word",
    "not_empty",
    "tool_name_problem",
    "unknown_word_of",
    "without_repeats",
]

FindProblem: TypeAlias = Callable[[str], tuple[str, str] | None]
"""Returns message and hint for an invalid value, None for others."""

_READABLE = 1_000_000


class StrictTable(BaseModel):
    """A table of a rule file: each key is known, and its value has exactly the type of the key."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=False, defer_build=True)

    def given(self) -> dict[str, Any]:
        """Return the values of the keys that are given."""
        return {key: value for key, value in self if value is not None}


_KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_DURATION = re.compile(r"([1-9][0-9]{0,6})(s|m|h|d)")
_TRAITS = ("destructive", "idempotent", "open_world", "read_only", "spawns_agent")
_ROLE_KEY = re.compile(r"[^\s.|?\[\]]+(\[\])?(\.[^\s.|?\[\]]+(\[\])?)*\??")
_FIELD = re.compile(r"[^\s#@.*]+(\.[^\s#@.*]+)*|\*")
_BUILT_IN_IDS = frozenset({*(rule.id for rule in BUILT_IN_RULES), ExclusiveTemplateRule.id})
_EFFECTS = [verdict.value for verdict in Verdict]
_SYNONYMS = {
    "deny": "block", "forbid": "block", "reject": "block", "ask": "confirm", "prompt": "confirm",
    "ask_user": "confirm", "permit": "allow", "approve": "allow",
}  # fmt: skip


def _refuse(message: str, hint: str) -> PydanticCustomError:
    return PydanticCustomError("permitry", "{message}", {"message": message, "hint": hint})


def check_with(problem: FindProblem) -> Callable[[str], str]:
    """Return a validator that refuses what has a problem."""

    def checked(value: str) -> str:
        found = problem(value)
        if found is not None:
            raise _refuse(*found)
        return value

    return checked


check_name = check_with(name_problem)
_check_selector = check_with(selector_problem)


def check_selector(value: str) -> str:
    # A name of another program's way is checked with the rest of its list.
    return _check_selector(value) if own_name(value) is None else value


def check_selectors(value: list[str] | None) -> list[str] | None:
    """Refuse `mcp__server__tool`, which no call with a server has, unless `mcp:server/tool` is listed with it."""
    if value is None:
        return None
    for word in value:
        if own_name(word) not in value:
            _check_selector(word)
    return not_empty(value)


def unknown_word_of(words: type[Enum]) -> FindProblem:
    """Return a function that returns message and hint for a word that is not in an enumeration."""
    known = [each.value for each in words]

    def problem(value: str) -> tuple[str, str] | None:
        if value in known:
            return None
        hint = nearest(value, known, otherwise=f"known: {', '.join(known)}")
        return f"unknown {words.__name__.lower()} `{value}`", hint

    return problem


def check_version(value: object) -> object:
    if type(value) is not int:
        raise _refuse("`schema` must be the number 1", "write `schema = 1`")
    if value != 1:
        shown = value if abs(value) < _READABLE else "too large"
        raise _refuse(f"`schema` is {shown}; this version reads 1", "write `schema = 1`")
    return value


def check_id(value: str) -> str:
    if not _KEBAB.fullmatch(value):
        near = re.sub(r"[^a-z0-9]+", "-", value.lower()).strip("-")
        is_free = near and near not in _BUILT_IN_IDS
        hint = f"write `{near}`" if is_free else "use lower-case words joined by hyphens, such as `no-secrets`"
        raise _refuse(f"the id `{value}` is not kebab-case", hint)
    if value in _BUILT_IN_IDS:
        hint = "choose another id; built-in rules stay as they are"
        raise _refuse(f"the id `{value}` belongs to a built-in rule", hint)
    return value


def check_effect(value: object) -> object:
    choice = "choose `allow`, `confirm` or `block`"
    if not isinstance(value, str):
        raise _refuse("`effect` must be a string", choice)
    if value not in _EFFECTS:
        meant = _SYNONYMS.get(value.lower())
        hint = f"permitry says `{meant}`" if meant else nearest(value.lower(), _EFFECTS, otherwise=choice)
        raise _refuse(f"unknown effect `{value}`", hint)
    return value


def tool_name_problem(name: str) -> tuple[str, str] | None:
    """Return message and hint when `name` cannot be the name of one tool, or None."""
    if not name.strip():
        return "the name of the tool is empty", "an example names one tool"
    if "*" in name or "?" in name or name.startswith("@"):
        return f"the example `{name}` is a pattern", "name one tool the pattern means"
    if "://" in name:
        hint = f"an example with an address is `{{ host = {json.dumps(name)} }}`"
        return f"`{name}` is an address, not the name of a tool", hint
    return name_problem(name)


check_example = check_with(tool_name_problem)


def check_pattern(value: str) -> str:
    if value.startswith("@"):
        raise _refuse(f"a template lists names, not the trait selector `{value}`", "name the tools")
    return check_name(value)


def not_empty(value: list[str]) -> list[str]:
    if not value:
        raise _refuse("an empty list selects nothing", "name at least one, or leave the key out")
    return without_repeats(value)


def without_repeats(value: list[str]) -> list[str]:
    seen: set[str] = set()
    for item in value:
        if item in seen:
            raise _refuse(f"`{item}` is listed twice", "remove one of the two")
        seen.add(item)
    return value


def not_blank(value: str) -> str:
    if not value.strip():
        raise _refuse("the text is empty", "write a sentence, or leave the key out")
    return value


def not_blank_word(value: str) -> str:
    if not value.strip():
        raise _refuse("the word is empty", "write a name, or take it out")
    if value != value.strip() or not value.isprintable():
        raise _refuse(f"`{value}` holds blanks at an end or invisible characters", "remove them")
    return value


def listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


def as_example(value: object) -> object:
    if isinstance(value, dict) and "text" in value:
        hint = "write the plain string alone, or name what it is: `command`, `path`, `tool`"
        raise _refuse("unknown key `text`", hint)
    return {"text": value} if isinstance(value, str) else value


def check_duration(value: str) -> str:
    if not _DURATION.fullmatch(value):
        raise _refuse(f"`{value[:40]}` is not a duration", 'write a number and s, m, h or d, such as "90s" or "1h"')
    return value


def check_field(value: str) -> str:
    if not _FIELD.fullmatch(value):
        raise _refuse(f"`{value}` is not a field of a result", "write names joined by dots, or `*` for all")
    return value


def check_folder(value: str, info: ValidationInfo) -> str:
    names = value.split("/")
    if not value or not value.isprintable() or ".." in names or (value.startswith("~") and names[0] != "~"):
        hint = "write one from `/` or `~/`, one relative to the workspace, or `.` for the workspace"
        raise _refuse(f"`{value}` does not name a folder", hint)
    if info.data.get("roles") == {}:
        hint = 'say what its paths are, as in `roles.path = "read_path"`'
        raise _refuse("a tool without `roles` touches nothing", hint)
    return value


def check_traits(value: list[str]) -> list[str]:
    for trait in value:
        if trait not in _TRAITS:
            raise _refuse(f"unknown trait `{trait}`", nearest(trait, _TRAITS, otherwise=f"known: {', '.join(_TRAITS)}"))
    return without_repeats(value)


def check_value(value: object) -> object:
    is_number = type(value) in (int, float) and isinstance(value, int | float) and math.isfinite(value)
    if not (is_number or isinstance(value, str)):
        raise _refuse("a value of a list is a text or a number", 'write `values = ["a", "b"]`')
    return value


def flat_roles(value: object) -> object:
    """Return the roles with the dots of nested tables as part of their names."""
    if not isinstance(value, dict):
        return value
    flat: dict[str, object] = {}
    for key, inner in value.items():
        nested = flat_roles(inner)
        flat |= {f"{key}.{name}": role for name, role in nested.items()} if isinstance(nested, dict) else {key: nested}
    return flat


_PATHS = "say what happens to it: `read_path`, `write_path` or `delete_path`"
_TREES = (
    "say what happens to it: `read_tree`, `list_tree` or `write_path`; `folder` is where the rest of the call happens"
)
_MEANT_ROLES = {
    **dict.fromkeys(("path", "paths", "file", "files", "filename", "filepath", "file_path"), _PATHS),
    **dict.fromkeys(("dir", "directory", "dir_path"), _TREES),
    **dict.fromkeys(("host", "hosts", "address", "domain", "uri"), "did you mean `url`?"),
    **dict.fromkeys(("shell", "bash", "cmd", "script"), "did you mean `command`?"),
    **dict.fromkeys(("args", "list"), "did you mean `argv`?"),
}


def check_roles(value: dict[str, str]) -> dict[str, str]:
    known = [role.value for role in ArgumentRole]
    for key, role in value.items():
        if role not in known:
            hint = _MEANT_ROLES.get(role) or nearest(role, known, otherwise=f"known: {', '.join(known)}")
            raise _refuse(f"unknown role `{role}` of the argument `{key}`", hint)
        if not all(_ROLE_KEY.fullmatch(name) for name in key.split("|")):
            hint = (
                "write a name, `a.b` for nested ones, `items[].path` inside lists, `a|b` for either, `a?` if optional"
            )
            raise _refuse(f"`{key}` names no argument", hint)
    return value

"""The shape of a rule file. What the JSON Schema says and what the loader accepts come from these models."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, WithJsonSchema
from pydantic_core import PydanticCustomError

from permitry.config.diagnostics import nearest
from permitry.core.action import Access
from permitry.core.context import misspelt_mode
from permitry.core.decision import Verdict
from permitry.core.spec import ArgumentRole
from permitry.rules import BUILT_IN_RULES
from permitry.rules.conditions.tools import TRAIT_SELECTORS
from permitry.rules.exclusive_template import ExclusiveTemplateRule

__all__ = [
    "BudgetTable",
    "ExampleTable",
    "Header",
    "RuleFile",
    "RuleTable",
    "TemplateTable",
    "ToolTable",
    "WhenTable",
    "rule_file_schema",
    "tool_name_problem",
]

_LONGEST_NAME = 256
_READABLE = 1_000_000
_KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_TOOL_DIGEST = re.compile(r"[0-9a-f]{16,64}")
_DURATION = re.compile(r"([1-9][0-9]{0,6})(s|m|h|d)")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_TRAITS = ("destructive", "idempotent", "open_world", "read_only", "spawns_agent")
_ROLE_KEY = re.compile(r"[^\s.|?\[\]]+(\[\])?(\.[^\s.|?\[\]]+(\[\])?)*\??")
_BUILT_IN_IDS = frozenset({*(rule.id for rule in BUILT_IN_RULES), ExclusiveTemplateRule.id})
_SYNONYMS = {
    "deny": "block", "forbid": "block", "reject": "block", "ask": "confirm", "prompt": "confirm",
    "ask_user": "confirm", "permit": "allow", "approve": "allow",
}  # fmt: skip


def _refuse(message: str, hint: str) -> PydanticCustomError:
    return PydanticCustomError("permitry", "{message}", {"message": message, "hint": hint})


def _checked_version(value: object) -> object:
    if type(value) is not int:
        raise _refuse("`schema` must be the number 1", "write `schema = 1`")
    if value != 1:
        shown = value if abs(value) < _READABLE else "too large"
        raise _refuse(f"`schema` is {shown}; this version reads 1", "write `schema = 1`")
    return value


def _checked_id(value: str) -> str:
    if not _KEBAB.fullmatch(value):
        near = re.sub(r"[^a-z0-9]+", "-", value.lower()).strip("-")
        is_free = near and near not in _BUILT_IN_IDS
        hint = f"write `{near}`" if is_free else "use lower-case words joined by hyphens, such as `no-secrets`"
        raise _refuse(f"the id `{value}` is not kebab-case", hint)
    if value in _BUILT_IN_IDS:
        raise _refuse(
            f"the id `{value}` belongs to a built-in rule", "choose another id; built-in rules stay as they are"
        )
    return value


def _checked_effect(value: object) -> object:
    effects = [verdict.value for verdict in Verdict]
    choice = "choose `allow`, `confirm` or `block`"
    if not isinstance(value, str):
        raise _refuse("`effect` must be a string", choice)
    if value not in effects:
        meant = _SYNONYMS.get(value.lower())
        hint = f"permitry says `{meant}`" if meant else nearest(value.lower(), effects, otherwise=choice)
        raise _refuse(f"unknown effect `{value}`", hint)
    return value


def _checked_name(value: str) -> str:
    if not value.strip():
        raise _refuse("a tool name is empty", 'name a tool, or write "*" for every tool')
    if value != value.strip() or not value.isprintable():
        raise _refuse(f"the tool name `{value}` holds blanks at an end or invisible characters", "remove them")
    if set(value) & set("[]{}"):
        raise _refuse(
            f"the pattern `{value}` uses brackets or braces", "patterns know only `*` and `?`; list the names"
        )
    if set(value) & set("()^$|\\ ") or value.startswith("re:"):
        hint = "permitry judges by the name of the tool; `*` and `?` stand for characters of it"
        raise _refuse(f"`{value}` is not the name of a tool", hint)
    if value.startswith("mcp__"):
        server, _, tool = value.removeprefix("mcp__").partition("__")
        raise _refuse(f"`{value}` is another program's way to name a tool", f"write `mcp:{server}/{tool or '*'}`")
    if len(value) > _LONGEST_NAME:
        raise _refuse(f"a tool name is longer than {_LONGEST_NAME} characters", "no tool has such a name")
    server, _, tool = value.removeprefix("mcp:").partition("/")
    if value.startswith("mcp:") and not (server and tool):
        lacking = "a tool but no server" if tool else "a server but no tool" if server else "neither server nor tool"
        raise _refuse(f"`{value}` names {lacking}", "write `mcp:server/tool`, or `mcp:server/*` for all")
    return value


def _checked_example(value: str) -> str:
    if not value.strip():
        raise _refuse("the name of the tool is empty", "an example names one tool")
    if "*" in value or "?" in value or value.startswith("@"):
        raise _refuse(f"the example `{value}` is a pattern", "name one tool the pattern means")
    return _checked_name(value)


def tool_name_problem(name: str) -> tuple[str, str] | None:
    """Return message and hint when `name` cannot be the name of one tool, or None."""
    try:
        _checked_example(name)
    except PydanticCustomError as error:
        told = error.context or {}
        return told["message"], told["hint"]
    return None


def _checked_selector(value: str) -> str:
    if value.startswith("@") and value not in TRAIT_SELECTORS:
        hint = nearest(value, TRAIT_SELECTORS, otherwise=f"known: {', '.join(TRAIT_SELECTORS)}")
        raise _refuse(f"unknown trait selector `{value}`", hint)
    return _checked_name(value)


def _checked_pattern(value: str) -> str:
    if value.startswith("@"):
        raise _refuse(f"a template lists names, not the trait selector `{value}`", "name the tools")
    return _checked_name(value)


def _not_empty(value: list[str]) -> list[str]:
    if not value:
        raise _refuse("an empty list selects nothing", "name at least one, or leave the key out")
    return _without_repeats(value)


def _without_repeats(value: list[str]) -> list[str]:
    seen: set[str] = set()
    for item in value:
        if item in seen:
            raise _refuse(f"`{item}` is listed twice", "remove one of the two")
        seen.add(item)
    return value


def _not_empty_if_given(value: list[str] | None) -> list[str] | None:
    return None if value is None else _not_empty(value)


def _not_blank(value: str) -> str:
    if not value.strip():
        raise _refuse("the text is empty", "write a sentence, or leave the key out")
    return value


def _not_blank_word(value: str) -> str:
    if not value.strip():
        raise _refuse("the word is empty", "write a name, or take it out")
    if value != value.strip() or not value.isprintable():
        raise _refuse(f"`{value}` holds blanks at an end or invisible characters", "remove them")
    return value


def _checked_mode(value: str) -> str:
    if misspelt := misspelt_mode(value):
        raise _refuse(f"unknown mode `{value}`", f"did you mean `{misspelt}`?")
    return value


def _checked_label(value: str) -> str:
    if not _KEBAB.fullmatch(value):
        raise _refuse(f"the label `{value}` is not kebab-case", "use lower-case words joined by hyphens")
    return value


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _as_example(value: object) -> object:
    if isinstance(value, dict) and "text" in value:
        raise _refuse(
            "unknown key `text`", "write the plain string alone, or name what it is: `command`, `path`, `tool`"
        )
    return {"text": value} if isinstance(value, str) else value


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=False)


_Text = Annotated[str, AfterValidator(_not_blank)]
_Word = Annotated[str, AfterValidator(_not_blank_word)]
_Words = Annotated[
    list[_Word],
    BeforeValidator(_listed),
    AfterValidator(_not_empty),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}),
]


_Modes = Annotated[_Words, AfterValidator(lambda words: [_checked_mode(word) for word in words])]


def _checked_digest(value: str) -> str:
    if not _DIGEST.fullmatch(value):
        raise _refuse(
            f"`{value[:80]}` is no digest", "a digest has 64 hexadecimal digits; `permitry explain --json` shows it"
        )
    return value


def _checked_tool_digest(value: str) -> str:
    if not _TOOL_DIGEST.fullmatch(value):
        raise _refuse(
            f"`{value[:80]}` is no digest of a tool",
            "write its 64 hexadecimal digits, or the first 16 or more; `ToolSpec.digest` holds them",
        )
    return value


_Labels = Annotated[_Words, AfterValidator(lambda words: [_checked_label(word) for word in words])]
_Digests = Annotated[_Words, AfterValidator(lambda words: [_checked_digest(word) for word in words])]
_ToolDigests = Annotated[_Words, AfterValidator(lambda words: [_checked_tool_digest(word) for word in words])]


def _checked_access(value: str) -> str:
    known = [access.value for access in Access]
    if value not in known:
        raise _refuse(f"unknown access `{value}`", nearest(value, known, otherwise=f"known: {', '.join(known)}"))
    return value


_Accesses = Annotated[_Words, AfterValidator(lambda words: [_checked_access(word) for word in words])]


class WhenTable(_Table):
    """Conditions beside the tool name; all that are given must hold."""

    mode: _Modes | None = Field(None, description="The session's mode: plan, yolo, default, or a word of the host.")
    agent: _Words | None = Field(None, description="The agent that calls; `*` and `?` are wildcards.")
    template: _Words | None = Field(None, description="The active template, or one it extends.")
    server: _Words | None = Field(None, description="The MCP server of the tool; `*` and `?` are wildcards.")
    label: _Labels | None = Field(None, description="A label that an earlier call left on the session.")
    digest: _Digests | None = Field(None, description="The digest of the very call, in hex.")
    repeat: int | None = Field(None, ge=2, le=1_000_000, description="The same call, for this many times or more.")
    repaired: bool | None = Field(None, description="Whether the text of the call had to be repaired to be read.")
    tool_digest: _ToolDigests | None = Field(
        None, description="The digest of the tool's own declaration, in hex, or its first 16 digits or more."
    )
    command: _Words | None = Field(None, description="Programs and their arguments: `git log *`.")
    path: _Words | None = Field(None, description="Paths that are read, written or deleted: `src/**`, `~/.ssh/**`.")
    access: _Accesses | None = Field(
        None, description="What happens to a path of `path`: read, write, delete; left out, any of them."
    )
    host: _Words | None = Field(None, description="Addresses: `[scheme://]host[:port]`, `*.example.com`, `private`.")
    args: dict[str, Any] | None = Field(
        None, description="Arguments by name: a value to equal, or a table of operators such as `{ le = 100 }`."
    )


class ExampleTable(_Table):
    """A call for `match` and `no_match`; a condition that is not given is taken to hold."""

    tool: Annotated[str, AfterValidator(_checked_example)] | None = None
    command: _Text | None = None
    path: _Text | None = None
    host: _Text | None = None
    args: dict[str, Any] | None = None
    mode: Annotated[_Word, AfterValidator(_checked_mode)] | None = None
    agent: _Word | None = None
    template: _Word | None = None
    label: _Word | None = None
    text: str | None = Field(None, description="Only for an example that is a plain string.", exclude=True)


def _checked_duration(value: str) -> str:
    if not _DURATION.fullmatch(value):
        raise _refuse(f"`{value[:40]}` is no time", 'write a number and s, m, h or d, such as "90s" or "1h"')
    return value


class BudgetTable(_Table):
    """How much a rule lets happen: so many calls, or so many distinct targets, in a window of time."""

    calls: int | None = Field(None, ge=1, le=1_000_000, description="How many calls are free.")
    targets: int | None = Field(None, ge=1, le=1_000_000, description="How many distinct paths, hosts or agents.")
    per: Annotated[str, AfterValidator(_checked_duration)] | None = Field(
        None, description='The window: "90s", "10m", "1h", "1d". Left out: the whole session.'
    )
    by: Literal["session", "agent", "tool"] = Field("session", description="Whose calls are counted.")

    @property
    def seconds(self) -> float | None:
        """The length of the window, None for the whole session."""
        return None if self.per is None else float(self.per[:-1]) * _SECONDS[self.per[-1]]


_Examples = list[
    Annotated[
        ExampleTable,
        BeforeValidator(_as_example),
        WithJsonSchema({"anyOf": [{"type": "string"}, ExampleTable.model_json_schema()]}),
    ]
]


# What an editor can already say while a rule is being written; the loader says it all.
_ID_SCHEMA = {"type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$"}
_NAMES_SCHEMA = {
    "type": "array",
    "items": {"type": "string", "minLength": 1, "pattern": "^[^\\[\\]{}()^$|\\\\ ]+$"},
    "minItems": 1,
    "uniqueItems": True,
}
_RULE_SCHEMA: dict[str, JsonValue] = {
    "allOf": [
        {"anyOf": [{"required": ["tools"]}, {"required": ["when"]}]},
        {"anyOf": [{"required": ["effect"]}, {"required": ["taint"]}]},
    ],
    "if": {"properties": {"effect": {"const": "allow"}}, "required": ["effect"]},
    "then": {
        "anyOf": [
            {"required": ["tools"]},
            {
                "required": ["when"],
                "properties": {"when": {"anyOf": [{"required": [name]} for name in ("command", "path", "host")]}},
            },
        ],
        "properties": {"priority": {"anyOf": [{"maximum": 99}, {"minimum": 200}]}},
    },
    "else": {"properties": {"priority": {"minimum": 100, "maximum": 199}}},
}


class RuleTable(_Table):
    """One `[[rule]]`."""

    model_config = ConfigDict(json_schema_extra=_RULE_SCHEMA)

    id: Annotated[str, AfterValidator(_checked_id), WithJsonSchema(_ID_SCHEMA)] = Field(
        description="Kebab-case, unique, stable for ever."
    )
    effect: Annotated[Literal["allow", "confirm", "block"], BeforeValidator(_checked_effect)] | None = Field(
        None, description="What a match leads to; left out only by a rule with `taint`, which then only labels."
    )
    priority: int | None = Field(
        None, ge=0, le=399, description="block and confirm: 100 to 199; allow: 200 to 399. Defaults 150, 160, 250."
    )
    tools: Annotated[
        list[Annotated[str, AfterValidator(_checked_selector)]] | None,
        AfterValidator(_not_empty_if_given),
        WithJsonSchema(_NAMES_SCHEMA),
    ] = Field(
        None,
        description='Names, globs, "mcp:server/tool", @reads, @writes, @shell, @network, @agent. Left out: every tool.',
    )
    reason: _Text | None = Field(None, description="Why, for the operator.")
    message: _Text | None = Field(None, description="What the model is told.")
    when: WhenTable | None = Field(None, description="Conditions beside the tool name.")
    unless: WhenTable | None = Field(None, description="Conditions under which the rule does not apply after all.")
    budget: BudgetTable | None = Field(None, description="How much is free before a restriction applies.")
    taint: Annotated[str, AfterValidator(_checked_label)] | None = Field(
        None, description="A label for the session once such a call has run."
    )
    match: _Examples = Field(default_factory=list, description="Calls the rule must match; checked at load.")
    no_match: _Examples = Field(default_factory=list, description="Calls the rule must not match; checked at load.")


class TemplateTable(_Table):
    """One `[template.NAME]`."""

    description: str = Field("", description="What the template is for.")
    exclusive: bool = Field(False, description="Whether every other tool is blocked while it is active.")
    extends: Annotated[list[_Word], AfterValidator(_without_repeats)] = Field(
        default_factory=list, description="Templates whose tools it takes over."
    )
    allow_tools: Annotated[list[Annotated[str, AfterValidator(_checked_pattern)]], AfterValidator(_without_repeats)] = (
        Field(default_factory=list, description="Names or globs of tools that need no confirmation while it is active.")
    )


def _checked_traits(value: list[str]) -> list[str]:
    for trait in value:
        if trait not in _TRAITS:
            raise _refuse(f"unknown trait `{trait}`", nearest(trait, _TRAITS, otherwise=f"known: {', '.join(_TRAITS)}"))
    return _without_repeats(value)


def _flat_roles(value: object) -> object:
    """Return the roles with the dots of nested tables as part of their names."""
    if not isinstance(value, dict):
        return value
    flat: dict[str, object] = {}
    for key, inner in value.items():
        nested = _flat_roles(inner)
        flat |= {f"{key}.{name}": role for name, role in nested.items()} if isinstance(nested, dict) else {key: nested}
    return flat


def _checked_roles(value: dict[str, str]) -> dict[str, str]:
    known = [role.value for role in ArgumentRole]
    for key, role in value.items():
        if role not in known:
            hint = nearest(role, known, otherwise=f"known: {', '.join(known)}")
            raise _refuse(f"unknown role `{role}` of the argument `{key}`", hint)
        if not all(_ROLE_KEY.fullmatch(name) for name in key.split("|")):
            hint = (
                "write a name, `a.b` for nested ones, `items[].path` inside lists, `a|b` for either, `a?` if optional"
            )
            raise _refuse(f"`{key}` names no argument", hint)
    return value


class ToolTable(_Table):
    """One `[tool.NAME]`: what a tool is that no registry here knows."""

    description: str = Field("", description="What the tool does.")
    traits: Annotated[list[str] | None, AfterValidator(lambda value: value and _checked_traits(value))] = Field(
        None,
        description="What is true of it: read_only, destructive, idempotent, open_world, spawns_agent. What is not "
        "listed is not so. Left out: unknown, which counts as the worst.",
    )
    roles: Annotated[dict[str, str], BeforeValidator(_flat_roles), AfterValidator(_checked_roles)] = Field(
        default_factory=dict, description="What its arguments are; one that is not listed touches nothing."
    )


class Header(_Table):
    """The keys of a rule file outside its tables."""

    schema_: Annotated[Literal[1], BeforeValidator(_checked_version)] = Field(
        alias="schema", description="The version of this format: 1."
    )
    description: str = Field("", description="What the rule set is for.")
    extends: Annotated[list[_Word], AfterValidator(_without_repeats)] = Field(
        default_factory=list, description='Shipped sets ("permitry:base") and files relative to this one.'
    )


class RuleFile(Header):
    """A permitry rule file."""

    template: dict[str, TemplateTable] = Field(default_factory=dict, description="Named lists of tools.")
    tool: dict[str, ToolTable] = Field(default_factory=dict, description="Tools that no registry here knows.")
    rule: list[RuleTable] = Field(default_factory=list, description="The rules.")


def rule_file_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a rule file."""
    schema = _without_null(RuleFile.model_json_schema(by_alias=True))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "permitry rule file"}


def _without_null(node: Any) -> Any:  # noqa: ANN401 -- any part of a JSON Schema
    """Return a schema that leaves out `null`, which TOML does not have, and pydantic's made-up titles."""
    if isinstance(node, list):
        return [_without_null(item) for item in node if item != {"type": "null"}]
    if not isinstance(node, dict):
        return node
    kept = {key: _without_null(value) for key, value in node.items() if not (key == "default" and value is None)}
    if isinstance(kept.get("title"), str):
        del kept["title"]
    match kept.get("anyOf"):
        case [dict() as only]:
            del kept["anyOf"]
            return {**only, **kept}
    return kept

"""The structure of a rule file. Both the JSON Schema and the loader use these models."""

from collections.abc import Iterator
from enum import Enum
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    GetPydanticSchema,
    JsonValue,
    WithJsonSchema,
    create_model,
)
from pydantic_core import core_schema

from permitry.conditions.keys import CONDITIONS, condition
from permitry.conditions.label import label_problem
from permitry.conditions.written import PlainCondition, Table, Value, Words, bare_type
from permitry.config._checks import (
    StrictTable,
    as_example,
    check_duration,
    check_effect,
    check_example,
    check_field,
    check_folder,
    check_id,
    check_pattern,
    check_roles,
    check_selector,
    check_selectors,
    check_traits,
    check_value,
    check_version,
    check_with,
    flat_roles,
    listed,
    not_blank,
    not_blank_word,
    not_empty,
    unknown_word_of,
    without_repeats,
)
from permitry.config.program_table import ProgramTable

__all__ = [
    "BudgetTable",
    "ExampleTable",
    "Header",
    "ListTable",
    "PolicyTable",
    "RuleFile",
    "RuleTable",
    "TemplateTable",
    "ToolTable",
    "WhenTable",
    "groups_of",
    "rule_file_schema",
]

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}

_Text = Annotated[str, AfterValidator(not_blank)]
_Word = Annotated[str, AfterValidator(not_blank_word)]
_Words = Annotated[
    list[_Word],
    BeforeValidator(listed),
    AfterValidator(not_empty),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}),
]


def _field(table: Table, description: str | None = None) -> Table:
    base, demands = bare_type(table)
    kind: Table = {Words: _Words, str: _Word}.get(base, base)
    for demand in demands:
        kind = Annotated[kind, _demand(base, demand)]
    return kind | None, Field(None, description=description)


def _demand(base: Table, demand: Value) -> object:
    if isinstance(demand, range):
        return Field(ge=demand.start, le=demand.stop - 1)
    is_enumeration = isinstance(demand, type) and issubclass(demand, Enum)
    check = check_with(unknown_word_of(demand) if is_enumeration else demand)
    return AfterValidator((lambda words: list(map(check, words))) if base == Words else check)


WhenTable = create_model(
    "WhenTable",
    __base__=StrictTable,
    __doc__="Conditions in addition to the tool name; all that are given must hold.",
    **{kind.key: _field(kind.table, kind.description) for kind in map(condition, CONDITIONS)},
)


class ExampleTable(StrictTable):
    """A call for `match` and `no_match`; a condition that is not given is taken to hold."""

    tool: Annotated[str, AfterValidator(check_example)] | None = None
    command: _Text | None = None
    path: _Text | None = None
    host: _Text | None = None
    args: dict[str, Any] | None = None
    text: str | None = Field(None, description="Only for an example that is a plain string.", exclude=True)

    @property
    def shown(self) -> str | None:
        """The text that identifies the example in messages."""
        given = (self.text, self.command, self.path, self.host, self.tool)
        return next((text for text in given if text), None)


FullExampleTable = create_model(
    "ExampleTable",
    __base__=ExampleTable,
    __doc__=ExampleTable.__doc__,
    **{
        kind.key: _field(kind.example)
        for kind in map(condition, CONDITIONS)
        if issubclass(kind, PlainCondition) and kind.example is not None
    },
)


def _as(model: type[BaseModel]) -> GetPydanticSchema:
    """Return an annotation that validates a value as a model unknown to type checkers."""
    return GetPydanticSchema(lambda _, handler: handler.generate_schema(model))


_When = Annotated[dict[str, Any], _as(WhenTable), AfterValidator(StrictTable.given)]


class _OneOrMore:
    """An annotation of a list: one element may be written without it."""

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        several = handler(schema)
        return {"anyOf": [several["items"], {**several, "minItems": 1}]}


_Alternatives = Annotated[
    list[_When],
    BeforeValidator(lambda value: value if isinstance(value, list) else [value]),
    _OneOrMore(),
]


class BudgetTable(StrictTable):
    """How much a rule lets happen: so many calls, or so many distinct targets, in a window of time."""

    calls: int | None = Field(None, ge=1, le=1_000_000, description="How many calls are free.")
    targets: int | None = Field(None, ge=1, le=1_000_000, description="How many distinct paths, hosts or agents.")
    per: Annotated[str, AfterValidator(check_duration)] | None = Field(
        None, description='The window: "90s", "10m", "1h", "1d". Left out: the whole session.'
    )
    by: Literal["session", "agent", "tool", "principal", "organisation"] = Field(
        "session",
        description="Whose calls are counted; those of a principal or an organisation in a store, and only with `per`.",
    )

    @property
    def seconds(self) -> float | None:
        """The length of the window, None for the whole session."""
        return None if self.per is None else float(self.per[:-1]) * _SECONDS[self.per[-1]]


class _OrText:
    """An annotation of an example, which may be a plain text."""

    def __get_pydantic_json_schema__(self, *_: object) -> dict[str, Any]:
        return {"anyOf": [{"type": "string"}, FullExampleTable.model_json_schema()]}


_Examples = list[Annotated[ExampleTable, _as(FullExampleTable), BeforeValidator(as_example), _OrText()]]


# The problems that an editor can show while a rule is being written; the loader reports all.
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
        {"anyOf": [{"required": ["effect"]}, {"required": ["adds_label"]}]},
        {"properties": {"when": {"not": {"required": ["tools"]}}}},
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
    "else": {
        "if": {"properties": {"effect": {"const": "confirm"}}, "required": ["effect"]},
        "then": {"properties": {"priority": {"minimum": 100, "maximum": 399}}},
        "else": {"properties": {"priority": {"minimum": 100, "maximum": 199}}},
    },
}


class RuleTable(StrictTable):
    """One `[[rule]]`."""

    model_config = ConfigDict(json_schema_extra=_RULE_SCHEMA)

    id: Annotated[str, AfterValidator(check_id), WithJsonSchema(_ID_SCHEMA)] = Field(
        description="Kebab-case, unique, stable for ever."
    )
    effect: Annotated[Literal["allow", "confirm", "block"], BeforeValidator(check_effect)] | None = Field(
        None, description="What a match leads to; left out only by a rule with `adds_label`, which then only labels."
    )
    priority: int | None = Field(
        None,
        ge=0,
        le=399,
        description=(
            "block: 100 to 199; confirm: 100 to 199 whatever is permitted, 200 to 399 unless a rule before it permits; "
            "allow: 200 to 399. Defaults 150, 160, 250."
        ),
    )
    tools: Annotated[
        list[Annotated[str, AfterValidator(check_selector)]] | None,
        AfterValidator(check_selectors),
        WithJsonSchema(_NAMES_SCHEMA),
    ] = Field(
        None,
        description='Names, globs, "mcp:server/tool", @reads, @writes, @shell, @network, @agent. Left out: every tool.',
    )
    reason: _Text | None = Field(None, description="Why, for the operator.")
    message: _Text | None = Field(None, description="What the model is shown.")
    when: _When | None = Field(None, description="Conditions in addition to the tool name.")
    unless: _Alternatives | None = Field(
        None, description="Conditions under which the rule does not apply after all; of several tables one is enough."
    )
    budget: BudgetTable | None = Field(None, description="How much is free before a restriction applies.")
    keep: Literal[True] | None = Field(
        None, description="Of an `allow` rule: permits only a call whose changes are all known, and are kept first."
    )
    enforce: Literal[False] | None = Field(
        None, description="Whether the rule is obeyed; `false`: it is decided and recorded, and changes nothing."
    )
    runs_any: Literal[True] | None = Field(
        None, description="Of an `allow` rule: permits any command that a program named in `when.command` runs."
    )
    adds_label: Annotated[str, AfterValidator(check_with(label_problem))] | None = Field(
        None, description="A label for the session once such a call has run."
    )
    match: _Examples = Field(default_factory=list, description="Calls the rule must match; checked at load.")
    no_match: _Examples = Field(default_factory=list, description="Calls the rule must not match; checked at load.")


def groups_of(table: RuleTable) -> Iterator[tuple[tuple[str | int, ...], dict[str, Any]]]:
    """Yield the conditions of `when` and of each alternative of `unless`, and where they are in the rule."""
    if table.when is not None:
        yield ("when",), table.when
    yield from ((("unless", number), group) for number, group in enumerate(table.unless or ()))


class TemplateTable(StrictTable):
    """One `[template.NAME]`."""

    description: str = Field("", description="What the template is for.")
    exclusive: bool = Field(False, description="Whether every other tool is blocked while it is active.")
    extends: Annotated[list[_Word], AfterValidator(without_repeats)] = Field(
        default_factory=list, description="Templates whose tools it takes over."
    )
    allow_tools: Annotated[list[Annotated[str, AfterValidator(check_pattern)]], AfterValidator(without_repeats)] = (
        Field(default_factory=list, description="Names or globs of tools that need no confirmation while it is active.")
    )


class ToolTable(StrictTable):
    """One `[tool.NAME]`: what a tool is that no registry here knows."""

    description: str = Field("", description="What the tool does.")
    traits: Annotated[list[str] | None, AfterValidator(lambda value: value and check_traits(value))] = Field(
        None,
        description="What is true of it: read_only, destructive, idempotent, open_world, spawns_agent. What is not "
        "listed is not so. Left out: unknown, which counts as the worst.",
    )
    roles: Annotated[dict[str, str], BeforeValidator(flat_roles), AfterValidator(check_roles)] = Field(
        default_factory=dict, description="What its arguments are; one that is not listed touches nothing."
    )
    folder: Annotated[str, AfterValidator(check_folder)] | None = Field(
        None,
        description="Where relative paths in its arguments start: `/srv/notes`, `~/notes`, or relative to the "
        "workspace, which is `.`. Left out: the workspace; for the tool of a server, not known.",
    )
    trusted_fields: Annotated[list[Annotated[str, AfterValidator(check_field)]], AfterValidator(without_repeats)] = (
        Field(
            default_factory=list,
            description="Fields of its result that only the operator can set, such as `account.iban`; `*` for all.",
        )
    )


class ListTable(StrictTable):
    """One `[list.NAME]`: values that conditions refer to as `@NAME`."""

    values: list[
        Annotated[Any, AfterValidator(check_value), WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number"}]})]
    ] = Field(
        description="Texts or numbers, added to those of the same list in other files; what they mean depends on where "
        "the list is used."
    )


class PolicyTable(StrictTable):
    """The table `[policy]`: what holds for the policy as a whole."""

    unmatched: Literal["confirm", "block"] | None = Field(
        None, description="What happens to a call that no rule matches; of several files the strictest counts."
    )
    enforce: Literal[False] | None = Field(
        None, description="Whether the file is obeyed; `false`: its rules are decided and recorded, and change nothing."
    )


class Header(StrictTable):
    """The keys of a rule file outside its tables."""

    schema_: Annotated[Literal[1], BeforeValidator(check_version)] = Field(
        alias="schema", description="The version of this format: 1."
    )
    description: str = Field("", description="What the rule set is for.")
    extends: Annotated[list[_Word], AfterValidator(without_repeats)] = Field(
        default_factory=list, description='Shipped sets ("permitry:base") and files relative to this one.'
    )
    policy: PolicyTable | None = Field(None, description="What holds for the policy as a whole.")


class RuleFile(Header):
    """A permitry rule file."""

    list_: dict[str, ListTable] = Field(
        default_factory=dict, alias="list", description="Named lists of values, for conditions."
    )
    template: dict[str, TemplateTable] = Field(default_factory=dict, description="Named lists of tools.")
    tool: dict[str, ToolTable] = Field(default_factory=dict, description="Tools that no registry here knows.")
    program: dict[str, ProgramTable] = Field(
        default_factory=dict, description="What is known about programs, by their names."
    )
    rule: list[RuleTable] = Field(default_factory=list, description="The rules.")


def rule_file_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a rule file."""
    schema = _without_null(RuleFile.model_json_schema(by_alias=True))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "permitry rule file"}


def _without_null(node: Any) -> Any:  # noqa: ANN401 -- any part of a JSON Schema
    """Return a schema without `null`, which TOML does not have, and without made-up titles."""
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

"""Loaded rules as plain data that can be stored as JSON; every rule set is made from it, cached or not.

The data is not trusted when it is read: `ValueError` is raised unless every value has the type it
must have, and the constructors of rules apply their own checks as well.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from permitry.actions.programs.records import Record, Records
from permitry.conditions.budget import Budget
from permitry.conditions.keys import CONDITIONS, condition
from permitry.conditions.scope import Scope
from permitry.conditions.written import Table, Value, Words, bare_type
from permitry.config.conditions import scope_of
from permitry.config.lists import ListUses, collect_trusted, lists_of
from permitry.config.ruleset import RuleSet
from permitry.core.decision import Verdict
from permitry.core.names import NamePattern, readings
from permitry.core.spec import ArgumentRole, ToolSpec, ToolTraits
from permitry.core.template import Template
from permitry.rules.configured import ConfiguredRule
from permitry.rules.flow import FlowRule

__all__ = ["BUDGET", "RULE", "Plain", "build_rule_set", "flows_of", "rule_of", "rule_set_of", "tool_of"]

Plain: TypeAlias = Mapping[str, Any]
"""A table of plain data: texts, numbers, booleans, lists and tables."""

_DEFAULT_PRIORITY = {Verdict.BLOCK: 150, Verdict.CONFIRM: 160, Verdict.ALLOW: 250}
_TRAITS = ("idempotent", "open_world", "read_only", "spawns_agent")


def rule_set_of(data: object, tool: str | None = None) -> RuleSet:
    """Return the rule set of plain data, or its part for a `tool`. Raises: `ValueError`."""
    table = _fields(data, _SET)
    names = None if tool is None else readings(tool)
    rules = [_fields(each, RULE) for each in table["rules"] if names is None or _may_select(each, names)]
    for kind, shape in (("templates", _TEMPLATE), ("tools", _TOOL), ("lists", _LIST), ("programs", _PROGRAM)):
        for each in table[kind]:
            _fields(each, shape)
    known = ListUses(lists_of(table["lists"]), trusted=collect_trusted(table["tools"]))
    scopes = [
        scope_of(each["tools"] or (), each["when"], each["unless"], uses=known.of(each), runs_any=each["runs_any"])
        for each in rules
    ]
    made = build_rule_set({**table, "rules": rules}, scopes)
    if table["observed"] is None:
        return made
    return attrs.evolve(made, observed=rule_set_of(table["observed"], tool))


def build_rule_set(data: Plain, scopes: Sequence[Scope]) -> RuleSet:
    """Return the rule set of valid plain data and the scopes of its rules. Raises: `ValueError`."""
    templates: dict[str, Template] = {}
    for each in data["templates"]:
        templates[each["name"]] = _template(each, templates)
    rules = list(zip(data["rules"], scopes, strict=True))
    unmatched = data["unmatched"] or {"verdict": "confirm", "source": None}
    flows = tuple(flow for each, scope in rules for flow in flows_of(each, scope))
    labels = frozenset(flow.label for flow in flows if flow.label is not None)
    return RuleSet(
        rules=tuple(rule_of(each, scope, labels) for each, scope in rules if each["effect"] is not None),
        templates=templates,
        tools={each["name"]: tool_of(each) for each in data["tools"]},
        flows=flows,
        files=tuple(data["files"]),
        links=tuple(data["links"]),
        notices=tuple(data["notices"]),
        unmatched=Verdict(unmatched["verdict"]),
        unmatched_source=unmatched["source"],
        lists=lists_of(data["lists"]),
        records=Records(Record(**each) for each in data["programs"]),
    )


def _may_select(data: object, names: frozenset[str]) -> bool:
    """Return whether a rule may select a tool of these names; others are not even validated."""
    selectors = data.get("tools") if isinstance(data, dict) else None
    if selectors is None or not _are_some_texts(selectors):
        return True
    # A selector for traits depends on more than the name.
    return any(each in names or each.startswith("@") or NamePattern(each).may_mean(names) for each in selectors)


def rule_of(data: Plain, scope: Scope, labels: frozenset[str] = frozenset()) -> ConfiguredRule:
    """Return the rule that data with an effect describes; `labels` are those that rules of the set put on a session."""
    effect = Verdict(data["effect"])
    own = frozenset() if data["adds_label"] is None else frozenset({data["adds_label"]})
    return ConfiguredRule(
        id=data["id"],
        effect=effect,
        priority_number=_DEFAULT_PRIORITY[effect] if data["priority"] is None else data["priority"],
        scope=scope,
        budget=_budget(data["id"], data["budget"]),
        reason=data["reason"] or data["message"] or "",
        message=data["message"],
        source=data["source"],
        labels=(scope.labels & labels if labels else labels) | own,
        keeps=data["keep"],
    )


def flows_of(data: Plain, scope: Scope) -> Iterator[FlowRule]:
    """Yield the side effect of a rule, if it has a label or a budget."""
    if data["adds_label"] is not None or data["budget"] is not None:
        budget = _budget(data["id"], data["budget"])
        counts, limit = budget is not None, None if budget is None else budget.limit
        yield FlowRule(data["id"], scope, data["adds_label"], counts=counts, limit=limit, source=data["source"])


def tool_of(data: Plain) -> ToolSpec:
    """Return the declaration of a tool; traits missing from a given list of traits are false."""
    traits, listed = ToolTraits(), data["traits"]
    if listed is not None:
        given = {trait: trait in listed for trait in _TRAITS}
        # Whether a tool destroys is unknown, unless it is listed as destructive or as read-only.
        destroys = "destructive" in listed or (None if not given["read_only"] else False)
        traits = ToolTraits(**given, destructive=destroys)
    roles = {key: ArgumentRole(role) for key, role in data["roles"].items()}
    return ToolSpec(data["name"], data["description"], traits=traits, roles=roles, folder=data["folder"])


def _budget(rule_id: str, data: Plain | None) -> Budget | None:
    if data is None:
        return None
    if data["targets"] is None:
        return Budget(rule_id, data["calls"], "calls", data["seconds"], data["by"])
    return Budget(rule_id, data["targets"], "targets", data["seconds"], data["by"])


def _template(data: Plain, known: Mapping[str, Template]) -> Template:
    if not known.keys() >= set(data["extends"]) or data["name"] in known:
        raise ValueError("a template is defined twice, or before one that it extends")
    return Template(
        data["name"],
        data["allow_tools"],
        description=data["description"],
        extends=tuple(known[name] for name in data["extends"]),
        exclusive=data["exclusive"],
    )


# What plain data must look like --------------------------------------------------------------------------------------

_Check: TypeAlias = Callable[[Any], bool]


def _fields(data: object, shape: Mapping[str, _Check]) -> dict[str, Any]:
    if not isinstance(data, dict) or data.keys() != shape.keys():
        raise ValueError("the data has other fields")
    for name, check in shape.items():
        if not check(data[name]):
            raise ValueError(f"`{name}` is not what it must be")
    return data


def _is(kind: type) -> _Check:
    return lambda value: type(value) is kind


def _are(*kinds: type) -> _Check:
    return lambda value: type(value) is list and all(type(each) in kinds for each in value)


_is_text, _is_flag, _is_list = _is(str), _is(bool), _is(list)
_are_texts = _are(str)


def _is_number(value: object) -> bool:
    return type(value) is int and value >= 0


def _are_some_texts(value: object) -> bool:
    # An empty list of patterns is refused: it would be no condition at all, and permit more.
    return _are_texts(value) and bool(value)


def _are_texts_by_name(value: object) -> bool:
    return isinstance(value, dict) and all(type(each) is str for each in value.values())


def _one_of(*known: str) -> _Check:
    return lambda value: type(value) is str and value in known


def _or_none(check: _Check) -> _Check:
    return lambda value: value is None or check(value)


def _is_budget(value: object) -> bool:
    fields = _fields(value, BUDGET)
    is_own = fields["by"] in _BY_SESSION
    is_counted = is_own or (fields["targets"] is None and fields["seconds"] is not None)
    return is_counted and (fields["calls"] is None) is not (fields["targets"] is None)


def _are_conditions(value: object) -> bool:
    # An unknown condition is refused, not skipped: a permission without its condition permits more.
    return isinstance(value, dict) and all(
        name in CONDITIONS and _is_of_type(each, condition(name).table) for name, each in value.items()
    )


def _are_alternatives(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_are_conditions, value))


def _is_of_type(value: Value, table: Table) -> bool:
    base, demands = bare_type(table)
    if base == Words:
        return _are_some_texts(value)
    is_in_range = all(value in demand for demand in demands if isinstance(demand, range))
    return type(value) is base and is_in_range


_BY_SESSION = ("session", "agent", "tool")
BUDGET: Mapping[str, _Check] = {
    "calls": _or_none(_is_number),
    "targets": _or_none(_is_number),
    "seconds": _or_none(lambda value: type(value) is float and value > 0),
    "by": _one_of(*_BY_SESSION, "principal", "organisation"),
}
RULE: Mapping[str, _Check] = {
    "id": _is_text,
    "effect": _or_none(_one_of("allow", "confirm", "block")),
    "priority": _or_none(_is_number),
    "tools": _or_none(_are_some_texts),
    "when": _or_none(_are_conditions),
    "unless": _or_none(_are_alternatives),
    "budget": _or_none(_is_budget),
    "reason": _or_none(_is_text),
    "message": _or_none(_is_text),
    "adds_label": _or_none(_is_text),
    "keep": _is_flag,
    "runs_any": _is_flag,
    "source": _is_text,
}
_TEMPLATE: Mapping[str, _Check] = {
    "name": _is_text,
    "description": _is_text,
    "extends": _are_texts,
    "allow_tools": _are_texts,
    "exclusive": _is_flag,
}
_TOOL: Mapping[str, _Check] = {
    "name": _is_text,
    "description": _is_text,
    "traits": _or_none(_are_texts),
    "roles": _are_texts_by_name,
    "folder": _or_none(_is_text),
    "trusted_fields": _are_texts,
}
_LIST: Mapping[str, _Check] = {
    "name": _is_text,
    "values": _are(str, int, float),
    "restricts_only": _is_flag,
    "source": _is_text,
}
_PROGRAM: Mapping[str, _Check] = {
    "name": _is_text,
    "fields": lambda value: isinstance(value, dict),
    "source": _is_text,
    "rank": _is_number,
}
_UNMATCHED: Mapping[str, _Check] = {"verdict": _one_of("confirm", "block"), "source": _is_text}
_SET: Mapping[str, _Check] = {
    **dict.fromkeys(("rules", "templates", "tools", "programs", "lists"), _is_list),
    **dict.fromkeys(("files", "links", "notices"), _are_texts),
    "unmatched": _or_none(lambda value: bool(_fields(value, _UNMATCHED))),
    "observed": _or_none(_is(dict)),
}

"""From checked tables to rules and templates, with the problems that only show in context."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import attrs

from permitry.actions.extract import ReadActions
from permitry.conditions.args import LINKS, ArgumentCondition
from permitry.conditions.listed import list_name
from permitry.conditions.scope import Scope
from permitry.config.conditions import Given, read_scope
from permitry.config.diagnostics import nearest
from permitry.config.drafts import ListDraft, RuleDraft, TemplateDraft, ToolDraft
from permitry.config.examples import READER, example_problems
from permitry.config.lists import ListUses
from permitry.config.locate import KeyPath
from permitry.config.plain import BUDGET, RULE, Plain
from permitry.config.schema import BudgetTable, RuleTable, groups_of
from permitry.core.decision import Phase
from permitry.core.rule import phase_of
from permitry.core.spec import ToolSpec
from permitry.core.template import Template
from permitry.errors import Problem

__all__ = [
    "DEEPEST",
    "Known",
    "build_templates",
    "list_problems",
    "plain_list",
    "plain_rule",
    "plain_template",
    "plain_tool",
    "read_rule",
]

DEEPEST = 32
"""The longest chain of rule files, or templates, that extend each other."""

_ABOUT_ACTIONS = frozenset({"command", "path", "host"})
_TEMPLATE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def plain_rule(draft: RuleDraft) -> Plain:
    """Return a rule as plain data."""
    table, budget = draft.table, draft.table.budget
    other = {
        "budget": budget and {key: getattr(budget, key) for key in BUDGET},
        "keep": bool(table.keep),
        "runs_any": bool(table.runs_any),
        "source": draft.place,
    }
    return {key: getattr(table, key, None) for key in RULE} | other


def plain_tool(draft: ToolDraft) -> Plain:
    """Return the declaration of a tool as plain data."""
    return {"name": draft.name, **dict(draft.table)}


def plain_template(template: Template) -> Plain:
    """Return a template as plain data, with the names of the templates that it extends."""
    return {
        "name": template.name,
        "description": template.description,
        "extends": [each.name for each in template.extends],
        "allow_tools": list(template.allowed_tools),
        "exclusive": template.exclusive,
    }


def plain_list(draft: ListDraft, *, restricts_only: bool) -> Plain:
    """Return a list as plain data; `restricts_only`: a more trusted layer has a list of this name."""
    values, source = draft.table.values, draft.place
    return {"name": draft.name, "values": values, "restricts_only": restricts_only, "source": source}


def list_problems(draft: ListDraft) -> Iterator[Problem]:
    """Yield the problem of a name that cannot be referred to."""
    if list_name(f"@{draft.name}") is None:
        message = f"the list name `{draft.name}` is not one word"
        yield draft.problem((), message, "use letters, digits, hyphens", key=True)


@attrs.frozen
class Known:
    """What a rule may rely on: tools that files declare, lists, fields that are trusted, and records of programs."""

    tools: Mapping[str, ToolSpec] = attrs.field(factory=dict)
    uses: ListUses = attrs.field(factory=ListUses)
    reader: ReadActions = READER


def read_rule(
    draft: RuleDraft, templates: Mapping[str, Template], names: Collection[str], known: Known
) -> tuple[Scope, list[Problem]]:
    """Return the scope of a rule, and its problems; `names` also has invalid templates."""
    table, (scope, wrong) = draft.table, read_scope(draft, known.uses)
    problems = [*_effect_problems(draft)]
    if table.priority is not None:
        problems += _band_problems(draft, table.priority)
    problems += _scope_problems(draft)
    has_examples = bool(table.match or table.no_match)
    if has_examples or table.when or table.unless:
        problems += [*_find_permitting(draft), *_source_problems(draft), *_unknown_templates(draft, names), *wrong]
    if has_examples and not wrong:
        problems += example_problems(draft, scope, templates, known.tools, known.reader)
    return scope, problems


def build_templates(
    drafts: Mapping[str, TemplateDraft], names: Collection[str] | None = None
) -> tuple[dict[str, Template], list[Problem]]:
    """Return the templates with their parents, and their problems; `names` has invalid ones too."""
    known = drafts if names is None else names
    problems = [problem for draft in drafts.values() for problem in _template_problems(draft, known)]
    problems += _chain_problems(drafts)
    if problems or not all(parent in drafts for draft in drafts.values() for parent in draft.table.extends):
        return {}, problems
    built: dict[str, Template] = {}
    for name in drafts:
        _build_template(name, drafts, built)
    return built, []


def _build_template(name: str, drafts: Mapping[str, TemplateDraft], built: dict[str, Template]) -> Template:
    if name not in built:
        table = drafts[name].table
        parents = tuple(_build_template(parent, drafts, built) for parent in table.extends)
        built[name] = Template(
            name, table.allow_tools, description=table.description, extends=parents, exclusive=table.exclusive
        )
    return built[name]


def _template_problems(draft: TemplateDraft, names: Collection[str]) -> Iterator[Problem]:
    if not _TEMPLATE_NAME.fullmatch(draft.name):
        message = f"the template name `{draft.name}` is not one word"
        yield draft.problem((), message, "use letters, digits, hyphens", key=True)
    for i, parent in enumerate(draft.table.extends):
        if parent not in names:
            hint = nearest(parent, names, otherwise=f"define `[template.{parent}]`, or take it out")
            yield draft.problem(("extends", i), f"unknown template `{parent}`", hint)


def _chain_problems(drafts: Mapping[str, TemplateDraft]) -> Iterator[Problem]:
    depths: dict[str, int] = {}
    for name in sorted(drafts):
        yield from _follow(name, (), drafts, depths)


def _follow(
    name: str, chain: tuple[str, ...], drafts: Mapping[str, TemplateDraft], depths: dict[str, int]
) -> Iterator[Problem]:
    """Yield the problems of the chain from `name` on; `depths` has the lengths of those done."""
    if name in depths or name not in drafts:
        return
    if name in chain:
        circle = " -> ".join((*chain[chain.index(name) :], name))
        message = f"templates extend each other in a circle: {circle}"
        yield drafts[name].problem(("extends",), message, "cut one of the links")
        return
    if len(chain) > DEEPEST:
        yield _too_deep(drafts[name])
        return
    parents = drafts[name].table.extends
    for parent in parents:
        yield from _follow(parent, (*chain, name), drafts, depths)
    depths[name] = 1 + max((depths.get(parent, 0) for parent in parents), default=0)
    if depths[name] == DEEPEST + 1:
        yield _too_deep(drafts[name])


def _too_deep(draft: TemplateDraft) -> Problem:
    message = f"templates extend each other more than {DEEPEST} deep"
    return draft.problem(("extends",), message, "name the tools themselves")


def _band_problems(draft: RuleDraft, priority: int) -> Iterator[Problem]:
    phase, effect = phase_of(priority), draft.table.effect
    message, hint = "", ""
    if effect == "block" and phase is not Phase.RESTRICTION:
        message = f"a `block` rule cannot have priority {priority}"
        hint = "restrictions have 100 to 199; leave the priority out for the default"
    elif effect == "confirm" and phase is Phase.OVERRIDE:
        message = f"a `confirm` rule cannot have priority {priority}"
        hint = "100 to 199 asks whatever is permitted; 200 to 399 asks unless a rule before it permits the call"
    elif effect == "allow" and phase is Phase.RESTRICTION:
        message = f"an `allow` rule cannot have priority {priority}"
        hint = "permissions have 200 to 399; nothing at 100 to 199 can allow"
    elif effect == "allow" and phase is Phase.OVERRIDE and not draft.origin.is_admin:
        message = f"priority {priority} would come before every restriction"
        hint = "only files of the admin layer may use priorities below 100"
    if message:
        yield draft.problem(("priority",), message, hint)


def _scope_problems(draft: RuleDraft) -> Iterator[Problem]:
    table = draft.table
    empty = [place for place, group in groups_of(table) if not _has_condition(group)]
    for place in [*empty, *([("unless",)] if table.unless == [] else [])]:
        hint = "name a condition, or leave it out"
        yield draft.problem(place, f"`{place[0]}` is empty", hint, key=True)
    is_about_actions = table.when is not None and not _ABOUT_ACTIONS.isdisjoint(table.when)
    if table.tools is None and table.effect == "allow" and not is_about_actions:
        hint = 'write `tools = ["*"]` if every tool is meant'
        yield draft.problem((), "an `allow` rule must name its tools", hint, key=True)
    elif table.tools is None and not (table.when is not None and _has_condition(table.when)):
        hint = 'add `tools`, or write `tools = ["*"]` if every call is meant'
        yield draft.problem((), "the rule names neither tools nor a condition", hint, key=True)


def _effect_problems(draft: RuleDraft) -> Iterator[Problem]:
    table = draft.table
    if table.effect is None and table.adds_label is None:
        yield draft.problem((), "missing key `effect`", "choose `allow`, `confirm` or `block`", key=True)
    if table.effect is None and table.adds_label is not None:
        for key in ("priority", "message", "budget"):
            if getattr(table, key) is not None:
                message, hint = f"`{key}` without an effect", "a rule that only labels decides nothing; take it out"
                yield draft.problem((key,), message, hint, key=True)
    if table.effect == "block" and table.adds_label is not None:
        message, hint = "a blocked call never runs, so it leaves no label", "take `adds_label` out, or the effect"
        yield draft.problem(("adds_label",), message, hint)
    if table.keep and table.effect != "allow":
        message, hint = "`keep` without a permission", "it says of an `allow` rule that what it permits can be undone"
        yield draft.problem(("keep",), message, hint, key=True)
    if table.runs_any and not (table.effect == "allow" and "command" in (table.when or ())):
        message, hint = "`runs_any` without a permission of commands", "it says of `when.command` what may be run by it"
        yield draft.problem(("runs_any",), message, hint, key=True)
    if table.budget is not None and (table.budget.calls is None) is (table.budget.targets is None):
        message, hint = "a budget is of `calls` or of `targets`", "give one of the two"
        yield draft.problem(("budget",), message, hint, key=True)
    if table.budget is not None and table.budget.by in ("principal", "organisation"):
        yield from _find_sharing(draft, table.budget)


def _find_sharing(draft: RuleDraft, budget: BudgetTable) -> Iterator[Problem]:
    if budget.targets is not None:
        message, hint = f"a budget by {budget.by} counts calls, not targets", 'write `calls`, or `by = "session"`'
        yield draft.problem(("budget", "targets"), message, hint, key=True)
    if budget.per is None:
        message = f"a budget by {budget.by} outlasts every session, and has no window"
        yield draft.problem(("budget",), message, 'add a window of time, such as `per = "1d"`', key=True)


def _find_permitting(draft: RuleDraft) -> Iterator[Problem]:
    """Yield the labels and texts that would permit: a model can bring both about."""
    key, other = ("when", "unless") if draft.table.effect == "allow" else ("unless", "when")
    for place, group in groups_of(draft.table):
        if place[0] == key and "label" in group:
            message = "a label that lets a call run could be set by any call"
            hint = f"labels only restrict: use `{other}.label` in this rule"
            yield draft.problem((*place, "label"), message, hint)
        if place[0] == key and "text" in group:
            message = "a text that lets a call run could be written into any argument"
            hint = f"name the argument: `{key}.args.NAME`; a text anywhere only restricts, as in `{other}.text`"
            yield draft.problem((*place, "text"), message, hint)
        if place[0] == other and "looks" in group:
            message = "what only looks is permitted, or left out of a restriction; nothing else follows from it"
            yield draft.problem((*place, "looks"), message, f"use `{key}.looks` in this rule", key=True)


def _source_problems(draft: RuleDraft) -> Iterator[Problem]:
    """Yield sources that nothing proves: that a value is from one permits, that it may not be restricts."""
    permitting, restricting = ("when", "unless") if draft.table.effect == "allow" else ("unless", "when")
    for place, group in groups_of(draft.table):
        for names, test in ArgumentCondition.parts(group.get("args", {})):
            if isinstance(test, Mapping):
                yield from _of_sources(draft, (*place, "args", *names), test, permitting, restricting)
                for where, table in _link_tables(test.get(LINKS)):
                    at = (*place, "args", *names, LINKS, *where)
                    yield from _of_sources(draft, at, table, permitting, restricting)


def _link_tables(links: object) -> Iterator[tuple[KeyPath, Mapping[Any, Any]]]:
    tables = [((i,), each) for i, each in enumerate(links)] if isinstance(links, list | tuple) else [((), links)]
    yield from ((place, table) for place, table in tables if isinstance(table, Mapping))


def _of_sources(
    draft: RuleDraft, place: KeyPath, test: Mapping[Any, Any], permitting: str, restricting: str
) -> Iterator[Problem]:
    for name in ("from", "words", "not_from"):
        wanted = restricting if name == "not_from" else permitting
        if name in test and place[0] != wanted:
            other = "from" if name == "not_from" else "not_from"
            hint = f"write `{wanted}`" if name == "words" else f"write `{other}` here, or `{wanted}`"
            where = ".".join(map(str, (place[0], *place[place.index("args") :], name)))
            message = f"`{where}` would decide by a value that may come from anywhere"
            yield draft.problem((*place, name), message, hint, key=True)


def _has_condition(given: Given) -> bool:
    return any(value != {} for value in given.values())


def _unknown_templates(draft: RuleDraft, names: Collection[str]) -> Iterator[Problem]:
    for place, name in _templates_of(draft.table):
        if name not in names:
            hint = nearest(name, names, otherwise=f"define `[template.{name}]` here or in a file this one extends")
            yield draft.problem(place, f"unknown template `{name}`", hint)


def _templates_of(table: RuleTable) -> Iterator[tuple[KeyPath, str]]:
    for place, group in groups_of(table):
        for i, name in enumerate(group.get("template", ())):
            yield (*place, "template", i), name
    for key, examples in (("match", table.match), ("no_match", table.no_match)):
        for i, example in enumerate(examples):
            name = example.given().get("template")
            if name is not None:
                yield (key, i, "template"), name

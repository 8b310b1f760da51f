"""From checked tables to rules and templates: the mistakes that only show in context."""

import re
from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType

from permitry.config.diagnostics import nearest
from permitry.config.drafts import RuleDraft, TemplateDraft
from permitry.config.examples import example_problems
from permitry.config.locate import KeyPath
from permitry.config.schema import RuleTable, ToolTable
from permitry.config.scopes import build_scope, condition_problems, has_condition
from permitry.core.decision import Phase, Verdict
from permitry.core.rule import phase_of
from permitry.core.spec import ArgumentRole, ToolSpec, ToolTraits
from permitry.core.template import Template
from permitry.errors import Problem
from permitry.rules.conditions.budget import Budget
from permitry.rules.configured import ConfiguredRule
from permitry.rules.flow import FlowRule

__all__ = ["DEEPEST", "build_flows", "build_rule", "build_templates", "build_tool", "rule_problems"]

_DEFAULT_PRIORITY = {Verdict.BLOCK: 150, Verdict.CONFIRM: 160, Verdict.ALLOW: 250}
DEEPEST = 32
"""How many rule files, or templates, may extend each other in a row."""

_TEMPLATE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def build_rule(draft: RuleDraft) -> ConfiguredRule:
    """Return the rule of a draft that has an effect.

    Raises: `RuleError` for a condition that cannot be read.
    """
    table = draft.table
    effect = Verdict(table.effect)
    return ConfiguredRule(
        id=table.id,
        effect=effect,
        priority_number=_DEFAULT_PRIORITY[effect] if table.priority is None else table.priority,
        scope=build_scope(table),
        budget=_budget(table),
        reason=table.reason or "the rule gives no reason",
        message=table.message,
        source=draft.source.source(draft.path),
    )


def build_flows(draft: RuleDraft) -> Iterator[FlowRule]:
    """Yield what the calls of a rule leave behind: its label, and the count of its budget."""
    table = draft.table
    if table.taint is not None or table.budget is not None:
        yield FlowRule(table.id, build_scope(table), table.taint, counts=table.budget is not None)


def build_tool(name: str, table: ToolTable) -> ToolSpec:
    """Return the declaration of a tool; a trait that a list of traits leaves out is not so."""
    traits = ToolTraits()
    if table.traits is not None:
        given = {trait: trait in table.traits for trait in ("idempotent", "open_world", "read_only", "spawns_agent")}
        # A tool that writes may well destroy, unless it is said to do neither.
        destroys = "destructive" in table.traits or (None if not given["read_only"] else False)
        traits = ToolTraits(**given, destructive=destroys)
    roles = {key: ArgumentRole(role) for key, role in table.roles.items()}
    return ToolSpec(name, table.description, traits=traits, roles=roles)


def _budget(table: RuleTable) -> Budget | None:
    if table.budget is None:
        return None
    most, of = (table.budget.calls, "calls") if table.budget.targets is None else (table.budget.targets, "targets")
    return Budget(table.id, most or 0, "targets" if of == "targets" else "calls", table.budget.seconds, table.budget.by)


def rule_problems(
    draft: RuleDraft,
    templates: Mapping[str, Template],
    names: Collection[str],
    tools: Mapping[str, ToolSpec] = MappingProxyType({}),
) -> Iterator[Problem]:
    """Yield what is wrong with a rule beyond its shape: band, scope, unknown templates, failing examples.

    `names` are all templates somebody defines, also those with mistakes of their own, which are not in `templates`;
    `tools` are those the files declare.
    """
    yield from _effect_problems(draft)
    yield from _band_problems(draft)
    yield from _scope_problems(draft)
    yield from _unknown_templates(draft, names)
    wrong = list(condition_problems(draft))
    yield from wrong or example_problems(draft, build_scope(draft.table), templates, tools)


def build_templates(
    drafts: Mapping[str, TemplateDraft], names: Collection[str] | None = None
) -> tuple[dict[str, Template], list[Problem]]:
    """Return the templates with their inheritance, and the problems of names, unknown parents and cycles.

    `names` are all templates somebody defines, also those with mistakes of their own, which are not in `drafts`.
    """
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
        yield draft.source.problem(draft.path, message, "use letters, digits, hyphens", key=True)
    for i, parent in enumerate(draft.table.extends):
        if parent not in names:
            hint = nearest(parent, names, otherwise=f"define `[template.{parent}]`, or take it out")
            yield draft.source.problem((*draft.path, "extends", i), f"unknown template `{parent}`", hint)


def _chain_problems(drafts: Mapping[str, TemplateDraft]) -> Iterator[Problem]:
    """Yield the circles among templates, each once, and the chains that are too long to follow."""
    depths: dict[str, int] = {}
    for name in sorted(drafts):
        yield from _follow(name, (), drafts, depths)


def _follow(
    name: str, chain: tuple[str, ...], drafts: Mapping[str, TemplateDraft], depths: dict[str, int]
) -> Iterator[Problem]:
    """Note how deep `name` inherits; every template is followed once."""
    if name in depths or name not in drafts:
        return
    if name in chain:
        told = " -> ".join((*chain[chain.index(name) :], name))
        place = (*drafts[name].path, "extends")
        message = f"templates extend each other in a circle: {told}"
        yield drafts[name].source.problem(place, message, "cut one of the links")
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
    return draft.source.problem((*draft.path, "extends"), message, "name the tools themselves")


def _band_problems(draft: RuleDraft) -> Iterator[Problem]:
    priority, effect = draft.table.priority, draft.table.effect
    if priority is None or effect is None:
        return
    phase = phase_of(priority)
    message, hint = "", ""
    if effect != "allow" and phase is not Phase.RESTRICTION:
        message = f"priority {priority} is no place for a `{effect}` rule"
        hint = "restrictions stand at 100 to 199; leave the priority out for the default"
    elif effect == "allow" and phase is Phase.RESTRICTION:
        message = f"priority {priority} is no place for an `allow` rule"
        hint = "permissions stand at 200 to 399; nothing at 100 to 199 can allow"
    elif phase is Phase.OVERRIDE and not draft.is_admin:
        message = f"priority {priority} would come before every restriction"
        hint = "only files of the admin layer may use priorities below 100"
    if message:
        yield draft.source.problem((*draft.path, "priority"), message, hint)


def _scope_problems(draft: RuleDraft) -> Iterator[Problem]:
    table = draft.table
    for key, group in (("when", table.when), ("unless", table.unless)):
        if group is not None and not has_condition(group):
            hint = "name a condition, or leave it out"
            yield draft.source.problem((*draft.path, key), f"`{key}` is empty", hint, key=True)
    if table.tools is None and table.effect == "allow" and not _is_about_actions(table):
        hint = 'write `tools = ["*"]` if every tool is meant'
        yield draft.source.problem(draft.path, "an `allow` rule must name its tools", hint, key=True)
    elif table.tools is None and not (table.when is not None and has_condition(table.when)):
        hint = 'add `tools`, or write `tools = ["*"]` if every call is meant'
        yield draft.source.problem(draft.path, "the rule names neither tools nor a condition", hint, key=True)


def _effect_problems(draft: RuleDraft) -> Iterator[Problem]:
    """Yield what is missing for the rule to lead to anything, and what stands there for nothing."""
    table = draft.table
    if table.effect is None and table.taint is None:
        yield draft.source.problem(draft.path, "missing key `effect`", "choose `allow`, `confirm` or `block`", key=True)
    if table.effect is None and table.taint is not None:
        for key in ("priority", "message", "budget"):
            if getattr(table, key) is not None:
                message, hint = f"`{key}` without an effect", "a rule that only labels decides nothing; take it out"
                yield draft.source.problem((*draft.path, key), message, hint, key=True)
    if table.effect == "block" and table.taint is not None:
        message, hint = "a blocked call never runs, so it leaves no label", "take `taint` out, or the effect"
        yield draft.source.problem((*draft.path, "taint"), message, hint)
    yield from _label_problems(draft)
    if table.budget is not None and (table.budget.calls is None) is (table.budget.targets is None):
        message, hint = "a budget is of `calls` or of `targets`", "give one of the two"
        yield draft.source.problem((*draft.path, "budget"), message, hint, key=True)


def _label_problems(draft: RuleDraft) -> Iterator[Problem]:
    """Yield the labels that would widen: a call can put a label on the session, so a label may only ever restrict."""
    key, group = ("when", draft.table.when) if draft.table.effect == "allow" else ("unless", draft.table.unless)
    if group is not None and group.label is not None:
        message = "a label that lets a call run could be set by any call"
        hint = f"labels only restrict: use `{'unless' if key == 'when' else 'when'}.label` in this rule"
        yield draft.source.problem((*draft.path, key, "label"), message, hint)


def _is_about_actions(table: RuleTable) -> bool:
    return table.when is not None and bool(table.when.command or table.when.path or table.when.host)


def _unknown_templates(draft: RuleDraft, names: Collection[str]) -> Iterator[Problem]:
    for place, name in _named_templates(draft.table):
        if name not in names:
            hint = nearest(name, names, otherwise=f"define `[template.{name}]` here or in a file this one extends")
            yield draft.source.problem((*draft.path, *place), f"unknown template `{name}`", hint)


def _named_templates(table: RuleTable) -> Iterator[tuple[KeyPath, str]]:
    """Yield every template a rule names, and where."""
    for key, group in (("when", table.when), ("unless", table.unless)):
        for i, name in enumerate((group and group.template) or ()):
            yield (key, "template", i), name
    for key, examples in (("match", table.match), ("no_match", table.no_match)):
        for i, example in enumerate(examples):
            if example.template is not None:
                yield (key, i, "template"), example.template

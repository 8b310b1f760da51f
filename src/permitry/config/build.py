"""From checked tables to rules and templates: the mistakes that only show in context."""

import re
from collections.abc import Collection, Iterator, Mapping

import attrs

from permitry.config.diagnostics import SourceText, nearest
from permitry.config.locate import KeyPath
from permitry.config.schema import ExampleTable, RuleTable, TemplateTable
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Phase, Verdict
from permitry.core.pattern import Pattern
from permitry.core.rule import Question, phase_of
from permitry.core.template import Template
from permitry.errors import Problem
from permitry.rules.configured import ConfiguredRule, ToolSelector

__all__ = ["DEEPEST", "RuleDraft", "TemplateDraft", "build_rule", "build_templates", "rule_problems"]

_DEFAULT_PRIORITY = {Verdict.BLOCK: 150, Verdict.CONFIRM: 160, Verdict.ALLOW: 250}
DEEPEST = 32
"""How many rule files, or templates, may extend each other in a row."""

_TEMPLATE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@attrs.frozen
class RuleDraft:
    """A `[[rule]]` that has the right shape, and where it stands."""

    source: SourceText
    path: KeyPath
    table: RuleTable
    is_admin: bool = False


@attrs.frozen
class TemplateDraft:
    """A `[template.NAME]` that has the right shape, and where it stands."""

    source: SourceText
    path: KeyPath
    table: TemplateTable

    @property
    def name(self) -> str:
        """The template's name, which is the last part of its path."""
        return str(self.path[-1])


def build_rule(draft: RuleDraft) -> ConfiguredRule:
    """Return the rule of a draft."""
    table, when = draft.table, draft.table.when
    effect = Verdict(table.effect)
    return ConfiguredRule(
        id=table.id,
        effect=effect,
        priority_number=_DEFAULT_PRIORITY[effect] if table.priority is None else table.priority,
        selectors=tuple(ToolSelector(text) for text in table.tools or ()),
        modes=tuple((when and when.mode) or ()),
        agents=tuple(Pattern(text) for text in (when and when.agent) or ()),
        templates=tuple((when and when.template) or ()),
        reason=table.reason or "the rule gives no reason",
        message=table.message,
        source=draft.source.source(draft.path),
    )


def rule_problems(draft: RuleDraft, templates: Mapping[str, Template], names: Collection[str]) -> Iterator[Problem]:
    """Yield what is wrong with a rule beyond its shape: band, scope, unknown templates, failing examples.

    `names` are all templates somebody defines, also those with mistakes of their own, which are not in `templates`.
    """
    yield from _band_problems(draft)
    yield from _scope_problems(draft)
    yield from _unknown_templates(draft, names)
    yield from _example_problems(draft, templates)


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
        built[name] = Template(name, table.allow_tools, description=table.description, extends=parents)
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
    if priority is None:
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
    has_condition = table.when is not None and any(value for _, value in table.when)
    if table.when is not None and not has_condition:
        yield draft.source.problem(
            (*draft.path, "when"), "`when` is empty", "name a condition, or leave it out", key=True
        )
    if table.tools is None and table.effect == "allow":
        hint = 'write `tools = ["*"]` if every tool is meant'
        yield draft.source.problem(draft.path, "an `allow` rule must name its tools", hint, key=True)
    elif table.tools is None and not has_condition:
        hint = 'add `tools`, or write `tools = ["*"]` if every call is meant'
        yield draft.source.problem(draft.path, "the rule names neither tools nor a condition", hint, key=True)


def _unknown_templates(draft: RuleDraft, names: Collection[str]) -> Iterator[Problem]:
    for place, name in _named_templates(draft.table):
        if name not in names:
            hint = nearest(name, names, otherwise=f"define `[template.{name}]` here or in a file this one extends")
            yield draft.source.problem((*draft.path, *place), f"unknown template `{name}`", hint)


def _named_templates(table: RuleTable) -> Iterator[tuple[KeyPath, str]]:
    """Yield every template a rule names, and where."""
    for i, name in enumerate((table.when and table.when.template) or ()):
        yield ("when", "template", i), name
    for key, examples in (("match", table.match), ("no_match", table.no_match)):
        for i, example in enumerate(examples):
            if example.template is not None:
                yield (key, i, "template"), example.template


def _example_problems(draft: RuleDraft, templates: Mapping[str, Template]) -> Iterator[Problem]:
    rule = build_rule(draft)
    for key, examples, wanted in (("match", draft.table.match, True), ("no_match", draft.table.no_match, False)):
        for i, example in enumerate(examples):
            if example.template is not None and example.template not in templates:
                continue  # the template's own mistake is reported
            matches, why = _try_example(rule, example, templates)
            if matches is not wanted:
                does = "does not match" if wanted else "matches"
                hint = why if wanted else "narrow the rule, or move the example to `match`"
                place = (*draft.path, key, i)
                yield draft.source.problem(place, f"the `{key}` example `{example.tool}` {does} the rule", hint)


def _try_example(rule: ConfiguredRule, example: ExampleTable, templates: Mapping[str, Template]) -> tuple[bool, str]:
    asked = attrs.evolve(
        rule,
        modes=() if example.mode is None else rule.modes,
        agents=() if example.agent is None else rule.agents,
        templates=() if example.template is None else rule.templates,
    )
    context = AuthContext(
        mode="default" if example.mode is None else example.mode,
        agent="main" if example.agent is None else example.agent,
        active_template=None if example.template is None else templates[example.template],
    )
    question = Question(ToolCall(example.tool), context)
    if not asked.selects(question):
        return False, f"its tools are {', '.join(f'`{selector.text}`' for selector in rule.selectors)}"
    unmet = asked.unmet(question)
    return not unmet, f"the example has {', '.join(unmet)}"

"""The findings `never-matches` and `never-heard`."""

import heapq
import itertools
from collections.abc import Iterator
from typing import Any

from permitry.actions.variables import changes_commands
from permitry.conditions._compare import class_of
from permitry.conditions.args import ArgumentCondition, LinkCondition, SourceCondition
from permitry.conditions.command import ArgvPattern
from permitry.conditions.mode import ModeCondition
from permitry.conditions.prompt import PromptCondition
from permitry.conditions.scope import Condition, Conditions
from permitry.conditions.server import ServerCondition
from permitry.conditions.tools import ToolSelector
from permitry.conditions.written import PlainCondition
from permitry.config.schema import groups_of
from permitry.core.decision import Verdict
from permitry.core.pattern import Pattern
from permitry.rules.configured import ConfiguredRule
from permitry_ops.lint._facts import word_facts
from permitry_ops.lint._scopes import command_samples, holds_within, may_match, selects_all
from permitry_ops.lint._subject import Finding, Subject, is_unconditional, report_finding

__all__ = ["contradiction", "findings"]

_KIND = "never-matches"
_WRITES = (ToolSelector("@writes"),)
_SHELL = (ToolSelector("@shell"),)

_Why = Iterator[tuple[str, str]]


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the rules that match no call, are always overruled, or need what is not passed on, and idle templates."""
    for rule in subject.rules.rules:
        for reason, suggestion in (
            *_in_itself(rule),
            *_by_server(rule),
            *_by_tools(rule, subject),
            *_why_blocked(rule, subject),
        ):
            yield report_finding(rule, _KIND, reason, suggestion)
    yield from _idle_templates(subject)
    yield from _unheard(subject)


def _idle_templates(subject: Subject) -> Iterator[Finding]:
    tables = (draft.table for draft in subject.drafts.rules.values())
    groups = (group for table in tables for _, group in groups_of(table))
    asked = {name for group in groups for name in group.get("template", ())}
    for name, draft in subject.drafts.templates.items():
        table = draft.table
        if not (table.allow_tools or table.extends or table.exclusive or name in asked):
            reason = f"the template `{name}` lists no tools, and no rule asks for it, so it changes nothing"
            hint = "name tools in `allow_tools`, or ask for it with `when.template`"
            yield Finding(_KIND, None, draft.place, reason, hint)


def _in_itself(rule: ConfiguredRule) -> _Why:
    when = rule.scope.when
    if any(_is_decided(rule, unless) and holds_within(unless, when) for unless in rule.scope.unless):
        yield "`unless` takes back all that `when` asks for", "take the condition out of one of the two"
    names = [name for pattern in when.commands for name in _never_compared(pattern)]
    if when.commands and len(names) >= len(when.commands):
        yield f"variables such as `{names[0]}` are not compared", "take it out: the pattern fits with and without it"
    # What is in a list may change from session to session.
    for condition in () if rule.lists else when.plain:
        if isinstance(condition, ArgumentCondition) and (why := contradiction(condition)) is not None:
            yield why, "correct one of the operators"


def _by_server(rule: ConfiguredRule) -> _Why:
    selectors = rule.scope.selectors
    for server in (each for each in rule.scope.when.plain if isinstance(each, ServerCondition)):
        if selectors and not any(_may_be_at(each.text, server) for each in selectors):
            yield "none of its tools belongs to such a server", "name the tools as `mcp:server/tool`, or leave them out"


def _never_compared(pattern: ArgvPattern) -> Iterator[str]:
    """Yield one variable before the program that changes nothing of what runs, so that no command has it."""
    names = (text.partition("=")[0] for token in pattern.assignments for text in token.patterns)
    return itertools.islice((name for name in names if changes_commands(name) is None), 1)


def _is_decided(rule: ConfiguredRule, unless: Conditions) -> bool:
    """Return whether `unless` certainly holds if `when` may hold and has the same conditions."""
    # Otherwise a restriction may apply where both are in doubt.
    are_answered = all(isinstance(each, PlainCondition) and each.is_answered for each in unless.plain)
    return rule.effect is Verdict.ALLOW or (are_answered and not unless.are_about_actions)


def _by_tools(rule: ConfiguredRule, subject: Subject) -> _Why:
    selectors, when = rule.scope.selectors, rule.scope.when
    if rule.effect is not Verdict.ALLOW or not selectors:
        return
    modes = [set(condition.modes) for condition in when.plain if isinstance(condition, ModeCondition)]
    if {"plan"} in modes and selects_all(_WRITES, selectors, subject.specs):
        yield "in plan mode the built-in rule `plan-mode` blocks tools that write", "name another mode, or other tools"
    if when.commands and all(_runs_nothing(selector, subject) for selector in selectors):
        yield "its tools run no command", "name the tools that run commands, or leave the tools out"
    if when.hosts and not when.commands and selects_all(_SHELL, selectors, subject.specs):
        reason = "a permission for hosts covers no command, and its tools take nothing else"
        yield reason, 'name the commands too, as in `when.command = ["curl *"]`'


def _runs_nothing(selector: ToolSelector, subject: Subject) -> bool:
    spec = subject.specs.get(selector.text)
    return spec is not None and spec.roles is not None and not spec.is_shell


def _may_be_at(text: str, condition: ServerCondition) -> bool:
    """Return whether a tool that matches `text` may belong to a server of the condition."""
    name, _, _ = text.removeprefix("mcp:").partition("/")
    if text.startswith("mcp:"):
        return not Pattern(name).is_exact or any(pattern.matches(name) for pattern in condition.servers)
    if text.startswith("@"):
        return True
    return not Pattern(text).is_exact and "mcp:".startswith(text.replace("?", "*").partition("*")[0])


def _why_blocked(rule: ConfiguredRule, subject: Subject) -> _Why:
    if rule.effect is not Verdict.ALLOW:
        return
    for other in _near(rule, subject):
        is_whole = is_unconditional(other) or _blocks_commands(other, rule)
        if is_whole and selects_all(other.scope.selectors, rule.scope.selectors, subject.specs):
            yield f"`{other.id}` ({other.source}) blocks all that it allows", "take one of the two out"
            return


def _near(rule: ConfiguredRule, subject: Subject) -> Iterator[ConfiguredRule]:
    always = subject.plain_blocks.near(subject.facts[rule.id])
    samples = [words for pattern in rule.scope.when.commands[:1] for words in command_samples(pattern)[:1]]
    of_commands = subject.command_blocks.near({fact for words in samples for fact in word_facts(words)})
    return heapq.merge(always, of_commands, key=lambda other: subject.order[other.id])


def _blocks_commands(other: ConfiguredRule, rule: ConfiguredRule) -> bool:
    theirs, mine = other.scope.when, rule.scope.when
    samples = [words for pattern in mine.commands for words in command_samples(pattern)]
    return bool(samples) and all(any(may_match(pattern, words) for pattern in theirs.commands) for words in samples)


def contradiction(condition: ArgumentCondition) -> str | None:
    """Return why no value can pass the test, or None if no contradiction is found."""
    test = condition.test
    for check in test.checks:
        # Only the values that one operator lists can pass, so they are tried against all of them.
        if check.name in ("eq", "in"):
            values = check.operand if check.name == "in" else (check.operand,)
            if not any(test.truth(each) is True for each in values):
                return f"no value passes `{condition}`"
    bounds = itertools.product(((check.name, check.operand) for check in test.checks), repeat=2)
    return f"no value passes `{condition}`" if any(itertools.starmap(_exclude, bounds)) else None


def _exclude(low: tuple[str, Any], high: tuple[str, Any]) -> bool:
    """Return whether no value is between two bounds, each an operator and its operand."""
    (more, least), (less, most) = low, high
    if more not in ("ge", "gt") or less not in ("le", "lt"):
        return False
    is_empty = least == most and (more == "gt" or less == "lt")
    return class_of(least) != class_of(most) or least > most or is_empty


def _unheard(subject: Subject) -> Iterator[Finding]:
    """Yield the conditions on what the user wrote, where the host does not pass it on."""
    if subject.has_prompts:
        return
    for rule_id, scope in subject.scopes.items():
        plain = itertools.chain.from_iterable(each.plain for each in scope.every)
        for shown in dict.fromkeys(filter(None, map(_show, plain))):
            reason = f"the host does not pass on what the user writes, so {shown} never has an answer"
            hint = "pass it on, by `heard` of the session, or ask for something else, such as `list:NAME`"
            yield Finding("never-heard", rule_id, subject.source_of(rule_id), reason, hint, level="error")


def _show(condition: Condition) -> str | None:
    """Return a condition as text, if it has an answer only where messages of the user are known."""
    match condition:
        case PromptCondition():
            return "`prompt`"
        case SourceCondition(is_optional=False) if condition.needs_user:
            return f"where `{'.'.join(('args', *condition.path))}` comes from"
        case LinkCondition() if condition.needs_user:
            return f"where the links in `{'.'.join(('args', *condition.path))}` come from"
        case _:
            return None

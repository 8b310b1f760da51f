"""The finding `unknown-argument`."""

import collections
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from permitry.conditions.args import AnyArgumentCondition, ArgumentCondition, LinkCondition, SourceCondition
from permitry.conditions.scope import Scope
from permitry.conditions.tools import ToolSelector
from permitry.config.diagnostics import nearest
from permitry.core.spec import names_of
from permitry_ops.lint._schemas import has_argument, top_names
from permitry_ops.lint._subject import Finding, Subject

__all__ = ["findings"]

_KIND = "unknown-argument"
_SHORTEST = 4
_EVERY_TOOL = ToolSelector("*")
_ABOUT_ARGUMENTS: tuple[type[AnyArgumentCondition], ...] = (ArgumentCondition, SourceCondition, LinkCondition)

# For each selector, and each argument in the order of the rules: how many rules name it.
_Uses: TypeAlias = Mapping[str, Mapping[str, int]]


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the arguments that no schema has, as errors, or that look misspelt without one."""
    uses = _uses(subject)
    for rule_id, scope in subject.scopes.items():
        for condition in scope.each(*_ABOUT_ARGUMENTS):
            lacking = _selectors_without(condition, scope, subject)
            for selector in lacking:
                yield _error(rule_id, condition, selector, subject)
            for selector in scope.selectors:
                near = None if lacking else _meant(condition.path[0], selector, uses, subject)
                if near is not None:
                    yield _warn(rule_id, condition.path[0], selector, near, subject)


def _selectors_without(condition: AnyArgumentCondition, scope: Scope, subject: Subject) -> list[ToolSelector]:
    """Return the selectors of which no tool has it: of an optional one, all or none."""
    selectors = scope.selectors or (_EVERY_TOOL,)
    lacking = [selector for selector in selectors if _all_lack(selector, condition.path, subject)]
    return lacking if not _may_lack(condition) or len(lacking) == len(selectors) else []


def _may_lack(condition: AnyArgumentCondition) -> bool:
    if not isinstance(condition, ArgumentCondition):
        return condition.is_optional
    return condition.test.is_optional or any(check.name == "exists" for check in condition.test.checks)


def _all_lack(selector: ToolSelector, path: Sequence[str], subject: Subject) -> bool:
    schemas = [subject.schemas.get(name) for name in subject.selected(selector)]
    # The search ends at the first tool that may have the argument.
    return bool(schemas) and all(schema is not None and not has_argument(schema, path) for schema in schemas)


def _error(rule_id: str, condition: AnyArgumentCondition, selector: ToolSelector, subject: Subject) -> Finding:
    shown, text = ".".join(condition.path), selector.text
    is_one = selector.pattern is not None and selector.pattern.is_exact
    reason = f"`{text}` has no argument `{shown}`" if is_one else f"no tool of `{text}` has an argument `{shown}`"
    known = {name for each in subject.selected(selector) for name in top_names(subject.schemas[each])}
    otherwise = f"its arguments are {', '.join(sorted(known))}" if known else "it takes no arguments"
    hint = nearest(condition.path[0], known - {condition.path[0]}, otherwise=otherwise)
    return Finding(_KIND, rule_id, subject.source_of(rule_id), reason, hint, level="error")


def _uses(subject: Subject) -> _Uses:
    uses: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for scope in subject.scopes.values():
        for name in dict.fromkeys(condition.path[0] for condition in scope.each(*_ABOUT_ARGUMENTS)):
            for selector in scope.selectors:
                uses[selector.text][name] += 1
    return uses


def _meant(name: str, selector: ToolSelector, uses: _Uses, subject: Subject) -> str | None:
    """Return the argument that is likely meant: one declared, or named more often, or earlier."""
    if selector.text in subject.schemas:
        return None
    spec = subject.specs.get(selector.text)
    declared = {word for key in (spec.roles or () if spec is not None else ()) for word in names_of(key)}
    if name in declared:
        return None
    order = {each: (count, -at) for at, (each, count) in enumerate(uses[selector.text].items())}
    others = [*sorted(declared), *(each for each in order if order[each] > order[name])]
    return next((each for each in others if _is_slip(name, each)), None)


def _is_slip(name: str, other: str) -> bool:
    """Return whether names differ only in case, hyphens, one additional or two swapped letters."""
    left, right = (text.casefold().replace("_", "").replace("-", "") for text in (name, other))
    short, long = sorted((left, right), key=len)
    if len(short) < _SHORTEST or name == other:
        return False
    if len(short) < len(long):
        return any(long[:at] + long[at + 1 :] == short and not long[at].isdigit() for at in range(len(long)))
    swaps = (long[:at] + long[at + 1] + long[at] + long[at + 2 :] for at in range(len(long) - 1))
    return short == long or short in swaps


def _warn(rule_id: str, name: str, selector: ToolSelector, near: str, subject: Subject) -> Finding:
    reason = f"the argument `{name}` of `{selector.text}` looks like `{near}`, which is named elsewhere"
    hint = f"write `{near}`, or show lint what the tools take with `--tools`"
    return Finding(_KIND, rule_id, subject.source_of(rule_id), reason, hint)

"""The finding `covered-pattern`: a pattern of a list that another one of the list makes superfluous."""

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from permitry.conditions.path import PathPattern
from permitry.conditions.scope import Conditions, Scope
from permitry.core.decision import Verdict
from permitry_ops.diff.within import is_within
from permitry_ops.lint._scopes import covers_host, covers_path
from permitry_ops.lint._subject import Finding, Subject, report_finding

__all__ = ["findings"]

_MOST_COMPARED = 100
"""The longest list whose patterns are compared: each with every other one."""


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the patterns without which a rule says the same; not where lists may add to them."""
    for rule in subject.rules.rules:
        if rule.lists:
            continue
        for inner, outer in _list_pairs(rule.scope, is_permission=rule.effect is Verdict.ALLOW):
            reason = f"whatever `{inner.text}` is about, `{outer.text}` next to it is about as well"
            yield report_finding(rule, "covered-pattern", reason, f"take `{inner.text}` out, or narrow `{outer.text}`")


def _list_pairs(scope: Scope, *, is_permission: bool) -> Iterator[tuple[Any, Any]]:
    """Yield a pattern and one that covers it, for each that is covered."""
    # What an exception lifts must be as certain as what a permission permits, and the other way round.
    yield from _list_covered(scope.when, is_strict=is_permission)
    for unless in scope.unless:
        yield from _list_covered(unless, is_strict=not is_permission)


def _list_covered(conditions: Conditions, *, is_strict: bool) -> Iterator[tuple[Any, Any]]:
    # A wildcard permits less of what a program runs than the words themselves.
    if not is_strict:
        yield from _compare(conditions.commands, lambda outer, inner: is_within(inner, outer))
    yield from _compare(conditions.paths, covers_path if is_strict else _covers_folder)
    yield from _compare(conditions.hosts, covers_host)


def _compare(patterns: Sequence[Any], covers: Callable[[Any, Any], bool]) -> Iterator[tuple[Any, Any]]:
    """Yield each pattern with the first that covers it; of two that cover each other, the later one."""
    if len(patterns) > _MOST_COMPARED:
        return
    for at, inner in enumerate(patterns):
        before, after = patterns[:at], patterns[at + 1 :]
        wider = itertools.chain(
            (outer for outer in before if covers(outer, inner)),
            (outer for outer in after if covers(outer, inner) and not covers(inner, outer)),
        )
        yield from ((inner, outer) for outer in itertools.islice(wider, 1))


@functools.lru_cache(maxsize=16_384)
def _covers_folder(outer: PathPattern, inner: PathPattern) -> bool:
    """Return whether one is about each path that the other is about; `x/**` is about `x` as well.

    Who writes both a folder and all below it says what is meant. Where a home is, only the machine knows.
    """
    folder = outer.text.removesuffix("/**")
    is_elsewhere = inner.text.startswith("~") and not outer.text.startswith(("~", "/**/"))
    if folder == inner.text or is_elsewhere:
        return False
    return covers_path(outer, inner) or (folder not in ("", outer.text) and covers_path(PathPattern(folder), inner))

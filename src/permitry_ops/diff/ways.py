"""The ways in which a rule of a file matches a call, or does not: what must be true of each of its conditions.

A permission matches where its conditions certainly hold. A restriction matches also where that cannot be known, and
its exceptions lift it only where they certainly hold.
"""

import enum
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import attrs

from permitry.conditions.match import Match, need_of
from permitry.conditions.scope import Conditions, Scope
from permitry.conditions.tools import ToolSelector
from permitry.conditions.written import Condition
from permitry.core.action import Access
from permitry.core.decision import Verdict
from permitry.rules.configured import ConfiguredRule
from permitry_ops.diff.deadline import check_time
from permitry_ops.diff.narrower import is_narrower
from permitry_ops.diff.within import is_within, selects_all

__all__ = [
    "Literal",
    "Part",
    "Patterns",
    "Truth",
    "Way",
    "are_contrary",
    "differences",
    "ways_to_match",
    "ways_to_miss",
]


class Truth(enum.Enum):
    """Whether a condition holds for a call; `UNKNOWN` where it cannot be evaluated."""

    TRUE = "true"
    FALSE = "false"
    UNKNOWN = "unknown"


_T, _F, _U = Truth.TRUE, Truth.FALSE, Truth.UNKNOWN
_OTHER = {Match.YES: Match.ALIKE, Match.ALIKE: Match.YES}
_CERTAIN = frozenset({_T})
_FIELDS = {"command": "commands", "path": "paths", "host": "hosts"}


@attrs.frozen
class Patterns:
    """The patterns of one kind in `when` or `unless`, of which one must match, and what limits them."""

    kind: str
    each: tuple[Any, ...]
    accesses: frozenset[Access] = frozenset()
    looks: bool = False


Part: TypeAlias = "tuple[ToolSelector, ...] | Condition | Patterns"
"""What is true of a call, or not: that a selector selects it, a condition, or that an action of it fits a pattern."""


@attrs.frozen
class Literal:
    """A part of a rule, which of its truths a way needs, and how far it must match to be true."""

    part: Part
    truths: frozenset[Truth]
    needed: Match

    @property
    def is_wanted(self) -> bool:
        """Whether the part must be true."""
        return _F not in self.truths

    @property
    def name(self) -> str:
        """The key of the part in a rule file, such as `args.amount` or `command`."""
        part = self.part
        if isinstance(part, tuple):
            return "tools"
        if isinstance(part, Patterns):
            return part.kind
        path = getattr(part, "path", None)
        return f"args.{'.'.join(path)}" if isinstance(path, tuple) else str(getattr(part, "key", type(part).__name__))


Way: TypeAlias = tuple[Literal, ...]


def ways_to_match(rule: ConfiguredRule) -> Iterator[Way]:
    """Yield the ways in which a rule matches; every call that it matches fits one of them."""
    is_permission, scope, needed = _needs_of(rule)
    holds = frozenset({_T}) if is_permission else frozenset({_T, _U})
    fails = frozenset({_F}) if is_permission else frozenset({_F, _U})
    selects = [Literal(scope.selectors, frozenset({_T}), needed)] if scope.selectors else []
    head = (*selects, *(Literal(part, holds, needed) for part in _parts_of(scope.when)))
    # What a permission says of paths and hosts next to commands is about those that a command names, if it names any.
    bare = tuple(each for each in head if each.name not in ("path", "host"))
    heads = (head, bare) if is_permission and scope.when.commands and len(bare) < len(head) else (head,)
    exceptions = [_fail(each, fails, _OTHER[needed], is_permission=is_permission) for each in scope.unless]
    for start, failing in itertools.product(heads, itertools.product(*exceptions)):
        check_time()
        yield (*start, *itertools.chain.from_iterable(failing))


def _fail(conditions: Conditions, fails: frozenset[Truth], needed: Match, *, is_permission: bool) -> list[Way]:
    """Return the ways in which an alternative of `unless` does not hold.

    What a permission excepts is about any action of one of its kinds of patterns; what a restriction excepts, about
    all kinds at once.
    """
    plain = [Literal(part, fails, needed) for part in conditions.plain]
    patterns = [Literal(part, fails, needed) for part in _parts_of(conditions) if isinstance(part, Patterns)]
    others = [tuple(patterns)] if is_permission and patterns else [(each,) for each in patterns]
    return [*((each,) for each in plain), *others]


def ways_to_miss(rule: ConfiguredRule) -> Iterator[Way]:
    """Yield the ways in which a rule does not match; every call that it does not match fits one of them."""
    is_permission, scope, needed = _needs_of(rule)
    fails = frozenset({_F, _U}) if is_permission else frozenset({_F})
    holds = frozenset({_T, _U}) if is_permission else frozenset({_T})
    if scope.selectors:
        yield (Literal(scope.selectors, frozenset({_F}), needed),)
    for part in _parts_of(scope.when):
        yield (Literal(part, fails, needed),)
    for each in scope.unless:
        yield from _hold(each, holds, _OTHER[needed], is_permission=is_permission)


def _hold(conditions: Conditions, holds: frozenset[Truth], needed: Match, *, is_permission: bool) -> Iterator[Way]:
    """Yield the ways in which an alternative of `unless` holds; see `_fail`."""
    plain = [Literal(part, holds, needed) for part in conditions.plain]
    patterns = [Literal(part, holds, needed) for part in _parts_of(conditions) if isinstance(part, Patterns)]
    if is_permission and patterns:
        yield from ((*plain, each) for each in patterns)
    else:
        yield (*plain, *patterns)


def _needs_of(rule: ConfiguredRule) -> tuple[bool, Scope, Match]:
    """Return whether a rule permits, its scope, and how far its conditions must match."""
    return rule.effect is Verdict.ALLOW, rule.scope, need_of(rule.effect)


def differences(
    wider: ConfiguredRule, narrower: ConfiguredRule | None = None
) -> Iterator[tuple[str, Way, ConfiguredRule]]:
    """Yield the ways in which one rule matches and another does not.

    Before each comes the condition that makes the difference, behind it the rule. Of patterns and selectors, each that
    only the wider rule has is a way by itself, of a rule that has no other.
    """
    if narrower is None or (wider.effect is Verdict.ALLOW and _kinds_of(wider) != _kinds_of(narrower)):
        # With another kind of patterns a permission is about other actions.
        name = "" if narrower is None else " and ".join(_kinds_of(wider))
        for each in _split(wider, None):
            yield from ((name, way, each) for way in ways_to_match(each))
        return
    for miss in ways_to_miss(narrower):
        name = miss[0].name if len(miss) == 1 and not miss[0].is_wanted else f"unless.{miss[0].name}"
        for each in _split(wider, miss):
            for match in ways_to_match(each):
                if not are_contrary(way := (*match, *miss)):
                    yield name, way, each


def _split(rule: ConfiguredRule, miss: Way | None) -> Iterator[ConfiguredRule]:
    """Yield a rule with each single pattern or selector that a miss of another rule does not name."""
    part = None if miss is None or len(miss) > 1 or miss[0].is_wanted else miss[0].part
    scope = rule.scope
    if isinstance(part, tuple) and scope.selectors:
        is_permission = rule.effect is Verdict.ALLOW
        for selector in scope.selectors:
            if not any(selects_all(each, selector, is_permission=is_permission) for each in part):
                yield attrs.evolve(rule, scope=attrs.evolve(scope, selectors=(selector,)))
        return
    kinds = _kinds_of(rule)
    kind = part.kind if isinstance(part, Patterns) else kinds[0] if kinds else ""
    field = _FIELDS.get(kind, "")
    patterns: Sequence[Any] = getattr(scope.when, field) if field else ()
    if not patterns:
        yield rule
        return
    named: Sequence[Any] = part.each if isinstance(part, Patterns) and _limits(part, scope.when) else ()
    for pattern in patterns:
        if not _is_named(rule, pattern, named):
            only: dict[str, Any] = {field: (pattern,)}
            yield attrs.evolve(rule, scope=attrs.evolve(scope, when=attrs.evolve(scope.when, **only)))


def _is_named(rule: ConfiguredRule, pattern: object, named: Sequence[object]) -> bool:
    """Return whether a rule with the `named` patterns matches whatever it matches with one more."""
    if rule.effect is Verdict.ALLOW:
        return pattern in named
    return any(pattern == other or is_within(pattern, other) for other in named)


def _kinds_of(rule: ConfiguredRule) -> list[str]:
    return [kind for kind in _FIELDS if getattr(rule.scope.when, _FIELDS[kind])]


def _limits(part: Patterns, when: Conditions) -> bool:
    """Return whether what limits some patterns is what limits those of `when`."""
    return part == attrs.evolve(_patterns_of(when, part.kind), each=part.each)


def are_contrary(way: Sequence[Literal]) -> bool:
    """Return whether two literals exclude each other: about the same part, or one that is narrower than another."""
    known: dict[tuple[Part, Match], frozenset[Truth]] = {}
    for each in way:
        # What certainly holds for a permission holds for a restriction as well.
        needed = (Match.YES, Match.ALIKE) if each.truths == _CERTAIN and each.needed is Match.YES else (each.needed,)
        for key in ((each.part, match) for match in needed):
            known[key] = known.get(key, each.truths) & each.truths
    if not all(known.values()):
        return True
    holding = [key for key, truths in known.items() if truths == _CERTAIN]
    failing = [key for key, truths in known.items() if _T not in truths]
    if any(_is_narrower(one, other) for one, other in itertools.product(holding, failing)):
        return True
    # The other way round: what certainly fails, and what is narrower and may not.
    failing = [key for key, truths in known.items() if truths == {_F}]
    holding = [key for key, truths in known.items() if _F not in truths]
    return any(_is_narrower(one, other) for one, other in itertools.product(holding, failing))


def _is_narrower(one: tuple[Part, Match], other: tuple[Part, Match]) -> bool:
    return one[1] is other[1] and (_has_fewer(one[0], other[0]) or is_narrower(one[0], other[0]))


def _has_fewer(one: Part, other: Part) -> bool:
    """Return whether both are patterns, and the one has only some of those of the other."""
    if not (isinstance(one, Patterns) and isinstance(other, Patterns)):
        return False
    return set(one.each) <= set(other.each) and attrs.evolve(one, each=other.each) == other


def _parts_of(conditions: Conditions) -> list[Part]:
    found = (_patterns_of(conditions, kind) for kind in _FIELDS)
    return [*conditions.plain, *(each for each in found if each.each)]


def _patterns_of(conditions: Conditions, kind: str) -> Patterns:
    each = getattr(conditions, _FIELDS[kind])
    if kind == "command":
        return Patterns(kind, each, looks=conditions.looks)
    return Patterns(kind, each, conditions.accesses if kind == "path" else frozenset())

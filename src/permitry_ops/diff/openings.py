"""Where rules differ so that more may be permitted: each rule that permits more, or restricts less."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from permitry.conditions.match import Match
from permitry.conditions.tools import ToolSelector
from permitry.core.decision import Verdict
from permitry.rules.configured import ConfiguredRule
from permitry_ops.diff.side import Side
from permitry_ops.diff.ways import Literal, Truth, Way, differences

__all__ = ["Opening", "openings"]

_PERMISSIONS = 200
"""The first priority of the rules of phase 2."""


@attrs.frozen
class Opening:
    """One way in which a rule lets more through: `what` it does, and the condition that makes the difference.

    `unsolved`: what differs and is not searched for, so that no proof is possible. `context` is that of every call.
    """

    rule_id: str
    what: str
    condition: str
    way: Way
    is_restriction: bool = attrs.field(default=False, kw_only=True)
    unsolved: tuple[str, ...] = attrs.field(default=(), kw_only=True)
    context: Mapping[str, Any] = attrs.field(factory=dict, kw_only=True)


def openings(old: Side, new: Side) -> Iterator[Opening]:
    """Yield the openings from one side to another, in the order of the rules; without any, no more is permitted."""
    before, after = _apart(old.by_id, new.by_id)
    asks = any(_asks(rule) for side in (old, new) for rule in side.rules.rules)
    for rule_id in dict.fromkeys((*after, *before)):
        earlier, later = before.get(rule_id), after.get(rule_id)
        if later is not None and (later.effect is Verdict.ALLOW or _permits(later, new)):
            yield from _permits_more(later, earlier, asks=asks)
        if earlier is not None and earlier.effect is not Verdict.ALLOW:
            yield from _restricts_less(earlier, later)
    yield from _of_policy(old, new)


def _apart(
    before: Mapping[str, ConfiguredRule], after: Mapping[str, ConfiguredRule]
) -> tuple[dict[str, ConfiguredRule], dict[str, ConfiguredRule]]:
    """Return the rules of each side that the other does not have, whatever they are called and say to people."""
    ours, theirs = ({_meaning(rule) for rule in side.values()} for side in (before, after))
    return (
        {key: rule for key, rule in before.items() if _meaning(rule) not in theirs},
        {key: rule for key, rule in after.items() if _meaning(rule) not in ours},
    )


def _meaning(rule: ConfiguredRule) -> ConfiguredRule:
    """Return a rule without what changes no verdict."""
    rule_id = rule.id if rule.budget is not None else ""
    return attrs.evolve(rule, id=rule_id, reason="", message=None, source=None)


def _asks(rule: ConfiguredRule) -> bool:
    """Return whether a rule is a question of phase 2, which may come before a permission."""
    return rule.effect is Verdict.CONFIRM and rule.priority_number >= _PERMISSIONS


def _permits(rule: ConfiguredRule, side: Side) -> bool:
    """Return whether a rule that asks permits something, as what nothing matches is blocked."""
    return _asks(rule) and side.policy.unmatched is Verdict.BLOCK


def _permits_more(rule: ConfiguredRule, earlier: ConfiguredRule | None, *, asks: bool) -> Iterator[Opening]:
    is_same = earlier is not None and earlier.effect is rule.effect
    is_moved = is_same and earlier is not None and asks and earlier.priority_number != rule.priority_number
    narrower = earlier if is_same and not is_moved else None
    unsolved = _limits_of(rule, earlier) if is_same else ()
    for condition, way in differences(rule, narrower):
        yield Opening(rule.id, "permits more", "priority" if is_moved else condition, way)
    for name in unsolved:
        yield from (
            Opening(rule.id, "permits more", name, way, unsolved=(f"`{name}`",)) for _, way in differences(rule)
        )


def _restricts_less(rule: ConfiguredRule, later: ConfiguredRule | None) -> Iterator[Opening]:
    # A question of phase 2 asks about what the permissions before it have left.
    is_same = later is not None and not later.effect < rule.effect
    if later is not None and later.priority_number >= _PERMISSIONS:
        is_same &= later.priority_number <= rule.priority_number
    narrower = later if is_same else None
    unsolved = _limits_of(rule, later) if is_same else ()
    what = "asks less" if rule.effect is Verdict.CONFIRM else "blocks less"
    for condition, way in differences(rule, narrower):
        yield Opening(rule.id, what, condition, way, is_restriction=True)
    for name in unsolved:
        for _, way in differences(rule):
            yield Opening(rule.id, what, name, way, is_restriction=True, unsolved=(f"`{name}`",))


def _limits_of(rule: ConfiguredRule, other: ConfiguredRule | None) -> tuple[str, ...]:
    """Return the fields of two rules that differ and of which no calls are made."""
    if other is None:
        return ()
    names = [name for name in ("budget", "keeps") if getattr(rule, name) != getattr(other, name)]
    is_any = rule.scope.when.runs_any and not other.scope.when.runs_any
    return (*names, "runs_any") if is_any else tuple(names)


def _of_policy(old: Side, new: Side) -> Iterator[Opening]:
    """Yield what differs besides rules."""
    if new.policy.unmatched < old.policy.unmatched:
        yield Opening("[policy]", "no longer blocks what no rule matches", "unmatched", (), is_restriction=True)
    before, after = dict(old.policy.declared), dict(new.policy.declared)
    for name in sorted({*before, *after}):
        if before.get(name) != after.get(name):
            place = f"[tool.{name}]"
            way = _calls_of((name,))
            yield Opening(place, "is declared otherwise", "", way, is_restriction=True, unsolved=(f"`{place}`",))
    for name in sorted({*old.rules.templates, *new.rules.templates}):
        earlier, later = old.rules.templates.get(name), new.rules.templates.get(name)
        if later is not None and earlier != later:
            place, known = f"[template.{name}]", () if earlier is None else earlier.allowed_tools
            way = _calls_of([tool for tool in later.allowed_tools if tool not in known])
            active = {"template": name if earlier is not None else {"name": name, "allow_tools": []}}
            yield Opening(place, "is another", "", way, unsolved=(f"`{place}`",), context=active)
    for place, what, is_other in (
        ("labels and counts", "calls leave others", old.policy.flows != new.policy.flows),
        ("[program]", "programs are read otherwise", old.rules.records != new.rules.records),
    ):
        if is_other:
            yield Opening(place, what, "", (), is_restriction=True, unsolved=(f"`{place}`",))


def _calls_of(names: Sequence[str]) -> Way:
    """Return the way of the calls of some tools; of any where there are none."""
    return (Literal(tuple(map(ToolSelector, names)), frozenset({Truth.TRUE}), Match.YES),) if names else ()

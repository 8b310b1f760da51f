"""Where rules differ so that more may be permitted: each rule that permits more, or restricts less."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from permitry.conditions.args import ArgumentCondition, ArgumentTest, SourceCondition
from permitry.conditions.listed import ListedValues
from permitry.conditions.match import Match
from permitry.conditions.tools import ToolSelector
from permitry.core.decision import Verdict
from permitry.core.template import Template
from permitry.rules.configured import ConfiguredRule
from permitry_ops.diff.budgets import exhaust, spend
from permitry_ops.diff.deadline import OutOfTimeError
from permitry_ops.diff.side import Side
from permitry_ops.diff.ways import Literal, Truth, Way, differences

__all__ = ["TIME", "Opening", "find_openings"]

TIME = "the time was up"
"""Why something is not proven that the search did not come to, or did not finish."""

_RESTRICTIONS, _PERMISSIONS = 100, 200
"""The first priorities of the rules of phase 1 and phase 2."""


@attrs.frozen
class Opening:
    """One way in which a rule lets more through: `what` it does, and the condition that makes the difference.

    `unsolved`: what differs and is not searched for, so that no proof is possible. `context` is that of every call.
    `meaning` is all of what differs, as it was and as it is. `rule` is the one, as it matches in this way.
    """

    rule_id: str
    what: str
    condition: str
    way: Way
    is_restriction: bool = attrs.field(default=False, kw_only=True)
    unsolved: tuple[str, ...] = attrs.field(default=(), kw_only=True)
    context: Mapping[str, Any] = attrs.field(factory=dict, kw_only=True)
    meaning: str = attrs.field(default="", kw_only=True, repr=False)
    rule: ConfiguredRule | None = attrs.field(default=None, kw_only=True, repr=False)


def find_openings(old: Side, new: Side) -> Iterator[Opening]:
    """Yield the openings from one side to another, in the order of the rules; without any, no more is permitted."""
    before, after = _leave(old, new), _leave(new, old)
    asks = any(_asks(rule) for side in (old, new) for rule in side.rules.rules)
    for rule_id in dict.fromkeys((*after, *before)):
        earlier, later = before.get(rule_id), after.get(rule_id)
        found: list[Opening] = []
        try:
            if later is not None and (later.effect is Verdict.ALLOW or _permits(later, new)):
                found += _permits_more(later, earlier, asks=asks)
            if earlier is not None and earlier.effect is not Verdict.ALLOW:
                found += _restricts_less(earlier, later)
        except OutOfTimeError:
            found.append(Opening(rule_id, "was not looked at", "", (), unsolved=(TIME,)))
        meaning = repr([each and _strip(each) for each in (earlier, later)])
        yield from (attrs.evolve(each, meaning=meaning) for each in found)
    yield from _of_policy(old, new)


def _leave(side: Side, other: Side) -> dict[str, ConfiguredRule]:
    """Return the rules of a side that the other does not have, whatever they are called and say to people."""
    known = frozenset(other.meanings.values())
    return {key: side.by_id[key] for key, meaning in side.meanings.items() if meaning not in known}


def _strip(rule: ConfiguredRule) -> tuple[ConfiguredRule, tuple[str, ...]]:
    """Return a rule without what changes no verdict, and the lists to which a session may add."""
    rule_id = rule.id if rule.budget is not None else ""
    return attrs.evolve(rule, id=rule_id, reason="", message=None, source=None), tuple(sorted(rule.lists))


def _asks(rule: ConfiguredRule) -> bool:
    """Return whether a rule is a question of phase 2, which may come before a permission."""
    return rule.effect is Verdict.CONFIRM and rule.priority_number >= _PERMISSIONS


def _permits(rule: ConfiguredRule, side: Side) -> bool:
    """Return whether a rule that asks permits something, as what nothing matches is blocked."""
    return _asks(rule) and side.policy.unmatched is Verdict.BLOCK


def _permits_more(rule: ConfiguredRule, earlier: ConfiguredRule | None, *, asks: bool) -> Iterator[Opening]:
    is_same = earlier is not None and earlier.effect is rule.effect
    unsolved = () if rule.effect is Verdict.ALLOW else ("what is asked where nothing else matches",)
    is_moved = is_same and earlier is not None and _is_earlier(rule, earlier, asks=asks)
    for condition, way, own in differences(rule, earlier if is_same and not is_moved else None):
        name = "priority" if is_moved else condition
        yield Opening(rule.id, "permits more", name, way, unsolved=unsolved, rule=own)
    if is_same and earlier is not None:
        yield from _limit_less(Opening(rule.id, "permits more", "", ()), rule, earlier, rule)


def _is_earlier(rule: ConfiguredRule, other: ConfiguredRule, *, asks: bool) -> bool:
    """Return whether a permission is asked before another, and before what may restrict: an override, or a question."""
    if rule.priority_number < _RESTRICTIONS <= other.priority_number:
        return True
    return asks and rule.priority_number < other.priority_number


def _restricts_less(rule: ConfiguredRule, later: ConfiguredRule | None) -> Iterator[Opening]:
    # A question of phase 2 asks about what the permissions before it have left.
    is_same = later is not None and not later.effect < rule.effect
    if later is not None and later.priority_number >= _PERMISSIONS:
        is_same &= later.priority_number <= rule.priority_number
    what = "asks less" if rule.effect is Verdict.CONFIRM else "blocks less"
    # One with a budget restricts once that is spent.
    context, unsolved = exhaust(rule)
    opening = Opening(rule.id, what, "", (), is_restriction=True, context=context, unsolved=unsolved)
    for condition, way, own in differences(rule, later if is_same else None):
        yield attrs.evolve(opening, condition=condition, way=way, rule=own)
    if is_same and later is not None:
        yield from _limit_less(Opening(rule.id, what, "", (), is_restriction=True), rule, rule, later)


def _limit_less(
    opening: Opening, rule: ConfiguredRule, earlier: ConfiguredRule, later: ConfiguredRule
) -> Iterator[Opening]:
    """Yield an opening for each field besides conditions by which a rule lets more through, in the ways it matches."""
    fields = [("budget", *spend(earlier, later))]
    if rule.keeps != (later if rule is earlier else earlier).keeps:
        fields.append(("keep", {}, ("`keep`",)))
    if _lists_of(earlier) != _lists_of(later):
        fields.append(("lists", {}, ("what a session adds to lists",)))
    if earlier.budget and later.budget and earlier.scope != later.scope:
        fields.append(("budget", {}, ("what its budget counts",)))
    if later.scope.when.runs_any and not earlier.scope.when.runs_any:
        fields.append(("runs_any", {}, ("`runs_any`",)))
    for name, context, unsolved in fields:
        for _, way, own in differences(rule) if context or unsolved else ():
            yield attrs.evolve(opening, condition=name, way=way, context=context, unsolved=unsolved, rule=own)


def _lists_of(rule: ConfiguredRule) -> object:
    """Return the lists to which a session may add and where a rule has them; where that is not seen, all conditions."""
    places = [(each.path, name) for each in rule.scope.each(ArgumentCondition) for name in _names_in(each.test)]
    for each in rule.scope.each(SourceCondition):
        places += [(each.path, source.text.removeprefix("list:")) for source in each.sources if source.kind == "list"]
    if rule.lists <= {name for _, name in places}:
        return sorted(places)
    return rule.lists, rule.scope


def _names_in(test: ArgumentTest) -> Iterator[str]:
    """Yield the names of the lists that a test compares with."""
    for check in test.checks:
        if isinstance(check.operand, ArgumentTest):
            yield from _names_in(check.operand)
        elif isinstance(check.operand, ListedValues):
            yield check.operand.name


def _of_policy(old: Side, new: Side) -> Iterator[Opening]:
    """Yield what differs besides rules."""
    if new.policy.unmatched < old.policy.unmatched:
        yield Opening("[policy]", "no longer blocks what no rule matches", "unmatched", (), is_restriction=True)
    yield from _of_tools(old, new)
    yield from _of_templates(old, new)
    yield from _of_labels(old, new)
    if old.rules.records != new.rules.records:
        unsolved = ("`[program]`",)
        yield Opening("[program]", "programs are read otherwise", "", (), is_restriction=True, unsolved=unsolved)


def _of_tools(old: Side, new: Side) -> Iterator[Opening]:
    before, after = dict(old.policy.declared), dict(new.policy.declared)
    for name in sorted({*before, *after}):
        if before.get(name) != after.get(name):
            place = f"[tool.{name}]"
            way = _calls_of((name,))
            opening = Opening(place, "is declared otherwise", "", way, is_restriction=True, unsolved=(f"`{place}`",))
            yield attrs.evolve(opening, meaning=repr((before.get(name), after.get(name))))


def _of_templates(old: Side, new: Side) -> Iterator[Opening]:
    for name, later in sorted(new.rules.templates.items()):
        earlier = old.rules.templates.get(name)
        if earlier != later:
            place, known = f"[template.{name}]", () if earlier is None else _tools_of(earlier)
            way = _calls_of([tool for tool in _tools_of(later) if tool not in known])
            # One that is not there yet permits nothing.
            active = {"template": {"name": name, "allow_tools": []} if earlier is None else name}
            opening = Opening(place, "is another", "", way, unsolved=(f"`{place}`",), context=active)
            yield attrs.evolve(opening, meaning=repr((earlier, later)))


def _tools_of(template: Template) -> tuple[str, ...]:
    """Return what a template allows, and what those allow that it extends."""
    inherited = (name for each in template.extends for name in _tools_of(each))
    return (*template.allowed_tools, *inherited)


def _of_labels(old: Side, new: Side) -> Iterator[Opening]:
    """Yield what no longer labels a session where a rule asks for the label, which only ever restricts."""
    kept = {(each.scope, each.label) for each in new.rules.flows}
    needed = frozenset[str]().union(*(each.scope.labels for each in new.rules.rules))
    for flow in old.rules.flows:
        if flow.label in needed and (flow.scope, flow.label) not in kept:
            unsolved = ("`adds_label`",)
            yield Opening(flow.id, "labels less", "adds_label", (), is_restriction=True, unsolved=unsolved)


def _calls_of(names: Sequence[str]) -> Way:
    """Return the way of the calls of some tools; of any where there are none."""
    return (Literal(tuple(map(ToolSelector, names)), frozenset({Truth.TRUE}), Match.YES),) if names else ()

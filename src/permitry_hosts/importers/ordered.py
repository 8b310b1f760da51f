"""Lists of rules in which the first match decides, as restrictions with exceptions and permissions in their order."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

import attrs

from permitry.config.rule_text import Conditions, Draft

__all__ = ["Ordered", "in_phases", "phases_of"]

_FIRST, _LAST = 201, 399


@attrs.frozen
class Ordered:
    """A rule of a list: if not `firm`, what only reads is not asked; if not `exact`, it is wider here."""

    effect: str
    tools: tuple[str, ...]
    when: Conditions = attrs.field(factory=dict)
    firm: bool = True
    message: str = ""
    unless: tuple[Conditions, ...] = ()
    exact: bool = True

    @property
    def is_permission(self) -> bool:
        """Whether it is written among the permissions, where order decides."""
        return self.effect == "allow" or (self.effect == "confirm" and not self.firm)

    @property
    def alone(self) -> Draft:
        """The rule of ours without what the order of the list makes of it."""
        return _draft(self)


def in_phases(rules: Sequence[Ordered]) -> list[Draft | None]:
    """Return a rule for each of a list, with exceptions or in order; None if nothing is left to it."""
    drafts: list[Draft | None] = []
    priority, last = _FIRST, ""
    for at, rule in enumerate(rules):
        if not rule.is_permission:
            drafts.append(_restriction(rule, rules[:at]))
            continue
        priority += bool(last) and rule.effect != last
        last = rule.effect
        # Beyond the last number no order can be said: a question is asked, and a permission left out.
        is_late = priority > _LAST and rule.effect == "allow"
        drafts.append(None if is_late else _draft(rule, min(priority, _LAST)))
    return drafts


def phases_of(groups: Sequence[Sequence[Ordered]]) -> list[list[Draft | None]]:
    """Return what `in_phases` does for the rules of all groups, by group."""
    drafts = iter(in_phases([rule for group in groups for rule in group]))
    return [[next(drafts) for _ in group] for group in groups]


def _draft(rule: Ordered, priority: int | None = None, unless: tuple[Conditions, ...] = ()) -> Draft:
    return Draft(rule.effect, rule.tools, rule.when, (*rule.unless, *unless), priority, rule.message)


def _restriction(rule: Ordered, earlier: Sequence[Ordered]) -> Draft | None:
    milder = [each for each in earlier if _is_milder(each, rule) and _may_meet(each, rule)]
    if any(_covers(each, rule) for each in milder):
        return None
    return _draft(rule, unless=tuple({"tools": list(each.tools), **each.when} for each in milder))


def _is_milder(first: Ordered, second: Ordered) -> bool:
    # What a permission excepts is asked about, so that the permission is an exception as a whole.
    is_whole = first.exact and (first.effect == "allow" or not first.unless)
    return is_whole and first.effect not in (second.effect, "block")


def _covers(first: Ordered, second: Ordered) -> bool:
    has_all = "*" in first.tools or set(second.tools) <= set(first.tools)
    return has_all and all(second.when.get(key) == value for key, value in first.when.items())


def _may_meet(first: Ordered, second: Ordered) -> bool:
    for key in ("mode", "agent"):
        if key in first.when and key in second.when and not set(first.when[key]) & set(second.when[key]):
            return False
    return any(_fit(one, other) for one in first.tools for other in second.tools)


def _fit(one: str, other: str) -> bool:
    are_patterns = "*" in one and "*" in other
    return are_patterns or fnmatchcase(one, other) or fnmatchcase(other, one)

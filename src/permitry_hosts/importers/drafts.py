"""What importers make: rules of ours as drafts, and for each rule of a host what became of it.

A list of rules in which the first match decides becomes restrictions with exceptions, and permissions in their order.
"""

import enum
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, TypeGuard

import attrs

from permitry.config.rule_text import Conditions, Draft

__all__ = [
    "Imported", "Ordered", "Outcome", "Probe", "Row", "Source", "Template", "are_texts", "in_phases", "phases_of",
]  # fmt: skip

_FIRST, _LAST = 201, 399


def are_texts(value: object) -> TypeGuard[list[str]]:
    """Return whether a value of a file is a list of texts."""
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


class Outcome(enum.Enum):
    """What became of a rule of a host."""

    SAME = "same"
    SAME_WORDS = "same words"
    NOT_TRIED = "not tried"
    LOOSER = "looser"
    STRICTER = "stricter"
    WIDENED = "widened"
    UNREACHED = "unreached"
    DROPPED = "dropped"
    IGNORED = "ignored by the host"


@attrs.frozen
class Source:
    """A file of a host, by the name that is shown; `is_users` if it is not a project's."""

    name: str
    text: str
    is_users: bool = False


@attrs.frozen
class Template:
    """A template of ours: tools that need no confirmation while it is active."""

    name: str
    description: str
    allow_tools: tuple[str, ...]


@attrs.frozen
class Probe:
    """A call, as it is shown, and whether the rule of the host is about it; quoted if only its words are."""

    tool: str
    arguments: Mapping[str, Any]
    shown: str
    matches: bool
    is_quoted: bool = False


@attrs.frozen
class Row:
    """One rule of a host: its place, text and effect, and what became of it.

    `lines` are those in the written file. `probes` tell its rules from that of the host; they are tried
    with the rules `alone`, where the order of a list makes exceptions.
    """

    place: str
    text: str
    effect: str
    drafts: tuple[Draft, ...] = ()
    outcome: Outcome = Outcome.SAME
    note: str = ""
    lines: tuple[int, ...] = ()
    template: Template | None = None
    probes: tuple[Probe, ...] = attrs.field(default=(), repr=False)
    alone: tuple[Draft, ...] = attrs.field(default=(), repr=False)

    @property
    def is_lost(self) -> bool:
        """Whether a restriction was dropped: it could be neither said nor widened."""
        return self.outcome is Outcome.DROPPED and self.effect != "allow"


@attrs.frozen
class Imported:
    """The rules of a host, and what it has built in; if `is_closed`, the rest is blocked."""

    host: str
    rows: Sequence[Row]
    built_in: Sequence[Draft] = ()
    is_closed: bool = False

    @property
    def tools(self) -> str:
        """The shipped set of the tools of the host; empty where it has none of its own."""
        return "" if self.host in ("inspect_ai", "tunacode") else f"permitry:tools-{self.host}"


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

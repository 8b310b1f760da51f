"""What importers make: rules of ours as drafts, and for each rule of a host what became of it."""

import enum
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import attrs

from permitry.config.rule_text import Draft

__all__ = ["Imported", "Outcome", "Probe", "Row", "Source", "Template", "are_texts"]


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
    """One rule of a host: its place, its text and its effect, and what became of it.

    `lines` are those of its rules, or of its template, in the written file. `probes` are calls that tell its rules
    from the rule of the host; they are tried with the rules `alone`, where the order of a list makes exceptions.
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

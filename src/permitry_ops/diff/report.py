"""What a comparison found, as objects to print: widenings, narrowings, and what is not proven."""

import hashlib
import json
import shlex
import time
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import attrs

from permitry.core.decision import Decision
from permitry.errors import PermitryError, count
from permitry_ops.diff.search import Answer, Search, Witness
from permitry_ops.diff.side import Line
from permitry_ops.diff.sources import Loaded

__all__ = ["ASSUMPTIONS", "Accepted", "Change", "Report", "Unproven", "compare", "read_accepted"]

ASSUMPTIONS = (
    "a call that does several things is allowed where each of them is",
    "tools are those that rules declare or permitry knows by name, or ones of which nothing is known",
    "a path leads where it says, without links",
    "rules in Python are the same on both sides",
)
"""What a proof relies on."""
_LEAST_DIGITS = 12


@attrs.frozen
class _Finding:
    """One way in which a rule changes what is decided: what it does, and by which condition."""

    rule_id: str
    what: str
    condition: str

    @property
    def title(self) -> str:
        """The rule, what it does, and the condition in parentheses."""
        return f"{self.rule_id} {self.what}" + (f" ({self.condition})" if self.condition else "")


@attrs.frozen
class Change(_Finding):
    """A way with a call that shows it, and the places of the rules that decided.

    `command` decides the call, to paste. `digest` is that of all that differs, so that one of two rules that widen in
    the same way is not taken for the other.
    """

    witness: Witness
    before: str
    after: str
    command: str
    digest: str
    accepted_by: str = ""

    @property
    def sides(self) -> tuple[str, str]:
        """What was decided before and is decided after, each with the rule and its place."""
        return _show(self.witness.before, self.before), _show(self.witness.after, self.after)

    def to_dict(self) -> dict[str, Any]:
        """Return the change as a JSON object."""
        return {
            "rule": self.rule_id,
            "what": self.what,
            "condition": self.condition,
            "call": self.witness.line,
            "command": self.command,
            "before": _decision(self.witness.before, self.before),
            "after": _decision(self.witness.after, self.after),
            "digest": self.digest,
            "accepted_by": self.accepted_by or None,
        }


@attrs.frozen
class Unproven(_Finding):
    """A way in which a rule may permit more, and why it is not known."""

    why: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {"rule": self.rule_id, "what": self.what, "condition": self.condition, "why": list(self.why)}


@attrs.frozen
class Accepted:
    """A widening that is wanted."""

    digest: str
    by: str
    why: str


@attrs.frozen
class Report:
    """All that was found; `changed` counts the ways that were looked at, `asked` the calls."""

    wider: tuple[Change, ...]
    narrower: tuple[Change, ...]
    unproven: tuple[Unproven, ...]
    changed: int
    rules: int
    asked: int
    seconds: float

    @property
    def to_accept(self) -> tuple[Change, ...]:
        """The widenings that are not accepted."""
        return tuple(each for each in self.wider if not each.accepted_by)

    @property
    def head(self) -> str:
        """What was found, in a few words."""
        if self.to_accept:
            return f"More is allowed: {count(len(self.to_accept), 'way')}"
        if self.unproven:
            return "No call was found that is allowed more, and that is not proven"
        return "Nothing more is allowed but what was accepted" if self.wider else "Nothing more is allowed"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What it relies on that nothing more is allowed; empty where that is not known."""
        return () if self.to_accept or self.unproven else ASSUMPTIONS

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        return {
            "wider": [each.to_dict() for each in self.wider],
            "narrower": [each.to_dict() for each in self.narrower],
            "unproven": [each.to_dict() for each in self.unproven],
            "assumptions": list(self.assumptions),
            "changed": self.changed,
            "rules": self.rules,
            "asked": self.asked,
            "seconds": round(self.seconds, 3),
        }


def compare(
    old: Loaded,
    new: Loaded,
    *,
    workspace: str,
    seconds: float | None = None,
    only_wider: bool = False,
    accepted: Iterable[Accepted] = (),
) -> Report:
    """Return what `new` permits more, and less, than `old`; what takes longer than `seconds` is not proven."""
    start = time.monotonic()
    deadline = None if seconds is None else start + seconds
    sides = old.side(workspace), new.side(workspace)
    search = Search(*sides, deadline=deadline)
    back = Search(sides[1], sides[0], deadline=deadline)
    answers, less = search.answer_all(), [] if only_wider else back.answer_all()
    known = {each.digest: each.by for each in accepted}
    wider = [
        attrs.evolve(each, accepted_by=known.get(each.digest, "")) for each in _changes(answers, old, new, workspace)
    ]
    unproven = (
        Unproven(each.opening.rule_id, each.opening.what, each.opening.condition, each.why)
        for each in answers
        if each.why
    )
    return Report(
        tuple(wider),
        tuple(_changes(map(_turn, less), old, new, workspace)),
        tuple(dict.fromkeys(unproven)),
        len({each.opening.rule_id for each in (*answers, *less)}),
        len(new.rules.rules),
        search.asked + back.asked,
        time.monotonic() - start,
    )


def _turn(answer: Answer) -> Answer:
    """Return an answer of the way back as one of the way there."""
    found = answer.witness
    turned = {"permits more": "permits less", "asks less": "asks more", "blocks less": "blocks more"}
    opening = attrs.evolve(answer.opening, what=turned.get(answer.opening.what, answer.opening.what))
    witness = None if found is None else Witness(found.line, found.after, found.before)
    return Answer(opening, witness, answer.why)


def _changes(answers: Iterable[Answer], old: Loaded, new: Loaded, workspace: str) -> list[Change]:
    """Return a change for each answer with a witness; the same call comes once for each condition of a rule."""
    found: dict[tuple[str, str, str], Change] = {}
    for each in answers:
        if each.witness is not None:
            opening, witness = each.opening, each.witness
            places = old.name(witness.before.source), new.name(witness.after.source)
            command = command_of(witness.line, workspace)
            own = opening.rule_id, opening.what, opening.condition
            digest = _digest(*own, opening.meaning, *opening.unsolved)
            change = Change(*own, witness, *places, command, digest)
            found.setdefault((opening.rule_id, opening.condition, command), change)
    return list(found.values())


def _digest(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:_LEAST_DIGITS]


def command_of(line: Line, workspace: str = "") -> str:
    """Return the command line that decides a call; with the workspace, if it is not the current folder."""
    arguments = line.get("arguments", {})
    is_bare = set(line) == {"name", "arguments"} and set(arguments) == {"command"}
    command = arguments.get("command")
    words = ["permitry", "check", "--call", json.dumps(line)]
    if line["name"] == "run_shell" and is_bare and isinstance(command, str) and command.isprintable():
        # A text that looks like an option must be joined to it.
        words[2:] = [f"--command={command}"] if command.startswith("-") else ["--command", command]
    if workspace and workspace != str(Path.cwd()):
        words += ["--workspace", workspace]
    return shlex.join(words)


def _show(decision: Decision, place: str) -> str:
    return f"{decision.verdict.value} ({', '.join(filter(None, (decision.rule_id or 'no rule', place)))})"


def _decision(decision: Decision, place: str) -> dict[str, Any]:
    return {"verdict": decision.verdict.value, "rule": decision.rule_id, "source": place or None}


def read_accepted(path: Path) -> Sequence[Accepted]:
    """Return the widenings that a file accepts, each an `[[accept]]` with `digest`, `by` and `why`.

    Raises: `PermitryError` that names the place.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PermitryError(f"`{path}` cannot be read: {error}") from error
    entries = data.get("accept", [])
    if set(data) - {"accept"} or not isinstance(entries, list):
        raise PermitryError(f"`{path}`: it has nothing but tables `[[accept]]`")
    return [_read_entry(entry, number, path) for number, entry in enumerate(entries, 1)]


def _read_entry(entry: object, number: int, path: Path) -> Accepted:
    keys = {"digest", "by", "why"}
    if (
        isinstance(entry, dict)
        and set(entry) == keys
        and all(isinstance(entry[key], str) and entry[key] for key in keys)
    ):
        return Accepted(**entry)
    raise PermitryError(f"`{path}`, `[[accept]]` {number}: it has `digest`, `by` and `why`, each a text")

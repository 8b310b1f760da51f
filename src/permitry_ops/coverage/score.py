"""What became of mutants of rules: noticed, equal to the rules, or missed."""

import enum
from typing import Any

import attrs

from permitry_ops.coverage.mutants import Mutant
from permitry_ops.diff.side import Line

__all__ = ["Fate", "Outcome", "Score"]


class Fate(enum.Enum):
    """What became of a mutant."""

    NOTICED = "noticed"
    EQUAL = "equal"
    """No call is decided otherwise: that is proven."""
    MISSED = "missed"
    UNPROVEN = "not proven"
    """Nothing noticed it, and no call was found that would; there may be one."""


@attrs.frozen(eq=False)
class Outcome:
    """What became of a mutant: `by` what it was noticed, the call that would, or `why` none is known."""

    mutant: Mutant
    fate: Fate
    by: str = ""
    line: Line | None = None
    why: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        rule = self.mutant.rule
        return {
            "rule": rule.id,
            "source": rule.source,
            "mutant": self.mutant.what,
            "fate": self.fate.value,
            "by": self.by or None,
            "call": self.line,
            "why": list(self.why),
        }


@attrs.frozen
class Score:
    """What became of all mutants; those that change no decision do not count."""

    outcomes: tuple[Outcome, ...]

    def among(self, *fates: Fate) -> tuple[Outcome, ...]:
        """Return the outcomes with one of some fates."""
        return tuple(each for each in self.outcomes if each.fate in fates)

    @property
    def total(self) -> int:
        """How many mutants count."""
        return len(self.outcomes) - len(self.among(Fate.EQUAL))

    @property
    def percent(self) -> float:
        """How many of a hundred mutants that count were noticed; 100 where none count."""
        return 100 * len(self.among(Fate.NOTICED)) / self.total if self.total else 100.0

    def to_dict(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        counts = {fate.name.lower(): len(self.among(fate)) for fate in Fate}
        mutants = [each.to_dict() for each in self.outcomes]
        return {**counts, "percent": round(self.percent, 1), "mutants": mutants}

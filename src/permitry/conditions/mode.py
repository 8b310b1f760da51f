"""The condition `mode`."""

from typing import Annotated

import attrs

from permitry.conditions._words import words
from permitry.conditions.match import Match
from permitry.conditions.written import PlainCondition, Problem, Words
from permitry.core.context import misspelt_mode
from permitry.core.rule import Request

__all__ = ["ModeCondition"]


def mode_problem(word: str) -> Problem | None:
    """Return what is wrong with the word for a mode."""
    if word.startswith("!"):
        return f"unknown mode `{word}`", f'write `unless.mode = "{word.lstrip("! ")}"`'
    meant = misspelt_mode(word)
    return (f"unknown mode `{word}`", f"did you mean `{meant}`?") if meant else None


@attrs.frozen
class ModeCondition(PlainCondition):
    """Holds in one of the named modes; a restriction compares every mode the session is in."""

    key = "mode"
    table = Annotated[Words, mode_problem]
    description = "The session's mode: plan, yolo, default, or a word of the host."
    any_of = "modes"
    example = Annotated[str, mode_problem]
    in_context = "mode"
    is_pure = True

    modes: tuple[str, ...] = attrs.field(converter=words)

    def match(self, request: Request, _needed: Match = Match.YES, /) -> Match:
        """Return `YES` if the session has the name of a mode, and `ALIKE` if it is in one of them."""
        context = request.context
        if context.mode in self.modes:
            return Match.YES
        return Match.NO if context.modes.isdisjoint(self.modes) else Match.ALIKE

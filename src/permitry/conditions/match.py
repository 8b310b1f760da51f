"""How far a condition matches a call or one effect of it, and why it only may, for people.

`when` of a permission needs `YES`. A restriction applies from `ALIKE` on, and between that and
`NO` it asks. `unless` is read the other way: that of a permission takes back what is not `NO`,
that of a restriction lifts only what is `YES`.
"""

import enum
import re
from collections.abc import Iterable

from permitry.core.action import UNSEEN_ADDRESS, UNSEEN_NAME, Connect, Descent, Place, Run, Touch, Unknown, phrase
from permitry.core.decision import Verdict
from permitry.core.effects import Effect

__all__ = ["Match", "best_of", "need_of", "why", "why_open", "why_several", "why_uncertain", "why_unread"]

_EXPANSION = re.compile(r"\$\w+|\$\{[^}]*\}|\$\([^)]*\)|`[^`]*`|[^\s\"]+")


class Match(enum.IntEnum):
    """How far a condition matches, ascending; a maybe has its number as its likeness."""

    NO = -1
    OPEN = 0
    """Nothing is known of the effect but its kind, so it may be anything."""
    ACCESS = 1
    """As `OPEN`, but the access to the path is known, and is the only one that the condition names."""
    BELOW = 2
    """A folder above the path is gone through, or several programs together do what the rule is about."""
    MAYBE = 3
    """What is known of the effect fits, and not all is known."""
    ALIKE = 4
    """What is known fits for certain, perhaps in another spelling."""
    YES = 5
    """It fits exactly as it is written, and all of it is known."""

    @classmethod
    def of(cls, truth: bool | None) -> "Match":  # noqa: FBT001 -- it is the value that is examined
        """Return the match of a fact that is true or false; of one that is not known, `ALIKE`."""
        return cls.ALIKE if truth is None else cls.YES if truth else cls.NO


def need_of(verdict: Verdict) -> Match:
    """Return how far plain conditions must match for a rule with this verdict."""
    return Match.YES if verdict is Verdict.ALLOW else Match.ALIKE


def best_of(matches: Iterable[Match], enough: Match) -> Match:
    """Return the first match that is `enough`, or else the greatest; `NO` where there are none."""
    best = Match.NO
    for match in matches:
        if match >= enough:
            return match
        best = max(best, match)
    return best


def why(effect: Effect) -> str:
    """Return why an effect only may be what a condition is about."""
    match effect.subject:
        case Touch() as touch:
            return _why_path(touch, effect.run)
        case Connect(text=text):
            return f"`{text}` may be such an address"
        case subject:
            run = subject if isinstance(subject, Run) else None
    unknown = next((word.text for word in effect.words if word.is_open and word.text), None)
    return f"`{phrase(subject)}` may be such a command" if unknown is None else _not_known(unknown, run)


def _why_path(touch: Touch, run: Run | None) -> str:
    place = touch.place
    if place.is_open:
        return _not_known(place.text, run)
    if not place.is_tree:
        return f"`{place.text}` may be such a path"
    is_new = place.descent is Descent.NEW
    does = f"may {touch.access.value} any file of" if is_new else "reaches all below"
    return f"`{phrase(run or touch)}` {does} `{place.text}`"


def why_open(effect: Effect) -> str:
    """Return why an effect could be any path, or any address."""
    match effect.subject:
        case Touch(place=place) if place.is_open:
            return _not_known(place.text, effect.run)
        case Touch(place=place):
            return f"`{place.text}` may lead anywhere"
        case Connect(text=text) if text != UNSEEN_ADDRESS:
            return f"`{text}` is not a valid address"
        case _:
            return _not_known(UNSEEN_ADDRESS)


def why_several(effects: Iterable[Effect]) -> str:
    """Return which programs, each of which does a part, only may do what is restricted."""
    parts = [each.run or each.subject for each in effects]
    parts.sort(key=lambda each: each.start if isinstance(each, Run) else 0)
    return " and ".join(dict.fromkeys(f"`{phrase(each)}`" for each in parts)) + " together"


def why_uncertain(place: Place, doubtful: Iterable[Run]) -> str:
    """Return why "it", a path, is not certain; not all is known of the `doubtful` before it."""
    if place.is_open:
        return "it is not known before it runs"
    if place.has_wildcards:
        return "its wildcards become names that are not known"
    for run in doubtful:
        return f"`{phrase(run)}` may change where it leads"
    return "where it leads is not known"


def why_unread(action: Unknown) -> str:
    """Return what could not be read, and why."""
    if action.reason != "an expansion":
        return action.reason
    found = _EXPANSION.match(action.text, action.offset)
    return action.reason if found is None else _not_known(found[0])


def _not_known(text: str, run: Run | None = None) -> str:
    """Return that a text is not known, or, if it is not in the call, where it comes from."""
    around = () if run is None else (*run.within, *run.argv[:1])
    if text in ("{}", UNSEEN_NAME) and "xargs" in around:
        return "what `xargs` reads is not known before it runs"
    shown = text if text in (UNSEEN_NAME, UNSEEN_ADDRESS) else f"`{text}`"
    return f"{shown} is not known before it runs"

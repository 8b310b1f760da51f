"""What of a call a permission does not cover, or an exception does not lift, and why, for people to read."""

import itertools
from posixpath import dirname

import attrs

from permitry.conditions._conditions import Conditions
from permitry.core.action import Action, Actions, Connect, Run, Touch, phrase

__all__ = ["pattern_below", "what_is_left"]


def what_is_left(action: Action, conditions: Conditions, actions: Actions) -> tuple[str, str | None]:
    """Return the part of an action that the conditions do not certainly fit, and why it is not certain.

    The reason is None for a part that is known, and is not what the conditions are about.
    """
    shown, subject = f"`{phrase(action)}`", action
    if isinstance(action, Run) and conditions.fits_command(action):
        operands = action.operands
        every: tuple[Touch | Connect, ...] = (*operands.touches, *operands.connects)
        left = next((each for each in every if not conditions.fits_operand(each, actions)), None)
        if left is None:
            return shown, None if operands.is_listed else "not all that it touches is known"
        shown, subject = f"`{phrase(left)}` of {shown}", left
    return shown, _why_uncertain(subject, action, conditions, actions)


def pattern_below(action: Action, conditions: Conditions, actions: Actions) -> str | None:
    """Return the pattern for what is below a folder that the conditions fit, if the action touches something there."""
    if not isinstance(action, Touch) or not conditions.is_meant(action):
        return None
    place = action.place
    while any(name != "/" for name in place.real):
        place = attrs.evolve(place, lexical=_above(place.lexical), real=_above(place.real))
        fitting = next((path for path in conditions.paths if path.holds(place, actions.roots)), None)
        if fitting is not None:
            return f"{fitting.text.rstrip('/')}/**"
    return None


def _above(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(dirname, names))


def _why_uncertain(subject: Action, action: Action, conditions: Conditions, actions: Actions) -> str | None:
    if not isinstance(subject, Touch) or subject.place.is_certain or not conditions.paths:
        return None
    place = subject.place
    if place.is_open:
        return "it is not known before it runs"
    known = attrs.evolve(subject, place=attrs.evolve(place, is_certain=True))
    if not conditions.fits_operand(known, actions):
        return None
    if place.has_wildcards:
        return "its wildcards become names that are not known"
    earlier = itertools.takewhile(lambda each: each is not action, actions.certain)
    doubtful = next((each for each in earlier if isinstance(each, Run) and each.doubt is not None), None)
    return "where it leads is not known" if doubtful is None else f"`{phrase(doubtful)}` may change where it leads"

"""Why conditions do not match, and why exceptions do not apply, for people to read.

It reads the same matches as `permit` and `restrict`, and so says nothing but what they decide.
"""

import itertools
from collections.abc import Iterator, Sequence
from posixpath import dirname

import attrs

from permitry.conditions import permit
from permitry.conditions._conditions import Conditions
from permitry.conditions.match import Match, why_uncertain
from permitry.conditions.tools import is_shell
from permitry.core.action import Action, Run, Touch, phrase
from permitry.core.effects import Effect, only_reads
from permitry.core.rule import Request
from permitry.errors import UnevaluableError

__all__ = ["say_not_lifted", "say_plain", "say_uncovered"]


def say_plain(conditions: Conditions, request: Request, needed: Match) -> Iterator[str]:
    """Yield what is true where a plain condition does not match: `mode = plan (expected: yolo)`."""
    for condition in conditions.plain:
        try:
            if condition.match(request, needed) < needed:
                expected = condition.expected
                yield condition.fact(request) + ("" if expected is None else f" (expected: {expected})")
        except UnevaluableError as error:
            yield str(error)


def say_not_lifted(unless: Conditions, when: Conditions, request: Request) -> str:
    """Return why an exception does not lift a restriction from a call."""
    facts = list(say_plain(unless, request, Match.YES))
    if facts:
        return ", ".join(facts)
    for effect in request.parts.every:
        # Whether what is known of it may match one of the conditions on actions.
        matches = [kind.in_doubt(effect).match(effect, enough=Match.MAYBE) for kind in when.on_actions]
        if max(matches, default=Match.MAYBE) > Match.ACCESS and not permit.fits(unless, effect):
            shown, why = _find_left(effect, unless)
            return f"{shown} (expected: {unless.does})" if why is None else f"{shown} is not certain, because {why}"
    return f"something that is not certain (expected: {unless.does})"


def say_uncovered(
    when: Conditions, unless: Sequence[Conditions], covered: frozenset[int], request: Request
) -> Iterator[str]:
    """Yield why a permission does not cover each action; not of those that may be left."""
    reads = is_shell(request)
    for at, action in enumerate(request.actions.certain):
        if at in covered or (reads and only_reads(action)):
            continue
        effect = Effect(action, None, request.actions)
        if permit.fits(when, effect) and permit.is_taken_back(unless, effect, request):
            yield f"`unless` takes `{phrase(action)}` back"
            continue
        if when.looks and permit.fits(attrs.evolve(when, looks=False), effect):
            yield f"`{phrase(action)}` is not known to only look"
            continue
        shown, why = _find_left(effect, when)
        if why is None:
            yield f"{shown} is not covered" + ("" if covered else _say_expected(effect, when))
        else:
            yield f"{shown} is not certain, because {why}"


def _say_expected(effect: Effect, when: Conditions) -> str:
    below = _pattern_below(effect, when)
    hint = "" if below is None else f"; what is below it is `{below}`"
    if isinstance(effect.subject, Touch) and not effect.actions.roots.workspace:
        # Then a relative pattern permits nothing.
        hint = "; the session has no `workspace`, the folder that patterns are relative to"
    return f" (expected: {when.does}{hint})"


def _find_left(effect: Effect, conditions: Conditions) -> tuple[str, str | None]:
    """Return the part of an effect that does not match, and why that is not certain, or None."""
    action = effect.subject
    shown = f"`{phrase(action)}`"
    if not isinstance(action, Run) or not permit.runs(conditions, effect):
        return shown, _doubt(effect, action, conditions)
    left = permit.find_left(conditions, action, effect)
    if left is None:
        return shown, None if action.operands.is_listed else "not all that it touches is known"
    return f"`{phrase(left.subject)}` of {shown}", _doubt(left, action, conditions)


def _doubt(effect: Effect, action: Action, conditions: Conditions) -> str | None:
    """Return why a path is not certain that would match otherwise; `action` touches it."""
    touch = effect.subject
    if not isinstance(touch, Touch) or touch.place.is_certain or not conditions.paths:
        return None
    place = touch.place
    known = attrs.evolve(effect, subject=attrs.evolve(touch, place=attrs.evolve(place, is_certain=True)))
    if not (place.is_open or permit.fits_operand(conditions, known)):
        return None
    earlier = itertools.takewhile(lambda each: each is not action, effect.actions.certain)
    doubtful = (each for each in earlier if isinstance(each, Run) and each.doubt is not None)
    return why_uncertain(place, doubtful)


def _pattern_below(effect: Effect, when: Conditions) -> str | None:
    """Return the pattern for what is below a named folder, if the effect is there."""
    touch = effect.subject
    if not isinstance(touch, Touch) or not when.on_paths.for_permission.is_about(effect):
        return None
    place = touch.place
    while any(name != "/" for name in place.real):
        place = attrs.evolve(place, lexical=_above(place.lexical), real=_above(place.real))
        sure = (path for path in when.paths if path.match_place(place, effect.roots, Match.YES) is Match.YES)
        fitting = next(sure, None)
        if fitting is not None:
            return f"{fitting.text.rstrip('/')}/**"
    return None


def _above(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(dirname, names))

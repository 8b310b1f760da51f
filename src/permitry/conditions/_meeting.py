"""How a restriction matches its conditions against the actions of a call: with certainty, by a guess, or not.

The three *kinds* of conditions are those on commands, on paths and on hosts. A part is one action
of the call, with the program it belongs to. `Unsure` is the answer of a restriction that may apply;
the call is then confirmed.
"""

import functools
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

import attrs

from permitry.conditions._conditions import Conditions
from permitry.core.action import (
    UNSEEN_ADDRESS,
    UNSEEN_NAME,
    Actions,
    Connect,
    Descent,
    Place,
    Run,
    Touch,
    Unknown,
    phrase,
)
from permitry.core.effects import Effect, Effects
from permitry.core.rule import Request, Unsure

__all__ = ["BY_NAME", "may_be_anything", "met", "met_at_once"]

_EXPANSION = re.compile(r"\$\w+|\$\{[^}]*\}|\$\([^)]*\)|`[^`]*`|[^\s\"]+")
# How likely it is that an unsure rule applies, ascending. The path is not known, but is accessed in
# the way that the rule names; a folder above the path is gone through, or several programs together
# do what the rule names; a path, host or command fits by its name. 0: no known part fits.
_BY_ACCESS, _BY_FOLDER, BY_NAME = 1, 2, 3


def met(kind: Conditions, request: Request, lifts: Callable[[Effect], bool]) -> bool | Unsure:
    """Return whether an action meets the conditions of one kind, or `Unsure` if it only may.

    `lifts` returns whether `unless` lifts the restriction from a part; such parts do not count.
    """
    lifts = functools.partial(_lifts_below, lifts=lifts, kind=kind, request=request)
    narrowed = kind.narrowed(request.facts)
    answer = narrowed is not None and _met_by_known(narrowed, request, lifts)
    if answer is not False:
        return answer
    unknown = _unknown(kind, request.actions)
    if unknown is not None:
        return Unsure(unknown, kind.does)
    about_guesses = ((_about(kind, part), part) for part in request.guesses.open)
    for about, part in itertools.chain(((kind, part) for part in request.parts.open), about_guesses):
        if (reason := may_be_anything(about, part)) is not None:
            return Unsure(reason, about.does, _BY_ACCESS if _has_exactly_the_access(about, part) else 0)
    return False


def _lifts_below(part: Effect, *, lifts: Callable[[Effect], bool], kind: Conditions, request: Request) -> bool:
    """Return whether `unless` lifts the restriction from a part, or from all that is found below a folder."""
    if lifts(part):
        return True
    touch = part.subject
    if not (isinstance(touch, Touch) and touch.place.tops and kind.paths) or kind.may_name(touch.place, request):
        return False
    is_met = False
    for name in kind.names_below(touch.place, request):
        is_met = True
        if name is None or not lifts(attrs.evolve(part, subject=_below(touch, name))):
            return False
    return is_met


def _below(touch: Touch, name: str) -> Touch:
    """Return the access to something below the folder that a program goes through."""
    return attrs.evolve(touch, place=Place(name, (name,), (name,), is_certain=touch.place.is_certain))


def _known(kind: Conditions, request: Request) -> Iterator[tuple[Conditions, Effect]]:
    """Yield the conditions with each certain or possible part that they may be about."""
    for part in _of_kind(kind, request.parts):
        yield kind, part


def _guessed(kind: Conditions, request: Request) -> Iterator[tuple[Conditions, Effect]]:
    """Yield what `_about` leaves of the conditions with each guessed part they may be about."""
    for part in _of_kind(kind.guessed, request.guesses):
        yield _about(kind, part), part


def _about(kind: Conditions, part: Effect) -> Conditions:
    """Return the conditions of one kind as they are compared with a guessed part.

    Patterns for any command are left out: any text could be some command. Accesses are left out where no program is
    known that touches the path: an undeclared tool may access it in any way.
    """
    return kind.guessed.of_any_access if part.run is None else kind.guessed


def _of_kind(kind: Conditions, parts: Effects) -> tuple[Effect, ...]:
    """Return the parts that conditions of one kind may be about; a pattern for any command may be about all parts."""
    if kind.paths:
        return parts.touches
    if kind.hosts:
        return parts.connects
    return parts.every if any(pattern.is_any for pattern in kind.commands) else parts.runs


def _met_by_known(kind: Conditions, request: Request, lifts: Callable[[Effect], bool]) -> bool | Unsure:
    # `lifts` is evaluated last because it is slow, and few parts fit.
    fitting = [pair for pair in _fitting(_known(kind, request), request) if not lifts(pair[1])]
    if any(kind.must_fit(part, request) for _, part in fitting):
        return True
    guesses = (pair for pair in _fitting(_guessed(kind, request), request) if not lifts(pair[1]))
    best: tuple[int, Conditions, Effect] | None = None
    for about, part in itertools.chain(fitting, guesses):
        likeness = _likeness(about, part, request)
        if best is None or likeness > best[0]:
            best = likeness, about, part
        if likeness == BY_NAME:
            break
    if best is None:
        return False
    likeness, about, part = best
    return Unsure(_why(part), about.does_to(part, request), likeness)


def _fitting(pairs: Iterable[tuple[Conditions, Effect]], request: Request) -> Iterator[tuple[Conditions, Effect]]:
    """Yield the parts that may fit. A path is compared once, even if several parts name it."""
    known: dict[tuple[int, int], bool] = {}
    for about, part in pairs:
        touch = part.subject
        if not (isinstance(touch, Touch) and about.paths):
            fits = about.may_fit(part, request)
        elif fits := about.is_meant(touch):
            key = id(about), id(touch.place)
            if key not in known:
                known[key] = about.may_fit(part, request)
            fits = known[key]
        if fits:
            yield about, part


def _likeness(kind: Conditions, part: Effect, request: Request) -> int:
    """Return how likely the conditions apply to a part: `BY_NAME`, or less for a tree above the path they name."""
    match part.subject:
        case Touch() as touch if touch.place.is_tree and kind.paths:
            return BY_NAME if kind.may_name(touch.place, request) else _BY_FOLDER
        case _:
            return BY_NAME


def _has_exactly_the_access(kind: Conditions, part: Effect) -> bool:
    """Return whether the conditions are about one access only, and it is the only one that is possible here."""
    touch = part.subject
    return isinstance(touch, Touch) and kind.accesses == {touch.access} and not touch.instead


def met_at_once(kinds: Sequence[Conditions], request: Request, lifts: Callable[[Effect], bool]) -> bool | Unsure:
    """Return whether one program of a call meets the conditions of every kind, given that the call as a whole does.

    Otherwise `Unsure`: one program matches the pattern for commands, and another touches the path
    or host.
    """
    lifts_of = [functools.partial(_lifts_below, lifts=lifts, kind=kind, request=request) for kind in kinds]
    sure = [
        [part for _, part in _fitting(_known(kind, request), request) if kind.must_fit(part, request)] for kind in kinds
    ]
    runs, *found = ([part for part in some if not lifted(part)] for lifted, some in zip(lifts_of, sure, strict=True))
    for run in runs:
        if all(any(_belongs(part, run) for part in some) for some in found):
            return True
    does = " and ".join(kind.does for kind in kinds)
    return Unsure("several programs of the call do a part of it each", does, _BY_FOLDER)


def _belongs(part: Effect, run: Effect) -> bool:
    """Return whether a program touches a part; a part that belongs to no program counts for every one."""
    return not part.words or part.words == run.words


def _unknown(kind: Conditions, actions: Actions) -> str | None:
    """Return why an action that the conditions may be about could not be read; None if all such actions were read."""
    for action in actions.unread:
        if kind.are_about(action.about):
            return _not_read(action)
    return None


def _not_read(action: Unknown) -> str:
    """Return what could not be read, and why."""
    found = _EXPANSION.match(action.text, action.offset) if action.reason == "an expansion" else None
    return action.reason if found is None else _not_known(found[0])


def _not_known(text: str, run: Run | None = None) -> str:
    """Return that a text is not known; in place of one that is not in the call, what says it."""
    around = () if run is None else (*run.within, *run.argv[:1])
    if text in ("{}", UNSEEN_NAME) and "xargs" in around:
        return "what `xargs` reads is not known before it runs"
    return f"{text if text in (UNSEEN_NAME, UNSEEN_ADDRESS) else f'`{text}`'} is not known before it runs"


def may_be_anything(kind: Conditions, part: Effect) -> str | None:
    """Return why a part could be any path or host, and so also one in the conditions; None if it could not."""
    match part.subject:
        case Connect(text=text, host=None) if kind.hosts:
            return _not_known(text) if text == UNSEEN_ADDRESS else f"`{text}` is not a valid address"
        case Touch() as touch if kind.paths and part.is_open and kind.is_meant(touch):
            return (
                _not_known(touch.place.text, part.run)
                if touch.place.is_open
                else f"`{touch.place.text}` may lead anywhere"
            )
        case _:
            return None


def _why(part: Effect) -> str:
    """Return why it is not certain that the part meets the conditions."""
    words = part.subject.words if isinstance(part.subject, Run) else ()
    text = next((word.text for word in words if word.is_open and word.text), None)
    if text is not None:
        return _not_known(text, part.subject if isinstance(part.subject, Run) else None)
    match part.subject:
        case Touch() as touch if touch.place.is_open:
            return _not_known(touch.place.text, part.run)
        case Touch() as touch if touch.place.is_tree:
            is_new = touch.place.descent is Descent.NEW
            does = f"may {touch.access.value} any file of" if is_new else "goes through all of"
            return f"`{phrase(part.run or touch)}` {does} `{touch.place.text}`"
        case Touch() as touch:
            return f"`{touch.place.text}` may be such a path"
        case Connect() as connect:
            return f"`{connect.text}` may be such an address"
        case subject:
            return f"`{phrase(subject)}` may be such a command"

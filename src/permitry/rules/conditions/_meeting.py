"""How a restriction finds what it is about among the actions of a call: for certain, by a guess, or not at all."""

from collections.abc import Callable, Iterator, Sequence

import attrs

from permitry.core.action import Action, Actions, Connect, Run, Touch, Unknown, phrase
from permitry.core.rule import Unsure
from permitry.rules.conditions._conditions import Conditions, Part

__all__ = ["guesses", "may_be_anything", "met", "met_at_once", "parts", "parts_of"]


def met(kind: Conditions, actions: Actions, lifts: Callable[[Part], bool]) -> bool | Unsure:
    """Return whether some action that `unless` leaves meets conditions of one kind, or why that is not certain."""
    # Asked in this order: nearly no part fits, and the exceptions are dearer to look at.
    fitting = [part for part in parts(actions) if kind.may_fit(part, actions) and not lifts(part)]
    if any(kind.must_fit(part, actions) for part in fitting):
        return True
    unknown = _unknown(kind, actions)
    if unknown is not None:
        return Unsure(f"it may {kind.does} ({unknown})")
    # Any text could be some command; only a pattern that names one makes it a guess worth asking about.
    named = attrs.evolve(kind, commands=tuple(pattern for pattern in kind.commands if not pattern.is_any))
    # What an undeclared tool does with a path is not known.
    anyhow = attrs.evolve(named, accesses=frozenset())
    guessed = [(anyhow if part.run is None else named, part) for part in guesses(actions)]
    fits = ((about, part) for about, part in guessed if about.may_fit(part, actions) and not lifts(part))
    for about, part in (*((kind, part) for part in fitting), *fits):
        return Unsure(f"it may {about.of(part, actions).does} ({_why(part)})")
    for about, part in (*((kind, part) for part in parts(actions)), *guessed):
        if (reason := may_be_anything(about, part)) is not None:
            return Unsure(f"it may {about.does} ({reason})")
    return False


def met_at_once(kinds: Sequence[Conditions], actions: Actions, lifts: Callable[[Part], bool]) -> bool | Unsure:
    """Return whether one program of a call meets the conditions of every kind, given that the call does.

    Of several programs one may be what the rule names, and another touch what it names: that is a guess.
    """
    commands, *others = kinds
    sure = [
        [part for part in parts(actions) if kind.may_fit(part, actions) and kind.must_fit(part, actions)]
        for kind in kinds
    ]
    runs, *found = ([part for part in some if not lifts(part)] for some in sure)
    for run in runs:
        if all(any(_belongs(part, run) for part in some) for some in found):
            return True
    does = " and ".join(kind.does for kind in (commands, *others))
    return Unsure(f"it may {does} (it does so by different programs)")


def _belongs(part: Part, run: Part) -> bool:
    """Return whether what is touched belongs to a program; what an argument of the call names belongs to each."""
    words = part.run.words if part.run is not None else getattr(part.subject, "words", ())
    return not words or words == getattr(run.subject, "words", ())


def _unknown(kind: Conditions, actions: Actions) -> str | None:
    """Return why something could not be read that the conditions may be about, None if all could."""
    for action in (*actions.certain, *actions.possible, *actions.guessed):
        if isinstance(action, Unknown) and kind.are_about(action.about):
            return action.reason
    return None


def may_be_anything(kind: Conditions, part: Part) -> str | None:
    """Return why a part may be anything that the conditions are about, None if it may not."""
    match part.subject:
        case Connect(host=None) as connect if kind.hosts:
            return f"`{connect.text}` is no address"
        case Touch() as touch if kind.paths and kind.is_meant(touch) and _may_be_any(touch):
            return f"`{touch.place.text}` may lead anywhere"
        case _:
            return None


def _may_be_any(touch: Touch) -> bool:
    return touch.place.is_open or not touch.place.names


def _why(part: Part) -> str:
    """Return what the guess rests on."""
    match part.subject:
        case Touch() as touch if touch.place.is_tree:
            return f"`{phrase(part.run or touch)}` goes through all of `{touch.place.text}`"
        case Touch() as touch:
            return f"`{touch.place.text}` may be such a path"
        case Connect() as connect:
            return f"`{connect.text}` may be such an address"
        case subject:
            return f"`{phrase(subject)}` may be such a command"


def parts(actions: Actions) -> Iterator[Part]:
    """Yield everything a call does or may do, and what its programs touch."""
    for action in (*actions.certain, *actions.possible):
        yield from parts_of(action)


def guesses(actions: Actions) -> Iterator[Part]:
    """Yield what texts of the call may be, which need not run or be touched at all."""
    for action in actions.guessed:
        yield from parts_of(action)
    for action in (*actions.certain, *actions.possible, *actions.guessed):
        if isinstance(action, Run):
            yield from (Part(each, action) for each in action.operands.guessed)


def parts_of(action: Action) -> Iterator[Part]:
    yield Part(action)
    if isinstance(action, Run):
        yield from (Part(touch, action) for touch in action.operands.touches)
        yield from (Part(connect, action) for connect in action.operands.connects)

"""How a restriction matches its conditions against the actions of a call: with certainty, by a guess, or not.

Conditions of one *kind* are those on commands, on paths or on hosts.
"""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

import attrs

from permitry.core.action import Access, Action, Actions, Connect, Run, Touch, Unknown, phrase
from permitry.core.rule import Question, Unsure
from permitry.rules.conditions._conditions import Conditions, Part

__all__ = ["BY_NAME", "guesses", "may_be_anything", "met", "met_at_once", "parts", "parts_of"]

_EXPANSION = re.compile(r"\$\w+|\$\{[^}]*\}|\$\([^)]*\)|`[^`]*`|[^\s\"]+")
# How likely it is that an unsure rule does apply, ascending; 0 where the name itself is not known.
_BY_ACCESS, _BY_FOLDER, BY_NAME = 1, 2, 3


def met(kind: Conditions, question: Question, lifts: Callable[[Part], bool]) -> bool | Unsure:
    """Return whether an action meets the conditions of one kind, or `Unsure` if it only may.

    `lifts` says of which parts `unless` lifts the restriction; these do not count.
    """
    actions = question.actions
    narrowed = kind.narrowed(question.facts)
    answer = narrowed.are_about_actions and _met_by_known(narrowed, actions, lifts)
    if answer is not False:
        return answer
    unknown = _unknown(kind, actions)
    if unknown is not None:
        return Unsure(unknown, kind.does)
    guessed = ((_about(kind, part), part) for part in guesses(actions))
    for about, part in itertools.chain(_paired(kind, parts(actions)), guessed):
        if (reason := may_be_anything(about, part)) is not None:
            return Unsure(reason, about.does, _BY_ACCESS if _has_exactly_the_access(about, part) else 0)
    return False


def _about(kind: Conditions, part: Part) -> Conditions:
    """Return the conditions of one kind as they are compared with a guessed part.

    Patterns for any command are left out: any text could be some command. Accesses are left out where no program is
    known that touches the path: an undeclared tool may access it in any way.
    """
    commands = tuple(pattern for pattern in kind.commands if not pattern.is_any)
    accesses = frozenset[Access]() if part.run is None else kind.accesses
    return attrs.evolve(kind, commands=commands, accesses=accesses)


def _met_by_known(kind: Conditions, actions: Actions, lifts: Callable[[Part], bool]) -> bool | Unsure:
    # In this order because few parts fit, and exceptions cost more to evaluate.
    fitting = [part for part in parts(actions) if kind.may_fit(part, actions) and not lifts(part)]
    if any(kind.must_fit(part, actions) for part in fitting):
        return True
    guessed = ((_about(kind, part), part) for part in guesses(actions))
    fits = (pair for pair in guessed if pair[0].may_fit(pair[1], actions) and not lifts(pair[1]))
    unsure: Unsure | None = None
    for about, part in itertools.chain(_paired(kind, fitting), fits):
        likeness = _likeness(about, part, actions)
        if unsure is None or likeness > unsure.likeness:
            unsure = Unsure(_why(part), about.of(part, actions).does, likeness)
        if likeness == BY_NAME:
            break
    return unsure or False


def _paired(kind: Conditions, some: Iterable[Part]) -> Iterator[tuple[Conditions, Part]]:
    return ((kind, part) for part in some)


def _likeness(kind: Conditions, part: Part, actions: Actions) -> int:
    """Return how likely a part is what the conditions are about: it has the name, or is a directory tree above it."""
    match part.subject:
        case Touch() as touch if touch.place.is_tree:
            alone = attrs.evolve(touch, place=attrs.evolve(touch.place, is_tree=False))
            return BY_NAME if kind.may_fit(attrs.evolve(part, subject=alone), actions) else _BY_FOLDER
        case _:
            return BY_NAME


def _has_exactly_the_access(kind: Conditions, part: Part) -> bool:
    """Return whether conditions on paths are about exactly the access that is made, and no other is possible."""
    touch = part.subject
    return isinstance(touch, Touch) and kind.accesses == {touch.access} and not touch.instead


def met_at_once(kinds: Sequence[Conditions], actions: Actions, lifts: Callable[[Part], bool]) -> bool | Unsure:
    """Return whether one program of a call meets the conditions of every kind, given that the call as a whole does.

    Otherwise `Unsure`: one program has the name in the rule, and another touches the path or host in the rule.
    """
    sure = [
        [part for part in parts(actions) if kind.may_fit(part, actions) and kind.must_fit(part, actions)]
        for kind in kinds
    ]
    runs, *found = ([part for part in some if not lifts(part)] for some in sure)
    for run in runs:
        if all(any(_belongs(part, run) for part in some) for some in found):
            return True
    does = " and ".join(kind.does for kind in kinds)
    return Unsure("several programs of the call do a part of it each", does, _BY_FOLDER)


def _belongs(part: Part, run: Part) -> bool:
    """Return whether a program touches this; what an argument of the call itself names counts for every program."""
    words = part.run.words if part.run is not None else getattr(part.subject, "words", ())
    return not words or words == getattr(run.subject, "words", ())


def _unknown(kind: Conditions, actions: Actions) -> str | None:
    """Return why an action that the conditions may be about could not be read; None if all such actions were read."""
    for action in (*actions.certain, *actions.possible, *actions.guessed):
        if isinstance(action, Unknown) and kind.are_about(action.about):
            return _not_read(action)
    return None


def _not_read(action: Unknown) -> str:
    """Return what could not be read, and why."""
    found = _EXPANSION.match(action.text, action.offset) if action.reason == "an expansion" else None
    return action.reason if found is None else _not_known(found[0])


def _not_known(text: str) -> str:
    return f"`{text}` is not known before it runs"


def may_be_anything(kind: Conditions, part: Part) -> str | None:
    """Return why a part could be any path or host, and so one that the conditions are about; None if it could not."""
    match part.subject:
        case Connect(host=None) as connect if kind.hosts:
            return f"`{connect.text}` is not a valid address"
        case Touch() as touch if kind.paths and kind.is_meant(touch) and _may_be_any(touch):
            return _not_known(touch.place.text) if touch.place.is_open else f"`{touch.place.text}` may lead anywhere"
        case _:
            return None


def _may_be_any(touch: Touch) -> bool:
    return touch.place.is_open or not touch.place.names


def _why(part: Part) -> str:
    """Return why it is not certain that the part meets the conditions."""
    words = part.subject.words if isinstance(part.subject, Run) else ()
    text = next((word.text for word in words if word.is_open and word.text), None)
    if text is not None:
        return _not_known(text)
    match part.subject:
        case Touch() as touch if touch.place.is_open:
            return _not_known(touch.place.text)
        case Touch() as touch if touch.place.is_tree:
            return f"`{phrase(part.run or touch)}` goes through all of `{touch.place.text}`"
        case Touch() as touch:
            return f"`{touch.place.text}` may be such a path"
        case Connect() as connect:
            return f"`{connect.text}` may be such an address"
        case subject:
            return f"`{phrase(subject)}` may be such a command"


def parts(actions: Actions) -> Iterator[Part]:
    """Yield every certain and possible action of a call, and what its programs touch and connect to."""
    for action in (*actions.certain, *actions.possible):
        yield from parts_of(action)


def guesses(actions: Actions) -> Iterator[Part]:
    """Yield guessed actions, and guessed operands of programs: text that may not be run or touched at all."""
    for action in actions.guessed:
        yield from parts_of(action)
    for action in (*actions.certain, *actions.possible, *actions.guessed):
        if isinstance(action, Run):
            yield from (Part(each, action) for each in action.operands.guessed)


def parts_of(action: Action) -> Iterator[Part]:
    """Yield an action, and if it runs a program, what the program touches and connects to."""
    yield Part(action)
    if isinstance(action, Run):
        yield from (Part(touch, action) for touch in action.operands.touches)
        yield from (Part(connect, action) for connect in action.operands.connects)

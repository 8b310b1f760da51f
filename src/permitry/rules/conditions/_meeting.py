"""How a restriction matches its conditions against the actions of a call: with certainty, by a guess, or not.

Conditions of one *kind* are those on commands, on paths or on hosts.
"""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from permitry.core.action import Actions, Connect, Run, Touch, Unknown, phrase
from permitry.core.parts import Part, Parts
from permitry.core.rule import Question, Unsure
from permitry.rules.conditions._conditions import Conditions

__all__ = ["BY_NAME", "may_be_anything", "met", "met_at_once"]

_EXPANSION = re.compile(r"\$\w+|\$\{[^}]*\}|\$\([^)]*\)|`[^`]*`|[^\s\"]+")
# How likely it is that an unsure rule does apply, ascending; 0 where the name itself is not known.
_BY_ACCESS, _BY_FOLDER, BY_NAME = 1, 2, 3


def met(kind: Conditions, question: Question, lifts: Callable[[Part], bool]) -> bool | Unsure:
    """Return whether an action meets the conditions of one kind, or `Unsure` if it only may.

    `lifts` says of which parts `unless` lifts the restriction; these do not count.
    """
    narrowed = kind.narrowed(question.facts)
    answer = narrowed is not None and _met_by_known(narrowed, question, lifts)
    if answer is not False:
        return answer
    unknown = _unknown(kind, question.actions)
    if unknown is not None:
        return Unsure(unknown, kind.does)
    about_guesses = ((_about(kind, part), part) for part in question.guesses.open)
    for about, part in itertools.chain(((kind, part) for part in question.parts.open), about_guesses):
        if (reason := may_be_anything(about, part)) is not None:
            return Unsure(reason, about.does, _BY_ACCESS if _has_exactly_the_access(about, part) else 0)
    return False


def _known(kind: Conditions, question: Question) -> Iterator[tuple[Conditions, Part]]:
    """Yield the certain and possible parts of a call that conditions of one kind may be about."""
    for part in _of_kind(kind, question.parts):
        yield kind, part


def _guessed(kind: Conditions, question: Question) -> Iterator[tuple[Conditions, Part]]:
    """Yield the same for guessed parts, each with the conditions as they are compared with it."""
    for part in _of_kind(kind.guessed, question.guesses):
        yield _about(kind, part), part


def _about(kind: Conditions, part: Part) -> Conditions:
    """Return the conditions of one kind as they are compared with a guessed part.

    Patterns for any command are left out: any text could be some command. Accesses are left out where no program is
    known that touches the path: an undeclared tool may access it in any way.
    """
    return kind.guessed.of_any_access if part.run is None else kind.guessed


def _of_kind(kind: Conditions, parts: Parts) -> tuple[Part, ...]:
    """Return the parts that conditions of one kind may be about; those on any command are about all of them."""
    if kind.paths:
        return parts.touches
    if kind.hosts:
        return parts.connects
    return parts.every if any(pattern.is_any for pattern in kind.commands) else parts.runs


def _met_by_known(kind: Conditions, question: Question, lifts: Callable[[Part], bool]) -> bool | Unsure:
    # In this order because few parts fit, and exceptions cost more to evaluate.
    fitting = [pair for pair in _fitting(_known(kind, question), question) if not lifts(pair[1])]
    if any(kind.must_fit(part, question) for _, part in fitting):
        return True
    guesses = (pair for pair in _fitting(_guessed(kind, question), question) if not lifts(pair[1]))
    best: tuple[int, Conditions, Part] | None = None
    for about, part in itertools.chain(fitting, guesses):
        likeness = _likeness(about, part, question)
        if best is None or likeness > best[0]:
            best = likeness, about, part
        if likeness == BY_NAME:
            break
    if best is None:
        return False
    likeness, about, part = best
    return Unsure(_why(part), about.does_to(part, question), likeness)


def _fitting(pairs: Iterable[tuple[Conditions, Part]], question: Question) -> Iterator[tuple[Conditions, Part]]:
    """Yield the parts that may fit; whether a path does is found once for all parts that name it."""
    known: dict[tuple[int, int], bool] = {}
    for about, part in pairs:
        touch = part.subject
        if not (isinstance(touch, Touch) and about.paths):
            fits = about.may_fit(part, question)
        elif fits := about.is_meant(touch):
            key = id(about), id(touch.place)
            if key not in known:
                known[key] = about.may_fit(part, question)
            fits = known[key]
        if fits:
            yield about, part


def _likeness(kind: Conditions, part: Part, question: Question) -> int:
    """Return how likely a part is what the conditions are about: it has the name, or is a directory tree above it."""
    match part.subject:
        case Touch() as touch if touch.place.is_tree and kind.paths:
            return BY_NAME if kind.may_name(touch.place, question) else _BY_FOLDER
        case _:
            return BY_NAME


def _has_exactly_the_access(kind: Conditions, part: Part) -> bool:
    """Return whether conditions on paths are about exactly the access that is made, and no other is possible."""
    touch = part.subject
    return isinstance(touch, Touch) and kind.accesses == {touch.access} and not touch.instead


def met_at_once(kinds: Sequence[Conditions], question: Question, lifts: Callable[[Part], bool]) -> bool | Unsure:
    """Return whether one program of a call meets the conditions of every kind, given that the call as a whole does.

    Otherwise `Unsure`: one program has the name in the rule, and another touches the path or host in the rule.
    """
    sure = [
        [part for _, part in _fitting(_known(kind, question), question) if kind.must_fit(part, question)]
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


def _not_known(text: str) -> str:
    return f"`{text}` is not known before it runs"


def may_be_anything(kind: Conditions, part: Part) -> str | None:
    """Return why a part could be any path or host, and so one that the conditions are about; None if it could not."""
    match part.subject:
        case Connect(host=None) as connect if kind.hosts:
            return f"`{connect.text}` is not a valid address"
        case Touch() as touch if kind.paths and part.is_open and kind.is_meant(touch):
            return _not_known(touch.place.text) if touch.place.is_open else f"`{touch.place.text}` may lead anywhere"
        case _:
            return None


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

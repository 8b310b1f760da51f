"""The effects of one call: its actions, and what its programs touch and connect to.

This depends on the request alone, so it is listed once and not again for every rule.
"""

import functools
from collections.abc import Iterable, Iterator

import attrs

from permitry.core.action import Action, Actions, Connect, Run, Touch, Word

__all__ = ["Effect", "Effects", "effects_of", "guesses_of"]


@attrs.frozen
class Effect:
    """One thing a condition on actions looks at, and the program it belongs to, if any."""

    subject: Action
    run: Run | None = None

    @property
    def is_guess(self) -> bool:
        """Whether it is a command, or of one, that need not run, or a path that need not be touched."""
        if isinstance(self.subject, Touch) and self.subject.is_guess:
            return True
        run = self.subject if isinstance(self.subject, Run) else self.run
        return run is not None and run.is_guess

    @property
    def is_open(self) -> bool:
        """Whether it could be any path, or any address."""
        match self.subject:
            case Touch(place=place):
                return place.is_open or not place.names
            case Connect(host=host):
                return host is None
            case _:
                return False

    @property
    def words(self) -> tuple[Word, ...]:
        """The words of the program that runs, or that the path or address belongs to; none where there is none."""
        if self.run is not None:
            return self.run.words
        return self.subject.words if isinstance(self.subject, Run | Touch) else ()

    @property
    def sets(self) -> tuple[str, ...]:
        """The assignments that change what this program runs."""
        subject = self.subject if self.run is None else self.run
        return subject.sets if isinstance(subject, Run | Touch) else ()


@attrs.frozen(eq=False)
class Effects:
    """Some effects of a call, in order, those of each type, and those that could be any path or address."""

    every: tuple[Effect, ...]

    @functools.cached_property
    def runs(self) -> tuple[Effect, ...]:
        """The programs."""
        return tuple(each for each in self.every if isinstance(each.subject, Run))

    @functools.cached_property
    def touches(self) -> tuple[Effect, ...]:
        """The paths."""
        return tuple(each for each in self.every if isinstance(each.subject, Touch))

    @functools.cached_property
    def connects(self) -> tuple[Effect, ...]:
        """The addresses."""
        return tuple(each for each in self.every if isinstance(each.subject, Connect))

    @functools.cached_property
    def open(self) -> tuple[Effect, ...]:
        """The paths and addresses of which nothing is known."""
        return tuple(each for each in self.every if each.is_open)


def effects_of(actions: Iterable[Action]) -> Iterator[Effect]:
    """Yield each action, and if it runs a program, what the program touches and connects to."""
    for action in actions:
        yield Effect(action)
        if isinstance(action, Run):
            yield from (Effect(touch, action) for touch in action.operands.touches)
            yield from (Effect(connect, action) for connect in action.operands.connects)


def guesses_of(actions: Actions) -> Iterator[Effect]:
    """Yield guessed actions, and guessed operands of programs: text that may not be run or touched at all."""
    yield from effects_of(actions.guessed)
    for action in (*actions.certain, *actions.possible, *actions.guessed):
        if isinstance(action, Run):
            yield from (Effect(each, action) for each in action.operands.guessed)

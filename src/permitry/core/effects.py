"""The effects of one call: its actions, and what its programs touch and connect to, listed once."""

import functools
from collections.abc import Iterable, Iterator, Mapping

import attrs

from permitry.core.action import Action, Actions, Connect, Roots, Run, Touch, Word

__all__ = ["Effect", "Effects", "effects_of", "guesses_of", "only_reads", "parts_of"]


@attrs.frozen
class Effect:
    """One thing a condition on actions looks at, the program it belongs to, if any, and all that the call does."""

    subject: Action
    run: Run | None = None
    actions: Actions = attrs.field(default=Actions(), repr=False, eq=False)

    @property
    def roots(self) -> Roots:
        """What patterns of paths are relative to."""
        return self.actions.roots

    @property
    def target(self) -> object:
        """What patterns are compared with: the place of a path, or else the subject."""
        return self.subject.place if isinstance(self.subject, Touch) else self.subject

    @property
    def is_guess(self) -> bool:
        """Whether it is a command, or of one, that need not run, or a path that need not be touched."""
        subject, run = self.subject, self.run
        return (isinstance(subject, Run | Touch) and subject.is_guess) or (run is not None and run.is_guess)

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
    def is_of_shell(self) -> bool:
        """Whether the shell itself writes or connects here, as for a redirection."""
        match self.subject:
            case Touch() as touch if self.run is None:
                return bool(touch.words) and not touch.is_all and touch.access.is_change
            case Connect(text=text) if self.run is None:
                return text.startswith(("/dev/tcp/", "/dev/udp/"))
            case _:
                return False

    @property
    def words(self) -> tuple[Word, ...]:
        """The words of the program that runs, or that the path or address belongs to; none where there is none."""
        subject = self.run or self.subject
        return subject.words if isinstance(subject, Run | Touch) else ()

    @property
    def sets(self) -> tuple[str, ...]:
        """The assignments that change what this program runs."""
        subject = self.run or self.subject
        return subject.sets if isinstance(subject, Run | Touch) else ()


@attrs.frozen(eq=False)
class Effects:
    """Some effects of a call, in order, those of each type, and those that could be any path or address."""

    every: tuple[Effect, ...]

    @functools.cached_property
    def by_class(self) -> Mapping[type[Action], tuple[Effect, ...]]:
        """The same by the class of the action: programs, paths, addresses, and what is none of these."""
        classes = dict.fromkeys(type(each.subject) for each in self.every)
        return {kind: tuple(each for each in self.every if type(each.subject) is kind) for kind in classes}

    @functools.cached_property
    def open(self) -> tuple[Effect, ...]:
        """The paths and addresses of which nothing is known."""
        return tuple(each for each in self.every if each.is_open)


def effects_of(some: Iterable[Action], actions: Actions) -> Iterator[Effect]:
    """Yield some actions of a call, each with what it touches and connects to after it if it runs a program."""
    for action in some:
        yield Effect(action, None, actions)
        if isinstance(action, Run):
            yield from (Effect(each, action, actions) for each in action.operands.touches)
            yield from (Effect(each, action, actions) for each in action.operands.connects)


def parts_of(actions: Actions) -> Effects:
    """Return what a call does and may do as well, with what its programs touch and connect to."""
    return Effects(tuple(effects_of((*actions.certain, *actions.possible), actions)))


def guesses_of(actions: Actions) -> Effects:
    """Return guessed actions, and guessed operands of programs: text that may not be run or touched at all."""
    runs = [action for action in actions.every if isinstance(action, Run)]
    operands = (Effect(each, run, actions) for run in runs for each in run.operands.guessed)
    return Effects((*effects_of(actions.guessed, actions), *operands))


def only_reads(action: Action) -> bool:
    """Return whether an action of a shell is known to change nothing."""
    match action:
        case Run():
            return action.doubt is None
        case Touch():
            return not action.access.is_change
        case _:
            return False

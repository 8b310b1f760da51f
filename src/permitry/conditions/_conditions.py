"""The conditions of one `when` or `unless`, and how they are compared with one part of a call.

A part is one action of the call, with the program it belongs to. A permission uses `fit`, which is
exact and true only when certain. A restriction uses `may_fit`, which over-approximates, and
`must_fit` to decide whether it is certain.
"""

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import attrs

from permitry.conditions.command import ArgvPattern
from permitry.conditions.host import HostPattern
from permitry.conditions.path import PathPattern
from permitry.conditions.written import Condition, sorted_repr
from permitry.core.action import Access, Actions, Connect, Place, Run, Touch, Word
from permitry.core.effects import Effect
from permitry.core.facts import Anchor, Fact, Facts, program_name
from permitry.core.finder import Finder
from permitry.core.rule import Request
from permitry.errors import UnevaluableError

__all__ = ["Condition", "Conditions", "Effect"]

_MOST_SHOWN = 1
_UNNAMED = Word("", is_open=True)
_FEW = 3
"""With fewer patterns than this, all are tried, which is faster than looking up those that may fit."""

AnyPattern: TypeAlias = ArgvPattern | PathPattern | HostPattern
# The `needs` of other classes are not used: a subclass may match more.
_PATTERNS = (ArgvPattern, PathPattern, HostPattern)


@attrs.frozen
class Conditions:
    """The conditions of one `when` or `unless`; all that are given must hold.

    `plain` are about the call and its context; `commands`, `paths` and `hosts` about its actions:
    of each, one pattern must fit. `accesses` limits `paths` to these ways of access; if empty, to
    none in particular. `names_programs`: the rule also names the programs it is about, so its
    author knows what they do with a path.
    """

    plain: tuple[Condition, ...] = ()
    commands: tuple[ArgvPattern, ...] = ()
    paths: tuple[PathPattern, ...] = ()
    hosts: tuple[HostPattern, ...] = ()
    accesses: frozenset[Access] = attrs.field(default=frozenset(), repr=sorted_repr)
    names_programs: bool = False

    @functools.cached_property
    def are_about_actions(self) -> bool:
        """Whether some of the conditions are about actions."""
        return bool(self.commands or self.paths or self.hosts)

    @functools.cached_property
    def does(self) -> str:
        """What an action that meets the conditions does, as a phrase such as "read `~/.ssh/**`"."""
        return self._doing((*self.commands, *self.paths, *self.hosts))

    def does_to(self, part: Effect, request: Request) -> str:
        """Return the same phrase as `does` for conditions of one kind, with only patterns that may fit the part."""
        # No more than are needed to say that there are more.
        return self._doing(tuple(itertools.islice(self._fitting(part, request), _MOST_SHOWN + 1)))

    def _doing(self, patterns: Sequence[AnyPattern]) -> str:
        to_paths = " or ".join(each.value for each in Access if each in self.accesses) or "touch"
        doing = (("run", ArgvPattern), (to_paths, PathPattern), ("connect to", HostPattern))
        meant = ((verb, [each for each in patterns if isinstance(each, kind)]) for verb, kind in doing)
        return " and ".join(f"{verb} {_listed(some)}" for verb, some in meant if some)

    def are_about(self, what: str) -> bool:
        """Return whether the conditions may apply to an action that could not be read.

        `what` is what is known of it: "path", "host", or empty if it could be anything.
        """
        return not what or (what == "path" and bool(self.paths)) or (what == "host" and bool(self.hosts))

    @property
    def are_pure(self) -> bool:
        """Whether the results depend on the request alone."""
        return type(self) is Conditions and all(map(_is_pure, self.plain))

    def needs(self, *, is_permission: bool) -> Iterator[frozenset[Fact]]:
        """Yield sets of facts. The conditions cannot hold, or fail, unless one fact of each set is present."""
        for condition in self.plain:
            if _is_pure(condition) and (facts := getattr(condition, "needs", None)):
                yield facts
        # A permission with patterns for commands is found by these alone; a restriction by each
        # kind of pattern.
        for patterns in (
            (self.commands,) if is_permission and self.commands else (self.commands, self.paths, self.hosts)
        ):
            sets = [pattern.needs if type(pattern) in _PATTERNS else None for pattern in patterns]
            if sets and all(sets):
                yield frozenset(each for some in filter(None, sets) for fact in some for each in self._accessed(fact))

    def _accessed(self, fact: Fact) -> Iterator[Fact]:
        """Yield a fact for each access that the conditions on paths are about."""
        match fact.group:
            case (Anchor() as anchor, None) if self.accesses:
                yield from (fact._replace(group=(anchor, access)) for access in self.accesses)
            case _:
                yield fact

    def narrowed(self, facts: Facts) -> "Conditions | None":
        """Return the conditions on actions, reduced to the patterns that may fit what is known of a call.

        None if no pattern may fit. With patterns of paths, all are kept: `paths_near` reduces these
        for each path.
        """
        found = self._finder.find(facts, is_of_known=True)
        if len(found) == len(self._patterns) or self.paths:
            return self if found else None
        left = [self._patterns[number] for number in sorted(found)]
        return (
            Conditions(
                commands=tuple(each for each in left if isinstance(each, ArgvPattern)),
                hosts=tuple(each for each in left if isinstance(each, HostPattern)),
            )
            if left
            else None
        )

    def may_be_met(self, facts: Facts) -> bool:
        """Return whether an action of a call with these facts may meet the conditions on actions."""
        return bool(self._finder.find(facts))

    def paths_near(self, place: Place, facts: Facts) -> Sequence[PathPattern]:
        """Return the patterns of paths that may fit a place, found by an index."""
        if len(self.paths) < _FEW:
            return self.paths
        found = self._finder_of_paths.find_paths(lambda anchor, _: facts.of_actions.paths_at(place, anchor))
        return [self.paths[number] for number in sorted(found)]

    def commands_near(self, run: Run) -> Sequence[ArgvPattern]:
        """Return the patterns of commands that may fit a program, found by its name."""
        first = run.words[0] if run.words else _UNNAMED
        if first.is_open or first.is_glob or first.is_home or len(self.commands) < _FEW:
            return self.commands
        every = self._by_program
        return every.get(program_name(first.text), every[""])

    @functools.cached_property
    def _by_program(self) -> Mapping[str, Sequence[ArgvPattern]]:
        """The patterns of commands by the name of the program, in order; the empty key has those for any program."""
        programs = [(each, each.programs if type(each) is ArgvPattern else None) for each in self.commands]
        names = frozenset[str]().union(*(some for _, some in programs if some is not None), ("",))
        return {name: tuple(each for each, some in programs if some is None or name in some) for name in names}

    @functools.cached_property
    def _patterns(self) -> tuple[AnyPattern, ...]:
        return (*self.commands, *self.paths, *self.hosts)

    @functools.cached_property
    def _finder(self) -> Finder:
        return self._finder_of(self._patterns)

    @functools.cached_property
    def _finder_of_paths(self) -> Finder:
        return self._finder_of(self.paths)

    def _finder_of(self, patterns: Sequence[AnyPattern]) -> Finder:
        needs = (each.needs if type(each) in _PATTERNS else frozenset[Fact]() for each in patterns)
        return Finder(
            [[frozenset(each for fact in some for each in self._accessed(fact))] if some else [] for some in needs]
        )

    @functools.cached_property
    def guessed(self) -> "Conditions":
        """The conditions for a guessed part: without patterns for any command, as any text could be some command."""
        commands = tuple(pattern for pattern in self.commands if not pattern.is_any)
        return self if len(commands) == len(self.commands) else attrs.evolve(self, commands=commands)

    @functools.cached_property
    def of_any_access(self) -> "Conditions":
        """The conditions without `accesses`, for an undeclared tool, which may access a path in any way."""
        return attrs.evolve(self, accesses=frozenset()) if self.accesses else self

    def plain_hold(self, request: Request, *, over_approximate: bool) -> bool:
        """Return whether every plain condition holds. False if one does not hold, even if another one raises.

        Raises: otherwise, the first exception that a condition raised, such as `UnevaluableError`.
        """
        trouble: Exception | None = None
        for condition in self.plain:
            try:
                if not condition.holds(request, over_approximate=over_approximate):
                    return False
            except Exception as error:  # noqa: BLE001 -- it is raised below, unless it makes no difference
                trouble = trouble or error
        if trouble is not None:
            raise trouble
        return True

    def facts(self, request: Request, *, over_approximate: bool) -> Iterator[str]:
        """Yield, for each plain condition that does not hold, what is true, as in `mode = default (expected: plan)`."""
        for condition in self.plain:
            try:
                if not condition.holds(request, over_approximate=over_approximate):
                    expected = getattr(condition, "expected", None)
                    yield condition.fact(request) + ("" if expected is None else f" (expected: {expected})")
            except UnevaluableError as error:
                yield str(error)

    def fit(self, part: Effect, actions: Actions) -> bool:
        """Return whether the conditions on actions certainly hold for one part of a call."""
        match part.subject:
            case Run() as run:
                return self._fits_run(run, actions)
            case Touch() as touch:
                # A redirection is an action of its own: a condition on commands alone does not
                # cover its file.
                is_of_program = part.run is not None or touch.is_all
                fits = self._fits_path(touch, actions) if self.paths else is_of_program
                return fits and not self.hosts and self._fits_program(part)
            case Connect() as connect:
                fits = not self.hosts or self._fits_host(connect)
                return fits and not self.paths and self._fits_program(part)
            case _:
                return False

    def may_fit(self, part: Effect, request: Request) -> bool:
        """Return whether one of the conditions on actions may hold for one part of a call."""
        return any(True for _ in self._fitting(part, request))

    def _fitting(self, part: Effect, request: Request) -> Iterator[AnyPattern]:
        """Yield the patterns that may fit a part."""
        match part.subject:
            case Run() as run:
                # Only patterns that name a program apply to a wrapper or a guess: what a wrapper
                # runs is listed as an action of its own, and any text could be some command.
                is_named = run.is_wrapper or run.is_guess
                for pattern in self.commands_near(run):
                    if not (is_named and pattern.is_any) and (
                        pattern.may_hold(run.words, run.sets)
                        or (bool(run.bare) and pattern.may_hold(run.bare, run.sets))
                    ):
                        yield pattern
            case Touch() as touch:
                if self.paths and self.is_meant(touch):
                    near = self.paths_near(touch.place, request.facts)
                    yield from (each for each in near if each.may_hold(touch.place, request.actions.roots))
                yield from self._done_by_shell(part, touch)
            case Connect() as connect:
                yield from (pattern for pattern in self.hosts if pattern.may_hold(connect))
                yield from self._done_by_shell(part, connect)
            case _:
                return

    def may_name(self, place: Place, request: Request) -> bool:
        """Return whether a pattern may fit the place itself, not only something below it."""
        near = self.paths_near(place, request.facts)
        return any(pattern.may_name(place, request.actions.roots) for pattern in near)

    def names_below(self, place: Place, request: Request) -> Iterator[str | None]:
        """Yield the names that match below a folder which a program goes through; None where not all are known."""
        for pattern in self.paths_near(place, request.facts):
            yield from pattern.names_below(place, request.actions.roots)

    def _done_by_shell(self, part: Effect, subject: Touch | Connect) -> Iterator[ArgvPattern]:
        """Yield the patterns for any command, if the shell itself performs the action, as for a redirection."""
        if self.commands and self._is_done_by_shell(part, subject):
            yield from (pattern for pattern in self.commands if pattern.is_any)

    def _is_done_by_shell(self, part: Effect, subject: Touch | Connect) -> bool:
        """Return whether the shell itself writes or connects here, and a pattern for any command applies to that.

        Such a rule may except `echo`; the exception does not include the file that `echo x > f`
        writes.
        """
        if isinstance(subject, Touch):
            does = bool(subject.words) and not subject.is_all and subject.access is not Access.READ
        else:
            does = subject.text.startswith(("/dev/tcp/", "/dev/udp/"))
        return does and part.run is None and any(pattern.is_any for pattern in self.commands)

    def must_fit(self, part: Effect, request: Request) -> bool:
        """Return whether one of the conditions on actions certainly holds, given a part that `may_fit`."""
        if part.is_guess:
            return False
        match part.subject:
            case Run() as run:
                return any(pattern.must_hold(run.words, run.bare, run.sets) for pattern in self.commands_near(run))
            case Touch() as touch:
                near, roots = self.paths_near(touch.place, request.facts), request.actions.roots
                fits = self._is_certainly_meant(touch) and any(each.must_hold(touch.place, roots) for each in near)
                return fits or self._is_done_by_shell(part, touch)
            case Connect() as connect:
                fits = any(pattern.must_hold(connect) for pattern in self.hosts)
                return fits or self._is_done_by_shell(part, connect)
            case _:
                return False

    def _is_certainly_meant(self, touch: Touch) -> bool:
        """Return whether the conditions apply to a path whatever its access turns out to be.

        One possible access is already known to be among `accesses`.
        """
        return not self.accesses or self.names_programs or touch.instead <= self.accesses

    def fits_command(self, run: Run) -> bool:
        """Return whether a pattern for commands certainly fits a program and its arguments, whatever these name."""
        return any(pattern.holds(run.words, run.sets) for pattern in self.commands)

    def fits_operand(self, operand: Touch | Connect, actions: Actions) -> bool:
        """Return whether the conditions on paths, or those on hosts, certainly hold for what a program names."""
        if isinstance(operand, Touch):
            return not self.paths or self._fits_path(operand, actions)
        return not self.hosts or self._fits_host(operand)

    def _fits_run(self, run: Run, actions: Actions) -> bool:
        if not self.fits_command(run):
            return False
        # Conditions on paths and hosts can hold only if all paths and hosts that the program uses
        # are known.
        is_known = run.operands.is_listed or not (self.paths or self.hosts)
        return (
            is_known
            and (not self.paths or all(self._fits_path(touch, actions) for touch in run.operands.touches))
            and (not self.hosts or all(self._fits_host(connect) for connect in run.operands.connects))
        )

    def _fits_program(self, part: Effect) -> bool:
        """Return whether the condition on commands, if there is one, holds for the program that acts on the part."""
        # An assignment before the program may make it do something else with the part.
        return not self.commands or any(each.holds(part.words, part.sets) for each in self.commands)

    def is_meant(self, touch: Touch) -> bool:
        """Return whether the access to a path is one that the conditions are about."""
        return not self.accesses or touch.access in self.accesses

    def _fits_path(self, touch: Touch, actions: Actions) -> bool:
        return self.is_meant(touch) and any(pattern.holds(touch.place, actions.roots) for pattern in self.paths)

    def _fits_host(self, connect: Connect) -> bool:
        return any(pattern.holds(connect) for pattern in self.hosts)


def _is_pure(condition: Condition) -> bool:
    said = vars(type(condition)).get("is_pure")
    return (said.fget(condition) if isinstance(said, property) and said.fget else said) is True


def _listed(patterns: Sequence[AnyPattern]) -> str:
    """Return the first pattern as text, with dots if there are more."""
    shown = ", ".join(_shown(pattern) for pattern in patterns[:_MOST_SHOWN])
    return f"{shown}, ..." if len(patterns) > _MOST_SHOWN else shown


def _shown(pattern: AnyPattern) -> str:
    name = None if isinstance(pattern, ArgvPattern) else pattern.listed
    return f"`{pattern.text}`" if name is None else f"`{pattern.text}` of `@{name}`"

"""The patterns of one kind in `when` or `unless`, of which one must match."""

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Generic, Self, TypeAlias, TypeVar, cast

import attrs

from permitry.conditions.command import ArgvPattern
from permitry.conditions.host import HostPattern
from permitry.conditions.match import Match, best_of
from permitry.conditions.path import PathPattern, match_best
from permitry.core.action import Access, Action, Connect, Place, Run, Touch, Word
from permitry.core.effects import Effect, Effects
from permitry.core.facts import Fact, Facts, facts_of, program_name
from permitry.core.finder import Finder

_MOST_SHOWN = 1
_UNNAMED = Word("", is_open=True)
_FEW = 3
"""With fewer patterns than this, all are tried, which is faster than looking up those that may match."""

_Pattern = TypeVar("_Pattern", ArgvPattern, PathPattern, HostPattern)


@attrs.frozen(eq=False)
class Patterns(Generic[_Pattern]):
    """Some patterns of one kind; what is known of an effect matches as far as the best of them.

    `about` is the kind, as `Unknown` has it, and `role` the role of an argument of this kind;
    `subject` is the class of its actions.
    """

    about: ClassVar[str]
    role: ClassVar[str]
    subject: ClassVar[type[Action]]

    patterns: tuple[_Pattern, ...]
    _verb: ClassVar[str]

    @property
    def verb(self) -> str:
        """What is done to what the patterns name."""
        return self._verb

    @functools.cached_property
    def does(self) -> str:
        """What an effect that matches does, as a phrase such as "read `~/.ssh/**`"."""
        return self._phrase(self.patterns)

    def does_by(self, effect: Effect) -> str:
        """Return the same phrase, with only the patterns that an effect may match."""
        found = (each for each in self.near(effect) if each.match(effect, Match.OPEN, Match.MAYBE) is not Match.NO)
        # No more than are needed to say that there are more.
        return self._phrase(tuple(itertools.islice(found, _MOST_SHOWN + 1)))

    def _phrase(self, patterns: Sequence[_Pattern]) -> str:
        """Return the first pattern as text, with dots if there are more."""
        shown = ", ".join(map(show_pattern, patterns[:_MOST_SHOWN]))
        return f"{self.verb} {shown}, ..." if len(patterns) > _MOST_SHOWN else f"{self.verb} {shown}"

    def match(self, effect: Effect, least: Match = Match.OPEN, enough: Match = Match.YES) -> Match:
        """Return how far an effect matches; see `WrittenPattern.match` for `least` and `enough`."""
        if not self.is_about(effect):
            return Match.NO
        match = self._match_known(effect, least, enough)
        return self.match_open(effect) if match is Match.NO else match

    def _match_known(self, effect: Effect, least: Match, enough: Match) -> Match:
        return best_of((pattern.match(effect, least, enough) for pattern in self.near(effect)), enough)

    def match_open(self, effect: Effect) -> Match:
        """Return how far an effect matches that may be anything of this kind."""
        return Match.OPEN if effect.is_open and self.is_about(effect) else Match.NO

    def is_about(self, effect: Effect) -> bool:
        """Return whether an effect is of this kind, whatever it names."""
        return isinstance(effect.subject, self.subject)

    def is_certainly_about(self, _effect: Effect, /) -> bool:
        """Return whether that is certain of an effect that the patterns are about."""
        return True

    def among(self, effects: Effects) -> Sequence[Effect]:
        """Return those of some effects that may be of this kind."""
        return effects.by_class.get(self.subject, ())

    def near(self, _effect: Effect, /) -> Sequence[_Pattern]:
        """Return the patterns that an effect may match."""
        return self.patterns

    def in_doubt(self, _effect: Effect, /) -> Self:
        """Return the patterns as they are compared by a reader for whom a maybe is enough."""
        return self

    def for_guess(self, _effect: Effect, /) -> Self:
        """Return the patterns as a restriction compares them with what the call need not do."""
        return self

    @property
    def of_any_access(self) -> Self:
        """The same patterns, whatever happens to what they name."""
        return self

    @property
    def for_permission(self) -> Self:
        """The same patterns as a permission takes them."""
        return self

    def narrow(self, facts: Facts) -> Self | None:
        """Return the patterns that may match what is known of a call; None if there are none."""
        found = self._finder.find(facts, is_of_known=True)
        if len(found) == len(self.patterns):
            return self
        return attrs.evolve(self, patterns=tuple(self.patterns[at] for at in sorted(found))) if found else None

    def may_match(self, facts: Facts) -> bool:
        """Return whether an effect of a call with these facts may match."""
        return bool(self._finder.find(facts))

    @property
    def needs(self) -> frozenset[Fact]:
        """Facts of which one is present if an effect may match; empty if they cannot be listed."""
        needs = self._needs
        return frozenset[Fact]().union(*needs) if all(needs) else frozenset()

    @property
    def _needs(self) -> list[frozenset[Fact]]:
        return [each.needs for each in self.patterns]

    @functools.cached_property
    def _finder(self) -> Finder:
        return Finder([[facts] if facts else [] for facts in self._needs])


AnyPatterns: TypeAlias = Patterns[Any]
"""Patterns of one of the kinds."""


@attrs.frozen(eq=False)
class CommandPatterns(Patterns[ArgvPattern]):
    about = role = "command"
    subject = Run
    _verb = "run"

    def is_about(self, effect: Effect) -> bool:
        """Return whether it is a program, or for `*` what the shell itself does."""
        return super().is_about(effect) or effect.is_of_shell

    def among(self, effects: Effects) -> Sequence[Effect]:
        """Return the programs; with `*` all effects, of which the shell may do some itself."""
        return super().among(effects) if self._named is self else effects.every

    def near(self, effect: Effect) -> Sequence[ArgvPattern]:
        run = effect.subject
        first = run.words[0] if isinstance(run, Run) and run.words else _UNNAMED
        if len(self.patterns) < _FEW or not first.is_kept:
            return self.patterns
        every = self._by_program
        return every.get(program_name(first.text), every[""])

    def in_doubt(self, effect: Effect) -> "CommandPatterns":
        """Return those that name a program, for a wrapper and a guess.

        What a wrapper runs is an action of its own, and any text could be some command.
        """
        run = effect.subject
        return self._named if isinstance(run, Run) and (run.is_wrapper or run.is_guess) else self

    def for_guess(self, _effect: Effect, /) -> "CommandPatterns":
        return self._named

    @functools.cached_property
    def _named(self) -> "CommandPatterns":
        """The patterns without those for any command."""
        named = tuple(each for each in self.patterns if not each.is_any)
        return self if len(named) == len(self.patterns) else CommandPatterns(named)

    @functools.cached_property
    def _by_program(self) -> Mapping[str, Sequence[ArgvPattern]]:
        """The patterns by the name of the program, in order; by the empty one, those for any."""
        programs = [(each, each.programs) for each in self.patterns]
        names = frozenset[str]().union(*(some for _, some in programs if some is not None), ("",))
        return {name: tuple(each for each, some in programs if some is None or name in some) for name in names}


@attrs.frozen(eq=False)
class PathPatterns(Patterns[PathPattern]):
    """Patterns of paths, and the ways of access they are about; of any, if there are none.

    `names_programs`: the rule also names programs, so its author knows what they do with a path.
    `permits`: they are those of a permission.
    """

    about = "path"
    role = "write_path"
    subject = Touch
    _verb = "touch"

    accesses: frozenset[Access] = frozenset()
    names_programs: bool = False
    permits: bool = False

    @property
    def verb(self) -> str:
        return " or ".join(each.value for each in Access if each in self.accesses) or self._verb

    @functools.cached_property
    def for_permission(self) -> "PathPatterns":
        return attrs.evolve(self, permits=True) if self.accesses else self

    @functools.cached_property
    def _met(self) -> frozenset[Access]:
        """The accesses that the patterns are about: who reads a file sees that it is there.

        So a permission to read permits to list, and a restriction on listing is about reading too.
        """
        if self.permits and Access.READ in self.accesses:
            return self.accesses | {Access.LIST}
        if Access.LIST in self.accesses and not self.permits:
            return self.accesses | {Access.READ}
        return self.accesses

    def is_about(self, effect: Effect) -> bool:
        touch = effect.subject
        return isinstance(touch, Touch) and (not self.accesses or touch.access in self._met)

    def is_certainly_about(self, effect: Effect) -> bool:
        """Return whether that is so whatever the access turns out to be.

        A program of which nothing is known reads what it is given: hardly one only writes it.
        """
        touch = effect.subject
        if not self.accesses or self.names_programs or not isinstance(touch, Touch):
            return True
        return touch.access is Access.READ or touch.instead <= self._met

    def near(self, effect: Effect) -> Sequence[PathPattern]:
        if len(self.patterns) < _FEW or not isinstance(effect.subject, Touch):
            return self.patterns
        place, facts = effect.subject.place, effect.actions.once(facts_of)
        found = self._finder.find_paths(lambda anchor, _: facts.paths_at(place, anchor))
        return [self.patterns[at] for at in sorted(found)]

    def _match_known(self, effect: Effect, least: Match, enough: Match) -> Match:
        touch = cast("Touch", effect.subject)
        return match_best(self.near(effect), touch.place, effect.roots, least, enough)

    def match_open(self, effect: Effect) -> Match:
        """Return `ACCESS` where the patterns are about the only access that is possible."""
        match = super().match_open(effect)
        touch = effect.subject
        is_exact = isinstance(touch, Touch) and self.accesses == {touch.access} and not touch.instead
        return Match.ACCESS if is_exact and match is Match.OPEN else match

    def for_guess(self, effect: Effect) -> "PathPatterns":
        """Return those of any access where no program is known that touches the path."""
        return self.of_any_access if effect.run is None else self

    @functools.cached_property
    def of_any_access(self) -> "PathPatterns":
        return attrs.evolve(self, accesses=frozenset()) if self.accesses else self

    def narrow(self, facts: Facts) -> Self | None:
        """Return all patterns if one of them may match: those near each path are looked up."""
        return self if self._finder.find(facts, is_of_known=True) else None

    def may_name(self, effect: Effect, place: Place) -> bool:
        """Return whether a pattern may match a place itself, not only something below it."""
        return any(each.may_name(place, effect.roots) for each in self.near(effect))

    def names_below(self, effect: Effect, place: Place) -> Iterator[str | None]:
        """Yield the names that match below a folder; None where not all are known."""
        for pattern in self.near(effect):
            yield from pattern.names_below(place, effect.roots)

    @property
    def _needs(self) -> list[frozenset[Fact]]:
        return [frozenset(fact for each in needs for fact in self._by_access(each)) for needs in super()._needs]

    def _by_access(self, fact: Fact) -> Iterator[Fact]:
        anchor = fact.group[0] if isinstance(fact.group, tuple) else None
        yield from (fact._replace(group=(anchor, access)) for access in self._met or (None,))


@attrs.frozen(eq=False)
class HostPatterns(Patterns[HostPattern]):
    about = "host"
    role = "url"
    subject = Connect
    _verb = "connect to"


def show_pattern(pattern: ArgvPattern | PathPattern | HostPattern) -> str:
    """Return a pattern as it is written, with the list that it is from."""
    name = getattr(pattern, "listed", None)
    return f"`{pattern.text}`" if name is None else f"`{pattern.text}` of `@{name}`"

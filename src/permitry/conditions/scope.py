"""The scope of a rule: the tools it selects, and its conditions in `when` and `unless`.

*Plain* conditions are about the call and its context; all others are about its actions. If one
cannot be evaluated, a restriction counts as matched, and a permission as not matched.
"""

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Self, TypeVar

import attrs

from permitry.conditions import near, permit, restrict
from permitry.conditions._conditions import Conditions
from permitry.conditions._links import LinkCondition
from permitry.conditions._sources import SourceCondition
from permitry.conditions.label import LabelCondition
from permitry.conditions.lookalikes import look_alikes
from permitry.conditions.match import Match
from permitry.conditions.mode import ModeCondition
from permitry.conditions.tools import ToolSelector, is_shell
from permitry.conditions.written import Condition
from permitry.core.effects import only_reads
from permitry.core.explain import likely_roles
from permitry.core.facts import Fact
from permitry.core.origin import Origin
from permitry.core.rule import Request, Unsure
from permitry.core.source import Lists
from permitry.errors import UnevaluableError

__all__ = ["Condition", "Conditions", "Scope", "Scoped"]

_NOTHING = Conditions()
_Kind = TypeVar("_Kind", bound=Condition)
_ASKING: tuple[type[SourceCondition | LinkCondition], ...] = (SourceCondition, LinkCondition)
# Looked up once: that takes longer than to compare them.
_NO, _ALIKE, _YES = Match.NO, Match.ALIKE, Match.YES


def _alternatives(unless: "Conditions | Iterable[Conditions] | None") -> tuple[Conditions, ...]:
    if unless is None:
        return ()
    return (unless,) if isinstance(unless, Conditions) else tuple(unless)


@attrs.frozen
class Scope:
    """The tools a rule selects (without selectors: every tool), and its conditions.

    `unless` holds alternatives: it takes back what one of them is about. `lists` are the named lists
    in the conditions; `remake` makes the scope again, with the values that a session adds to these.
    """

    selectors: tuple[ToolSelector, ...] = ()
    when: Conditions = _NOTHING
    unless: tuple[Conditions, ...] = attrs.field(default=(), converter=_alternatives)
    lists: frozenset[str] = attrs.field(default=frozenset(), repr=False, eq=False)
    remake: Callable[[Lists], "Scope"] | None = attrs.field(default=None, repr=False, eq=False)
    # Whether there are no conditions, in `when` or in `unless`.
    _names_tools_alone: bool = attrs.field(init=False, repr=False, eq=False)

    @_names_tools_alone.default
    def _has_no_conditions(self) -> bool:
        return not (self.unless or self.when.plain or self.when.are_about_actions)

    def with_lists(self, added: Lists) -> "Scope":
        """Return the scope with more values in its lists. Raises: `RuleError` for a wrong value."""
        if self.remake is None or self.lists.isdisjoint(added):
            return self
        return self.remake(added)

    @property
    def every(self) -> tuple[Conditions, ...]:
        """Its conditions: those of `when`, and each alternative of `unless`."""
        return (self.when, *self.unless)

    @property
    def specificity(self) -> tuple[int, int]:
        """How narrow it is: its kind (2 commands, 1 paths or hosts, 0 neither), and literal words.

        Of several patterns the one with the fewest counts; `*` alone is not a condition on commands.
        """
        when = self.when
        written = min((each.literals for each in when.commands or when.paths), default=0)
        if when.commands:
            return (2, written) if written else (0, 0)
        return int(when.are_about_actions), written

    @property
    def modes(self) -> frozenset[str]:
        """The names of modes in the conditions."""
        return frozenset[str]().union(*(each.modes for each in self.each(ModeCondition)))

    @property
    def labels(self) -> frozenset[str]:
        """The labels that the conditions ask for."""
        return frozenset[str]().union(*(each.labels for each in self.each(LabelCondition)))

    def each(self, *kinds: type[_Kind]) -> Iterator[_Kind]:
        """Yield the plain conditions of some classes."""
        every = itertools.chain.from_iterable(each.plain for each in self.every)
        return (each for each in every if isinstance(each, kinds))

    @property
    def is_pure(self) -> bool:
        """Whether its answers depend on the request alone."""
        return self._knows_selectors and all(each.are_pure for each in self.every)

    def needs(self, *, is_permission: bool) -> tuple[frozenset[Fact], ...]:
        """Return sets of facts; unless one of each set is present, it cannot match or fail."""
        if not self._knows_selectors:
            return ()
        tools = frozenset(fact for each in self.selectors for fact in each.needs(is_permission=is_permission))
        others = self.when.needs(is_permission=is_permission) if self.is_pure else ()
        return (tools, *others) if tools else tuple(others)

    @property
    def _knows_selectors(self) -> bool:
        return all(type(each) is ToolSelector for each in self.selectors)

    def selects(self, request: Request, needed: Match) -> bool:
        """Return whether a selector selects the call as far as `needed`."""
        for each in self.selectors:
            match = each.match(request, needed)
            # INVARIANT: law 2. What another class answers in place of a match selects for a restriction only.
            if match is _YES or (needed is not _YES and match is not _NO):
                return True
        return not self.selectors

    def permits(self, request: Request, *, is_alone: bool = True) -> bool:
        """Return whether a permission with this scope permits the whole call.

        Without `is_alone`, actions of a shell that only read may be left to other permissions.
        """
        if self._names_tools_alone:
            return self.selects(request, _YES)
        if not self.when.are_about_actions:
            return self.selects(request, Match.YES) and permit.permits(self.when, self.unless, request)
        certain, covered = request.actions.certain, self.covers(request)
        reads = not is_alone and is_shell(request)
        left = (action for at, action in enumerate(certain) if at not in covered)
        return bool(covered) and all(reads and only_reads(action) for action in left)

    def covers(self, request: Request) -> frozenset[int]:
        """Return the indices of the certain actions that a permission with this scope permits."""
        if not self.when.are_about_actions or not self.selects(request, Match.YES):
            return frozenset()
        return permit.cover(self.when, self.unless, request)

    def restricts(self, request: Request) -> bool | Unsure:
        """Return whether a restriction applies, by any reading of the call. Raises: as `restrict.restricts`."""
        answer: bool | Unsure = False
        for each in (request, *request.otherwise) if request.likely or request.others else (request,):
            if answer is not True and self.selects(each, _ALIKE):
                answer = self._names_tools_alone or restrict.restricts(self.when, self.unless, each) or answer
        return answer

    def facts(self, request: Request, needed: Match) -> Iterator[str]:
        """Yield why the conditions do not hold, for people to read.

        Of a restriction on actions that are not certain, only patterns that look alike are reasons.
        """
        is_about_actions, restricts = self.when.are_about_actions, needed is Match.ALIKE
        if not (restricts and is_about_actions and restrict.meets(self.when, (), request) is not True):
            yield from near.say_plain(self.when, request, needed)
            plain = (each for each in self.unless if not each.are_about_actions)
            if any(not any(near.say_plain(each, request, Match.YES)) for each in plain):
                yield "`unless` holds"
        if restricts:
            yield from self._say_look_alikes(request)
        elif is_about_actions and self.lacks_roles(request):
            yield f"it is not declared what the arguments of `{request.call.tool}` are"
        elif is_about_actions and request.tool is not None and request.tool.roles:
            yield from near.say_uncovered(self.when, self.unless, self.covers(request), request)

    def _say_look_alikes(self, request: Request) -> Iterator[str]:
        """Yield why a pattern does not fit, where the call is what it seems to mean."""
        for each in look_alikes(self.when):
            with contextlib.suppress(UnevaluableError):
                if each.meant is not None and attrs.evolve(self, when=each.meant).restricts(request) is True:
                    yield f"{each.reason} ({each.hint})"

    @property
    def asks_origins(self) -> bool:
        """Whether a condition asks where a value comes from."""
        return any(True for _ in self.each(*_ASKING))

    def origins(self, request: Request) -> Iterator[Origin]:
        """Yield where the values came from that conditions in `when` and `unless` ask that of."""
        for each in self.each(*_ASKING):
            yield from each.origins(request)

    def not_lifted(self, request: Request) -> Iterator[str]:
        """Yield for each alternative of `unless` why it does not lift the restriction, for people."""
        return (near.say_not_lifted(unless, self.when, request) for unless in self.unless)

    def lacks_roles(self, request: Request) -> bool:
        """Return whether they are about arguments of the call that are not declared."""
        if request.tool is not None and request.tool.roles is not None:
            return False
        meant = {kind.role for kind in self.when.on_actions}
        return any(role.value in meant for role in likely_roles(request.call).values())


@attrs.frozen
class Scoped:
    """Lets a session add values to the named lists of a rule's scope."""

    scope: Scope = attrs.field(factory=Scope, kw_only=True)

    @property
    def lists(self) -> frozenset[str]:
        """The names of the lists in its conditions."""
        return self.scope.lists

    def with_lists(self, added: Lists) -> Self:
        """Return the rule with more values in the lists that it uses, as `Scope.with_lists`."""
        scope = self.scope.with_lists(added)
        return self if scope is self.scope else attrs.evolve(self, scope=scope)

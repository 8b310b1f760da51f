"""The scope of a rule: the tools it selects, and its conditions in `when` and `unless`.

A condition is evaluated in one of two ways. *Must* (`over_approximate=False`) is for `when` of a
permission and `unless` of a restriction; *may* (`over_approximate=True`) is for `when` of a
restriction and `unless` of a permission. Where the truth is not known, the first is False and the
second is True or `Unsure`. A condition that cannot be evaluated at all raises an exception; then a
restriction counts as matched, and a permission as not matched.

*Plain* conditions are about the call and its context; all others are about its actions: commands,
paths and hosts.
"""

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, Self

import attrs

from permitry.conditions._conditions import Condition, Conditions
from permitry.conditions._left import pattern_below, what_is_left
from permitry.conditions._links import LinkCondition
from permitry.conditions._meeting import BY_NAME, may_be_anything, met, met_at_once
from permitry.conditions._sources import SourceCondition
from permitry.conditions.label import LabelCondition
from permitry.conditions.lookalikes import look_alikes
from permitry.conditions.mode import ModeCondition
from permitry.conditions.tools import ToolsCondition, ToolSelector
from permitry.core.action import Action, Run, Touch, phrase
from permitry.core.effects import Effect, effects_of
from permitry.core.facts import Fact
from permitry.core.likely_roles import likely_roles
from permitry.core.lists import Lists
from permitry.core.origin import Origin
from permitry.core.rule import Request, Unsure
from permitry.errors import UnevaluableError

__all__ = ["Condition", "Conditions", "Listed", "Scope", "Scoped"]

_NOTHING = Conditions()


def _alternatives(unless: "Conditions | Iterable[Conditions] | None") -> tuple[Conditions, ...]:
    if unless is None:
        return ()
    return (unless,) if isinstance(unless, Conditions) else tuple(unless)


class Listed(Protocol):
    """How a scope with named lists is made: for the lists that a session fills, it is made again."""

    @property
    def names(self) -> frozenset[str]:
        """The names of the lists."""
        ...

    def scope(self, added: Lists) -> "Scope":
        """Return the scope with more values in its lists.

        Raises: `RuleError` for a value that is not valid where its list is used.
        """
        ...


@attrs.frozen
class Scope:
    """The tools a rule selects (without selectors: every tool), and the conditions under which it applies.

    `unless` holds alternatives: it takes back what one of them is about. `listed` is None without named lists.
    """

    selectors: tuple[ToolSelector, ...] = ()
    when: Conditions = _NOTHING
    unless: tuple[Conditions, ...] = attrs.field(default=(), converter=_alternatives)
    listed: Listed | None = attrs.field(default=None, repr=False, eq=False)

    @property
    def lists(self) -> frozenset[str]:
        """The names of the lists in the conditions."""
        return frozenset() if self.listed is None else self.listed.names

    def with_lists(self, added: Lists) -> "Scope":
        """Return the scope with more values in its lists.

        Raises: `RuleError` for a value that is not valid where its list is used.
        """
        if self.listed is None or self.lists.isdisjoint(added):
            return self
        return self.listed.scope(added)

    @property
    def specificity(self) -> tuple[int, int]:
        """How narrow the conditions are: the kind (2 commands, 1 paths or hosts, 0 neither), and the literal words.

        Of several patterns the one with the fewest literal words counts; `*` alone is not a condition on commands.
        """
        when = self.when
        written = min((each.literals for each in when.commands or when.paths), default=0)
        if when.commands:
            return (2, written) if written else (0, 0)
        return int(when.are_about_actions), written

    @property
    def named_tools(self) -> tuple[ToolSelector, ...]:
        """The selectors of the tools that the rule is about, and of those that it excepts."""
        excepted = (each.selectors for each in self._plain if isinstance(each, ToolsCondition))
        return (*self.selectors, *itertools.chain.from_iterable(excepted))

    @property
    def modes(self) -> frozenset[str]:
        """The names of modes in the conditions."""
        return frozenset(mode for each in self._plain if isinstance(each, ModeCondition) for mode in each.modes)

    @property
    def labels(self) -> frozenset[str]:
        """The labels that the conditions ask for."""
        return frozenset(label for each in self._plain if isinstance(each, LabelCondition) for label in each.labels)

    @property
    def _plain(self) -> tuple[Condition, ...]:
        return tuple(condition for each in (self.when, *self.unless) for condition in each.plain)

    @property
    def is_pure(self) -> bool:
        """Whether its answers depend on the request alone."""
        are_pure = all(each.are_pure for each in (self.when, *self.unless))
        return type(self) is Scope and self._knows_selectors and are_pure

    def needs(self, *, is_permission: bool) -> tuple[frozenset[Fact], ...]:
        """Return sets of facts. It cannot permit, cover, restrict or fail unless one fact of each set is present."""
        if type(self) is not Scope or not self._knows_selectors:
            return ()
        tools = frozenset(fact for each in self.selectors for fact in each.needs(is_permission=is_permission))
        others = self.when.needs(is_permission=is_permission) if self.is_pure else ()
        return (tools, *others) if tools else tuple(others)

    @property
    def _knows_selectors(self) -> bool:
        return all(type(each) is ToolSelector for each in self.selectors)

    def selects(self, request: Request, *, over_approximate: bool) -> bool:
        """Return whether a selector selects the call, or with `over_approximate` may select it."""
        for each in self.selectors:
            if each.selects(request, over_approximate=over_approximate):
                return True
        return not self.selectors

    def permits(self, request: Request, *, is_alone: bool = True) -> bool:
        """Return whether a permission with this scope permits the whole call.

        With `is_alone=False`, actions of a shell command that only read need not be covered: other
        permissions may cover them.
        """
        if not self.when.are_about_actions:
            return self._must_apply(request)
        certain, covered = request.actions.certain, self.covers(request)
        reads = not is_alone and request.tool is not None and request.tool.is_shell
        return bool(covered) and all(
            i in covered or (reads and _only_reads(action)) for i, action in enumerate(certain)
        )

    def covers(self, request: Request) -> frozenset[int]:
        """Return the indices of the certain actions that a permission with this scope permits."""
        if not self.when.are_about_actions:
            return frozenset()
        failure: Exception | None = None
        try:
            if not self._must_apply(request):
                return frozenset()
        except Exception as error:  # noqa: BLE001 -- raised below, unless nothing is covered anyway
            failure = error
        actions = request.actions
        numbered = ((i, Effect(action)) for i, action in enumerate(actions.certain))
        covered = frozenset(
            i for i, part in numbered if self.when.fit(part, actions) and not self._excepts(part, request)
        )
        if covered and failure is not None:
            raise failure
        return covered

    def restricts(self, request: Request) -> bool | Unsure:
        """Return whether a restriction with this scope applies, to any tool that the name in the call may mean.

        Raises: the exception of a condition that cannot be evaluated, such as `UnevaluableError`,
        if the result would otherwise be True.
        """
        answer = self._restricts(request)
        for other in request.otherwise if request.likely else ():
            if answer is not True:
                answer = self._restricts(other) or answer
        return answer

    def _restricts(self, request: Request) -> bool | Unsure:
        if not self.selects(request, over_approximate=True):
            return False
        failure: Exception | None = None
        try:
            if not self.when.plain_hold(request, over_approximate=True):
                return False
        except Exception as error:  # noqa: BLE001 -- as above
            failure = error
        lifting: list[Conditions] = []
        for unless in self.unless:
            try:
                lifting += [unless] if unless.plain_hold(request, over_approximate=False) else []
            except Exception as error:  # noqa: BLE001 -- as above
                # INVARIANT: law 2. An exception that cannot be evaluated lifts nothing.
                failure = failure or error
        if lifting and self._lift_whole_call(lifting, request):
            return False
        answer = self._fires(request, lifting) if self.when.are_about_actions else True
        if failure is not None and answer is True:
            raise failure
        return answer

    def facts(self, request: Request, *, over_approximate: bool) -> Iterator[str]:
        """Yield a phrase for each reason why the conditions do not hold, for people to read.

        There is none where a restriction is about actions that the call may not do: that is not a near miss.
        """
        is_far = over_approximate and self.when.are_about_actions and self._fires(request, []) is not True
        if not is_far:
            yield from self.when.facts(request, over_approximate=over_approximate)
            plain = (each for each in self.unless if not each.are_about_actions)
            if any(not any(each.facts(request, over_approximate=False)) for each in plain):
                yield "`unless` holds"
        if over_approximate:
            yield from self._seeming(request)
        if over_approximate or not self.when.are_about_actions:
            return
        if self.lacks_roles(request):
            yield f"it is not declared what the arguments of `{request.call.tool}` are"
        elif request.tool is not None and request.tool.roles:
            yield from self._uncovered(request)

    def _seeming(self, request: Request) -> Iterator[str]:
        """Yield why a pattern of a restriction does not fit, where the call is what it seems to mean."""
        for each in look_alikes(self.when):
            with contextlib.suppress(UnevaluableError):
                if each.meant is not None and attrs.evolve(self, when=each.meant).restricts(request) is True:
                    yield f"{each.reason} ({each.hint})"

    @property
    def asks_origins(self) -> bool:
        """Whether a condition asks where a value comes from."""
        return any(isinstance(each, SourceCondition | LinkCondition) for each in self._plain)

    def origins(self, request: Request) -> Iterator[Origin]:
        """Yield where the values came from that conditions in `when` and `unless` ask that of."""
        for each in self._plain:
            if isinstance(each, SourceCondition | LinkCondition):
                yield from each.origins(request)

    def not_lifted(self, request: Request) -> Iterator[str]:
        """Yield for each alternative of `unless` why it does not lift the restriction from the call, for people."""
        for unless in self.unless:
            facts = list(unless.facts(request, over_approximate=False))
            yield ", ".join(facts or [self._not_lifted_by(unless, request)])

    def _not_lifted_by(self, unless: Conditions, request: Request) -> str:
        about = self.when if self.when.are_about_actions else None
        for part in request.parts.every:
            if (about is None or about.may_fit(part, request)) and not unless.fit(part, request.actions):
                shown, why = what_is_left(part.subject, unless, request.actions)
                return f"{shown} (expected: {unless.does})" if why is None else f"{shown} is not certain, because {why}"
        return f"something that is not certain (expected: {unless.does})"

    def lacks_roles(self, request: Request) -> bool:
        """Return whether the conditions are about arguments that the call seems to have, and that are not declared."""
        if request.tool is not None and request.tool.roles is not None:
            return False
        when = self.when
        kinds = ((when.commands, "command"), (when.paths, "write_path"), (when.hosts, "url"))
        meant = {kind for patterns, kind in kinds if patterns}
        return any(role.value in meant for role in likely_roles(request.call).values())

    def _uncovered(self, request: Request) -> Iterator[str]:
        covered = self.covers(request)
        for i, action in enumerate(request.actions.certain):
            if i in covered or (request.tool is not None and request.tool.is_shell and _only_reads(action)):
                continue
            part = Effect(action)
            if self.when.fit(part, request.actions) and self._excepts(part, request):
                yield f"`unless` takes `{phrase(action)}` back"
            else:
                shown, why = what_is_left(action, self.when, request.actions)
                expected = "" if covered else self._expected(action, request)
                yield f"{shown} is not covered{expected}" if why is None else f"{shown} is not certain, because {why}"

    def _expected(self, action: Action, request: Request) -> str:
        below = pattern_below(action, self.when, request.actions)
        hint = "" if below is None else f"; what is below it is `{below}`"
        return f" (expected: {self.when.does}{hint})"

    # Permissions ---------------------------------------------------------------------------------------------------

    def _must_apply(self, request: Request) -> bool:
        if not self.selects(request, over_approximate=False):
            return False
        if not self.when.plain_hold(request, over_approximate=False):
            return False
        return not self.unless or not any(self._is_excepted(unless, request) for unless in self.unless)

    def _is_excepted(self, unless: Conditions, request: Request) -> bool:
        """Return whether one alternative of `unless` may except the whole call from the permission."""
        if not unless.plain_hold(request, over_approximate=True):
            return False
        if not unless.are_about_actions:
            return True
        # If `when` is about actions as well, `_excepts` decides for each one; otherwise one action
        # that fits is enough.
        if self.when.are_about_actions:
            return False
        actions = request.actions
        # A guessed path may be accessed in any way.
        groups = ((unless, request.parts), (unless.of_any_access, request.guesses))
        return actions.unknown is not None or any(
            about.may_fit(part, request) or may_be_anything(about, part) is not None
            for about, parts in groups
            for part in parts.every
        )

    def _excepts(self, part: Effect, request: Request) -> bool:
        """Return whether `unless` may except one action of the call from the permission."""
        return any(self._one_excepts(unless, part, request) for unless in self.unless)

    def _one_excepts(self, unless: Conditions, part: Effect, request: Request) -> bool:
        if not unless.are_about_actions or not unless.plain_hold(request, over_approximate=True):
            return False
        run = part.subject
        # The program may also touch paths and hosts that are not listed, and the exception may be
        # about these.
        if isinstance(run, Run) and (unless.paths or unless.hosts) and not run.operands.is_listed:
            return True
        return any(
            unless.may_fit(each, request) or may_be_anything(unless, each) is not None
            for each in effects_of((part.subject,))
        )

    # Restrictions --------------------------------------------------------------------------------------------------

    def _lift_whole_call(self, lifting: Sequence[Conditions], request: Request) -> bool:
        """Return whether alternatives whose plain conditions hold certainly lift the restriction from all of it."""
        if not all(each.are_about_actions for each in lifting):
            return True
        if self.when.are_about_actions:
            return False
        actions = request.actions
        # What a wrapper such as `sudo` runs is listed as an action itself.
        possible = (each for each in actions.possible if not (isinstance(each, Run) and each.is_wrapper))
        parts = [Effect(action) for action in (*actions.certain, *possible)]
        return bool(parts) and not actions.guessed and all(_is_lifted(part, lifting, request) for part in parts)

    def _fires(self, request: Request, lifting: Sequence[Conditions]) -> bool | Unsure:
        """Return whether each kind of condition on actions is met by some action that `unless` does not except.

        `lifting`: the alternatives of `unless` whose plain conditions hold, so that they may except actions.
        """
        lifts: Callable[[Effect], bool] = functools.partial(_is_lifted, lifting=lifting, request=request)
        unsure: Unsure | None = None
        kinds = self._kinds
        if len(kinds) > 1 and not all(kind.may_be_met(request.facts) for kind in kinds):
            return False
        for kind in kinds:
            answer = met(kind, request, lifts)
            if answer is False:
                return False
            if isinstance(answer, Unsure):
                # If the command is certain, the unsure kinds after it are reported as likely.
                unsure = unsure or (answer if kind is kinds[0] else attrs.evolve(answer, likeness=BY_NAME))
        if unsure is None and self.when.commands and len(kinds) > 1:
            return met_at_once(kinds, request, lifts)
        return unsure or True

    @functools.cached_property
    def _kinds(self) -> tuple[Conditions, ...]:
        """The conditions on commands, on paths and on hosts, each kind separately."""
        when = self.when
        names_programs = any(not pattern.is_any for pattern in when.commands)
        paths = Conditions(paths=when.paths, accesses=when.accesses, names_programs=names_programs)
        kinds = (Conditions(commands=when.commands), paths, Conditions(hosts=when.hosts))
        return tuple(kind for kind in kinds if kind.are_about_actions)


@attrs.frozen
class Scoped:
    """What a rule with a scope has of it: named lists that a session fills."""

    scope: Scope = attrs.field(factory=Scope, kw_only=True)

    @property
    def lists(self) -> frozenset[str]:
        """The names of the lists in its conditions."""
        return self.scope.lists

    def with_lists(self, added: Lists) -> Self:
        """Return the rule with more values in the lists that it uses.

        Raises: `RuleError` for a value that is not valid where its list is used.
        """
        scope = self.scope.with_lists(added)
        return self if scope is self.scope else attrs.evolve(self, scope=scope)


def _is_lifted(part: Effect, lifting: Sequence[Conditions], request: Request) -> bool:
    return any(unless.fit(part, request.actions) for unless in lifting)


def _only_reads(action: Action) -> bool:
    match action:
        case Run():
            return action.doubt is None
        case Touch():
            return action.access.value == "read"
        case _:
            return False

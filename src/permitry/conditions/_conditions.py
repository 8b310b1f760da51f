"""The conditions of one `when` or `unless`: on the call and its context, and on its actions."""

import functools
from collections.abc import Iterator

import attrs

from permitry.conditions._patterns import AnyPatterns, CommandPatterns, HostPatterns, PathPatterns
from permitry.conditions.command import ArgvPattern
from permitry.conditions.host import HostPattern
from permitry.conditions.match import Match
from permitry.conditions.path import PathPattern
from permitry.conditions.written import Condition, sorted_repr
from permitry.core.action import Access
from permitry.core.facts import Fact
from permitry.core.rule import Request


@attrs.frozen
class Conditions:
    """The conditions of one `when` or `unless`; all that are given must hold.

    `plain` are about the call and its context; of `commands`, `paths` and `hosts`, which are about
    its actions, one pattern each must match. `accesses` limits `paths` to these ways of access, if
    there are some. `runs_any`: what such a command runs is permitted with it. `looks` limits
    `commands` to those that certainly only look.
    """

    plain: tuple[Condition, ...] = ()
    commands: tuple[ArgvPattern, ...] = ()
    paths: tuple[PathPattern, ...] = ()
    hosts: tuple[HostPattern, ...] = ()
    accesses: frozenset[Access] = attrs.field(default=frozenset(), repr=sorted_repr)
    runs_any: bool = False
    looks: bool = False

    @functools.cached_property
    def are_about_actions(self) -> bool:
        return bool(self.commands or self.paths or self.hosts)

    @functools.cached_property
    def on_commands(self) -> CommandPatterns:
        return CommandPatterns(self.commands)

    @functools.cached_property
    def on_paths(self) -> PathPatterns:
        names_programs = any(not pattern.is_any for pattern in self.commands)
        return PathPatterns(self.paths, self.accesses, names_programs)

    @functools.cached_property
    def on_hosts(self) -> HostPatterns:
        return HostPatterns(self.hosts)

    @functools.cached_property
    def on_actions(self) -> tuple[AnyPatterns, ...]:
        if not self.are_about_actions:
            # Most rules: nothing is made for them.
            return ()
        every: tuple[AnyPatterns, ...] = (self.on_commands, self.on_paths, self.on_hosts)
        return tuple(each for each in every if each.patterns)

    @property
    def does(self) -> str:
        """What an action that meets the conditions does, as a phrase such as "read `~/.ssh/**`"."""
        return " and ".join(each.does for each in self.on_actions)

    @property
    def are_pure(self) -> bool:
        return all(map(_is_pure, self.plain))

    def needs(self, *, is_permission: bool) -> Iterator[frozenset[Fact]]:
        """Yield sets of facts; unless one of each set is present, they cannot hold or fail."""
        for condition in self.plain:
            if _is_pure(condition) and (facts := getattr(condition, "needs", None)):
                yield facts
        # A permission with patterns of commands is found by these alone; a restriction by each kind of pattern.
        kinds = (self.on_commands,) if is_permission and self.commands else self.on_actions
        yield from filter(None, ((each.for_permission if is_permission else each).needs for each in kinds))

    def plain_match(self, request: Request, needed: Match) -> bool:
        """Return whether every plain condition matches as `needed`; one that does not is enough.

        Raises: otherwise, the first exception that a condition raised.
        """
        trouble: Exception | None = None
        for condition in self.plain:
            try:
                match = condition.match(request, needed)
                # INVARIANT: law 2. A truth, which is a number too, would be less than any match that counts.
                if type(match) is not Match:
                    wrong = f"`{type(condition).__name__}` returned {match!r}, and not how far it matches"
                    trouble = trouble or TypeError(wrong)
                elif match < needed:
                    return False
            except Exception as error:  # noqa: BLE001 -- it is raised below, unless it makes no difference
                trouble = trouble or error
        if trouble is not None:
            raise trouble
        return True


def _is_pure(condition: Condition) -> bool:
    return vars(type(condition)).get("is_pure") is True

"""An index of rules by the facts they need, which finds those that can match without asking all."""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, TypeAlias

from permitry.core.action import Access
from permitry.core.facts import NO_PATHS, Anchor, Fact, Facts, Kind, Paths
from permitry.core.pattern import Globs

__all__ = ["Finder", "Names"]

_PathsOf: TypeAlias = Callable[[Anchor, Access | None], Paths | None]


class Finder:
    """An index from facts to the numbers of rules.

    A rule needs a fact of each of its sets, so one is enough to find it: that of facts which the fewest rules share.
    """

    __slots__ = ("_always", "_kinds", "_paths")

    def __init__(self, needs: Iterable[Sequence[frozenset[Fact]]]) -> None:
        numbered = dict(enumerate(needs))
        shared = Counter(chain.from_iterable(chain.from_iterable(numbered.values())))
        self._always: list[int] = [number for number, sets in numbered.items() if not sets]
        self._kinds: dict[Kind, dict[Hashable, Any]] = {}
        # By anchor and access.
        self._paths: dict[Any, _PathGroup] = {}
        for number, sets in numbered.items():
            for fact in min(sets, key=lambda facts: sum(shared[fact] for fact in facts), default=()):
                self._file(fact, number)
        for group in self._paths.values():
            group.names.close()
        for kind in _OF_NAMES:
            for group in self._kinds.get(kind, {}).values():
                group.close()

    def _file(self, fact: Fact, number: int) -> None:
        if fact.kind in _OF_PATHS:
            self._paths.setdefault(fact.group, _PathGroup()).add(fact, number)
            return
        groups = self._kinds.setdefault(fact.kind, {})
        if fact.group not in groups:
            groups[fact.group] = Names() if fact.kind in _OF_NAMES else _Group()
        groups[fact.group].add(fact.value, number)

    def find(self, facts: Facts, *, is_of_known: bool = False) -> set[int]:
        """Return the rules that may match: all of an open kind; with `is_of_known`, by known facts alone."""
        found = set(self._always)
        if self._paths:
            known = facts.of_actions
            found = self.find_paths(known.paths if is_of_known else known.paths_unless_open)
        for kind, groups in self._kinds.items():
            if not is_of_known and kind in _MAY_BE_OPEN and facts.of_actions.is_open(kind):
                found.update(*(group.everything for group in groups.values()))
            else:
                _FIND[kind](groups, facts, found)
        return found

    def find_paths(self, paths_of: _PathsOf) -> set[int]:
        """Return the numbers of those filed under facts about paths that may fit these, and of those that need none."""
        found = set(self._always)
        for (anchor, access), group in self._paths.items():
            group.find(paths_of(anchor, access), found)
        return found


class _Group:
    """The numbers filed under facts of one kind and group, by the values of the facts."""

    __slots__ = ("everything", "values")

    def __init__(self) -> None:
        self.everything: list[int] = []
        self.values: dict[Hashable, list[int]] = {}

    def add(self, value: Hashable, number: int) -> None:
        self.everything.append(number)
        self.values.setdefault(value, []).append(number)

    def find(self, values: Collection[Hashable] | None, found: set[int]) -> None:
        """Add what is filed under some values; everything where they are not known."""
        if values is None:
            found.update(self.everything)
            return
        for value in self.values.keys() & values:
            found.update(self.values[value])


class Names:
    """The same for values that are names, and globs of names; `add` all of them, then `close`, then `find`."""

    __slots__ = ("_exact", "_globs", "everything")

    def __init__(self) -> None:
        self.everything: list[int] = []
        # Nearly always one number; a list of one takes more than a hundred bytes more.
        self._exact: dict[str, int | list[int]] = {}
        self._globs = Globs()

    def add(self, value: Hashable, number: int) -> None:
        """File a number under a pattern of names."""
        text = str(value)
        self.everything.append(number)
        if "*" in text or "?" in text:
            self._globs.add(text, number)
        else:
            before = self._exact.setdefault(text, number)
            if isinstance(before, list):
                before.append(number)
            elif before != number:
                self._exact[text] = [before, number]

    def close(self) -> None:
        """Get ready to `find`; nothing can be added any more."""
        self._globs.close()

    def find(self, names: Collection[str] | None, found: set[int]) -> None:
        """Add what is filed under patterns that fit one of the names; everything where they are not known."""
        if names is None:
            found.update(self.everything)
            return
        for name in self._exact.keys() & names:
            exact = self._exact[name]
            found.update((exact,) if isinstance(exact, int) else exact)
        if self._globs.may_fit(names):
            for name in names:
                found.update(self._globs.find(name))


class _PathGroup:
    """The numbers filed under facts about paths with one anchor and access."""

    __slots__ = ("below", "everything", "heads", "names")

    def __init__(self) -> None:
        self.everything: list[int] = []
        self.heads, self.names = _Group(), Names()
        # Under each directory, the numbers filed in `heads` for a path below it.
        self.below = _Group()

    def add(self, fact: Fact, number: int) -> None:
        self.everything.append(number)
        if fact.kind is Kind.NAME:
            self.names.add(fact.value, number)
        else:
            self.heads.add(fact.value, number)
            if isinstance(fact.value, tuple):
                for length in range(len(fact.value)):
                    self.below.add(fact.value[:length], number)

    def find(self, paths: Paths | None, found: set[int]) -> None:
        if paths is None:
            found.update(self.everything)
            return
        if paths is NO_PATHS:
            return
        self.heads.find(paths.heads, found)
        if paths.trees:
            self.below.find(paths.trees, found)
        if self.names.everything:
            self.names.find(paths.parts, found)


_OF_PATHS = frozenset({Kind.PATH, Kind.NAME})
_MAY_BE_OPEN = frozenset({Kind.PROGRAM, Kind.WORD, Kind.HOST})
_OF_NAMES = (Kind.TOOL, Kind.PROGRAM)
_Groups: TypeAlias = Mapping[Any, Any]
_Find: TypeAlias = Callable[[_Groups, Facts, set[int]], None]


def _by_argument(groups: _Groups, facts: Facts, found: set[int]) -> None:
    for (path, kind), group in groups.items():
        value = facts.argument(path)
        # Whether an argument that is missing or of another class matches is for the rule to decide.
        if value is None or value[0] != kind:
            found.update(group.everything)
        else:
            found.update(group.values.get(value[1], ()))


def _by_word(groups: _Groups, facts: Facts, found: set[int]) -> None:
    programs = facts.of_actions.programs
    for name in groups if programs is None else groups.keys() & programs:
        groups[name].find(None if programs is None else programs[name], found)


def _by(values_of: Callable[[Facts, Any], Collection[str] | None]) -> _Find:
    """Return what looks up values in each group, by its key."""

    def find(groups: _Groups, facts: Facts, found: set[int]) -> None:
        for key, group in groups.items():
            group.find(values_of(facts, key), found)

    return find


_FIND: Mapping[Kind, _Find] = {
    Kind.TOOL: _by(lambda facts, counts_readings: facts.call.readings if counts_readings else (facts.call.tool,)),
    Kind.TRAIT: _by(lambda facts, _: facts.traits),
    Kind.ARGUMENT: _by_argument,
    Kind.PROGRAM: _by(lambda facts, _: facts.of_actions.programs),
    Kind.WORD: _by_word,
    Kind.HOST: _by(lambda facts, _: facts.of_actions.hosts),
}

"""An index of rules by the facts they need, which finds those that can match without asking all."""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from permitry.core._globs import Names
from permitry.core.action import Access
from permitry.core.facts import Anchor, Fact, Facts, Kind, Paths

__all__ = ["Finder"]


class Finder:
    """An index from facts to the numbers of rules. Of the sets a rule needs, it is filed under the rarest."""

    __slots__ = ("_always", "_kinds")

    def __init__(self, needs: Iterable[Sequence[frozenset[Fact]]]) -> None:
        numbered = dict(enumerate(needs))
        shared = Counter(fact for sets in numbered.values() for facts in sets for fact in facts)
        self._always: list[int] = [number for number, sets in numbered.items() if not sets]
        self._kinds: dict[Kind, dict[Hashable, _Group]] = {}
        for number, sets in numbered.items():
            for fact in min(sets, key=lambda facts: sum(shared[fact] for fact in facts), default=()):
                groups = self._kinds.setdefault(fact.kind, {})
                groups.setdefault(fact.group, _Group()).add(fact, number)

    def find(self, facts: Facts, *, is_of_known: bool = False) -> set[int]:
        """Return the numbers of the rules that may match a question with these facts.

        Where facts of a kind are unknown, all rules of that kind are returned; with `is_of_known`, only those that the
        known facts lead to.
        """
        search = _Search(facts, is_of_known, set(self._always))
        for kind, groups in self._kinds.items():
            if kind in _ADD_PATHS:
                _ADD_PATHS[kind](groups, search.paths, search.found)
            else:
                _FIND[kind](search, groups)
        return search.found

    def find_paths(self, paths: "_PathsOf") -> set[int]:
        """Return the numbers of those filed under facts about paths that may fit these, and of those that need none."""
        found = set(self._always)
        for kind, groups in self._kinds.items():
            if kind in _ADD_PATHS:
                _ADD_PATHS[kind](groups, paths, found)
        return found


class _Group:
    """The numbers filed under facts of one kind and group, by the values of the facts."""

    __slots__ = ("_globs", "below", "everything", "values")

    def __init__(self) -> None:
        self.everything: list[int] = []
        self.values: dict[Hashable, list[int]] = {}
        # For a path, the numbers filed under its descendants.
        self.below: dict[Hashable, list[int]] = {}
        # The values as globs, for names; built on first use.
        self._globs: Names | None = None

    def add(self, fact: Fact, number: int) -> None:
        self.everything.append(number)
        self.values.setdefault(fact.value, []).append(number)
        if fact.kind is Kind.PATH and isinstance(fact.value, tuple):
            for length in range(len(fact.value)):
                self.below.setdefault(fact.value[:length], []).append(number)

    def named(self, names: Iterable[str]) -> Iterable[int]:
        """Return the numbers filed under a name, or a glob, that matches one of the names."""
        globs = self._globs
        if globs is None:
            globs = Names()
            for value, numbers in self.values.items():
                for number in numbers:
                    globs.add(str(value), number)
            globs.close()
            self._globs = globs
        return globs.find(names)


class _Search(NamedTuple):
    """One search: the facts, whether what is unknown leads nowhere, and the numbers found so far."""

    facts: Facts
    is_of_known: bool
    found: set[int]

    def by_argument(self, groups: "_Groups") -> None:
        for (path, kind), group in groups.items():
            value = self.facts.argument(path)
            # Whether an argument that is missing or of another class matches is for the rule to decide.
            is_known = value is not None and value[0] == kind
            self.found.update(group.values.get(value[1], ()) if value and is_known else group.everything)

    def by_program(self, groups: "_Groups") -> None:
        programs = None if self._is_open(Kind.PROGRAM) else self.facts.programs
        for group in groups.values():
            self.found.update(group.everything if programs is None else group.named(programs))

    def by_word(self, groups: "_Groups") -> None:
        programs = None if self._is_open(Kind.WORD) else self.facts.programs
        for name in groups if programs is None else groups.keys() & programs:
            words = None if programs is None else programs[name]
            _add(groups[name], words, self.found)

    def by_host(self, groups: "_Groups") -> None:
        for group in groups.values():
            _add(group, None if self._is_open(Kind.HOST) else self.facts.hosts, self.found)

    def paths(self, anchor: Anchor, access: Access | None) -> Paths | None:
        return None if self._is_open(Kind.PATH, access) else self.facts.paths(anchor, access)

    def _is_open(self, kind: Kind, access: Access | None = None) -> bool:
        return not self.is_of_known and self.facts.are_open(kind, access)


def _add(group: _Group, values: Collection[Hashable] | None, found: set[int]) -> None:
    """Add what is filed under some values; everything where they are not known."""
    if values is None:
        found.update(group.everything)
        return
    for value in group.values.keys() & values:
        found.update(group.values[value])


def _by_path(groups: "_Groups", paths_of: "_PathsOf", found: set[int]) -> None:
    for key, group in groups.items():
        paths = paths_of(*key)
        _add(group, paths and paths.heads, found)
        for name in group.below.keys() & paths.trees if paths else ():
            found.update(group.below[name])


def _by_name(groups: "_Groups", paths_of: "_PathsOf", found: set[int]) -> None:
    for key, group in groups.items():
        paths = paths_of(*key)
        parts = paths and paths.parts
        found.update(group.everything if parts is None else group.named(parts))


def _by_depth(groups: "_Groups", paths_of: "_PathsOf", found: set[int]) -> None:
    for key, group in groups.items():
        paths = paths_of(*key)
        _add(group, paths and paths.depths, found)


_Groups: TypeAlias = Mapping[Any, _Group]
_PathsOf: TypeAlias = Callable[[Anchor, Access | None], Paths | None]

_FIND: Mapping[Kind, Callable[[_Search, _Groups], None]] = {
    Kind.ARGUMENT: _Search.by_argument,
    Kind.PROGRAM: _Search.by_program,
    Kind.WORD: _Search.by_word,
    Kind.HOST: _Search.by_host,
}
_ADD_PATHS: Mapping[Kind, Callable[[_Groups, _PathsOf, set[int]], None]] = {
    Kind.PATH: _by_path,
    Kind.NAME: _by_name,
    Kind.DEPTH: _by_depth,
}

"""An index of rules by the facts they need, which finds those that can match without asking all."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

from permitry.core._globs import Names
from permitry.core.facts import Fact, Facts, Kind

__all__ = ["Finder"]


class Finder:
    """An index from facts to the numbers of rules. Of the sets a rule needs, it is filed under the rarest."""

    __slots__ = ("_always", "_groups")

    def __init__(self, needs: Iterable[Sequence[frozenset[Fact]]]) -> None:
        numbered = dict(enumerate(needs))
        shared = Counter(fact for sets in numbered.values() for facts in sets for fact in facts)
        self._always: list[int] = [number for number, sets in numbered.items() if not sets]
        self._groups: dict[tuple[Kind, Hashable], _Group] = {}
        for number, sets in numbered.items():
            for fact in min(sets, key=lambda facts: sum(shared[fact] for fact in facts), default=()):
                group = self._groups.setdefault((fact.kind, fact.group), _Group())
                group.add(fact, number)

    def find(self, facts: Facts, *, is_of_known: bool = False) -> set[int]:
        """Return the numbers of the rules that may match a question with these facts.

        Where facts of a kind are unknown, all rules of that kind are returned; with `is_of_known`, only those that the
        known facts lead to.
        """
        found = set(self._always)
        for (kind, name), group in self._groups.items():
            is_open = not is_of_known and facts.are_open(kind)
            found.update(group.everything if is_open else _FIND[kind](group, facts, name))
        return found


class _Group:
    """The numbers filed under facts of one kind and group, by the values of the facts."""

    __slots__ = ("_globs", "below", "everything", "values")

    def __init__(self) -> None:
        self.everything: list[int] = []
        self.values: dict[Hashable, list[int]] = {}
        # For a path, the numbers filed under its descendants.
        self.below: dict[Hashable, list[int]] = {}
        # The values as globs, for names of programs; built on first use.
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

    def under(self, values: Iterable[Hashable]) -> Iterator[int]:
        for value in values:
            yield from self.values.get(value, ())


def _by_argument(group: _Group, facts: Facts, name: Any) -> Iterable[int]:  # noqa: ANN401 -- each kind has its groups
    path, kind = name
    found = facts.argument(path)
    # Whether an argument that is missing or of another class matches is for the rule to decide.
    return group.everything if found is None or found[0] != kind else group.under(found[1:])


def _by_program(group: _Group, facts: Facts, _: object) -> Iterable[int]:
    return group.everything if facts.programs is None else group.named(facts.programs)


def _by_word(group: _Group, facts: Facts, name: Any) -> Iterable[int]:  # noqa: ANN401 -- as above
    words = None if facts.programs is None else facts.programs.get(name, frozenset())
    return group.everything if words is None else group.under(words)


def _by_host(group: _Group, facts: Facts, _: object) -> Iterable[int]:
    return group.under(facts.hosts)


def _by_path(group: _Group, facts: Facts, anchor: Any) -> Iterator[int]:  # noqa: ANN401 -- as above
    paths = facts.paths(anchor)
    if paths is None:
        yield from group.everything
        return
    for name in paths.names | paths.trees:
        yield from group.under(name[:length] for length in range(len(name) + 1))
    for name in paths.trees:
        yield from group.below.get(name, ())


def _by_name(group: _Group, facts: Facts, anchor: Any) -> Iterable[int]:  # noqa: ANN401 -- as above
    paths = facts.paths(anchor)
    return group.everything if paths is None or paths.parts is None else group.under(paths.parts)


def _by_depth(group: _Group, facts: Facts, anchor: Any) -> Iterable[int]:  # noqa: ANN401 -- as above
    paths = facts.paths(anchor)
    return group.everything if paths is None or paths.depths is None else group.under(paths.depths)


_FIND = {
    Kind.ARGUMENT: _by_argument,
    Kind.PROGRAM: _by_program,
    Kind.WORD: _by_word,
    Kind.HOST: _by_host,
    Kind.PATH: _by_path,
    Kind.NAME: _by_name,
    Kind.DEPTH: _by_depth,
}

"""Facts of a question, and what rules need of them: how the few rules that can match are found among many.

A rule declares sets of facts. Unless one fact of each set is a fact of the question, `matches` returns False and
`covers` nothing. A fact that is not known counts as met: an unreadable command may run any program. What is declared
only saves work; what a rule means is said by `matches` alone.
"""

import enum
import functools
import itertools
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from permitry.core.action import Action, Actions, Connect, Run, Touch, Unknown, Word
from permitry.core.pattern import fold

__all__ = ["Anchor", "Fact", "Facts", "Kind", "argument_class", "program_name", "program_path"]

_WILDCARDS = frozenset("*?[")


class Kind(enum.Enum):
    """What a fact is about."""

    ARGUMENT = "argument"
    PROGRAM = "program"
    WORD = "word"
    HOST = "host"
    PATH = "path"
    NAME = "name"
    DEPTH = "depth"


class Anchor(enum.Enum):
    """What a path is relative to."""

    WORKSPACE = enum.auto()
    HOME = enum.auto()
    TOP = enum.auto()


class Fact(NamedTuple):
    """One fact: `value` is what is looked up among the facts of a `group`.

    | kind | group | value |
    |---|---|---|
    | `ARGUMENT` | the path of the argument, and the class of its value | the value |
    | `PROGRAM` | () | the name of a program as `program_name` or `program_path` has it, or a glob of such names |
    | `WORD` | the name of a program | one of its arguments |
    | `HOST` | () | a host, or the end of one from a dot on, as in `.example.com` |
    | `PATH` | the anchor | the leading components, each folded |
    | `NAME` | the anchor | one component, folded |
    | `DEPTH` | the anchor | how many components there are below it |
    """

    kind: Kind
    group: Hashable
    value: Hashable


class Paths(NamedTuple):
    """Paths relative to one anchor, by their components, and those of folders below which any may be touched.

    `parts` are all components of all paths, wherever they are; None where a path may have any. `depths` are the numbers
    of components, None where there may be any.
    """

    names: frozenset[tuple[str, ...]]
    trees: frozenset[tuple[str, ...]]
    parts: frozenset[str] | None
    depths: frozenset[int] | None


def program_path(text: str) -> str:
    """Return the name of a program with its directory, if it is written with one, case-folded."""
    return text.replace("\\", "/").casefold()


def program_name(text: str) -> str:
    """Return the name of a program without its directory, case-folded: what all its spellings share."""
    return program_path(text).rpartition("/")[2]


def argument_class(value: bool | float | str) -> str:  # noqa: FBT001 -- it is the value that is looked at
    """Return the class of scalars that a value is compared with: all numbers are of one, and true is none of them."""
    if isinstance(value, bool):
        return "boolean"
    return "string" if isinstance(value, str) else "number"


_OF_PATHS = frozenset({Kind.PATH, Kind.NAME, Kind.DEPTH})
_Value = TypeVar("_Value")


class Facts:
    """The facts of one call, each kind worked out when it is first asked for; None for what may be anything.

    `readings` are the actions of the call, one for each tool that its name may mean.
    """

    def __init__(self, arguments: Mapping[str, object], readings: Callable[[], Sequence[Actions]]) -> None:
        self._arguments = arguments
        self._readings = readings

    def argument(self, path: tuple[str, ...]) -> tuple[str, Hashable] | None:
        """Return the class and the value of an argument; None where it is missing or not a scalar."""
        value: object = self._arguments
        for name in path:
            if not isinstance(value, Mapping) or name not in value:
                return None
            value = value[name]
        return (argument_class(value), value) if isinstance(value, bool | int | float | str) else None

    @functools.cached_property
    def programs(self) -> Mapping[str, frozenset[str] | None] | None:
        """The arguments of each program by its name and by its path; None for those with a word that is not known."""
        found: dict[str, frozenset[str] | None] = {}
        for first, *rest in filter(None, self._commands()):
            if _is_open(first):
                return None
            words = None if any(map(_is_open, rest)) else frozenset(word.text for word in rest)
            for name in {program_name(first.text), program_path(first.text)}:
                before = found.get(name, frozenset())
                found[name] = None if words is None or before is None else before | words
        return found

    @functools.cached_property
    def hosts(self) -> frozenset[str]:
        """The hosts that are or may be connected to, and their ends from every dot on."""
        hosts = (action.host for action in self._with_operands if isinstance(action, Connect))
        return frozenset(end for host in hosts if host is not None for end in (host, *_ends(host)))

    def are_open(self, kind: Kind) -> bool:
        """Return whether something of the call is not known at all, and could be what facts of a kind are about."""
        if kind is Kind.ARGUMENT:
            return False
        about = "host" if kind is Kind.HOST else "path" if kind in _OF_PATHS else ""
        if any(isinstance(action, Unknown) and action.about in ("", about) for action in self._actions):
            return True
        return self._has_open_host if kind is Kind.HOST else kind in _OF_PATHS and self._has_open_path

    @functools.cached_property
    def _has_open_host(self) -> bool:
        return any(isinstance(each, Connect) and each.host is None for each in self._with_operands)

    @functools.cached_property
    def _has_open_path(self) -> bool:
        touches = (each.place for each in self._with_operands if isinstance(each, Touch))
        return any(place.is_open or not place.names for place in touches)

    def paths(self, anchor: Anchor) -> Paths | None:
        """Return what is or may be touched, relative to an anchor."""
        if anchor not in self._paths:
            self._paths[anchor] = self._paths_from(anchor)
        return self._paths[anchor]

    @functools.cached_property
    def _paths(self) -> dict[Anchor, Paths | None]:
        return {}

    def _paths_from(self, anchor: Anchor) -> Paths | None:
        bases = self._bases(anchor)
        touched = [action.place for action in self._with_operands if isinstance(action, Touch)]
        if not bases:
            return None
        names: set[tuple[str, ...]] = set()
        trees: set[tuple[str, ...]] = set()
        parts: set[str | None] = set()
        depths: set[int | None] = set()
        for place in touched:
            has_wildcards = place.is_glob and not _WILDCARDS.isdisjoint(place.text)
            is_tree = has_wildcards or place.is_tree
            for whole in map(_components, place.names):
                known = _known(whole) if has_wildcards else whole
                parts.update(whole if known == whole else {None})
                for base in bases:
                    if known[: len(base)] == base:
                        (trees if is_tree else names).add(known[len(base) :])
                        depths.add(None if "**" in whole else len(whole) - len(base))
                    elif is_tree and base[: len(known)] == known:
                        # From above the anchor all that is below it may be met.
                        trees.add(())
                        parts.add(None)
                        depths.add(None)
        return Paths(frozenset(names), frozenset(trees), _all_known(parts), _all_known(depths))

    @functools.cached_property
    def _actions(self) -> tuple[Action, ...]:
        """Everything that the call does or may do, whatever its tool may be."""
        return tuple(
            action for actions in self._readings() for action in (*actions.certain, *actions.possible, *actions.guessed)
        )

    @functools.cached_property
    def _with_operands(self) -> tuple[Action, ...]:
        """The same, and what the operands of its programs name, which takes longer to read."""
        runs = (action.operands for action in self._actions if isinstance(action, Run))
        return (*self._actions, *(each for some in runs for each in (*some.touches, *some.connects, *some.guessed)))

    def _commands(self) -> Iterator[tuple[Word, ...]]:
        for action in self._actions:
            if isinstance(action, Run):
                yield action.words
                yield action.bare
            elif isinstance(action, Touch):
                yield action.words

    def _bases(self, anchor: Anchor) -> tuple[tuple[str, ...], ...]:
        roots = self._readings()[0].roots
        named = {Anchor.WORKSPACE: roots.workspace, Anchor.HOME: roots.home, Anchor.TOP: ("/",)}[anchor]
        return tuple(map(_components, named))


def _is_open(word: Word) -> bool:
    return word.is_open or word.is_glob or word.is_home


def _ends(host: str) -> Iterator[str]:
    return (host[at:] for at, char in enumerate(host) if char == ".")


def _components(name: str) -> tuple[str, ...]:
    return tuple(fold(part) for part in name.split("/") if part)


def _known(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the components before the first that holds a wildcard."""
    return tuple(itertools.takewhile(_WILDCARDS.isdisjoint, parts))


def _all_known(values: set[_Value | None]) -> frozenset[_Value] | None:
    known = frozenset(value for value in values if value is not None)
    return known if len(known) == len(values) else None

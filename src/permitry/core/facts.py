"""Facts of a request: the keys by which the few rules that need them are found among many; see `Rule.needs`.

A fact that cannot be determined counts as present: an unreadable command may run any program. Facts only save work;
`matches` alone defines what a rule means.
"""

import enum
import functools
import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from permitry.core.action import (
    Access,
    Action,
    Actions,
    Connect,
    Place,
    Run,
    Touch,
    Word,
    components_of,
)
from permitry.core.call import ToolCall
from permitry.core.place import WILDCARDS

__all__ = [
    "NO_PATHS",
    "ActionFacts",
    "Anchor",
    "Fact",
    "Facts",
    "Kind",
    "Paths",
    "argument_class",
    "facts_of",
    "program_name",
    "program_path",
]


class Kind(enum.Enum):
    """What a fact is about."""

    TOOL = "tool"
    TRAIT = "trait"
    ARGUMENT = "argument"
    PROGRAM = "program"
    WORD = "word"
    HOST = "host"
    PATH = "path"
    NAME = "name"

    # As fast as identity: it is a key in every decision.
    __hash__ = object.__hash__


class Anchor(enum.IntEnum):
    """What a path is relative to."""

    WORKSPACE = enum.auto()
    HOME = enum.auto()
    TOP = enum.auto()


class Fact(NamedTuple):
    """One key of the index: `value` is looked up among the facts of the same kind and `group`.

    | kind | group | value |
    |---|---|---|
    | `TOOL` | whether every name counts that the one in the call may mean | the name of a tool, or a glob of names |
    | `TRAIT` | () | the selector of a trait, such as `@shell` |
    | `ARGUMENT` | the path of the argument, and the class of its value | the value |
    | `PROGRAM` | () | the name of a program as `program_name` or `program_path` has it, or a glob of such names |
    | `WORD` | the name of a program, or an empty text for any | one of its arguments |
    | `HOST` | () | a host, a suffix of one that begins with a dot, such as `.example.com`, or an empty text for any |
    | `PATH` | the anchor and the access | the leading components below the anchor, each case-folded |
    | `NAME` | the anchor and the access | one component anywhere in the path, as written or case-folded, or a glob |

    An access of None is any access.
    """

    kind: Kind
    group: Hashable
    value: Hashable


class Paths(NamedTuple):
    """The paths that a call may touch, as components below one anchor.

    `heads` are the leading components of each path, as many of them as there are; `trees` are directories of which any
    descendant may be touched. `parts` are the components of all paths, also of those outside the anchor; None if a path
    may have any component.
    """

    heads: frozenset[tuple[str, ...]]
    trees: frozenset[tuple[str, ...]]
    parts: frozenset[str] | None


def program_path(text: str) -> str:
    """Return a program as it is written, with its directory; case-folded, with `/` as separator."""
    return text.replace("\\", "/").casefold()


def program_name(text: str) -> str:
    """Return the name of a program without its directory, case-folded."""
    return program_path(text).rpartition("/")[2]


def argument_class(value: object) -> str | None:
    """Return the scalars a value can be equal to: `string`, `number` or `boolean`; None for no scalar."""
    return _CLASSES.get(type(value))


_CLASSES = {bool: "boolean", int: "number", float: "number", str: "string"}
NO_PATHS = Paths(frozenset(), frozenset(), frozenset())
_ANY_ACCESS = frozenset({None, *Access})


class Facts:
    """The facts of one call, computed on first use.

    `traits` are the selectors of traits that may select its tool, whatever the arguments. `readings` returns the
    actions of the call, once for each tool that its name may mean.
    """

    def __init__(self, call: ToolCall, traits: frozenset[str], readings: Callable[[], Sequence[Actions]]) -> None:
        self.call = call
        self.traits = traits
        self._readings = readings

    @functools.cached_property
    def of_actions(self) -> "ActionFacts":
        """The facts that do not depend on single arguments."""
        first, *others = self._readings()
        return ActionFacts((first, *others)) if others else first.once(facts_of)

    def argument(self, path: tuple[str, ...]) -> tuple[str, Hashable] | None:
        """Return the class and the value of an argument; None where it is missing or no scalar."""
        value: object = self.call.arguments
        for name in path:
            if not isinstance(value, Mapping) or name not in value:
                return None
            value = value[name]
        kind = argument_class(value)
        return None if kind is None else (kind, value)


class ActionFacts:
    """The facts of the actions of a call. None is a value that may be anything."""

    def __init__(self, readings: Sequence[Actions]) -> None:
        self._readings = readings
        self._paths: dict[tuple[Anchor, int], Paths] = {}
        self._kept: dict[int, tuple[Place]] = {}

    @functools.cached_property
    def programs(self) -> Mapping[str, frozenset[str] | None] | None:
        """The arguments of each program by name and path, of all by an empty name; None for what is not known."""
        found: dict[str, frozenset[str] | None] = {}
        for first, *rest in filter(None, self._commands()):
            if not first.is_kept:
                return None
            words = frozenset(word.text for word in rest) if all(word.is_kept for word in rest) else None
            for name in {"", program_name(first.text), program_path(first.text)}:
                before = found.get(name, frozenset())
                found[name] = None if words is None or before is None else before | words
        return found

    @functools.cached_property
    def hosts(self) -> frozenset[str]:
        """The hosts that may be connected to, and their ends: from each dot on, and empty."""
        hosts = (action.host for action in self._with_operands if isinstance(action, Connect))
        return frozenset(end for host in hosts if host is not None for end in (host, *_suffixes(host), ""))

    def is_open(self, kind: Kind) -> bool:
        """Return whether any fact of this kind may be present: a program, a word, or a host."""
        return self.is_unread or (kind is Kind.HOST and self._has_open_host)

    @property
    def is_unread(self) -> bool:
        """Whether there is an action of which nothing is known."""
        return "" in self._unknown

    @functools.cached_property
    def _unknown(self) -> frozenset[str]:
        return frozenset(each.about for actions in self._readings for each in actions.unread)

    @functools.cached_property
    def _has_open_host(self) -> bool:
        is_open = any(isinstance(each, Connect) and each.host is None for each in self._with_operands)
        return is_open or "host" in self._unknown

    @functools.cached_property
    def _with_open_paths(self) -> frozenset[Access | None]:
        """The accesses for which there may be a path of which nothing is known."""
        if not self._unknown.isdisjoint(("", "path")):
            return _ANY_ACCESS
        return frozenset(
            access
            for access, places in self._places.items()
            if not all(place.names and not place.is_open for place in places)
        )

    def paths_unless_open(self, anchor: Anchor, access: Access | None) -> Paths | None:
        """Return the same as `paths`, but None also where any path may be touched."""
        return None if access in self._with_open_paths else self.paths(anchor, access)

    def paths(self, anchor: Anchor, access: Access | None = None) -> Paths | None:
        """Return the paths that may be touched with this access, or any, below an anchor; None if that is not known."""
        return self._paths_of(self._places[access], anchor)

    def paths_at(self, place: Place, anchor: Anchor) -> Paths | None:
        """Return the same for one place alone."""
        kept = self._kept.setdefault(id(place), (place,))
        return self._paths_of(kept, anchor)

    def _paths_of(self, places: tuple[Place, ...], anchor: Anchor) -> Paths | None:
        if not self._bases[anchor]:
            return None
        if not places:
            return NO_PATHS
        # By identity: `places` is kept as long as this is, and to compare places takes longer.
        key = (anchor, id(places))
        found = self._paths.get(key)
        if found is None:
            found = self._paths[key] = _paths_below(self._bases[anchor], places)
        return found

    @functools.cached_property
    def _places(self) -> Mapping[Access | None, tuple[Place, ...]]:
        """The places that are or may be touched, by access; under None all of them."""
        found: dict[Access | None, dict[int, Place]] = {access: {} for access in (None, *Access)}
        for actions in self._readings:
            # How an undeclared tool uses a path is not known.
            for guess in actions.guessed:
                if isinstance(guess, Touch):
                    for places in found.values():
                        places[id(guess.place)] = guess.place
        for each in self._with_operands:
            if isinstance(each, Touch):
                found[None][id(each.place)] = found[each.access][id(each.place)] = each.place
        # The same tuple for the same places: most of what may be read may be written as well.
        shared: dict[tuple[int, ...], tuple[Place, ...]] = {}
        return {access: shared.setdefault(tuple(places), tuple(places.values())) for access, places in found.items()}

    @functools.cached_property
    def _actions(self) -> tuple[Action, ...]:
        """Everything that the call does or may do, for each tool that its name may mean."""
        return tuple(itertools.chain.from_iterable(actions.every for actions in self._readings))

    @functools.cached_property
    def _with_operands(self) -> tuple[Action, ...]:
        """`_actions`, and what operands of programs name; that takes longer to read."""
        runs = (action.operands for action in self._actions if isinstance(action, Run))
        return (*self._actions, *(each for some in runs for each in (*some.touches, *some.connects, *some.guessed)))

    def _commands(self) -> Iterator[tuple[Word, ...]]:
        for action in self._actions:
            if isinstance(action, Run):
                yield action.words
                yield action.bare
                if action.sets:
                    yield (*map(Word, action.sets), *action.words)
            elif isinstance(action, Touch):
                yield action.words

    @functools.cached_property
    def _bases(self) -> Mapping[Anchor, tuple[tuple[str, ...], ...]]:
        roots = self._readings[0].roots
        named = {Anchor.WORKSPACE: roots.workspace, Anchor.HOME: roots.home, Anchor.TOP: ("/",)}
        return {anchor: tuple(map(components_of, names)) for anchor, names in named.items()}


def facts_of(actions: Actions) -> ActionFacts:
    """Return the facts of the actions of a call alone, of which one reading is known."""
    return ActionFacts((actions,))


def _paths_below(bases: Sequence[tuple[str, ...]], places: Iterable[Place]) -> Paths:
    heads: set[tuple[str, ...]] = set()
    trees: set[tuple[str, ...]] = set()
    parts: set[str | None] = set()
    for place in places:
        has_wildcards = place.has_wildcards
        is_tree = has_wildcards or bool(place.tops)
        if place.tops:
            # Anything may be below it.
            parts.add(None)
        for name, whole in zip(place.names, place.components, strict=True):
            known = tuple(itertools.takewhile(WILDCARDS.isdisjoint, whole)) if has_wildcards else whole
            if len(known) == len(whole):
                parts.update(whole)
                parts.update(filter(None, name.split("/")))
            else:
                parts.add(None)
            for base in bases:
                if known[: len(base)] == base:
                    rest = known[len(base) :]
                    # If a head is there, so are those that it begins with.
                    while rest not in heads:
                        heads.add(rest)
                        rest = rest[:-1]
                    if is_tree:
                        trees.add(known[len(base) :])
                elif is_tree and base[: len(known)] == known:
                    # A tree that contains the anchor contains everything below the anchor.
                    heads.add(())
                    trees.add(())
                    parts.add(None)
    known_parts = frozenset(part for part in parts if part is not None)
    return Paths(frozenset(heads), frozenset(trees), None if None in parts else known_parts)


def _suffixes(host: str) -> Iterator[str]:
    return (host[at:] for at, char in enumerate(host) if char == ".")

"""What a call would do to the world, known before it runs: the actions rules are asked about.

The readers in `permitry.actions` make them; this file only says what they are. Certain actions are what the call does
when it runs, in order; possible ones are what it does as well, found by a reader that permits nothing; guesses are what
it might do, as a text that need not run, and the arguments of an undeclared tool. A permission must cover every certain
action, and an `Unknown` among them cannot be covered; a restriction looks at all, and a guess only makes it ask.
"""

import enum
import functools
import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TypeAlias, TypeVar, assert_never, cast

import attrs

from permitry.core.place import Descent, Listing, Place, components_of
from permitry.core.words import CommandLine, Word

__all__ = [
    "DEFAULT_PORTS",
    "UNSEEN_ADDRESS",
    "UNSEEN_NAME",
    "Access",
    "Action",
    "Actions",
    "Connect",
    "Delegate",
    "Descent",
    "Listing",
    "Operands",
    "Place",
    "Roots",
    "Run",
    "Touch",
    "Unknown",
    "Word",
    "components_of",
    "phrase",
]


UNSEEN_NAME, UNSEEN_ADDRESS = "a name that comes from elsewhere", "an address that comes from elsewhere"
"""The texts of a path and an address that are not in the call, as in a list that a program reads."""

DEFAULT_PORTS: Mapping[str, int] = MappingProxyType(
    {"ftp": 21, "git": 9418, "http": 80, "https": 443, "ssh": 22, "ws": 80, "wss": 443}
)
"""The port of a scheme where an address of that scheme names none."""

_Made = TypeVar("_Made")


class Access(enum.Enum):
    """What happens to a file or folder; `LIST`: its size and dates are looked at, or the names in it."""

    READ = "read"
    WRITE = "write"
    DELETE = "delete"
    LIST = "list"

    # As fast as identity: it is a key in every decision.
    __hash__ = object.__hash__

    @property
    def is_change(self) -> bool:
        """Whether the file or folder is not the same afterwards."""
        return self is Access.WRITE or self is Access.DELETE


@attrs.frozen
class Touch:
    """Lists, reads, writes or deletes a path; `origin` is the argument or the word that says so, for a human.

    `words` are those of the program whose input or output it is, for a redirection, and `sets` the
    assignments that change what that runs. `makes_links`: what is made there or below may be a link.
    `is_guess`: it is the less likely one of two readings. `instead` is what the program may do to the path
    in place of `access`. `is_all`: the program of `words` does not run, a tool does this, and only this.
    """

    access: Access
    place: Place
    origin: str = ""
    words: tuple[Word, ...] = ()
    makes_links: bool = attrs.field(default=False, kw_only=True)
    is_guess: bool = attrs.field(default=False, kw_only=True)
    instead: frozenset[Access] = attrs.field(default=frozenset(), kw_only=True)
    sets: tuple[str, ...] = attrs.field(default=(), kw_only=True)
    is_all: bool = attrs.field(default=False, kw_only=True)


@attrs.frozen
class Connect:
    """Opens a connection. `host` is normalised (lower case, punycode, canonical addresses, `[…]` around IPv6).

    None for what is not known: `host` when the text is not an address. `port` is the default of the scheme when the
    text names none. `is_certain`: the text is an address that every reader takes for the same one.
    """

    text: str
    scheme: str | None = None
    host: str | None = None
    port: int | None = None
    is_certain: bool = True
    origin: str = ""


@attrs.frozen
class Delegate:
    """Hands work to another agent; `agent` is None when the call does not name it."""

    agent: str | None = None


@attrs.frozen
class Unknown:
    """Something that could not be read with certainty: no permission over actions covers it.

    `reason` is one phrase for a human; `offset` counts characters (0-based) into `text`, where reading stopped. `about`
    says what it would be if it were known: `path`, `host`, `agent`, or, when empty, anything.
    """

    text: str
    reason: str
    offset: int = 0
    about: str = ""


@attrs.frozen
class Operands:
    """What the operands of a program name, as far as the program is known; `is_listed`: these are all.

    `guessed` is what a part of an argument would name if the program took it for a path or an address.
    `are_all_changes`: it changes nothing but the files that they name.
    """

    touches: tuple[Touch, ...] = ()
    connects: tuple[Connect, ...] = ()
    is_listed: bool = False
    guessed: tuple[Touch | Connect, ...] = ()
    are_all_changes: bool = False


@attrs.frozen
class Run:
    """Runs a program; `words` begin with its name, wrappers such as `timeout` taken off.

    `doubt` is why it may do more than read, None if it only reads; `looks`: it certainly changes nothing, though it may
    connect to what the user has set up. `within` are the constructs around it, outermost
    first, for a human; `start` and `end` (0-based, in characters) where it is in the text. `bare` are the words without
    the options of the program itself, as those of git before its sub-command; empty if there are none. `is_wrapper`:
    all it does is to run what is an action of its own. `is_guess`: it is a text that need not run. `sets` are
    assignments to variables that change what it runs. `line` is the command it is a part of, where that has more words.
    `is_piped`: its input is what the program before it prints. `values` are expansions in its words, each with what it
    becomes as far as that is known, for a human.
    """

    words: tuple[Word, ...]
    doubt: str | None = None
    _read_operands: "Callable[[], Operands]" = attrs.field(default=Operands, repr=False, eq=False, kw_only=True)
    within: tuple[str, ...] = ()
    start: int = 0
    end: int = 0
    bare: tuple[Word, ...] = attrs.field(default=(), kw_only=True)
    is_wrapper: bool = attrs.field(default=False, kw_only=True)
    is_guess: bool = attrs.field(default=False, kw_only=True)
    sets: tuple[str, ...] = attrs.field(default=(), kw_only=True)
    line: CommandLine | None = attrs.field(default=None, kw_only=True, repr=False, eq=False)
    looks: bool = attrs.field(default=False, kw_only=True)
    is_piped: bool = attrs.field(default=False, kw_only=True)
    values: tuple[tuple[str, str], ...] = attrs.field(default=(), kw_only=True, eq=False)

    @property
    def argv(self) -> tuple[str, ...]:
        """The arguments as text, program first."""
        return tuple(word.text for word in self.words)

    @functools.cached_property
    def operands(self) -> Operands:
        """What the operands name; it is read when it is first needed."""
        return self._read_operands()


Action: TypeAlias = Run | Touch | Connect | Delegate | Unknown

_BRIEF = 60
_NEEDS_QUOTES = re.compile(r"^$|^[~#]|[\s'\"\\$`*?|&;<>()]|\[.|\{.*[,.].*\}")
_ACTIVE = re.compile(r"[\"$`\\!]")


def _quote(word: Word) -> str:
    """Return a word as one may write it for a shell, in quotes where it needs them."""
    text = word.text
    if not _NEEDS_QUOTES.search(text) or word.is_glob or word.is_home or (word.is_open and not word.is_single):
        return text
    if word.is_open or ("'" in text and not _ACTIVE.search(text)):
        return f'"{text}"'
    escaped = text.replace("'", "'\\''")
    return f"'{escaped}'"


def phrase(action: Action) -> str:
    """Return an action in a few words for a human, such as `write src/a.py`."""
    match action:
        case Run():
            text = " ".join(map(_quote, action.words))
        case Touch():
            text = f"{action.access.value} {action.place.text}"
        case Connect():
            text = f"connect {action.text}"
        case Delegate():
            text = f"delegate to {action.agent or 'an agent'}"
        case Unknown():
            text = action.text
        case _:
            assert_never(action)
    return text if len(text) <= _BRIEF else f"{text[:_BRIEF]}..."


@attrs.frozen
class Roots:
    """What patterns of paths are relative to: the names of the workspace and of the home folder."""

    workspace: tuple[str, ...] = ()
    home: tuple[str, ...] = ()


@attrs.frozen
class Actions:
    """The actions of one call; `doubt` is why it may do more than read, None if every certain action only reads."""

    certain: tuple[Action, ...] = ()
    possible: tuple[Action, ...] = ()
    guessed: tuple[Action, ...] = ()
    roots: Roots = Roots()
    doubt: str | None = None
    _made: "dict[Callable[[Actions], object], object]" = attrs.field(factory=dict, init=False, eq=False, repr=False)

    def once(self, make: "Callable[[Actions], _Made]") -> _Made:
        """Return what a pure function makes of the actions, once."""
        found = self._made.get(make)
        if found is None:
            found = self._made.setdefault(make, make(self))
        return cast("_Made", found)

    @property
    def unknown(self) -> Unknown | None:
        """The first thing that could not be read, or None."""
        return next((action for action in self.certain if isinstance(action, Unknown)), None)

    @property
    def every(self) -> tuple[Action, ...]:
        """Everything that it does, may do as well, and might do."""
        return (*self.certain, *self.possible, *self.guessed)

    @functools.cached_property
    def unread(self) -> tuple[Unknown, ...]:
        """Everything that could not be read, what is only possible or guessed included."""
        return tuple(action for action in self.every if isinstance(action, Unknown))

    @property
    def targets(self) -> frozenset[str]:
        """What the call touches, connects to and delegates to, as words to count."""
        touched = {f"path:{name}" for touch in self.touches() for name in touch.place.real or (touch.place.text,)}
        met = {f"host:{connect.host or connect.text}" for connect in self.connects()}
        asked = {f"agent:{each.agent}" for each in self.certain if isinstance(each, Delegate)}
        return frozenset(touched | met | asked)

    def runs(self) -> Iterator[Run]:
        """Yield every program that runs or may run."""
        return (each for each in (*self.certain, *self.possible) if isinstance(each, Run))

    def touches(self) -> Iterator[Touch]:
        """Yield every path that is or may be touched, those of programs included."""
        return (each for each in self._done() if isinstance(each, Touch))

    def connects(self) -> Iterator[Connect]:
        """Yield every address that is or may be connected to, those of programs included."""
        return (each for each in self._done() if isinstance(each, Connect))

    def _done(self) -> Iterator[Action]:
        """Yield what is or may be done, and what the operands of programs name."""
        for action in (*self.certain, *self.possible):
            yield action
            if isinstance(action, Run):
                yield from (*action.operands.touches, *action.operands.connects, *action.operands.guessed)

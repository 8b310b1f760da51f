"""A path of a call, and where it may lead: the names it may have, and what below it is touched."""

import enum
import functools
import itertools
from collections.abc import Callable, Hashable

import attrs

from permitry.core.pattern import fold

__all__ = ["WILDCARDS", "Descent", "Listing", "Place", "components_of"]

WILDCARDS = frozenset("*?[")


class Descent(enum.Enum):
    """What of the things below a folder a program touches when it goes through the folder."""

    ALL = "all"
    SOME = "some"
    """Perhaps not all: an option or an ignore file may leave some out."""
    VISIBLE = "visible"
    """As `SOME`, and nothing whose name begins with a dot."""
    NAMES = "names"
    """Nothing: their names are listed."""
    NEW = "new"
    """What it makes there, under names that are not in the call."""


@attrs.frozen(eq=False)
class Listing:
    """The absolute names of a folder and of what is below it; `is_whole`: there are no others.

    Each comes after the folder it is in; `parents` are the indices of these folders, -1 for the first. `links`: links.
    """

    names: tuple[str, ...] = ()
    parents: tuple[int, ...] = ()
    is_whole: bool = True
    links: tuple[str, ...] = ()

    @property
    def is_nothing(self) -> bool:
        """Whether there is certainly no such folder."""
        return self.is_whole and not self.names

    @functools.cached_property
    def text(self) -> str:
        """All names, a slash behind each, without regard to case, for a quick look."""
        return fold("/\0".join((*self.names, "")))


@attrs.frozen
class Place:
    """A path as a call names it, and where it may lead.

    `lexical` holds the absolute, normalised names it may have (several when the folder it is relative to is not sure);
    `real` the same with links followed as the kernel follows them, `passed` the names between these where a link leads
    to a link. `is_certain`: these are all, and each is one file or folder; not so for a glob, an expansion, a name the
    system refuses, or a path relative to no known folder. `is_tree`: what lies below a folder of this name is touched
    as well, as `descent` says; `look` lists what is below a folder to a depth (None for all of it), and is None where
    that is not known. `is_glob`: the wildcards in it are not quoted, so that it may become other names. `is_open`: an
    expansion, or another program, says the name or a part of it, so it may lead anywhere. `made` returns the names that
    `Descent.NEW` makes below it, None if they are not known. `is_entry`: the entry itself is made, replaced or removed,
    so `real` also holds its own place, where links in its folders are followed, but not the entry if it is a link.
    `is_around`: only what is below it is touched, not the folder itself. `ends`: only names that fit one. `selection`
    says which of those that `look` lists are left out.
    """

    text: str
    lexical: tuple[str, ...] = ()
    real: tuple[str, ...] = ()
    is_certain: bool = True
    is_tree: bool = False
    is_glob: bool = attrs.field(default=False, kw_only=True)
    passed: tuple[str, ...] = attrs.field(default=(), kw_only=True)
    is_open: bool = attrs.field(default=False, kw_only=True)
    is_entry: bool = attrs.field(default=False, kw_only=True)
    descent: Descent = attrs.field(default=Descent.ALL, kw_only=True)
    look: Callable[..., Listing] | None = attrs.field(default=None, kw_only=True, eq=False, repr=False)
    is_around: bool = attrs.field(default=False, kw_only=True)
    ends: tuple[str, ...] = attrs.field(default=(), kw_only=True)
    selection: Hashable = attrs.field(default=None, kw_only=True)
    made: Callable[[], Listing | None] = attrs.field(default=lambda: None, kw_only=True, eq=False, repr=False)

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """Every name it may have."""
        return tuple(dict.fromkeys((*self.lexical, *self.passed, *self.real)))

    @property
    def has_wildcards(self) -> bool:
        """Whether it may become other names."""
        return self.is_glob and not WILDCARDS.isdisjoint(self.text)

    @functools.cached_property
    def tops(self) -> tuple[str, ...]:
        """The folders that exist below which something is touched that has no name in the call."""
        if not self.is_tree or self.descent is Descent.NAMES:
            return ()
        names = dict.fromkeys(map(_above_wildcards, self.names)) if self.has_wildcards else self.names
        look = None if self.descent is Descent.NEW else self.look
        return tuple(name for name in names if look is None or not look(name, 0).is_nothing)

    @functools.cached_property
    def components(self) -> tuple[tuple[str, ...], ...]:
        """The components of each name, without regard to case and composition."""
        return tuple(map(components_of, self.names))

    @functools.cached_property
    def folded(self) -> str:
        """All its names, one a line, without regard to case and composition, for a quick look."""
        return "\n".join(map(fold, self.names))


def _above_wildcards(name: str) -> str:
    """Return the folder above the first component with a wildcard."""
    return "/" + "/".join(itertools.takewhile(WILDCARDS.isdisjoint, filter(None, name.split("/"))))


def components_of(name: str) -> tuple[str, ...]:
    """Return the components of a path, without regard to case and composition."""
    return tuple(fold(part) for part in name.split("/") if part)

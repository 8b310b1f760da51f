"""What one decision looks up on the disk: where links lead, what is a folder, and which links are below a folder.

Every answer is kept until the decision is made, and compared with the disk again if it is used for another one. There
is a limit on look-ups: a repository of links to links, or a folder of a million files, costs milliseconds. Beyond the
limit no answer is certain.
"""

import enum
import errno
import os
import stat
from collections.abc import Hashable, Iterator
from posixpath import dirname, join
from typing import TypeAlias

import attrs

from permitry.actions.archives import Names, names_in, open_file
from permitry.core.action import Listing, Place

__all__ = ["Disk", "Links", "link_kind"]

MOST_LOOKS = 100_000
"""How many names of paths are looked at for one decision."""
MOST_ENTRIES = 5_000
"""How many entries of folders are listed for one decision, to find links."""
MOST_LISTED = 20_000
"""How many names below one folder are listed, to find those that a rule is about."""
LONGEST_TEXT = 16 * 1024
"""How many bytes of a file are read."""

_Link: TypeAlias = tuple[str | None, bool]


class _Kind(enum.Enum):
    """What an entry of a folder is."""

    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"


class Links(enum.IntEnum):
    """Which links are below a folder: none, only links to targets below it wherever it is moved, or others as well."""

    NONE = 0
    INSIDE = 1
    OPEN = 2


@attrs.define(eq=False)
class Disk:
    """Look-ups on the disk for one decision.

    With `is_there` False, nothing is looked up: for results that must be the same on every machine. No program is
    started that is in the `workspace`; without one, none is.
    """

    is_there: bool = True
    looks: int = MOST_LOOKS
    entries: int = MOST_ENTRIES
    workspace: str | None = attrs.field(default=None, kw_only=True)
    _links: dict[str, _Link] = attrs.field(factory=dict, repr=False)
    _folders: dict[str, bool] = attrs.field(factory=dict, repr=False)
    _below: dict[str, Links] = attrs.field(factory=dict, repr=False)
    _unpacked: dict[Hashable, Names | None] = attrs.field(factory=dict, repr=False)
    _texts: dict[str, str | None] = attrs.field(factory=dict, repr=False)
    _listings: dict[tuple[str, int | None, bool], Listing] = attrs.field(factory=dict, repr=False)
    places: dict[Hashable, Place] = attrs.field(factory=dict, repr=False)
    """The places that were resolved in this decision, by everything they depend on: the same word comes up often."""

    def spend(self, looks: int = 1) -> bool:
        """Use up some of the look-ups that are left, and return whether there were enough."""
        self.looks -= looks
        return self.looks >= 0

    @property
    def can_look(self) -> bool:
        """Whether any look-ups are left."""
        return self.looks >= 0

    def link_at(self, name: str) -> _Link:
        """Return the target of a link, None if the name is not a link, and whether this is certain."""
        # Links in /proc depend on the process that reads them, and here that is not the one that will follow them.
        if not self.is_there or name.startswith("/proc/") or name == "/proc":
            return None, True
        self.looks -= 1
        if self.looks < 0:
            return None, False
        found = self._links.get(name)
        if found is None:
            found = self._links[name] = _read_link(name)
        return found

    def is_folder(self, name: str) -> bool:
        """Return whether a folder of this name certainly exists; a link to a folder does not count."""
        if not self.is_there or not self.spend():
            return False
        found = self._folders.get(name)
        if found is None:
            found = self._folders[name] = _is_folder(name)
        return found

    def has(self, name: str) -> bool:
        """Return whether there is anything of this name."""
        return not self.listed(name, 0, has_hidden=True).is_nothing

    def text_of(self, name: str) -> str | None:
        """Return the text of a small file; None where it cannot be read, or is longer than `LONGEST_TEXT`."""
        if not self.is_there or not self.spend():
            return None
        if name not in self._texts:
            self._texts[name] = _read_text(name)
        return self._texts[name]

    @property
    def is_unchanged(self) -> bool:
        """Whether every look-up so far would have the same answer now; False where folders or archives were listed."""
        if self._below or self._unpacked or not self.can_look:
            return False
        listings = self._listings.copy()
        return (
            all(depth == 0 for _, depth, _ in listings)
            and all(_read_link(name) == link for name, link in self._links.copy().items())
            and all(_is_folder(name) is found for name, found in self._folders.copy().items())
            and all(_read_text(name) == text for name, text in self._texts.copy().items())
            and all(_is_listed_again(top, listing) for (top, _, _), listing in listings.items())
        )

    def links_below(self, top: str) -> Links:
        """Return which links are below a folder; `OPEN` as well where there is too much to look at."""
        if not self.is_there:
            return Links.NONE
        if top not in self._below:
            self._below[top] = self._walk(top)
        return self._below[top]

    def listed(self, top: str, depth: int | None, *, has_hidden: bool) -> Listing:
        """Return the names of a folder and of what is below it, in no order; those of links, and not where they lead.

        `depth` is how many folders deep, None for all.
        There is a limit for each folder, and none for all: a rule more must not make another one less certain.
        """
        key = (top, depth, has_hidden)
        if key not in self._listings:
            self._listings[key] = _list_below(top, depth, has_hidden=has_hidden)
        return self._listings[key]

    def in_index(self, folder: str) -> Names | None:
        """Return the absolute names in the index of git, of the repository that a folder is in; None if not known."""
        top = folder
        while not (self.has(join(top, ".git")) or self.has(join(top, "HEAD"))):
            if top == "/":
                return ()
            top = dirname(top)
        return self.names_in_repository(folder, "index", (":/",), "")

    def names_in(self, path: str, kind: str, strip: int | None) -> Names | None:
        """Return the names in an archive or a patch, without `strip` folders; None if they are not certain."""
        if not self.is_there:
            return None
        key = (path, kind, strip)
        if key not in self._unpacked:
            self._unpacked[key] = names_in(path, kind, strip)
        return self._unpacked[key]

    def names_in_repository(self, folder: str, kind: str, words: tuple[str, ...], prefix: str) -> Names | None:
        """Return the absolute names of what a command of git writes; None if they are not certain."""
        if not self.is_there or self.workspace is None:
            return None
        from permitry.actions.repositories import names_in_repository  # noqa: PLC0415 -- slow to import, rarely needed

        key = (folder, kind, words, prefix)
        if key not in self._unpacked:
            self._unpacked[key] = names_in_repository(self.workspace, folder, kind, words, prefix)
        return self._unpacked[key]

    def _walk(self, top: str) -> Links:
        found = Links.NONE
        waiting = [(top, 0)]
        while waiting:
            folder, depth = waiting.pop()
            try:
                for entry in self._listed(folder):
                    if entry.is_symlink():
                        found = max(found, link_kind(os.readlink(entry.path), depth))  # noqa: PTH115 -- as below
                    elif entry.is_dir(follow_symlinks=False):
                        waiting.append((entry.path, depth + 1))
            except (FileNotFoundError, NotADirectoryError):
                continue
            except (OSError, ValueError):
                return Links.OPEN
            if found is Links.OPEN or self.entries < 0:
                return Links.OPEN
        return found

    def _listed(self, folder: str) -> Iterator["os.DirEntry[str]"]:
        with os.scandir(folder) as entries:
            for entry in entries:
                self.entries -= 1
                if self.entries < 0:
                    return
                yield entry


def _list_below(top: str, depth: int | None, *, has_hidden: bool) -> Listing:
    if top == "/" and depth is None:
        # There are always more names than the limit.
        return Listing((top,), (-1,), is_whole=False)
    try:
        os.lstat(top)
    except (FileNotFoundError, NotADirectoryError):
        return Listing()
    except (OSError, ValueError):
        return Listing(is_whole=False)
    names, parents, links = [top], [-1], list[str]()
    is_whole = True
    waiting = [(0, 0)] if depth != 0 else []
    while waiting and is_whole:
        folder, level = waiting.pop()
        try:
            below = _entries_of(names[folder], MOST_LISTED - len(names), has_hidden=has_hidden)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError):
            # What the program may not read either is not touched; but it may be started by another user.
            below = None
        if below is None:
            is_whole = False
            continue
        if level + 1 != depth:
            waiting += [(at, level + 1) for at, (_, kind) in enumerate(below, len(names)) if kind is _Kind.FOLDER]
        names += [name for name, _ in below]
        links += [name for name, kind in below if kind is _Kind.LINK]
        parents += [folder] * len(below)
    return Listing(tuple(names), tuple(parents), is_whole, tuple(links))


def _is_listed_again(top: str, listing: Listing) -> bool:
    """Return whether a listing of no more than the name of a folder would be the same now."""
    now = _list_below(top, 0, has_hidden=True)
    return (now.names, now.is_whole) == (listing.names, listing.is_whole)


def _entries_of(folder: str, most: int, *, has_hidden: bool) -> list[tuple[str, _Kind]] | None:
    """Return the names in a folder, and what each is; None if there are more than `most`."""
    found: list[tuple[str, _Kind]] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if len(found) >= most:
                return None
            if has_hidden or not entry.name.startswith("."):
                found.append((entry.path, _kind_of(entry)))
    return found


def _kind_of(entry: "os.DirEntry[str]") -> _Kind:
    if entry.is_dir(follow_symlinks=False):
        return _Kind.FOLDER
    if entry.is_symlink():
        return _Kind.LINK
    return _Kind.OTHER


def _is_folder(name: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(name).st_mode)
    except (OSError, ValueError):
        return False


def link_kind(target: str, depth: int) -> Links:
    """Return what kind a link is that is `depth` folders below the top one.

    `INSIDE` are relative links that do not lead above the top folder, and have `..` only at the beginning: after
    another link, `..` leads elsewhere.
    """
    names = [name for name in target.split("/") if name not in ("", ".")]
    climbs = next((at for at, name in enumerate(names) if name != ".."), len(names))
    stays = target[:1] != "/" and climbs <= depth and ".." not in names[climbs:]
    return Links.INSIDE if stays else Links.OPEN


def _read_text(name: str) -> str | None:
    try:
        with open(name, "rb", opener=open_file) as file:
            found = file.read(LONGEST_TEXT + 1)
        if len(found) > LONGEST_TEXT:
            return None
        return found.decode()
    except (OSError, ValueError):
        return None


def _read_link(name: str) -> _Link:
    try:
        return os.readlink(name), True  # noqa: PTH115 -- a Path would cost ten times the call
    except (FileNotFoundError, NotADirectoryError):
        return None, True
    except OSError as error:
        return None, error.errno == errno.EINVAL
    except ValueError:
        return None, False

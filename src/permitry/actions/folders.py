"""Where commands stand: the folder of the call, and what `cd` makes of it."""

import functools
import itertools
from collections.abc import Callable, Sequence
from posixpath import basename
from typing import TYPE_CHECKING

import attrs

from permitry.actions.disk import Disk
from permitry.actions.history import Changes, View
from permitry.actions.paths import can_follow, read_path
from permitry.core.action import Access, Place, Touch, Word

if TYPE_CHECKING:
    from permitry.actions.shell.strict import Command

__all__ = ["Folder", "Walk"]

_MOST_BASES = 16
_MOVING = frozenset({".", "builtin", "eval", "popd", "pushd", "source", "trap"})
"""What else may change the folder of the shell."""

_UNSEEN = "a name that comes from elsewhere"


def _is_option_of_cd(word: Word) -> bool:
    return len(word.text) > 1 and word.text[0] == "-" and set(word.text[1:]) <= set("LPe@")


def _turns_back(text: str) -> bool:
    """Return whether `..` follows a name: some programs make that folder on the way."""
    if ".." not in text:
        return False
    names = [name for name in text.split("/") if name not in ("", ".")]
    return any(name == ".." and before != ".." for before, name in itertools.pairwise(names))


@attrs.frozen
class Folder:
    """Where a command stands: the folders it may be in, whether these are all, and the home folder.

    `disk` answers for one decision; `earlier` tells, when it is asked, what earlier commands have changed.
    """

    bases: tuple[str, ...]
    home: str | None
    is_certain: bool = True
    disk: Disk = attrs.field(factory=Disk, eq=False, repr=False, kw_only=True)
    earlier: Callable[[], Changes] = attrs.field(default=Changes, eq=False, repr=False, kw_only=True)

    def place_of(
        self,
        word: Word,
        access: Access,
        *,
        is_tree: bool = False,
        is_entry: bool = False,
        is_certain: bool = True,
        origin: str = "",
    ) -> Touch:
        """Return what touching a word of a command touches; an open word without a text is an unknown name.

        `is_entry`: the entry itself is made or replaced, as it is when it is deleted.
        """
        if word.is_open and not word.text:
            return Touch(access, Place(_UNSEEN, is_certain=False, is_tree=is_tree, is_open=True), origin or _UNSEEN)
        changes = access is not Access.READ
        is_plain = is_certain and not (word.is_glob or word.is_open or (changes and _turns_back(word.text)))
        is_deleted = access is Access.DELETE
        changed = self.earlier()
        here = (self.bases, self.home, self.is_certain, changed)
        key = (*here, word, is_plain, is_tree, is_entry or is_deleted, is_deleted)
        place = self.disk.places.get(key)
        if place is None:
            place = self._read(word, changed, is_certain=is_plain, is_tree=is_tree, is_entry=is_entry or is_deleted)
            if is_deleted and self._stands_in(place):
                place = attrs.evolve(place, is_certain=False)
            self.disk.places[key] = place
        return Touch(access, place, origin or word.text)

    def _read(self, word: Word, changed: Changes, *, is_certain: bool, is_tree: bool, is_entry: bool) -> Place:
        """Return the place a word names from here; `is_certain` False is for what holds a glob or an expansion."""
        place = read_path(
            word.text,
            self.bases,
            home=self.home,
            is_home=word.is_home,
            is_entry=is_entry,
            view=View(self.disk, changed),
        )
        goes_through_link = functools.partial(changed.goes_through_link, is_entry=is_entry)
        return Place(
            place.text,
            place.lexical,
            place.real,
            place.is_certain and is_certain and self.is_certain,
            is_tree,
            is_glob=word.is_glob,
            passed=place.passed,
            is_open=word.is_open or (bool(changed.links) and any(map(goes_through_link, place.names))),
            is_entry=is_entry,
        )

    def has_folder(self, word: Word) -> bool:
        """Return whether a word certainly names a folder that is there; a link to one is none.

        Without a disk, it is what can be nothing else.
        """
        if not self.disk.is_there:
            return word.text.endswith("/") or basename(word.text) in (".", "..")
        place = self.place_of(word, Access.READ, is_entry=True).place
        is_gone = self.earlier().is_gone
        is_there = bool(place.real) and all(self.disk.is_folder(name) and not is_gone(name) for name in place.real)
        return place.is_certain and is_there

    def leads_to_folder(self, word: Word) -> bool:
        """Return whether what a word names may well be a folder: it is one now, or a link to one."""
        is_there = any(map(self.disk.is_folder, self.place_of(word, Access.READ).place.real))
        # INVARIANT: law 4. What was not looked at may be one.
        return is_there or not self.disk.can_look

    def _stands_in(self, place: Place) -> bool:
        """Return whether this folder is a place or below it: once that is gone, other names lead elsewhere."""
        return any(f"{base}/".startswith(f"{name.rstrip('/')}/") for base in self.bases for name in place.names)

    def moved(self, words: Sequence[Word]) -> "Folder":
        """Return where a `cd` with these operands leads, if it succeeds."""
        operands = list(itertools.dropwhile(_is_option_of_cd, words))
        if operands and operands[0].text == "--":
            operands = operands[1:]
        if not operands:
            return attrs.evolve(self, bases=(self.home,) if self.home else (), is_certain=self.home is not None)
        word = operands[0]
        place = self.place_of(word, Access.READ).place
        bases = tuple(dict.fromkeys((*place.real, *place.lexical)))
        is_plain = not (word.text.startswith("-") or word.is_glob or word.is_open or len(operands) > 1)
        if not is_plain or place.is_open or len(bases) > _MOST_BASES or not all(map(can_follow, bases)):
            return self.lost()
        # A shell goes by the names: behind a link, `..` leads back to where the link stands, not as the kernel goes.
        # And where what is named does not exist by then, or a link was made in between, it goes as the kernel does.
        is_straight = place.real == place.lexical and not _turns_back(word.text)
        return attrs.evolve(self, bases=bases, is_certain=place.is_certain and is_straight)

    def lost(self) -> "Folder":
        """Return that it may be any folder: a relative path may then lead anywhere."""
        return attrs.evolve(self, bases=(), is_certain=False)

    def joined(self, other: "Folder") -> "Folder":
        """Return that it may be either."""
        bases = tuple(dict.fromkeys((*self.bases, *other.bases)))
        if not self.bases or not other.bases or len(bases) > _MOST_BASES:
            return self.lost()
        return attrs.evolve(self, bases=bases, is_certain=self.is_certain and other.is_certain)


@attrs.define
class Walk:
    """Follows `cd` through a script: behind one, a command is in the new folder, or still in the old one.

    Only right behind `cd x &&`, as far as the `&&` go and outside of any construct, it is surely in the new one.
    """

    folder: Folder
    _chain: Folder | None = None

    def before(self, command: "Command") -> Folder:
        """Return where the command runs."""
        if command.follows != "&&" or command.within:
            self._chain = None
        return self._chain or self.folder

    def after(self, command: "Command") -> None:
        """Note where the script may be behind the command."""
        here = self._chain or self.folder
        name = command.words[0].text
        if name == "cd":
            moved = here.moved(command.words[1:])
            self.folder = self.folder.joined(moved)
            # In a pipeline it moves nobody else, and behind `||` the `&&` may follow what stands before that.
            is_plain = command.follows in ("", ";", "&&") and not command.within
            self._chain = moved if is_plain else None
        elif name in _MOVING:
            self.folder = self.folder.lost()
            self._chain = None

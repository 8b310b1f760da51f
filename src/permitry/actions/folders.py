"""The current folder of commands: the one in which a call starts, and those to which `cd` changes it."""

import functools
import itertools
import os
from collections.abc import Callable, Sequence
from posixpath import basename, dirname, join
from typing import TYPE_CHECKING

import attrs

from permitry.actions.disk import Disk
from permitry.actions.history import Changes, View
from permitry.actions.paths import can_follow, read_path
from permitry.core.action import UNSEEN_NAME, Access, Descent, Listing, Place, Touch, Word

if TYPE_CHECKING:
    from permitry.actions.command import Command

__all__ = ["Folder", "Walk"]

_MOST_BASES = 16
# INVARIANT: law 2. Paths are read as POSIX has them; where they have drives, each of them may be any.
_HAS_DRIVES = os.sep != "/"
_MOVING = frozenset({".", "builtin", "eval", "popd", "pushd", "source", "trap"})
"""The builtins that may change the folder of the shell, apart from `cd`."""


def _is_option_of_cd(word: Word) -> bool:
    return len(word.text) > 1 and word.text[0] == "-" and set(word.text[1:]) <= set("LPe@")


def _activates(words: Sequence[Word]) -> bool:
    """Return whether a file is read that sets up an environment: what it does besides is its own, as for a program."""
    texts = [word.text for word in words if not (word.is_open or word.is_glob)]
    is_source = len(texts) == len(words) == len(["source", "file"]) and texts[0] in (".", "source")
    return is_source and texts[1].endswith("/bin/activate")


def _turns_back(text: str) -> bool:
    """Return whether `..` follows a name: some programs create the folder of that name on the way."""
    if ".." not in text:
        return False
    names = [name for name in text.split("/") if name not in ("", ".")]
    return any(name == ".." and before != ".." for before, name in itertools.pairwise(names))


@attrs.frozen
class Folder:
    """The current folder of a command.

    `bases` are the folders it may be, `is_certain` whether it is one of them for certain; `home` is the home folder.
    `disk` looks links up for one decision; `earlier` returns what earlier commands have changed. Unless it is
    `is_ordered`, any other command may run earlier as well, so that no path is certain. `writes_alone`: no other
    command of the call writes anything, so that what the command finds is on the disk now. `selects`: nor is there
    another way than its words to say what it leaves out.
    """

    bases: tuple[str, ...]
    home: str | None
    is_certain: bool = True
    is_ordered: bool = attrs.field(default=True, kw_only=True)
    writes_alone: bool = attrs.field(default=False, kw_only=True)
    selects: bool = attrs.field(default=False, kw_only=True)
    disk: Disk = attrs.field(factory=Disk, eq=False, repr=False, kw_only=True)
    earlier: Callable[[], Changes] = attrs.field(default=Changes, eq=False, repr=False, kw_only=True)

    def place_of(
        self,
        word: Word,
        access: Access,
        *,
        descent: Descent | None = None,
        is_entry: bool = False,
        is_certain: bool = True,
        origin: str = "",
    ) -> Touch:
        """Return the access of a command to the path that a word names; an open word without text is an unknown path.

        `descent`: it goes on below the path if that is a folder, and touches so much there.
        `is_entry`: the directory entry itself is created or replaced, as it always is when it is deleted.
        """
        is_tree = descent is not None
        if _HAS_DRIVES or (word.is_open and not word.text):
            name = origin or word.text or UNSEEN_NAME
            return Touch(access, Place(name, is_certain=False, is_tree=is_tree, is_open=True), name)
        changes = access.is_change
        is_known = is_certain and self.is_ordered
        is_plain = is_known and not (word.is_glob or word.is_open or (changes and _turns_back(word.text)))
        is_deleted = access is Access.DELETE
        changed = self.earlier()
        here = (self.bases, self.home, self.is_certain, changed)
        key = (*here, word, is_plain, descent, is_entry or is_deleted, is_deleted)
        place = self.disk.places.get(key)
        if place is None:
            place = self._read(word, changed, is_certain=is_plain, is_tree=is_tree, is_entry=is_entry or is_deleted)
            if is_deleted and self._is_in(place):
                place = attrs.evolve(place, is_certain=False)
            if descent is not None:
                place = attrs.evolve(place, descent=descent, look=self._look(place, descent))
            self.disk.places[key] = place
        return Touch(access, place, origin or word.text)

    def _read(self, word: Word, changed: Changes, *, is_certain: bool, is_tree: bool, is_entry: bool) -> Place:
        """Return the place a word names from this folder; `is_certain` is False for one with a glob or an expansion."""
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
            place.is_certain and is_certain and (self.is_certain or word.text.startswith("/")),
            is_tree,
            is_glob=word.is_glob,
            passed=place.passed,
            is_open=word.is_open or (bool(changed.links) and any(map(goes_through_link, place.names))),
            is_entry=is_entry,
        )

    def _look(self, place: Place, descent: Descent) -> Callable[[str, int | None], Listing] | None:
        """Return how to list what is below a folder; not all of it where earlier commands may have put other files.

        None without a disk.
        """
        if not self.disk.is_there:
            return None
        listed = functools.partial(self.disk.listed, has_hidden=descent is not Descent.VISIBLE)
        if any(map(self.earlier().has_new_below, place.names)):
            return lambda top, depth, **hidden: attrs.evolve(listed(top, depth, **hidden), is_whole=False)
        return listed

    def has_folder(self, word: Word) -> bool:
        """Return whether a word certainly names a folder that exists; a link to a folder does not count.

        Without a disk, only names that cannot be anything else count, such as `a/` and `..`.
        """
        if not self.disk.is_there:
            return word.text.endswith("/") or basename(word.text) in (".", "..")
        place = self.place_of(word, Access.READ, is_entry=True).place
        is_gone = self.earlier().is_gone
        is_there = bool(place.real) and all(self.disk.is_folder(name) and not is_gone(name) for name in place.real)
        return place.is_certain and is_there

    def leads_to_folder(self, word: Word) -> bool:
        """Return whether a word may name a folder: there is a folder or a link to one now, or this is not known."""
        is_there = any(map(self.disk.is_folder, self.place_of(word, Access.READ).place.real))
        # INVARIANT: law 4. Once no look-ups are left, any name may be that of a folder.
        return is_there or not self.disk.can_look

    def top_of(self, word: Word) -> tuple[Word, str]:
        """Return the top of the work tree of git that a folder is in, and the path from there to the folder.

        That is the folder itself where none is found.
        """
        place = self.place_of(word, Access.READ).place
        if not (self.disk.is_there and place.is_certain and len(place.real) == 1):
            return word, ""
        start = top = place.real[0]
        while not self.disk.has(join(top, ".git")):
            if top == "/":
                return word, ""
            top = dirname(top)
        if top == start:
            return word, ""
        return Word(top), start[len(top) :].strip("/")

    def _is_in(self, place: Place) -> bool:
        """Return whether this folder is at or below a place: if the place is deleted, relative paths lead elsewhere."""
        return any(f"{base}/".startswith(f"{name.rstrip('/')}/") for base in self.bases for name in place.names)

    def moved(self, words: Sequence[Word]) -> "Folder":
        """Return the folder after a `cd` with these operands, if it succeeds."""
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
        # A shell resolves `..` after a link by name, to the folder that the link is in; the kernel resolves it to the
        # parent of the link's target. If the name does not exist, or has become a link, the shell does as the kernel.
        is_straight = place.real == place.lexical and not _turns_back(word.text)
        return attrs.evolve(self, bases=bases, is_certain=place.is_certain and is_straight)

    def entered(self, text: str) -> "Folder":
        """Return the folder that a path names, as the working directory of a program that was started there."""
        place = self.place_of(Word(text, is_home=True), Access.READ).place
        return attrs.evolve(self, bases=place.real, is_certain=place.is_certain)

    def after(self, earlier: Callable[[], Changes]) -> "Folder":
        """Return this folder, with what other commands have changed."""
        ordered = self.is_ordered
        alone = self.writes_alone
        return Folder(
            self.bases,
            self.home,
            self.is_certain,
            is_ordered=ordered,
            writes_alone=alone,
            disk=self.disk,
            earlier=earlier,
        )

    def lost(self) -> "Folder":
        """Return a folder that may be any: a relative path may then lead anywhere."""
        return attrs.evolve(self, bases=(), is_certain=False)

    def joined(self, other: "Folder") -> "Folder":
        """Return a folder that may be either of the two."""
        bases = tuple(dict.fromkeys((*self.bases, *other.bases)))
        if not self.bases or not other.bases or len(bases) > _MOST_BASES:
            return self.lost()
        return attrs.evolve(self, bases=bases, is_certain=self.is_certain and other.is_certain)


@attrs.define
class Walk:
    """Follows `cd` through a script: after a `cd`, a command runs in the new folder, or still in the old one.

    Only directly after `cd x &&`, in an unbroken chain of `&&` outside of any construct, it must be the new one.
    """

    folder: Folder
    _chain: Folder | None = None

    def before(self, command: "Command") -> Folder:
        """Return the folder in which the command runs."""
        if command.follows != "&&" or command.within:
            self._chain = None
        return self._chain or self.folder

    def after(self, command: "Command") -> None:
        """Update the folder for the commands after this one."""
        here = self._chain or self.folder
        name = command.words[0].text
        if name == "cd":
            moved = here.moved(command.words[1:])
            self.folder = self.folder.joined(moved)
            # In a pipeline, `cd` changes the folder of no other command. In `a || cd x && b`, `b` also runs after `a`.
            is_plain = command.follows in ("", ";", "&&") and not command.within
            self._chain = moved if is_plain else None
        elif name in _MOVING and not _activates(command.words):
            self.folder = self.folder.lost()
            self._chain = None

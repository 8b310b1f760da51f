"""Path resolution: the normalised name as written, and the name with symbolic links followed as the kernel does.

A permission must match both names, a restriction either. What cannot be resolved reliably (a loop of links, a name the
system refuses, a magic link of `/proc`) is not certain, but is still followed as far as possible, so that restrictions
see it. The disk is only asked for links (`Disk`); changes that earlier commands make before this one are taken into
account through `View`.

Source: path_resolution(7), symlink(7), "Magic links".
"""

import unicodedata
from collections.abc import Iterator, Sequence
from posixpath import dirname, join, normpath
from urllib.parse import unquote, urlsplit

import attrs

from permitry.actions.history import View
from permitry.core.action import Place, Roots, Touch

__all__ = ["apart", "can_follow", "read_path", "roots_of"]

_LONGEST = 4096  # PATH_MAX: no system call takes more
_DEEPEST = 256  # beyond any tree that is worked in
_MOST_LINKS = 40  # MAXSYMLINKS: one more, and the kernel gives up with ELOOP
_MAGIC_LINKS = frozenset({"cwd", "exe", "fd", "map_files", "ns", "root"})
_SPECIAL = _MAGIC_LINKS | {"", ".", ".."}


def roots_of(workspace: str | None, home: str | None, *, view: View | None = None) -> Roots:
    """Return the names of both directories, as given and resolved; empty for one that is not an absolute path."""
    view = View() if view is None else view
    return Roots(_names(workspace, view), _names(home, view))


def read_path(
    text: str,
    bases: Sequence[str],
    *,
    home: str | None,
    is_home: bool = False,
    is_entry: bool = False,
    view: View | None = None,
) -> Place:
    """Return the place `text` names; never raises.

    `bases` are the absolute directories it may be relative to, empty if unknown. `is_home`: a shell expands its leading
    tilde; without this a leading tilde may or may not be expanded, and the place is not certain. `is_entry`: the
    directory entry itself is created, replaced or removed. `view` answers for links; by default, the disk as it is.
    """
    readings = tuple(_readings(text, home, is_home=is_home))
    starts = [(join(base, reading), base) for reading in readings for base in bases or ("",)]
    if len(starts) > 1:
        starts = list(dict.fromkeys(starts))
    view = View() if view is None else view
    absolute = [(path, base) for path, base in starts if path.startswith("/")]
    walks = [_Walk(base or "/", view).follow(path) for path, base in absolute]
    is_sure = _is_plain(text) and len(readings) == 1 and _has_one_meaning(readings[0], bases)
    # After its working directory is moved, a shell is still in it, under another name.
    has_moved = not text.startswith("/") and any(map(view.changes.is_gone, bases))
    return Place(
        text,
        lexical=_unique([_normal(path) for path, _ in absolute]),
        real=_unique([name for walk in walks for name in walk.ends(is_entry=is_entry)]),
        passed=_unique([name for walk in walks for name in walk.passed]),
        is_certain=is_sure and not has_moved and not view.changes.is_anywhere and all(walk.is_sure for walk in walks),
        is_entry=is_entry,
    )


def apart(touch: Touch) -> Iterator[Touch]:
    """Yield an access to each place of a path: a link and what it leads to may be permitted by different patterns."""
    place = touch.place
    names = place.real if len(place.real) > 1 and not place.is_tree else (None,)
    yield from (
        touch if name is None else attrs.evolve(touch, place=attrs.evolve(place, real=(name,))) for name in names
    )


def can_follow(path: str) -> bool:
    """Return whether a path is short enough to be followed: each component costs a system call."""
    return len(path) <= _LONGEST and path.count("/") <= _DEEPEST


def _names(folder: str | None, view: View) -> tuple[str, ...]:
    if folder is None or not folder.startswith("/"):
        return ()
    return _unique((_normal(folder), _Walk("/", view).follow(folder).done))


def _is_plain(text: str) -> bool:
    # Some programs cut, escape or refuse control characters and lone surrogates.
    if not 0 < len(text) <= _LONGEST:
        return False
    return text.isprintable() or not any(unicodedata.category(char) in ("Cc", "Cs") for char in text)


def _has_one_meaning(reading: str, bases: Sequence[str]) -> bool:
    if reading.startswith("/"):
        return True
    return bool(bases) and not reading.startswith("~") and reading[:5].lower() != "file:"


def _readings(text: str, home: str | None, *, is_home: bool) -> Iterator[str]:
    """Yield the paths that the text may mean; if there is not exactly one, the meaning is not certain."""
    text = text.partition("\0")[0]  # in C, the text ends here
    if len(text) > _LONGEST:
        text = _normal(text)
    if not text or not can_follow(text):
        return
    if not (is_home and text.split("/")[0] == "~" and home is not None):
        yield text
    if text.startswith("~"):
        yield from _expand(text, home)
    if "\\" in text:  # a separator to some programs
        yield text.replace("\\", "/")
    if text[:5].lower() == "file:":
        yield from _decode(text)


def _expand(text: str, home: str | None) -> Iterator[str]:
    user, _, rest = text[1:].partition("/")
    if home is not None:
        yield join(home, rest.lstrip("/"))
        if user:
            yield join(dirname(home), user, rest.lstrip("/"))
    if user:
        yield join("/", user, rest.lstrip("/"))


def _decode(text: str) -> Iterator[str]:
    try:
        yield unquote(urlsplit(text).path)
    except ValueError:  # an invalid URL has no other meaning
        return


def _normal(path: str) -> str:
    # POSIX leaves two leading slashes to the implementation, and normpath keeps them; these kernels read them as one.
    return normpath("/" + path.lstrip("/") if path.startswith("/") else path)


@attrs.define
class _Walk:
    """A walk along an absolute path, one component at a time; a component that does not exist is kept as written.

    `done` is the resolved part, and in the end the whole result; `todo` are the components left, the next one last.
    `passed` are the paths that followed links expanded to on the way. `entry` is where the last component of the path
    itself is, not followed if it is a link. `others` are the results if links are gone that an earlier command may have
    removed. `is_sure`: the result is certain.
    """

    base: str
    view: View
    done: str = ""
    entry: str = ""
    passed: list[str] = attrs.field(factory=list)
    others: list[str] = attrs.field(factory=list)
    is_sure: bool = True
    todo: list[str] = attrs.field(factory=list)

    def follow(self, path: str) -> "_Walk":
        """Follow a path to its end, and return this walk."""
        self.todo = [name for name in reversed(path.split("/")) if name not in ("", ".")]
        link_at, linked = self.view.disk.link_at, self.view.changes.linked
        while self.todo:
            name = self.todo.pop()
            if name in _SPECIAL:
                if name in ("", "."):
                    continue
                self.step(name)
            else:
                self.done = f"{self.done}/{name}"
            # No component of the path is left, and `turn` may add those of a link: this is the entry itself.
            if not self.todo:
                self.entry = self.entry or self.done
            target, is_known = link_at(self.done or "/")
            self.is_sure = self.is_sure and is_known and self.done not in linked
            if target is not None:
                self.turn(target)
        self.done = self.done or "/"
        self.entry = self.entry or self.done
        self.passed = [name for name in self.passed if name != self.done]
        return self

    def ends(self, *, is_entry: bool) -> tuple[str, ...]:
        """Return every path it may resolve to; with `is_entry`, also the place of the entry."""
        return (*((self.entry,) if is_entry else ()), self.done, *self.others)

    def step(self, name: str) -> None:
        """Go up, or to a name that may be that of a magic link."""
        if name == "..":
            self.done = self.done.rpartition("/")[0]
        elif name in _MAGIC_LINKS and _is_magic_link(self.done, name):
            self.is_sure = False
            self.done = {"root": "", "cwd": self.base.rstrip("/")}.get(name, f"{self.done}/{name}")
        else:
            self.done = f"{self.done}/{name}"

    def turn(self, target: str) -> None:
        """Go to the target of a link: its components come next."""
        self.is_sure = self.view.disk.spend(len(self.todo)) and self.is_sure
        if self.view.changes.is_gone(self.done):
            self.others.append(self.rest())
            self.is_sure = self.is_sure and ".." not in self.todo
        if len(self.passed) == _MOST_LINKS:
            self.done = self.rest()
            self.is_sure, self.todo = False, []
            return
        self.done = "" if target.startswith("/") else self.done.rpartition("/")[0]
        self.todo += target.split("/")[::-1]
        self.passed.append(self.rest())

    def rest(self) -> str:
        """Return the whole path as it is now: the resolved part, and the components left."""
        return _normal("/".join([self.done, *reversed(self.todo)]))


def _is_magic_link(done: str, name: str) -> bool:
    """Return whether such a name is a magic link, or a folder of them, which lead elsewhere for each process."""
    if done == "/dev":
        return name == "fd"
    top, process = [*done.split("/"), "", ""][1:3]
    return top == "proc" and (process in ("self", "thread-self") or process.isdigit())


def _unique(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names) if len(names) > 1 else names)

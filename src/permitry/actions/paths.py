"""Where a path leads: its name as written, and its name with links followed as the kernel follows them.

A permission needs both names, a restriction either. What cannot be settled from here (a loop of links, a name the
system refuses, a door of `/proc`) is not certain, but is still followed as far as it goes, so that restrictions see it.
The disk is only asked for links (`Disk`), and for what it does not know yet there are the changes of earlier commands.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from posixpath import dirname, join, normpath
from urllib.parse import unquote, urlsplit

import attrs

from permitry.actions.history import View
from permitry.core.action import Place, Roots

__all__ = ["can_follow", "read_path", "roots_of"]

_LONGEST = 4096  # PATH_MAX: no system call takes more
_DEEPEST = 256  # beyond any tree that is worked in
_MOST_LINKS = 40  # MAXSYMLINKS: one more, and the kernel gives up with ELOOP
_DOORS = frozenset({"cwd", "exe", "fd", "map_files", "ns", "root"})


def roots_of(workspace: str | None, home: str | None, *, view: View | None = None) -> Roots:
    """Return the names of both folders, as given and real; none for a folder that is not known as an absolute path."""
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

    `bases` are the absolute folders it may be relative to, none if that is not known. `is_home`: its leading tilde is
    one a shell replaces; any other leading tilde may or may not be, and is not certain. `is_entry` is for an entry that
    is itself made, replaced or removed. `view` answers for the links; left out, it is the disk as it is.
    """
    readings = tuple(_readings(text, home, is_home=is_home))
    starts = dict.fromkeys((join(base, reading), base) for reading in readings for base in bases or ("",))
    paths = _unique(path for path, _ in starts)
    view = View() if view is None else view
    ways = [_Way(base or "/", view).follow(path) for path, base in starts if path.startswith("/")]
    is_sure = _is_plain(text) and len(readings) == 1 and _has_one_meaning(readings[0], bases)
    # A folder that was moved takes along the shell that is in it.
    has_moved = not text.startswith("/") and any(map(view.changes.is_gone, bases))
    return Place(
        text,
        lexical=_unique(_normal(path) for path in paths if path.startswith("/")),
        real=_unique(name for way in ways for name in way.ends(is_entry=is_entry)),
        passed=_unique(name for way in ways for name in way.passed),
        is_certain=is_sure and not has_moved and not view.changes.is_anywhere and all(way.is_sure for way in ways),
        is_entry=is_entry,
    )


def can_follow(path: str) -> bool:
    """Return whether a path is short enough to be followed: every name in it costs a look at the disk."""
    return len(path) <= _LONGEST and path.count("/") <= _DEEPEST


def _names(folder: str | None, view: View) -> tuple[str, ...]:
    if folder is None or not folder.startswith("/"):
        return ()
    return _unique((_normal(folder), _Way("/", view).follow(folder).done))


def _is_plain(text: str) -> bool:
    # Control characters and lone surrogates are cut, escaped or refused by one program or another.
    return 0 < len(text) <= _LONGEST and not any(unicodedata.category(char) in ("Cc", "Cs") for char in text)


def _has_one_meaning(reading: str, bases: Sequence[str]) -> bool:
    if reading.startswith("/"):
        return True
    return bool(bases) and not reading.startswith("~") and reading[:5].lower() != "file:"


def _readings(text: str, home: str | None, *, is_home: bool) -> Iterator[str]:
    """Yield what the text may mean, as paths; more than one, or none, means doubt."""
    text = text.partition("\0")[0]  # a program in C sees no more
    if len(text) > _LONGEST:
        text = _normal(text)
    if not text or not can_follow(text):
        return
    if not (is_home and text.split("/")[0] == "~" and home is not None):
        yield text
    if text.startswith("~"):
        yield from _expanded(text, home)
    if "\\" in text:  # a separator to some programs
        yield text.replace("\\", "/")
    if text[:5].lower() == "file:":
        yield from _decoded(text)


def _expanded(text: str, home: str | None) -> Iterator[str]:
    user, _, rest = text[1:].partition("/")
    if home is not None:
        yield join(home, rest.lstrip("/"))
        if user:
            yield join(dirname(home), user, rest.lstrip("/"))
    if user:
        yield join("/", user, rest.lstrip("/"))


def _decoded(text: str) -> Iterator[str]:
    try:
        yield unquote(urlsplit(text).path)
    except ValueError:  # an address that is no address has no second reading
        return


def _normal(path: str) -> str:
    # To POSIX two leading slashes may be another world, and normpath keeps them; to the kernels here they are one.
    return normpath("/" + path.lstrip("/") if path.startswith("/") else path)


@attrs.define
class _Way:
    """Where an absolute path leads: what does not exist is taken as written.

    `done` is where it has led so far, and in the end where it leads; `passed` the names its links gave it before that,
    `entry` the place of its last name whatever that is, and `is_sure` whether all this is sure. `others` is where it
    leads instead without the links that an earlier command may have removed.
    """

    base: str
    view: View
    done: str = ""
    entry: str = ""
    passed: list[str] = attrs.field(factory=list)
    others: list[str] = attrs.field(factory=list)
    is_sure: bool = True
    todo: list[str] = attrs.field(factory=list)

    def follow(self, path: str) -> "_Way":
        """Return this way once the path is followed."""
        self.todo = [name for name in reversed(path.split("/")) if name not in ("", ".")]
        while self.todo:
            name = self.todo.pop()
            if name in ("", "."):
                continue
            self.step(name)
            # The names a link leads to are put on top of the others, so this is the end of the path itself.
            if not self.todo:
                self.entry = self.entry or self.done
            self.look()
        self.done = self.done or "/"
        self.entry = self.entry or self.done
        self.passed = [name for name in self.passed if name != self.done]
        return self

    def ends(self, *, is_entry: bool) -> tuple[str, ...]:
        """Return every name it may lead to."""
        return (*((self.entry,) if is_entry else ()), self.done, *self.others)

    def step(self, name: str) -> None:
        if name == "..":
            self.done = self.done.rpartition("/")[0]
        elif _is_door(self.done, name):
            self.is_sure = False
            self.done = {"root": "", "cwd": self.base.rstrip("/")}.get(name, f"{self.done}/{name}")
        else:
            self.done = f"{self.done}/{name}"
        self.is_sure = self.is_sure and self.done not in self.view.changes.linked

    def look(self) -> None:
        """Follow the link that is here, if there is one."""
        target, is_known = self.view.disk.link_at(self.done or "/")
        self.is_sure = self.is_sure and is_known
        if target is None:
            return
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
        return _normal("/".join([self.done, *reversed(self.todo)]))


def _is_door(done: str, name: str) -> bool:
    """Return whether the name leads elsewhere for every process, so that what we see there is not what it sees."""
    if name not in _DOORS:
        return False
    if done == "/dev":
        return name == "fd"
    top, process = [*done.split("/"), "", ""][1:3]
    return top == "proc" and (process in ("self", "thread-self") or process.isdigit())


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))

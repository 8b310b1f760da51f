"""Where a path leads: its name as written, and its name with links followed as the kernel follows them.

A permission needs both names, a restriction either. What cannot be settled from here (a loop of links, a name the
system refuses, a door of `/proc`) is not certain, but is still followed as far as it goes, so that restrictions see it.
The disk is only asked for links (`readlink`).
"""

import errno
import os
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from posixpath import dirname, join, normpath
from urllib.parse import unquote, urlsplit

import attrs

from permitry.core.action import Place, Roots

__all__ = ["can_follow", "read_path", "roots_of"]

_LONGEST = 4096  # PATH_MAX: no system call takes more
_DEEPEST = 256  # beyond any tree that is worked in
_MOST_LINKS = 40  # MAXSYMLINKS: one more, and the kernel gives up with ELOOP
_DOORS = frozenset({"cwd", "exe", "fd", "map_files", "ns", "root"})


def roots_of(workspace: str | None, home: str | None, *, has_disk: bool = True) -> Roots:
    """Return the names of both folders, as given and real; none for a folder that is not known as an absolute path."""
    return Roots(_names(workspace, has_disk=has_disk), _names(home, has_disk=has_disk))


def read_path(
    text: str,
    bases: Sequence[str],
    *,
    home: str | None,
    is_home: bool = False,
    is_tree: bool = False,
    has_disk: bool = True,
) -> Place:
    """Return the place `text` names; never raises.

    `bases` are the absolute folders it may be relative to, none if that is not known. `is_home`: its leading tilde is
    one a shell replaces; any other leading tilde may or may not be, and is not certain. `is_tree` is for a folder that
    is touched with all below it. `has_disk` False is for what must mean the same everywhere: no link is looked for.
    """
    readings = tuple(_readings(text, home, is_home=is_home))
    starts = dict.fromkeys((join(base, reading), base) for reading in readings for base in bases or ("",))
    paths = _unique(path for path, _ in starts)
    followed = [_follow(path, base or "/", has_disk=has_disk) for path, base in starts if path.startswith("/")]
    is_sure = _is_plain(text) and len(readings) == 1 and _has_one_meaning(readings[0], bases)
    return Place(
        text,
        lexical=_unique(_normal(path) for path in paths if path.startswith("/")),
        real=_unique(way.end for way in followed),
        passed=_unique(name for way in followed for name in way.passed),
        is_certain=is_sure and all(way.is_sure for way in followed),
        is_tree=is_tree,
    )


def can_follow(path: str) -> bool:
    """Return whether a path is short enough to be followed: every name in it costs a look at the disk."""
    return len(path) <= _LONGEST and path.count("/") <= _DEEPEST


def _names(folder: str | None, *, has_disk: bool) -> tuple[str, ...]:
    if folder is None or not folder.startswith("/"):
        return ()
    return _unique((_normal(folder), _follow(folder, "/", has_disk=has_disk).end))


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


@attrs.frozen
class _Way:
    """Where a path leads, the names its links gave it before that, and whether this is sure."""

    end: str
    passed: tuple[str, ...]
    is_sure: bool


def _follow(path: str, base: str, *, has_disk: bool) -> _Way:
    """Return where an absolute path leads; what does not exist is taken as written."""
    done: list[str] = []
    todo = path.split("/")[::-1]
    passed: list[str] = []
    is_sure = True
    while todo:
        name = todo.pop()
        if name in ("", "."):
            continue
        if name == "..":
            done = done[:-1]
        elif _is_door(done, name):
            is_sure = False
            done = {"root": [], "cwd": [*filter(None, base.split("/"))]}.get(name, [*done, name])
        else:
            done = [*done, name]
            target, is_known = _link_at(done) if has_disk else (None, True)
            is_sure = is_sure and is_known
            if target is None:
                continue
            if len(passed) == _MOST_LINKS:
                return _Way(_normal("/".join(["", *done, *reversed(todo)])), tuple(passed), is_sure=False)
            done = [] if target.startswith("/") else done[:-1]
            todo += target.split("/")[::-1]
            passed.append(_normal("/".join(["", *done, *reversed(todo)])))
    end = "/" + "/".join(done)
    return _Way(end, tuple(name for name in passed if name != end), is_sure)


def _is_door(done: list[str], name: str) -> bool:
    """Return whether the name leads elsewhere for every process, so that what we see there is not what it sees."""
    if done == ["dev"]:
        return name == "fd"
    is_process = len(done) > 1 and done[0] == "proc" and (done[1] in ("self", "thread-self") or done[1].isdigit())
    return is_process and name in _DOORS


def _link_at(parts: list[str]) -> tuple[str | None, bool]:
    """Return the target of a link, None if it is none, and whether the system let us know."""
    if parts[0] == "proc":  # its links are about the process that asks, and here that is us
        return None, True
    try:
        return os.readlink("/" + "/".join(parts)), True  # noqa: PTH115 -- a Path would cost ten times the call
    except (FileNotFoundError, NotADirectoryError):
        return None, True
    except OSError as error:
        return None, error.errno == errno.EINVAL
    except ValueError:
        return None, False


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))

"""What a program makes below a folder under names that are not in its words: those in an archive, a patch or a tree."""

import functools
from collections.abc import Callable, Iterable, Iterator
from posixpath import basename, join

import attrs

from permitry.actions.archives import Names, names_in_patch
from permitry.actions.folders import Folder
from permitry.actions.programs.named import Contents
from permitry.core.action import Access, Action, Listing, Place, Run, Touch, Word

__all__ = ["Given", "may_write", "with_contents"]


def _is_written(_: Place) -> bool:
    return True


@attrs.frozen
class Given:
    """What a program is given besides its words: a file for its input, or a text.

    `is_one_text`: the text is all of its input, as it is written. `is_written` returns whether the rest of the call may
    write to a file before the program reads it.
    """

    input: Word | None = None
    text: str | None = None
    is_one_text: bool = False
    is_written: Callable[[Place], bool] = attrs.field(default=_is_written, eq=False, repr=False)


def with_contents(place: Place, contents: Contents | None, folder: Folder, given: Given) -> Place:
    """Return a place that knows what is made below it; it is read when it is first needed."""
    if contents is None:
        return place
    return attrs.evolve(place, made=functools.cache(lambda: _made(place, contents, folder, given)))


def may_write(actions: Iterable[Action], place: Place) -> bool:
    """Return whether any of the actions may write to a place."""
    return any(_may_write(action, place) for action in actions)


def _may_write(action: Action, place: Place) -> bool:
    match action:
        case Run(doubt=None):
            return False
        case Run():
            operands = action.operands
            return not operands.is_listed or any(_may_write(touch, place) for touch in operands.touches)
        case Touch():
            if action.access is Access.READ:
                return False
            names = action.place.names
            is_in = action.place.is_tree and any(
                f"{name}/".startswith(f"{top}/") for top in names for name in place.names
            )
            return not action.place.is_certain or is_in or not set(names).isdisjoint(place.names)
        case _:
            return True


def _made(place: Place, contents: Contents, folder: Folder, given: Given) -> Listing | None:
    """Return the names that are made below a place, and the folders they are in; None if they are not certain."""
    names = _names(contents, folder, given) if place.is_certain else None
    if names is None or any(map(folder.earlier().has_linked_below, place.names)):
        return None
    inner = dict.fromkeys(each for name in names for each in _with_folders(name))
    if not all(folder.disk.link_at(join(top, name)) == (None, True) for top in place.real for name in inner):
        return None
    made = tuple(dict.fromkeys(join(top, name) for top in place.names for name in inner))
    return Listing(made, (-1,) * len(made))


def _with_folders(name: str) -> Iterator[str]:
    at = name.find("/")
    while at >= 0:
        yield name[:at]
        at = name.find("/", at + 1)
    yield name


def _names(contents: Contents, folder: Folder, given: Given) -> Names | None:
    """Return the names relative to the folder in which they are made; None if they are not certain."""
    sources = contents.sources or tuple(filter(None, (given.input,)))
    if not sources and given.text is not None and given.is_one_text and contents.format == "patch":
        return names_in_patch(given.text, contents.strip)
    if contents.format == "tree":
        trees = [_in_tree(source, folder, given) for source in sources]
        return tuple(name for tree in trees for name in tree or ()) if trees and None not in trees else None
    name = _read_at(sources[0], folder, given) if len(sources) == 1 else None
    return None if name is None else folder.disk.names_in(name, contents.format, contents.strip)


def _read_at(source: Word, folder: Folder, given: Given) -> str | None:
    """Return the file or folder that a word names; None if that, or what is in it, may be another one by then."""
    place = folder.place_of(source, Access.READ).place
    is_known = place.is_certain and len(place.real) == 1 and not given.is_written(place)
    return place.real[0] if is_known else None


def _in_tree(source: Word, folder: Folder, given: Given) -> Names | None:
    """Return the names in a tree that is copied: below its own name, unless the source ends with a slash."""
    top = _read_at(source, folder, given)
    listing = Listing(is_whole=False) if top is None else folder.disk.listed(top, None, has_hidden=True)
    if top is None or listing.is_nothing or not listing.is_whole:
        return None
    own = "" if source.text.endswith(("/", "/.")) or source.text == "." else basename(source.text)
    below = (name.removeprefix(top).lstrip("/") for name in listing.names)
    return tuple(filter(None, (join(own, name) if name else own for name in below)))

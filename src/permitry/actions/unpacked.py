"""What a program makes below a folder under names that are not in its words: those in an archive, a patch or a tree."""

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from posixpath import basename, dirname, join

import attrs

from permitry.actions.archives import Names, names_in_patch
from permitry.actions.folders import Folder
from permitry.actions.programs.named import HERE, Contents
from permitry.core.action import Access, Action, Listing, Place, Run, Touch, Word

__all__ = ["PATCHES", "Given", "may_write", "with_contents"]


PATCHES = frozenset({"mail", "patch"})
"""The formats that are read as patches."""
_OF_REPOSITORIES = frozenset({"commit", "either", "index", "stash"})


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
    return attrs.evolve(place, made=functools.cache(lambda: _make(place, contents, folder, given)))


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
            if not action.access.is_change:
                return False
            is_in = action.place.is_tree and _is_in(place, action.place)
            is_around = place.is_tree and _is_in(action.place, place)
            is_same = not set(action.place.names).isdisjoint(place.names)
            return not action.place.is_certain or is_in or is_around or is_same
        case _:
            return True


def _is_in(place: Place, folder: Place) -> bool:
    """Return whether a place is at or below another one."""
    return any(f"{name}/".startswith(f"{top}/") for top in folder.names for name in place.names)


def _make(place: Place, contents: Contents, folder: Folder, given: Given) -> Listing | None:
    """Return the names that are made below a place, and the folders they are in; None if they are not certain."""
    if not place.is_certain or any(map(folder.earlier().has_linked_below, place.names)):
        return None
    if contents.format == "clone":
        return _list_clone(place, folder, given)
    is_brought = contents.format in _OF_REPOSITORIES
    names = _brought(place, contents, folder, given) if is_brought else _names(contents, folder, given)
    if names is None:
        return None
    inner = tuple(dict.fromkeys(each for name in names for each in _with_folders(name)))
    # Git itself follows no link: it makes a folder in the place of one.
    if not is_brought and not _are_no_links(place, inner, folder):
        return None
    made = tuple(dict.fromkeys(join(top, name) for top in place.names for name in inner))
    return Listing(made, (-1,) * len(made))


def _are_no_links(place: Place, names: Names, folder: Folder) -> bool:
    return all(folder.disk.link_at(join(top, name)) == (None, True) for top in place.real for name in names)


def _list_clone(place: Place, folder: Folder, given: Given) -> Listing | None:
    """Return nothing for a folder that holds something, as git makes a clone in no such folder; else None."""
    listings = [folder.disk.listed(top, 1, has_hidden=True) for top in place.real]
    is_used = bool(listings) and all(len(listing.names) > 1 for listing in listings)
    if is_used and not given.is_written(attrs.evolve(place, is_tree=True)):
        return Listing()
    return None


def _brought(place: Place, contents: Contents, folder: Folder, given: Given) -> Names | None:
    """Return the names below a place that git brings there from a repository; None if they are not certain."""
    at = folder.place_of(contents.at or HERE, Access.READ).place
    is_plain = not any(word.is_open or word.is_glob or word.is_home for word in contents.sources)
    if not (is_plain and at.is_certain and len(at.real) == len(place.real) == 1):
        return None
    if any(map(given.is_written, _repositories(at.real[0]))):
        return None
    words = tuple(word.text for word in contents.sources)
    found = folder.disk.names_in_repository(at.real[0], contents.format, words, contents.prefix)
    if found is None:
        return None
    start = f"{place.real[0].rstrip('/')}/"
    below = (name for name in found if name.startswith(start))
    # What a stash holds was changed; of all else, git writes what is another one.
    is_changed = contents.format == "stash"
    written = (name for name in below if is_changed or folder.disk.has(name) is contents.is_old)
    return tuple(name.removeprefix(start) for name in written)


def _repositories(folder: str) -> Iterator[Place]:
    """Yield each place at which the repository of a folder may be."""
    while True:
        name = join(folder, ".git")
        yield Place(name, (name,), (name,), is_tree=True)
        if folder == dirname(folder):
            return
        folder = dirname(folder)


def _with_folders(name: str) -> Iterator[str]:
    at = name.find("/")
    while at >= 0:
        yield name[:at]
        at = name.find("/", at + 1)
    yield name


def _names(contents: Contents, folder: Folder, given: Given) -> Names | None:
    """Return the names relative to the folder in which they are made; None if they are not certain."""
    sources = contents.sources or tuple(filter(None, (given.input,)))
    if contents.format in PATCHES:
        return _in_patches(sources, contents, folder, given)
    if contents.format == "tree":
        trees = [_in_tree(source, folder, given) for source in sources]
        if trees and None not in trees:
            return tuple(name for tree in trees for name in tree or ())
        return None
    if len(sources) == 1:
        return _in_file(sources[0], contents, folder, given)
    return None


def _in_patches(sources: Sequence[Word], contents: Contents, folder: Folder, given: Given) -> Names | None:
    """Return the names in patches, none of which is about another one of them."""
    if not sources and given.text is not None and given.is_one_text:
        found = [names_in_patch(given.text, contents.strip, is_mail=contents.format == "mail")]
    else:
        found = [_in_file(source, contents, folder, given) for source in sources]
    names = tuple(dict.fromkeys(name for each in found for name in each or ()))
    patched = set(map(basename, names)) if len(sources) > 1 else frozenset[str]()
    if not found or None in found or any(basename(source.text) in patched for source in sources):
        return None
    if contents.prefix:
        return (*names, *(join(contents.prefix, name) for name in names))
    return names


def _in_file(source: Word, contents: Contents, folder: Folder, given: Given) -> Names | None:
    """Return the names in an archive or a patch."""
    name = _read_at(source, folder, given)
    if name is None:
        return None
    return folder.disk.names_in(name, contents.format, contents.strip)


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

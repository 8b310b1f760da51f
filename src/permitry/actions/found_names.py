"""What is touched by the names that another command found: all below a folder, and where links in it lead."""

import functools
from collections.abc import Callable, Iterable, Iterator

import attrs

from permitry.actions.folders import Folder
from permitry.actions.links_met import follow_below, follow_pattern
from permitry.actions.programs.named import Named
from permitry.actions.programs.tops import fits_one
from permitry.core.action import UNSEEN_NAME, Descent, Listing, Place, Touch, Word
from permitry.core.words import Found

__all__ = ["finds_links", "found_in", "touch_perhaps"]

_SPLIT = frozenset(" \t\n\r\v\f'\"\\*?[")
"""What splits names, or is not in the words that become of them."""
_MOST_LINKS = 100


def touch_perhaps(named: Named, folder: Folder) -> Iterator[Touch]:
    """Yield what is touched if a word is what it may be."""
    if named.found is None:
        touch = folder.place_of(named.word, named.access, descent=named.below)
        yield touch
        yield from follow_pattern(touch, folder)
        if named.follows:
            yield from follow_below(touch, folder)
    else:
        yield from found_in(named, named.found, folder)


def found_in(named: Named, found: Found, folder: Folder) -> Iterator[Touch]:
    """Yield what is touched below a folder by names that were found there: any path, where these may be any."""
    touch = folder.place_of(
        named.word,
        named.access,
        # One number, or one name, is a word as any other.
        descent=named.below if found.is_top else Descent.SOME,
        is_entry=named.is_entry,
        is_certain=False,
    )
    links = _links(touch.place, found, named, folder)
    if links is None or touch.place.is_open:
        yield folder.place_of(Word("", is_open=True), named.access, origin=UNSEEN_NAME)
        return
    # Not all that is there need be found.
    touch = attrs.evolve(touch, instead=named.instead, is_guess=True)
    look = touch.place.look and functools.partial(_narrow, named, touch.place.look, found)
    place = attrs.evolve(touch.place, look=look, is_around=named.is_around)
    yield attrs.evolve(touch, place=place if named.goes_on else attrs.evolve(place, ends=found.ends))
    for link in links:
        below = Descent.SOME if named.goes_on else None
        at_link = folder.place_of(
            Word(link),
            named.access,
            descent=below,
            is_certain=False,
        )
        yield attrs.evolve(touch, place=at_link.place, origin=at_link.origin)


def finds_links(named: Named, found: Found, folder: Folder) -> bool:
    """Return whether a link may be among what was found below a folder, or a name that may be any."""
    return _links(folder.place_of(named.word, named.access).place, found, named, folder) != ()


def _links(place: Place, found: Found, named: Named, folder: Folder) -> tuple[str, ...] | None:
    """Return the links that are found; None where a name may lead anywhere."""
    # Of a folder that was found, the program may follow the links in it.
    follows = (found.has_links or (named.goes_on and not found.is_top)) and not named.is_entry
    are_doubtful = found.is_split or found.may_be_option
    if named.word.is_glob and not found.is_top:
        # Which folders were searched is not known, and so neither are the links in them.
        return None
    if not (follows or are_doubtful):
        return ()
    if _may_be_new(place, found, folder):
        return None
    if not folder.disk.is_there:
        return ()
    listings = [folder.disk.listed(top, None, has_hidden=True) for top in place.names]
    is_whole = all(listing.is_whole for listing in listings)
    if not is_whole or (are_doubtful and not _are_words(named, place, listings, found, folder)):
        return None
    return _links_in(listings, found, named) if follows else ()


def _links_in(listings: Iterable[Listing], found: Found, named: Named) -> tuple[str, ...] | None:
    every = dict.fromkeys(name for listing in listings for name in listing.links)
    links = tuple(name for name in every if _is_found(name, found, goes_on=named.goes_on))
    return links if len(links) <= _MOST_LINKS else None


def _may_be_new(place: Place, found: Found, folder: Folder) -> bool:
    """Return whether other commands may have made files or links that the search finds, and that are not there yet."""
    if folder.writes_alone:
        return False
    earlier = folder.earlier()
    return found.is_split or earlier.is_anywhere or any(map(earlier.has_new_below, place.names))


def _are_words(named: Named, place: Place, listings: Iterable[Listing], found: Found, folder: Folder) -> bool:
    """Return whether each name stays one word, and begins with no hyphen."""
    if found.is_split and not _SPLIT.isdisjoint(named.word.text):
        return False
    every: list[tuple[str, ...] | None] = [listing.names for listing in listings]
    if found.in_index:
        every += [folder.disk.in_index(top) for top in place.real]
    options = tuple(f"{top.rstrip('/')}/-" for top in place.names)
    return all(names is not None and _stay(names, found, options) for names in every)


def _stay(names: tuple[str, ...], found: Found, options: tuple[str, ...]) -> bool:
    if found.may_be_option and any(name.startswith(options) for name in names):
        return False
    return not found.is_split or all(map(_SPLIT.isdisjoint, names))


def _narrow(
    named: Named, look: Callable[[str, int | None], Listing], found: Found, top: str, depth: int | None
) -> Listing:
    """Return a listing of what was found alone, and of what is below that, if the program goes on there."""
    if not found.ends:
        return look(top, depth)
    # A pattern of all that is in a folder takes that folder alone, in which there need be no such name.
    listing = look(top, depth or None)
    names = tuple(name for name in listing.names if _is_found(name, found, goes_on=named.goes_on))
    return Listing(names, (-1,) * len(names), listing.is_whole)


def _is_found(name: str, found: Found, *, goes_on: bool) -> bool:
    if not found.ends:
        return True
    *above, last = name.split("/")
    if fits_one(last, found.ends):
        return True
    return goes_on and any(fits_one(each, found.ends) for each in above)

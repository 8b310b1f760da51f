"""From the paths and copies that a program's operands name to what is read, written and deleted on the disk."""

import itertools
from collections.abc import Iterator
from posixpath import basename, dirname, join

import attrs

from permitry.actions.disk import Links
from permitry.actions.folders import Folder
from permitry.actions.found_names import finds_links, found_in
from permitry.actions.links_met import follow_below, follow_pattern, links_below
from permitry.actions.programs.git_files import join_words
from permitry.actions.programs.named import Contents, Copy, Named, Operands
from permitry.actions.programs.tops import only_top
from permitry.actions.unpacked import PATCHES, Given, with_contents
from permitry.core.action import UNSEEN_NAME, Access, Descent, Place, Touch, Word
from permitry.core.words import Found

__all__ = ["touched"]

_HERE = ("", ".")
_NOTHING = Given()
READ, WRITE = Access.READ, Access.WRITE
_MOST_LINKS = 256
"""How many links of a folder that is copied are followed; any path represents the rest."""


def touched(operands: Operands, folder: Folder, given: Given = _NOTHING) -> Iterator[Touch]:
    """Yield what is touched: the operands, the names of copies, and the targets of new links."""
    for named in operands.paths:
        if named.found is None:
            touch = _touch(named, folder, given)
            yield touch
            yield from follow_pattern(touch, folder)
            if named.follows:
                yield from follow_below(touch, folder)
        else:
            yield from found_in(named, named.found, folder)
        if named.contents is not None and (named.found or any(word.found for word in named.contents.sources)):
            # In which folder, or from which archive or patch: what is made may have any name.
            yield folder.place_of(Word("", is_open=True), named.access, origin=UNSEEN_NAME)
    for copy in operands.copies:
        yield from dict.fromkeys(_copy(copy, folder, given))
    filled = [named for named in operands.paths if named.is_filled and named.is_tree and named.found is None]
    sources, targets = ([each.word for each in filled if each.access is access] for access in (READ, WRITE))
    for source, target in itertools.product(sources, targets):
        yield from _follow_kept(source, target, folder)


def _touch(named: Named, folder: Folder, given: Given) -> Touch:
    named, is_known = _from_top(named, folder)
    word = named.word
    touch = folder.place_of(word, named.access, descent=named.below, is_entry=named.is_entry)
    if named.instead:
        touch = attrs.evolve(touch, instead=named.instead)
    if word.text.startswith("~") and not word.is_home:
        # The shell does not expand a quoted tilde, and neither do most programs.
        touch = attrs.evolve(touch, is_guess=True)
    place = with_contents(touch.place, named.contents, folder, given)
    touch = attrs.evolve(touch, place=attrs.evolve(place, is_around=named.is_around) if named.is_around else place)
    if not named.is_filled:
        return _certain_if(touch, is_known)
    # Links below it may lead anywhere, and an operand that is copied may be a link itself.
    is_closed = _links(touch.place, folder) is not Links.OPEN
    if not named.access.is_change:
        is_closed = is_closed and not any(_texts_of(touch.place, folder))
    return attrs.evolve(_certain_if(touch, is_closed), makes_links=named.access is Access.WRITE)


def _from_top(named: Named, folder: Folder) -> tuple[Named, bool]:
    """Return what is named from the current folder, and whether it is certain what is written there.

    Some patches are about the top of the work tree, and others about the folder in which git runs. Git leaves files
    alone that are as they were.
    """
    if named.work_tree is None:
        return named, True
    top, below = folder.top_of(named.work_tree)
    named = attrs.evolve(named, word=join_words(top, named.word))
    if not below or named.contents is None or named.contents.format not in PATCHES:
        return named, named.contents is None or not named.contents.is_old
    return attrs.evolve(named, contents=attrs.evolve(named.contents, prefix=below)), False


def _certain_if(touch: Touch, is_sure: bool) -> Touch:  # noqa: FBT001 -- its one condition
    """Return `touch`, and make it uncertain unless `is_sure`."""
    if is_sure or not touch.place.is_certain:
        return touch
    return attrs.evolve(touch, place=attrs.evolve(touch.place, is_certain=False))


def _links(place: Place, folder: Folder) -> Links:
    """Return which links are below a place; `OPEN` if that is not known."""
    if not place.is_certain or any(map(folder.earlier().has_linked_below, place.real)):
        return Links.OPEN
    return max(map(folder.disk.links_below, place.real), default=Links.OPEN)


def _texts_of(place: Place, folder: Folder) -> Iterator[str]:
    """Yield the text of each link at a place: its target as the link gives it, not resolved."""
    yield from filter(None, (folder.disk.link_at(name)[0] for name in place.real))


# Copies --------------------------------------------------------------------------------------------------------------


def _copy(copy: Copy, folder: Folder, given: Given) -> Iterator[Touch]:
    is_below = copy.is_below
    if is_below is None and folder.has_folder(copy.target):
        is_below = True
    for source in map(only_top, copy.sources) if copy.makes_links else copy.sources:
        if source.found is not None:
            yield from _make_of_found(copy, folder)
            yield from _follow_found(copy, source.found, folder)
            continue
        if copy.makes_links and not copy.are_texts:
            yield from _touch_target(folder.place_of(source, Access.READ))
        if is_below is not True:
            yield from _make(copy, source, copy.target, folder, given)
        if is_below is not False:
            is_guess = is_below is None and not folder.leads_to_folder(copy.target)
            made = _make(copy, source, _below(copy.target, source), folder, given)
            yield from (attrs.evolve(touch, is_guess=True) if is_guess else touch for touch in made)


def _make_of_found(copy: Copy, folder: Folder) -> Iterator[Touch]:
    """Yield the target of what was found, and what is made below it, under names that are not in the call."""
    for descent in (None, Descent.NEW):
        touch = folder.place_of(copy.target, Access.WRITE, descent=descent, is_entry=True, is_certain=False)
        yield attrs.evolve(touch, is_guess=True, makes_links=copy.keeps_links or copy.makes_links)


def _follow_found(copy: Copy, found: Found, folder: Folder) -> Iterator[Touch]:
    """Yield where links lead that are made of what was found, or that were found and are now in another folder."""
    is_known = not copy.are_texts or _is_in_current(copy) or all(map(_is_absolute, found.tops))
    tops = [Named(Access.READ, top, goes_on=copy.is_tree) for top in found.tops]
    if copy.keeps_links and any(finds_links(top, found, folder) for top in tops):
        is_known = False
    if not is_known:
        yield from _touch_target(folder.place_of(Word("", is_open=True), Access.READ, origin=UNSEEN_NAME))
    elif copy.makes_links:
        for top in tops:
            for touch in found_in(top, found, folder):
                yield from _touch_target(touch)


def _is_in_current(copy: Copy) -> bool:
    """Return whether links are made in the current folder, where the names that were found from it lead there."""
    target = copy.target.text.rstrip("/") or "/"
    if copy.target.is_open or copy.target.is_glob or copy.target.is_home:
        return False
    return dirname(target) in _HERE and (copy.is_below is False or target in _HERE)


def _is_absolute(word: Word) -> bool:
    return word.is_home or word.text.startswith("/")


def _below(target: Word, source: Word) -> Word:
    """Return the name of a copy of `source` below the folder `target`; a copy of `.` is the folder itself."""
    name = basename(source.text.rstrip("/"))
    is_open = target.is_open or source.is_open or (source.is_home and name == source.text.rstrip("/"))
    text = join(target.text, name) if name not in ("", ".", "..") else target.text
    return Word(text, target.is_glob or source.is_glob, is_home=target.is_home, is_open=is_open)


def _make(copy: Copy, source: Word, target: Word, folder: Folder, given: Given) -> Iterator[Touch]:
    """Yield the name that is created, and the target if it is a link."""
    touch = folder.place_of(target, Access.WRITE, descent=Descent.NEW if copy.is_tree else None, is_entry=True)
    if copy.is_tree:
        contents = Contents("tree", (attrs.evolve(source, text=f"{source.text.rstrip('/')}/"),))
        touch = attrs.evolve(touch, place=with_contents(touch.place, contents, folder, given))
    texts: tuple[Word, ...] = (source,) if copy.are_texts else ()
    inside = Links.NONE
    if copy.keeps_links:
        original = folder.place_of(source, Access.READ, is_entry=True).place
        texts = tuple(map(Word, _texts_of(original, folder)))
        inside = _links(original, folder) if copy.is_tree or not original.is_certain else Links.NONE
    is_closed = inside is not Links.OPEN and not (copy.is_tree and _links(touch.place, folder) is Links.OPEN)
    makes_links = copy.makes_links or bool(texts) or inside is not Links.NONE
    yield attrs.evolve(_certain_if(touch, is_closed), makes_links=makes_links)
    for text in texts:
        yield from _follow(text, target, folder)
    if copy.keeps_links and copy.is_tree:
        yield from _follow_links(source, target, folder)


def _follow_kept(source: Word, target: Word, folder: Folder) -> Iterator[Touch]:
    """Yield as guesses where links lead that are copied as links: the source itself, and those below it."""
    if not source.text.endswith("/"):
        target = _below(target, source)
    original = folder.place_of(source, Access.READ, is_entry=True).place
    for text in _texts_of(original, folder):
        yield from (attrs.evolve(each, is_guess=True) for each in _follow(Word(text), target, folder))
    yield from _follow_links(source, target, folder)


def _follow_links(source: Word, target: Word, folder: Folder) -> Iterator[Touch]:
    """Yield as guesses where the links below `source` lead from the same places below `target`."""
    top, kinds = target.text, {Links.OPEN}
    if source.is_glob:
        top = dirname(top)
    # Below a folder that is there already, a link may lead to a file of that one.
    if folder.leads_to_folder(attrs.evolve(target, text=top)):
        kinds.add(Links.INSIDE)
    found = tuple(itertools.islice(links_below(source, folder, kinds), _MOST_LINKS + 1))
    for _, below, text in found[:_MOST_LINKS]:
        followed = _follow(Word(text), attrs.evolve(target, text=join(top, below)), folder)
        # No other command of the call writes there.
        needed = (each for each in followed if not (folder.writes_alone and each.access.is_change))
        yield from (attrs.evolve(each, is_guess=True) for each in needed)
    if len(found) > _MOST_LINKS:
        touch = folder.place_of(Word("", is_open=True), Access.READ, origin=UNSEEN_NAME)
        yield attrs.evolve(touch, is_guess=True)


def _follow(text: Word, link: Word, folder: Folder) -> Iterator[Touch]:
    """Yield the target of a link: the text of the link, relative to the folder that the link is in."""
    name = dirname(link.text.rstrip("/")) or ("/" if link.text.startswith("/") else ".")
    place = folder.place_of(attrs.evolve(link, text=name), Access.READ).place
    for top in place.real or ("",):
        full = text if text.is_home else attrs.evolve(text, text=join(top, text.text))
        yield from _touch_target(folder.place_of(full, Access.READ, is_certain=place.is_certain, origin=text.text))


def _touch_target(touch: Touch) -> Iterator[Touch]:
    """Yield the target of a new link as read, and as a guess as written: a later write to the link goes there."""
    yield touch
    yield attrs.evolve(touch, access=Access.WRITE, is_guess=True)

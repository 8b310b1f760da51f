"""What a search takes of the files below a folder, by the patterns that it is given.

Source: rg(1), "--glob"; gitignore(5), "PATTERN FORMAT"; grep(1), "--exclude-dir".
"""

import fnmatch
import functools
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import attrs

from permitry.actions.braces import expand
from permitry.core.action import Listing, Touch

__all__ = ["EVERYTHING", "Selection", "narrow", "select"]

_MOST_CHOICES = 64
_BODY = re.compile(r"(/|\*\*/)?([^/]+)(/|/\*\*?)?")
"""The name of what is left out, at any depth or here; a slash behind it leaves out no more than a folder."""
_PLAIN = re.compile(r"[\w.*/!#%+:=@~-]+")
"""Signs that mean one thing to those who read patterns: others are several patterns to some, and `?` may be a byte."""
_HERE = frozenset({"", ".", "./"})


@attrs.frozen
class Selection:
    """What a search takes: files with a name that fits one of `only`, if there is one, and nothing of what is left out.

    `names` are left out at any depth with all below them, `folders` where they are folders, and `here` where they are
    folders in the current one.
    """

    only: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    here: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()

    def takes(self, top: str, below: str, *, is_here: bool, is_folder: bool) -> bool:
        """Return whether a name `below` a folder may be taken; `is_here`: that is the current folder."""
        parts = [part for part in below.split("/") if part]
        folders = parts if is_folder else parts[:-1]
        left_out = (
            *_pairs(parts, self.names),
            *_pairs(folders, self.folders),
            *_pairs(folders[:is_here], self.here),
        )
        if any(fnmatch.fnmatchcase(part, pattern) for part, pattern in left_out):
            return False
        name = f"{top.rstrip('/')}/{below.strip('/')}/".casefold()
        return not self.only or any(pattern.match(name) for pattern in _compile(self.only))


EVERYTHING = Selection()


def _pairs(parts: Sequence[str], patterns: Sequence[str]) -> Iterator[tuple[str, str]]:
    return ((part, pattern) for part in parts for pattern in patterns)


@functools.lru_cache(maxsize=64)
def _compile(patterns: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """Return what matches the beginning of a path that may fit, or of one below it; a star may be any folders."""
    texts = (pattern.casefold().replace("**/", "*").strip("/") for pattern in patterns)
    return tuple(re.compile(fnmatch.translate(f"*/{text}/*")) for text in texts)


def select(globs: Iterable[str], folders: Iterable[str] = ()) -> Selection:
    """Return what a search takes by patterns of `rg --glob`, `!` before what is left out, and without some folders.

    What is read in more than one way leaves nothing out.
    """
    every = tuple(globs)
    selection = Selection(folders=tuple(filter(_is_plain, folders)))
    positive = [text for text in every if not text.startswith("!")]
    if positive:
        return attrs.evolve(selection, only=_only(positive))
    for found in (_BODY.fullmatch(text[1:]) for text in every):
        if found and _is_plain(found[2]):
            field = _field_of(found)
            selection = attrs.evolve(selection, **{field: (*getattr(selection, field), found[2])})
    return selection


def _only(globs: Sequence[str]) -> tuple[str, ...]:
    choices = [expand(text, _MOST_CHOICES) for text in globs]
    texts = tuple(itertools.chain.from_iterable(found for found, _ in choices))
    is_read = all(are_all for _, are_all in choices) and all(map(_is_read, texts))
    return texts if is_read else ()


def _is_read(text: str) -> bool:
    # A line of an ignore file may be a comment, and the sign between an option and its value belongs to neither.
    return text.strip("/") != "" and text[0] not in ".#=" and _PLAIN.fullmatch(text) is not None


def _is_plain(name: str) -> bool:
    return "/" not in name and "**" not in name and _PLAIN.fullmatch(name) is not None


def _field_of(found: re.Match[str]) -> str:
    """Return where a pattern leaves a name out: in the current folder if a slash is in it that is not at its end."""
    if found[1] == "/" or (not found[1] and found[3] not in (None, "/")):
        return "here"
    return "folders" if found[3] else "names"


def narrow(touch: Touch, selection: Selection, bases: Sequence[str]) -> Touch:
    """Return what is touched below a folder of what is selected there; `bases` are the current folders."""
    place = touch.place
    if selection == EVERYTHING or place.look is None or not (place.is_tree and place.is_certain):
        return touch
    tops = {name: tuple(bases) == (name,) and place.text in _HERE for name in place.names}
    # What a pattern takes is taken even if its name begins with a dot.
    listed = functools.partial(place.look, has_hidden=True) if selection.only else place.look
    look = functools.partial(_narrow, listed, selection, tops)
    return attrs.evolve(touch, place=attrs.evolve(place, look=look, selection=selection))


def _narrow(
    look: Callable[..., Listing],
    selection: Selection,
    tops: Mapping[str, bool],
    start: str,
    depth: int | None,
) -> Listing:
    """Return a listing of what is selected; `tops` says of each folder that is searched whether it is the current."""
    top = next(each for each in tops if f"{start}/".startswith(f"{each.rstrip('/')}/"))
    if start in tops and depth == 0:
        return look(start, depth)
    # A pattern of all that is in a folder takes that folder alone, of which all may be left out.
    listing = look(start, depth or None)
    folders = set(listing.parents)
    takes = functools.partial(selection.takes, top, is_here=tops[top])
    every = enumerate(listing.names)
    names = tuple(each for at, each in every if takes(each[len(top) :], is_folder=at in folders))
    return attrs.evolve(listing, names=names, parents=(-1,) * len(names))

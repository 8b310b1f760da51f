"""The condition `path`: exact for a permission, over-approximate for a restriction."""

import functools
import itertools
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

import attrs

from permitry.conditions._segment import Row, Segment, advance, align, begin
from permitry.conditions._words import check_sign
from permitry.conditions.match import Match, best_of
from permitry.conditions.written import WrittenPattern
from permitry.core.action import Descent, Listing, Place, Roots, Touch, components_of
from permitry.core.effects import Effect
from permitry.core.facts import Anchor, Fact, Kind
from permitry.core.pattern import fold
from permitry.core.place import WILDCARDS
from permitry.errors import RuleError

__all__ = ["PathPattern", "match_best"]

_LONGEST = 4096
_MOST_STARS = 16
_STAR = Segment.parse("*")
_CERTAIN = frozenset({Descent.ALL, Descent.NEW})

# None is `**`: any number of components.
_Parts: TypeAlias = tuple[Segment | None, ...]


@attrs.frozen
class PathPattern(WrittenPattern):
    """A pattern of paths: `x` and `./x` below the workspace, `/x` absolute, `~/x` below the home folder.

    `*`, `?` and `[set]` stay within a component, `**` as a whole component is any number of them.
    Stars match names that begin with a dot, and letters are compared byte by byte. A pattern starts
    at its root: `.env` is only at the top of the workspace. `listed` is the list that it is from.

    Raises: `RuleError` for a text that is not such a pattern, or could never match.
    """

    key = "path"
    description = "Paths that are read, written or deleted: `src/**`, `~/.ssh/**`."

    text: str
    listed: str | None = attrs.field(default=None, repr=False, eq=False)
    anchor: Anchor = attrs.field(init=False, repr=False, eq=False)
    components: _Parts = attrs.field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        anchor, parts = _parse(self.text)
        object.__setattr__(self, "anchor", anchor)
        object.__setattr__(self, "components", parts)

    @functools.cached_property
    def _needle(self) -> str:
        """The longest literal component: a name without it cannot fit, and the check is cheap."""
        return max((fold(part.literal or "") for part in self._segments), key=len, default="")

    @functools.cached_property
    def _segments(self) -> list[Segment]:
        """The components that are not `**`."""
        return [part for part in self.components if part is not None]

    @property
    def literals(self) -> int:
        """How many of its components are literal."""
        return sum(part.literal is not None for part in self._segments)

    @property
    def needs(self) -> frozenset[Fact]:
        """Facts of which one is present if a path can match, for any access.

        They are its leading literal components; else one elsewhere, or a part of one.
        """
        names = tuple(map(fold, _head(self.components)))
        group = (self.anchor, None)
        if names:
            return frozenset((Fact(Kind.PATH, group, names),))
        if self._spine:
            # A walk may end at any name that `*` matches.
            return frozenset()
        if self._needle:
            return frozenset((Fact(Kind.NAME, group, self._needle),))
        globs = max((part.globs for part in self._segments), key=_letters, default=frozenset[str]())
        return frozenset(Fact(Kind.NAME, group, text) for text in globs if _letters(globs))

    def match(self, effect: Effect, least: Match = Match.OPEN, enough: Match = Match.YES, /) -> Match:
        """Return how far a path matches, by its own names or by what is below it."""
        touch = effect.subject
        if not isinstance(touch, Touch):
            return Match.NO
        return self.match_place(touch.place, effect.roots, least, enough)

    def match_place(self, place: Place, roots: Roots, least: Match = Match.OPEN, enough: Match = Match.YES) -> Match:
        """Return how far a place matches; without a workspace a relative one may be anywhere."""
        return match_best((self,), place, roots, least, enough)

    def match_name(self, place: Place, roots: Roots, least: Match, enough: Match) -> Match:
        """Return how far a place matches by its own names."""
        if enough is Match.YES and self._is_exact(place, roots):
            return Match.YES
        if least is Match.YES or not self.may_name(place, roots):
            return Match.NO
        return Match.ALIKE if enough >= Match.ALIKE and self._must_name(place, roots) else Match.MAYBE

    def match_below(self, place: Place, roots: Roots, most: Match) -> Match:
        """Return how far something below a folder matches: `most` if it is known that something does.

        That makes a restriction certain where all of a folder is touched, or files are made in it.
        """
        looked = self._look_below(place, roots)
        if looked is None:
            return Match.BELOW if self._may_be_below(place, roots) else Match.NO
        if next(self._find_below(looked), None) is not None:
            return most if place.is_certain else Match.BELOW
        return Match.NO if all(listing.is_whole for _, listing in looked) else Match.BELOW

    def _is_exact(self, place: Place, roots: Roots) -> bool:
        """Return whether the place certainly matches the pattern.

        `x/**` matches what is below `x`. A whole tree matches only a pattern that ends in `**`; that of
        `x` matches `x/**`.
        """
        if not place.is_certain or not place.real or not self._stays(place, roots):
            return False
        is_deep = self.components[-1:] == (None,)
        if place.is_tree and not is_deep:
            return False
        parts = (*self.components, _STAR) if is_deep and not place.is_tree else self.components
        return all(any(_fits(parts, name, base) for base in self._bases(roots)) for name in place.real)

    def may_name(self, place: Place, roots: Roots) -> bool:
        """Return whether a place itself may match, by any name, and any that a glob may become."""
        if not (place.has_wildcards or self._needle in place.folded):
            return False
        # All that is below a place matches where the place does, if the pattern ends in `**` or names are made there.
        is_deep = place.descent is Descent.NEW or self.components[-1:] == (None,)
        if place.is_around and (place.made() is not None or not is_deep):
            return False
        if not (self.components or place.is_certain or self._bases(roots)):
            # Any text might name a folder that is not known, which is not a reason to think so.
            return False
        return self._meets(_names(place), roots)

    def names_below(self, place: Place, roots: Roots) -> Iterator[str | None]:
        """Yield the names that match below a folder; None where not all are known."""
        looked = self._look_below(place, roots)
        if looked is None or not all(listing.is_whole for _, listing in looked):
            yield None
        else:
            yield from self._find_below(looked)

    def _look_below(self, place: Place, roots: Roots) -> list[tuple[_Parts, Listing]] | None:
        """Return the pattern from each root, and the names to compare with it; None without a disk.

        They are looked for from the folder that the literal beginning of the pattern names.
        """
        look, wholes = place.look, self._wholes(roots)
        if place.descent is Descent.NEW:
            made = place.made()
            return None if made is None else [(whole, made) for whole in wholes]
        if look is None:
            return None
        return [
            (whole, look(start, _depth(start, whole)))
            for top in place.tops
            for whole in wholes
            for start in _starts(top, whole)
        ]

    def _find_below(self, looked: list[tuple[_Parts, Listing]]) -> Iterator[str]:
        for whole, listing in looked:
            if self._hint in listing.text:
                yield from _find_fitting(whole, listing)

    @functools.cached_property
    def _hint(self) -> str:
        return max((part.hint for part in self._segments), key=len, default="/")

    def _may_be_below(self, place: Place, roots: Roots) -> bool:
        bases = self._literal_bases(roots)
        is_reached = any(self._is_below(base, name) for name in _names(place) for base in bases)
        last = next(reversed(self.components), None)
        # A pattern of names without a letter leaves none out.
        if last is None or not place.ends or not all(end.strip("*?") for end in place.ends):
            return is_reached
        # Something matches if it has a name that fits one of the patterns of the place.
        ends = (_of_names(end) for end in place.ends if _is_meant(last, end, is_reached=is_reached))
        below = ((*_literal(name), None, end) for name, end in itertools.product(place.names, ends))
        return self._meets(below, roots)

    def _must_name(self, place: Place, roots: Roots) -> bool:
        """Return whether the place itself matches by a known name.

        A wildcard of the shell fits only a star of the pattern, or its own character in a set: `/[*]`
        fits the word `/*` of `rm /*`.
        """
        if place.is_open or place.is_around or self._needle not in place.folded:
            return False
        meets = _must_meet if place.has_wildcards else Segment.may_match
        return self._meets(map(_literal, place.names), roots, meets)

    def _meets(
        self, names: Iterable[_Parts], roots: Roots, meet: Callable[[Segment, Segment], bool] = Segment.may_match
    ) -> bool:
        """Return whether the pattern fits one of some names from one of its roots."""
        pairs = itertools.product(names, self._wholes(roots))
        return any(align(whole, name, meet) for name, whole in pairs)

    def _wholes(self, roots: Roots) -> list[_Parts]:
        return [(*base, *self.components) for base in self._literal_bases(roots)]

    def _literal_bases(self, roots: Roots) -> list[_Parts]:
        return list(map(_literal, self._bases(roots))) or [(None,)]

    def _bases(self, roots: Roots) -> tuple[str, ...]:
        return {Anchor.WORKSPACE: roots.workspace, Anchor.HOME: roots.home, Anchor.TOP: ("/",)}[self.anchor]

    def _stays(self, place: Place, roots: Roots) -> bool:
        # A path that leaves the workspace by `..` and comes back by a link is not what the author
        # of the rule meant.
        if self.anchor is not Anchor.WORKSPACE or place.text.startswith(("/", "~")):
            return True
        return all(any(_below(name, root) is not None for root in roots.workspace) for name in place.lexical)

    def _is_below(self, base: _Parts, name: _Parts) -> bool:
        """Return whether a walk through a folder reaches the literal part; any one does of `**/x`."""
        spine = self._spine
        top = name[: name.index(None)] if None in name else name
        if None in base:
            return bool(spine)
        if len(top) > len(base) + len(spine) or (len(top) == len(base) and not spine):
            return False
        return align((*base, *spine)[: len(top)], top, Segment.may_match)

    @functools.cached_property
    def _spine(self) -> _Parts:
        head = self.components[: self.components.index(None)] if None in self.components else self.components
        literal = [at for at, part in enumerate(head, 1) if part is not None and part.literal is not None]
        return head[: max(literal, default=0)]


def match_best(patterns: Sequence[PathPattern], place: Place, roots: Roots, least: Match, enough: Match) -> Match:
    """Return how far a place matches the best pattern; what is below it is looked at last."""
    by_name = best_of((each.match_name(place, roots, least, enough) for each in patterns), enough)
    most = Match.ALIKE if enough >= Match.ALIKE and place.descent in _CERTAIN else Match.BELOW
    if by_name >= most or least is Match.YES or not place.tops:
        return by_name
    return max(by_name, best_of((each.match_below(place, roots, most) for each in patterns), most))


def _parse(text: str) -> tuple[Anchor, _Parts]:
    _check(text)
    names = text.split("/")
    anchor = {"": Anchor.TOP, "~": Anchor.HOME}.get(names[0], Anchor.WORKSPACE)
    rest = names[1:] if anchor is Anchor.HOME else names
    return anchor, tuple(None if name == "**" else Segment.parse(name) for name in rest if name not in ("", "."))


def _check(text: str) -> None:
    check_sign(text, PathPattern.key)
    names, shown = text.split("/"), f"the path pattern `{text}`"
    has_control = not text.isprintable() and any(unicodedata.category(char) in ("Cc", "Cs") for char in text)
    is_users = text.startswith("~") and names[0] != "~"
    is_joined = any("**" in name and name != "**" for name in names)
    has_more = names.count("**") > _MOST_STARS
    for is_wrong, why in (
        (not text, "a path pattern is empty; write `**` for everything in the workspace"),
        (len(text) > _LONGEST, f"a path pattern has more than {_LONGEST} characters; no path is that long"),
        ("\\" in text, f"{shown} holds a backslash; write `/` between names, and `[*]` for a star"),
        (
            has_control,
            f"the path pattern {text!a} holds a control character, and such a path never matches; leave it out",
        ),
        (".." in names, f"{shown} holds `..`; name the folder itself, from `/` or `~/` if it is elsewhere"),
        (is_users, f"{shown} names the home of a user; write it from `/`, or `./{text}` for a file"),
        (has_more, f"the path pattern `{text[:60]}` holds `**` more than {_MOST_STARS} times; no tree needs that"),
        (is_joined, f"{shown} holds `**` next to other letters; for folders write it alone: `src/**/*.py`"),
        (_has_braces(text), f"{shown} holds a choice in braces; list the patterns one by one"),
    ):
        if is_wrong:
            raise RuleError(why)


def _has_braces(text: str) -> bool:
    _, opening, rest = text.replace("[{]", "").partition("{")
    inner, closing, _ = rest.partition("}")
    return bool(opening and closing) and ("," in inner or ".." in inner)


def _below(name: str, root: str) -> str | None:
    """Return the name relative to a root, or None if it is not below it."""
    if root in (name, "/"):
        return name[len(root) :]
    return name[len(root) + 1 :] if name.startswith(root + "/") else None


def _fits(parts: _Parts, name: str, base: str) -> bool:
    rest = _below(name, base)
    return rest is not None and align(parts, _split(rest), Segment.matches)


def _split(name: str) -> list[str]:
    return [part for part in name.split("/") if part]


@functools.lru_cache(maxsize=512)
def _literal(name: str) -> _Parts:
    return tuple(Segment((part,)) for part in _split(name))


def _letters(globs: frozenset[str]) -> int:
    """Return the number of literal characters of the glob that has the fewest."""
    return min((len(text.replace("*", "")) for text in globs), default=0)


def _starts(top: str, whole: _Parts) -> Iterator[str]:
    """Yield the folder from which to look for matches below `top`, unless none can be there."""
    # What the last literal component names is looked for in its folder, where letters of another case are found.
    names = _head(whole)[: len(whole) - 1]
    ours, theirs = components_of("/".join(names)), components_of(top)
    if ours[: len(theirs)] == theirs:
        # The folder as it is written in the call, and not in the pattern: its letters may be of another case.
        yield "/".join([top.rstrip("/"), *names[len(theirs) :]]) or "/"
    elif theirs[: len(ours)] == ours:
        yield top


def _head(parts: _Parts) -> list[str]:
    """Return the literal components that a pattern begins with."""
    names = (None if part is None else part.literal for part in parts)
    return [name for name in itertools.takewhile(bool, names) if name]


def _depth(start: str, whole: _Parts) -> int | None:
    """Return how many folders below `start` a pattern may name something; None for any."""
    known = len(_split(start))
    rest = whole[known:-1] if whole[-1:] == (None,) else whole[known:]
    return None if None in (*whole[:known], *rest) else len(rest)


def _find_fitting(whole: _Parts, listing: Listing) -> Iterator[str]:
    """Yield the names that fit a pattern; how far a folder has come is kept for its names."""
    rows: list[Row] = []
    known: dict[tuple[Row, str], Row] = {}
    for name, parent in zip(listing.names, listing.parents, strict=True):
        if parent < 0:
            row = begin(whole)
            for part in _split(name):
                row = advance(row, part, whole, _is_named)
        else:
            key = rows[parent], name.rpartition("/")[2]
            row = known.get(key) or known.setdefault(key, advance(*key, whole, _is_named))
        rows.append(row)
        if row[-1]:
            yield name


def _is_named(name: str, segment: Segment) -> bool:
    return segment.may_name(name)


def _must_meet(ours: Segment, theirs: Segment) -> bool:
    """Return whether every expansion of a component fits: for a wildcard there is a star."""
    text = theirs.literal or ""
    if ours.pieces == _STAR.pieces or WILDCARDS.isdisjoint(text) or ours.writes_out(text, WILDCARDS):
        return ours.may_match(theirs)
    has_stars_alone = all(isinstance(piece, str) for piece in ours.pieces)
    return has_stars_alone and "[" not in text and ours.may_match(theirs)


def _names(place: Place) -> Iterator[_Parts]:
    """Yield every name of the place as written and, if it has wildcards, as a glob."""
    for name in place.names:
        yield _literal(name)
        if place.has_wildcards:
            yield _guess(name)


def _is_meant(last: Segment, end: str, *, is_reached: bool) -> bool:
    """Return whether a name may fit the last part of a pattern and a pattern of names."""
    if is_reached or last.literal:
        return last.may_match(_of_names(end))
    # The folder is not a reason to look for it: hardly any of `*.txt` is called `secret*`.
    return last.may_name(re.sub("[*?]", "0", end))


@functools.lru_cache(maxsize=512)
def _of_names(end: str) -> Segment:
    """Return a pattern of names as a program takes it, whose stars match a leading dot."""
    return Segment.parse(re.sub(r"\*+", "*", end))


@functools.lru_cache(maxsize=512)
def _guess(name: str) -> _Parts:
    return tuple(None if part == "**" else Segment.guess(part) for part in _split(name))

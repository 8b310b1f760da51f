"""The operator `links` of `when.args`: where the links in a text lead, and were seen before.

A link passes a table if it passes all tests in it, and a list of tables if it passes one. For a
permission every link must certainly pass, and a restriction applies if one may.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import attrs

from permitry.conditions._compare import Truth, all_of, any_of
from permitry.conditions._patterns import show_pattern
from permitry.conditions._sources import EMPTY, Source, flag, join_path, origin_of, places_in, sources_of, value_at
from permitry.conditions._words import nearest
from permitry.conditions.host import HostPattern
from permitry.conditions.listed import ListedValues
from permitry.conditions.match import Match
from permitry.conditions.provenance.normal_form import elements_of
from permitry.conditions.provenance.provenance import Provenance, provenance_of
from permitry.conditions.written import PlainCondition
from permitry.core.action import Connect
from permitry.core.origin import Origin
from permitry.core.rule import Request
from permitry.core.texts import shorten
from permitry.errors import RuleError, UnevaluableError

LINKS = "links"
_OPERATORS = ("host", "not_host", "from", "not_from")
_BRIEF = 60
_MOST_SHOWN = 3
_MOST_VALUES = 10
_NEED_A_HOST = (None, "http", "https")


@attrs.frozen
class LinkReader:
    """How links are found, and what pattern of hosts a text is: rules cannot import these."""

    find: Callable[[str], Sequence[Connect]]
    host: Callable[[str], HostPattern]


@attrs.frozen
class _HostTest:
    """What a link passes that leads to one of the hosts; with `is_negative`, to none."""

    needs_user = False

    hosts: tuple[HostPattern, ...]
    is_negative: bool

    def truth(self, link: Connect, _: Provenance, needed: Match) -> Truth:
        """Return whether a link certainly passes; where `ALIKE` is `needed`, whether it may."""
        is_sure = needed is Match.YES
        # A link certainly passes where it is one of them for certain, or may not even be one of those it must not be.
        is_certain = is_sure is not self.is_negative
        passes = any(_is_at(pattern, link, is_certain=is_certain) for pattern in self.hosts) is not self.is_negative
        if passes or is_sure:
            return passes and (link.is_certain or not (is_sure and self.is_negative))
        is_unread = link.host is None and link.scheme in _NEED_A_HOST and not self.is_negative
        return f"{_show_link(link)} {_say_where(link)}" if is_unread else False

    def fact(self, link: Connect, _: Provenance) -> str:
        return _say_where(link)

    def __str__(self) -> str:
        hosts = " or ".join(map(show_pattern, self.hosts)) or "an empty list"
        return f"{'not ' if self.is_negative else ''}to {hosts}"


@attrs.frozen
class _SourceTest:
    """What a link passes that certainly comes from a source; with `is_negative`, unless it does.

    INVARIANT: law 4, as for `from` itself: a restriction cannot count on a link that comes from
    somewhere, and a permission not on one that does not.
    """

    sources: tuple[Source, ...]
    is_negative: bool

    @property
    def needs_user(self) -> bool:
        return all(each.needs_user for each in self.sources)

    def truth(self, link: Connect, known: Provenance, needed: Match) -> Truth:
        may_pass = needed is Match.ALIKE
        if may_pass is not self.is_negative:
            return may_pass
        if any(True for _ in places_in(self.sources, link.text, known)):
            return not self.is_negative
        if not known.texts and any(each.needs_user for each in self.sources):
            return "no message of the user is known here"
        return self.is_negative

    def fact(self, link: Connect, known: Provenance) -> str:
        return f"is in {next(places_in(self.sources, link.text, known), 'none of its sources')}"

    def __str__(self) -> str:
        return f"{'not ' if self.is_negative else ''}from {' or '.join(each.text for each in self.sources)}"


_Test: TypeAlias = _HostTest | _SourceTest


@attrs.frozen
class LinkCondition(PlainCondition):
    """Holds when each link in the texts at `path` passes all tests of one of the `ways`."""

    key = "args.links"
    table = dict
    description = "The links in a text."
    is_pure = True

    path: tuple[str, ...]
    reader: LinkReader = attrs.field(repr=False, eq=False)
    ways: tuple[tuple[_Test, ...], ...]
    is_optional: bool = False

    @property
    def needs_sources(self) -> bool:
        """Whether it has an answer only where it is known what was seen in the session."""
        return any(isinstance(test, _SourceTest) for way in self.ways for test in way)

    @property
    def needs_user(self) -> bool:
        """Whether a link can pass only where messages of the user are known."""
        return all(any(test.needs_user for test in way) for way in self.ways)

    def match(self, request: Request, needed: Match = Match.YES, /) -> Match:
        """Return what is `needed` if every link certainly passes; if that is `ALIKE`, one may.

        Raises: `UnevaluableError` as `_links`, and when it depends on a link that is not known.
        """
        settle = all_of if needed is Match.YES else any_of
        answer = settle(self._passes(link, provenance_of(request.context), needed) for link in self._links(request))
        if isinstance(answer, str):
            raise UnevaluableError(f"`{join_path(self.path)}`: {answer}")
        return needed if answer else Match.NO

    def _passes(self, link: Connect, known: Provenance, needed: Match) -> Truth:
        return any_of(all_of(test.truth(link, known, needed) for test in way) for way in self.ways)

    def _links(self, request: Request) -> list[Connect]:
        """Return the links. Raises: `UnevaluableError` where there is no text, or none is read."""
        value = value_at(request.call.arguments, self.path)
        if self.is_optional and value in EMPTY:
            return []
        texts = [each for each in elements_of(value) if isinstance(each, str)]
        if not texts or len(texts) < len(elements_of(value)):
            raise UnevaluableError(f"`{join_path(self.path)}` is missing, or neither a text nor a list of texts")
        try:
            return [link for text in texts for link in self.reader.find(text)]
        except UnevaluableError as error:
            raise UnevaluableError(f"`{join_path(self.path)}`: {error}") from error

    @property
    def expected(self) -> str:
        return f"links {', or '.join(', and '.join(map(str, way)) for way in self.ways)}"

    def fact(self, request: Request) -> str:
        links, known = self._links(request), provenance_of(request.context)
        if not links:
            return f"{join_path(self.path)} has no links"
        failing = [link for link in links if self._passes(link, known, Match.YES) is not True]
        phrases = list(dict.fromkeys(self._fact(link, known) for link in failing or links))
        more = ", ..." if len(phrases) > _MOST_SHOWN else ""
        return f"{join_path(self.path)}: {', '.join(phrases[:_MOST_SHOWN])}{more}"

    def _fact(self, link: Connect, known: Provenance) -> str:
        facts = dict.fromkeys(test.fact(link, known) for way in self.ways for test in way)
        return f"{_show_link(link)} {' and '.join(facts)}"

    def origins(self, request: Request) -> Iterator[Origin]:
        """Yield where each link was seen, if a test asks that; no more than the first ten."""
        sources = [source for way in self.ways for test in way for source in getattr(test, "sources", ())]
        try:
            links, known = self._links(request) if sources else [], provenance_of(request.context)
        except UnevaluableError:
            return
        for text in list(dict.fromkeys(link.text for link in links))[:_MOST_VALUES]:
            yield origin_of(".".join((*self.path, LINKS)), text, known, sources)


def _is_at(pattern: HostPattern, link: Connect, *, is_certain: bool) -> bool:
    """Return whether a link may lead to a host, or certainly does; every link may lead to any."""
    match = pattern.match_address(link)
    if is_certain:
        return match is Match.YES
    is_any = pattern.host == "*" and link.host is None and pattern.scheme in (None, link.scheme)
    return is_any or match is not Match.NO


def _show_link(link: Connect) -> str:
    return f"the link `{shorten(link.text, _BRIEF)}`"


def _say_where(link: Connect) -> str:
    """Return where a link leads, as a phrase."""
    if link.host is not None:
        return f"{'leads' if link.is_certain else 'may lead'} to {link.host}"
    return "has no host that can be read" if link.scheme in _NEED_A_HOST else "has no host"


def link_condition(path: tuple[str, ...], raw: object, reader: LinkReader, *, optional: object = None) -> LinkCondition:
    """Return the condition of a table of tests, or a list of such tables. Raises: `RuleError`."""
    try:
        tables = raw if isinstance(raw, list | tuple) and raw else [raw]
        return LinkCondition(path, reader, tuple(_way(each, reader) for each in tables), flag(optional))
    except RuleError as error:
        raise RuleError(f"`{join_path(path)}`: `{LINKS}`: {error}") from error


def _way(raw: object, reader: LinkReader) -> tuple[_Test, ...]:
    unknown = [str(name) for name in (raw if isinstance(raw, Mapping) else ()) if name not in _OPERATORS]
    if unknown:
        raise RuleError(f"unknown operator `{unknown[0]}`; {nearest(unknown[0], _OPERATORS)}")
    if not isinstance(raw, Mapping) or not raw:
        raise RuleError('a table with `host`, `not_host`, `from` or `not_from` is needed, such as `host = ["*"]`')
    tests: list[_Test] = []
    for name in [name for name in _OPERATORS if name in raw]:
        is_negative = name.startswith("not_")
        if name.endswith("from"):
            tests.append(_SourceTest(sources_of(raw[name]), is_negative))
        else:
            tests.append(_HostTest(_hosts(raw[name], reader), is_negative))
    return tuple(tests)


def _hosts(raw: object, reader: LinkReader) -> tuple[HostPattern, ...]:
    words = [raw] if isinstance(raw, str) else raw
    if not isinstance(words, list | tuple) or not words:
        raise RuleError('a list of hosts is needed, such as `["example.com", "*.example.com"]`')
    return tuple(pattern for word in words for pattern in _patterns(word, reader))


def _patterns(word: object, reader: LinkReader) -> Iterable[HostPattern]:
    """Return the pattern that a word denotes, or those of the values of a list."""
    if isinstance(word, ListedValues):
        return [attrs.evolve(reader.host(str(value)), listed=word.name) for value in word]
    if not isinstance(word, str):
        raise RuleError(f"a host is a text such as `example.com`, not `{str(word)[:_BRIEF]}`")
    return [reader.host(word)]

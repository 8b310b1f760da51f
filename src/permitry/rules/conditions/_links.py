"""The operator `links` of `when.args`: where the links in a text lead, or where they were seen before.

A permission needs that every link certainly passes, and a restriction applies if one link may pass. So a text without
links passes a permission, and no restriction applies to it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

import attrs

from permitry.core.action import Connect
from permitry.core.provenance import Provenance, normal
from permitry.core.rule import Question
from permitry.core.texts import shortened
from permitry.errors import RuleError, UnevaluableError
from permitry.rules.conditions._sources import Source, flag, sources_of, value_at
from permitry.rules.conditions._words import nearest
from permitry.rules.conditions.host import HostPattern
from permitry.rules.conditions.listed import ListedValues
from permitry.rules.conditions.written import PlainCondition, Table

__all__ = ["LINKS", "LinkHostCondition", "LinkReader", "LinkSourceCondition", "link_condition"]

LINKS = "links"
_OPERATORS = ("host", "not_host", "from", "not_from")
_BRIEF = 60
_MOST_SHOWN = 3
_EMPTY: tuple[object, ...] = (None, "", ())
_NEED_A_HOST = (None, "http", "https")


@attrs.frozen
class LinkReader:
    """How links are found in a text, and what pattern of hosts a text denotes: rules cannot import these functions."""

    find: Callable[[str], Sequence[Connect]]
    host: Callable[[str], HostPattern]


@attrs.frozen
class _LinkCondition(PlainCondition):
    """A condition on the links in the text at `path`, or in each text of a list; `is_negative`: it is about others."""

    key: ClassVar[str] = "args.links"
    table: ClassVar[Table] = dict
    description: ClassVar[str] = "The links in a text."

    path: tuple[str, ...]
    reader: LinkReader = attrs.field(repr=False, eq=False)
    is_negative: bool = attrs.field(default=False, kw_only=True)
    is_optional: bool = attrs.field(default=False, kw_only=True)

    def _links(self, question: Question) -> list[Connect]:
        """Return the links.

        Raises: `UnevaluableError` when the argument is missing or neither a text nor a list of texts, and when its
        links cannot be found.
        """
        value = value_at(question.call.arguments, self.path)
        if self.is_optional and value in _EMPTY:
            return []
        texts = [each for each in (value if isinstance(value, tuple) else (value,)) if isinstance(each, str)]
        if not texts or len(texts) < (len(value) if isinstance(value, tuple) else 1):
            raise UnevaluableError(f"`{self._name}` is missing, or neither a text nor a list of texts")
        try:
            return [link for text in texts for link in self.reader.find(text)]
        except UnevaluableError as error:
            raise UnevaluableError(f"`{self._name}`: {error}") from error

    def _fact(self, links: Sequence[Connect], shown: Iterable[str]) -> str:
        """Return what is true of the links; `shown` are phrases for those that matter."""
        if not links:
            return f"{self._name} has no links"
        phrases = list(dict.fromkeys(shown))
        more = ", ..." if len(phrases) > _MOST_SHOWN else ""
        return f"{self._name}: {', '.join(phrases[:_MOST_SHOWN])}{more}"

    @property
    def _name(self) -> str:
        return ".".join(("args", *self.path))


@attrs.frozen
class LinkHostCondition(_LinkCondition):
    """Holds when the links lead to hosts that fit one of the patterns; with `is_negative`, to hosts that fit none."""

    is_pure: ClassVar[bool] = True

    hosts: tuple[HostPattern, ...] = ()

    def holds(self, question: Question, *, over_approximate: bool) -> bool:
        """Return whether every link certainly passes; with `over_approximate`, whether one may pass.

        Raises: `UnevaluableError` as `_links`, and when only a link that cannot be read might pass.
        """
        links = self._links(question)
        if not over_approximate:
            return all(map(self._passes, links))
        if any(map(self._may_pass, links)):
            return True
        for link in links:
            if link.host is None and link.scheme in _NEED_A_HOST and not self.is_negative:
                raise UnevaluableError(f"`{self._name}`: {_shown(link)}")
        return False

    def _passes(self, link: Connect) -> bool:
        if self.is_negative:
            return link.is_certain and not any(_may_be_at(pattern, link) for pattern in self.hosts)
        return any(pattern.holds(link) for pattern in self.hosts)

    def _may_pass(self, link: Connect) -> bool:
        if self.is_negative:
            return not any(pattern.holds(link) for pattern in self.hosts)
        return any(_may_be_at(pattern, link) for pattern in self.hosts)

    @property
    def expected(self) -> str:
        """What it asks for, as shown in near misses."""
        hosts = " or ".join(map(_written, self.hosts)) or "an empty list"
        return f"links {'not ' if self.is_negative else ''}to {hosts}"

    def fact(self, question: Question) -> str:
        """Return where the links lead that do not pass, as shown in near misses."""
        links = self._links(question)
        return self._fact(links, map(_shown, [link for link in links if not self._passes(link)] or links))


@attrs.frozen
class LinkSourceCondition(_LinkCondition):
    """Holds when every link certainly comes from one of the sources, as a whole; with `is_negative`, unless it does.

    INVARIANT: law 4, as for `from` itself.
    """

    is_pure: ClassVar[bool] = True

    sources: tuple[Source, ...] = ()

    def holds(self, question: Question, *, over_approximate: bool) -> bool:
        """Return whether every link certainly comes from there, or with `is_negative` whether one may not.

        A restriction cannot count on a link that comes from somewhere, and a permission not on one that does not.

        Raises: `UnevaluableError` as `_links`, and when the messages of the user are not known.
        """
        if over_approximate is not self.is_negative:
            return over_approximate
        known = question.context.provenance
        if all(any(True for _ in self._places(link, known)) for link in self._links(question)):
            return not self.is_negative
        if not known.texts and any(each.needs_user for each in self.sources):
            raise UnevaluableError("no message of the user is known here")
        return self.is_negative

    def _places(self, link: Connect, known: Provenance) -> Iterator[str]:
        form = normal(link.text)
        if form is not None:
            for source in self.sources:
                yield from source.places(form, known)

    @property
    def expected(self) -> str:
        """What it asks for, as shown in near misses."""
        return f"links {'not ' if self.is_negative else ''}from {' or '.join(each.text for each in self.sources)}"

    def fact(self, question: Question) -> str:
        """Return which links come from nowhere, or else where all come from, as shown in near misses."""
        links, known = self._links(question), question.context.provenance
        places = {f"the link `{shortened(link.text, _BRIEF)}`": list(self._places(link, known)) for link in links}
        unknown = [f"{shown} is in none of its sources" for shown, found in places.items() if not found]
        return self._fact(links, unknown or [f"{shown} is in {found[0]}" for shown, found in places.items()])


def _may_be_at(pattern: HostPattern, link: Connect) -> bool:
    """Return whether a link may lead to a host; every link may lead to any."""
    is_any = pattern.host == "*" and link.host is None and pattern.scheme in (None, link.scheme)
    return is_any or pattern.may_hold(link)


def _written(pattern: HostPattern) -> str:
    return f"`{pattern.text}`" if pattern.listed is None else f"`{pattern.text}` of `@{pattern.listed}`"


def _shown(link: Connect) -> str:
    """Return where a link leads, as a phrase."""
    shown = f"the link `{shortened(link.text, _BRIEF)}`"
    if link.host is not None:
        return f"{shown} {'leads' if link.is_certain else 'may lead'} to {link.host}"
    return f"{shown} has no host that can be read" if link.scheme in _NEED_A_HOST else f"{shown} has no host"


def link_condition(
    path: tuple[str, ...], raw: object, reader: LinkReader, *, optional: object = None
) -> LinkHostCondition | LinkSourceCondition:
    """Return the condition that the table of a `links` denotes.

    Raises: `RuleError`.
    """
    try:
        name, operand = _only(raw)
        is_negative, is_optional = name.startswith("not_"), flag(optional)
        if name.endswith("from"):
            sources = sources_of(operand)
            return LinkSourceCondition(path, reader, sources, is_negative=is_negative, is_optional=is_optional)
        hosts = _hosts(operand, reader)
        return LinkHostCondition(path, reader, hosts, is_negative=is_negative, is_optional=is_optional)
    except RuleError as error:
        raise RuleError(f"`{'.'.join(('args', *path))}`: `{LINKS}`: {error}") from error


def _only(raw: object) -> tuple[str, object]:
    names = list(raw) if isinstance(raw, Mapping) else []
    unknown = [str(name) for name in names if name not in _OPERATORS]
    if unknown:
        raise RuleError(f"unknown operator `{unknown[0]}`; {nearest(unknown[0], _OPERATORS)}")
    if not isinstance(raw, Mapping) or len(names) != 1:
        raise RuleError(
            'a table with one of `host`, `not_host`, `from` and `not_from` is needed, such as `host = ["*"]`'
        )
    return names[0], raw[names[0]]


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

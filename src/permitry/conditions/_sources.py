"""The operators `from`, `not_from` and `words` of `when.args`: where a value was seen before."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from permitry.conditions.listed import ListedValues
from permitry.conditions.match import Match
from permitry.conditions.provenance.normal_form import elements_of, normal, words_of
from permitry.conditions.provenance.provenance import Path, Provenance, provenance_of
from permitry.conditions.written import PlainCondition
from permitry.core.json_values import JsonValue, canonical_json
from permitry.core.origin import Origin
from permitry.core.rule import Request
from permitry.core.texts import shorten
from permitry.errors import RuleError, UnevaluableError

ON_SOURCES = ("from", "not_from", "words")
_BRIEF = 60
_MOST_VALUES = 10
_MOST_PLACES = 8
_MOST_NUMBERS = 3
_UP = "../"
_SOURCE = re.compile(
    r"(?:(named|call):|(?!named:|call:))([^ #@]+)(?:#([^\s#@.*]+(?:\.[^\s#@.*]+)*)(?:@(.+))?)?", re.DOTALL
)
EMPTY: tuple[object, ...] = (None, "", ())


@attrs.frozen
class Source:
    """Where a value may come from. `kind` is `user`, `list`, `result`, `named` or `call`.

    `path` leads to the value in a result of `tool`, or in the arguments of an earlier call; None: it
    is anywhere in the result. With `other`, that value of the same object, or of the one so many
    levels `up` around it, is one that the user wrote; of `named`, the values in the call were.
    """

    text: str
    kind: str
    tool: str = ""
    path: Path | None = None
    other: str | None = None
    up: int = 0
    values: frozenset[str] = attrs.field(default=frozenset(), repr=lambda values: repr(sorted(values)))

    @property
    def needs_user(self) -> bool:
        """Whether it can only be known where the messages of the user are."""
        return self.kind in ("user", "named") or self.other is not None

    def places(self, form: str, known: Provenance) -> Iterator[str]:
        """Yield where a value with this normal form certainly was seen, as phrases for people."""
        match self.kind:
            case "user":
                if known.is_said(form):
                    yield "the user's messages"
            case "list":
                if form in self.values:
                    yield f"the list `{self.text.removeprefix('list:')}`"
            case _:
                yield from self._places_in_results(form, known)

    def _places_in_results(self, form: str, known: Provenance) -> Iterator[str]:
        if self.path is None:
            for each in known.results_with(self.tool, form):
                if self.kind != "named" or _are_said(each.given, known):
                    yield f"{self.tool} #{each.number}"
            return
        look = known.given if self.kind == "call" else known.seen
        for seen in look(self.tool, self.path, form):
            if self.kind == "named" and not _are_said(seen.of.given, known):
                continue
            if self.other is not None and not _are_said(seen.other(self.other, self.up), known):
                continue
            what = "argument" if self.kind == "call" else "field"
            yield f"{self.tool} #{seen.of.number}, {what} `{'.'.join(self.path)}`"


def _are_said(forms: Sequence[str | None], known: Provenance) -> bool:
    """Return whether there are values, and the user wrote them all."""
    return bool(forms) and all(map(known.is_said, forms))


def source_of(word: object) -> Iterable[Source]:
    """Return the sources that a word, or the values of a list, denote. Raises: `RuleError`.

    A list, and a tool without a field, are known to the loader, which puts others in their place.
    """
    if isinstance(word, Source):
        return [word]
    if isinstance(word, ListedValues):
        forms = frozenset(form for form in map(normal, word) if form is not None)
        return [Source(f"list:{word.name}", "list", values=forms)]
    if not isinstance(word, str) or not word:
        raise RuleError(f"a source is a text such as `user` or `TOOL#field`, not `{str(word)[:_BRIEF]}`")
    if word == "user":
        return [Source("user", "user")]
    if word.startswith("@"):
        raise RuleError(f"`{word}` is a list; write `list:{word[1:]}`")
    found = _SOURCE.fullmatch(word)
    kind, tool, path, other = found.groups(default="") if found else ("", "", "", "")
    if kind == "named" and not path:
        return [Source(word, kind, tool)]
    if not path or (other and kind):
        others = "`TOOL#field`, `TOOL#field@other`, `named:TOOL`, `named:TOOL#field` or `call:TOOL#arg`"
        raise RuleError(f"`{word}` is not a source; write `user`, `list:NAME`, {others}")
    return [_of_field(word, kind or "result", tool, tuple(path.split(".")), other)]


def _of_field(word: str, kind: str, tool: str, path: Path, other: str) -> Source:
    up = 0
    while other.startswith(_UP):
        up, other = up + 1, other.removeprefix(_UP)
    # INVARIANT: the object is named by its level. The next one around it that has the name would be another one where
    # a record lacks it, which who writes the record decides.
    if up >= len(path) or (up and not other):
        why = f"`../` leads to the object around, and `{'.'.join(path)}` is in {len(path)}"
        raise RuleError(f"`{word}` names no object; {why}")
    return Source(word, kind, tool, path, other or None, up)


def find_trusted(tool: str, fields: Iterable[str]) -> list[Source]:
    """Return the sources of the bare name of a tool, by its trusted `fields`; `*` is all."""
    return [Source(tool, "result", tool, None if each == "*" else tuple(each.split("."))) for each in fields]


@attrs.frozen
class SourceCondition(PlainCondition):
    """Holds when the argument at `path`, or each element of it, certainly is of one of the sources.

    With `is_negative` it holds unless that is certain: for restrictions. `share` is how many of the
    words of a text must be the user's, in place of sources. INVARIANT: law 4. Whatever is forgotten,
    no more is permitted by `from`, and no less restricted by `not_from`.
    """

    key = "args.from"
    table = dict
    description = "Where the value of an argument was seen before."
    is_pure = True

    path: tuple[str, ...]
    sources: tuple[Source, ...] = ()
    share: float | None = None
    is_negative: bool = False
    is_optional: bool = False

    @property
    def needs_user(self) -> bool:
        return all(each.needs_user for each in self.sources)

    def match(self, request: Request, needed: Match = Match.YES, /) -> Match:
        """Return `YES` if the value certainly comes from there, or if `is_negative` `NO`; else `ALIKE`.

        Raises: `UnevaluableError` when the argument is missing or not of texts and numbers, and when the
        messages of the user are not known, if that makes a difference.
        """
        makes_no_difference = (needed is Match.ALIKE) is not self.is_negative
        if makes_no_difference or not self._is_known(request):
            return Match.ALIKE
        return Match.of(not self.is_negative)

    def _is_known(self, request: Request) -> bool:
        value, known = value_at(request.call.arguments, self.path), provenance_of(request.context)
        if self.is_optional and value in EMPTY:
            return True
        if value is None:
            raise UnevaluableError(f"`{join_path(self.path)}` is missing")
        if all(any(True for _ in self._places(each, known)) for each in self._elements(value)):
            return True
        if not known.texts and (self.share is not None or any(each.needs_user for each in self.sources)):
            raise UnevaluableError("no message of the user is known here")
        return False

    def _elements(self, value: JsonValue) -> tuple[JsonValue, ...]:
        elements = elements_of(value)
        apart = {(type(each), normal(each)): each for each in elements}
        if not elements or not all(form for _, form in apart):
            raise UnevaluableError(f"`{join_path(self.path)}` is empty, too long, or holds more than texts and numbers")
        # INVARIANT: elements of one type and form come from one place, however many there are.
        return tuple(apart.values())

    def _places(self, element: JsonValue, known: Provenance) -> Iterator[str]:
        if self.share is None:
            yield from places_in(self.sources, element, known)
        elif isinstance(element, str):
            said, every = _words_said(element, known)
            if said and said / every >= self.share:
                yield "the words of the user"

    @property
    def expected(self) -> str:
        if self.share is not None:
            return f"{self.share:.0%} of its words in the user's messages"
        return f"{'not ' if self.is_negative else ''}from {' or '.join(each.text for each in self.sources)}"

    def fact(self, request: Request) -> str:
        value, known = value_at(request.call.arguments, self.path), provenance_of(request.context)
        parts = []
        for each in elements_of(value):
            places = list(dict.fromkeys(self._places(each, known)))
            text = "missing" if each is None else _show_value(each)
            parts.append(f"{text} is in {' and '.join(places)}" if places else f"{text} is in none of its sources")
        return f"{join_path(self.path)}: {', '.join(parts)}"

    def origins(self, request: Request) -> Iterator[Origin]:
        """Yield where each value was seen, also elsewhere; no more than the first ten."""
        try:
            value, known = value_at(request.call.arguments, self.path), provenance_of(request.context)
        except UnevaluableError:
            return
        for each in elements_of(value)[:_MOST_VALUES] if value is not None else ():
            origin = origin_of(".".join(self.path), each, known, self.sources)
            words = _words_said(each, known) if self.share is not None and isinstance(each, str) else None
            yield attrs.evolve(origin, words=words)


def places_in(sources: Iterable[Source], value: JsonValue, known: Provenance) -> Iterator[str]:
    """Yield where a value certainly was seen that some sources denote, as phrases for people."""
    form = normal(value)
    if form is not None:
        for source in sources:
            yield from source.places(form, known)


def origin_of(argument: str, value: JsonValue, known: Provenance, sources: Iterable[Source] = ()) -> Origin:
    """Return where a value was seen, and which lists among some sources it is in, for explanations."""
    form = normal(value)
    places = {} if form is None else known.places(form)
    found = [f"the list `{source.text.removeprefix('list:')}`" for source in sources if form in source.values]
    found += [f"{tool} {_list_numbers(numbers)}{what}" for (tool, what), numbers in places.items()]
    left = len(found) - _MOST_PLACES
    more = [f"{left} more places"] if left > 0 else []
    is_said = known.is_said(form) if known.texts else None
    return Origin(argument, _show_value(value), (*found[:_MOST_PLACES], *more), is_said)


def _list_numbers(numbers: Sequence[int]) -> str:
    """Return the numbers of results, of many the first ones and how many more there are."""
    few = ", ".join(f"#{number}" for number in numbers[:_MOST_NUMBERS])
    return f"{few} and {len(numbers) - _MOST_NUMBERS} more" if len(numbers) > _MOST_NUMBERS else few


def _show_value(value: JsonValue) -> str:
    return shorten(canonical_json(value), _BRIEF)


def source_condition(path: tuple[str, ...], name: str, operand: object, *, optional: object = None) -> SourceCondition:
    """Return the condition of one of these operators. Raises: `RuleError`."""
    try:
        share = _share_of(operand) if name == "words" else None
        sources = sources_of(operand) if share is None else ()
        is_optional = flag(optional)
    except RuleError as error:
        raise RuleError(f"`{join_path(path)}`: `{name}`: {error}") from error
    return SourceCondition(path, sources, share, is_negative=name == "not_from", is_optional=is_optional)


def flag(raw: object) -> bool:
    """Return whether `optional` is given. Raises: `RuleError` for anything but true."""
    if raw not in (None, True):
        raise RuleError("`optional` is true; take it out where the argument is needed")
    return raw is True


def sources_of(raw: object) -> tuple[Source, ...]:
    """Return the sources that a list denotes. Raises: `RuleError`."""
    if not isinstance(raw, list | tuple) or not raw:
        raise RuleError('a list of sources is needed, such as `["user"]`')
    return tuple(source for word in raw for source in source_of(word))


def _share_of(raw: object) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float) or not 0 < raw <= 1:
        raise RuleError("a share is a number above 0 and up to 1, such as 0.5")
    return float(raw)


def _words_said(text: str, known: Provenance) -> tuple[int, int]:
    """Return how many words of a text are in the messages of the user, and how many it has."""
    words = set(words_of(text))
    return sum(map(known.is_word, words)), len(words)


def join_path(path: Sequence[str]) -> str:
    """Return the path of an argument as it is written in a rule: `args.filter.id`."""
    return ".".join(("args", *path))


def value_at(arguments: Mapping[str, JsonValue], path: Sequence[str]) -> JsonValue:
    """Return the value of an argument, or None. Raises: `UnevaluableError` if it has no place."""
    value: JsonValue = arguments
    for depth, name in enumerate(path):
        if not isinstance(value, Mapping):
            raise UnevaluableError(f"`{join_path(path[:depth])}` is not an object")
        value = value.get(name)
    return value

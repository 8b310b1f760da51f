"""Where values were seen in a session: in messages of the user, in results and arguments of calls.

It only answers where a value certainly comes from. What is forgotten comes from nowhere.
"""

import contextlib
import functools
import itertools
import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import attrs

from permitry.conditions.provenance.normal_form import Message, addresses, elements_of, is_in_text, leaves_of, normal
from permitry.core.context import AuthContext
from permitry.core.history import Bounds, copy_state, set_state
from permitry.core.json_values import MAX_BYTES, JsonValue, canonical_text, freeze_object, parse_json
from permitry.core.origin import HeardCounts
from permitry.core.texts import shorten
from permitry.errors import CallError

__all__ = ["GivenResult", "Heard", "Path", "Provenance", "Returned", "Seen", "provenance_of"]

Path: TypeAlias = tuple[str, ...]
"""The names that lead to a value in a result, or in arguments; the places in lists are left out."""

GivenResult: TypeAlias = tuple[str, Mapping[str, Any], object] | tuple[str, Mapping[str, Any], object, Collection[str]]
"""A result: the tool, the arguments, what it returned, and the labels that the call put on the session."""


@attrs.frozen(eq=False)
class Returned:
    """A result of a call that ran, with its number in the session; `text` is that of a text.

    `arguments` are the texts and numbers in the arguments, and `names` those of objects in them.
    `labels` are those that the call put on the session; they are for explanations alone.
    """

    number: int
    tool: str
    arguments: tuple[str | int | float, ...]
    names: tuple[str, ...] = attrs.field(repr=False)
    text: str | None
    size: int = attrs.field(repr=False)
    keys: tuple["_Key", ...] = attrs.field(repr=False)
    labels: frozenset[str] = frozenset()

    @functools.cached_property
    def given(self) -> tuple[str | None, ...]:
        """The normal forms of the arguments."""
        return tuple(map(normal, self.arguments))

    def echoes(self, form: str) -> bool:
        """Return whether a value is in the arguments, so that the tool may only repeat it."""
        return form in self.given or any(message.has(form) for message in self._messages)

    def has(self, form: str) -> bool:
        """Return whether a value is in the result, or a whole word of it where it is a text."""
        return form in self._forms or (self._message is not None and self._message.has(form))

    def places(self, form: str) -> Iterator[tuple[str, str]]:
        """Yield the tool, and what of the call and its result a value is, as texts for people."""
        labels = f" (labelled {', '.join(f'`{label}`' for label in sorted(self.labels))})" if self.labels else ""
        if self._message is not None and self._message.has(form):
            yield self.tool, labels
        for key in self.keys:
            if key.form == form or is_in_text(form, key.form):
                repeated = not key.is_given and self.echoes(form)
                yield self.tool, f"{labels}{key.place}" + (", which it was given" if repeated else "")

    @functools.cached_property
    def _messages(self) -> tuple[Message, ...]:
        return tuple(Message.of(each) for each in (*self.arguments, *self.names) if isinstance(each, str))

    @functools.cached_property
    def _message(self) -> Message | None:
        return None if self.text is None else Message.of(self.text)

    @functools.cached_property
    def _forms(self) -> frozenset[str]:
        return frozenset(key.form for key in self.keys if not key.is_given)


class _Record(NamedTuple):
    """The normal forms of the values of an object, by name, and the object around it."""

    values: Mapping[str, tuple[str, ...]]
    around: "_Record | None" = None


@attrs.frozen
class Seen:
    """A place where a value was seen: the result, and the object that the value is in."""

    of: Returned
    record: _Record = attrs.field(repr=False)

    def other(self, name: str, up: int = 0) -> tuple[str, ...]:
        """Return the values with a name in the same object, or in the one `up` levels around it."""
        record: _Record | None = self.record
        for _ in range(up):
            record = None if record is None else record.around
        return () if record is None else record.values.get(name, ())


class _Key(NamedTuple):
    """Where a value was seen: in arguments of calls or in results, of a tool, at which path."""

    is_given: bool
    tool: str
    path: Path
    form: str

    @property
    def size(self) -> int:
        """About how many bytes it takes to keep it, with what is kept next to it."""
        return _OF_A_VALUE + len(self.form) + sum(_OF_A_NAME + len(name) for name in self.path)

    @property
    def place(self) -> str:
        """The field or argument, for people, after the name of the tool; empty for the whole."""
        path = ".".join(self.path)
        # INVARIANT: who writes a result chooses the names of its fields, and none may read like a phrase of ours.
        name = f"`{path}`" if _PLAIN_PATH.fullmatch(path) else shorten(canonical_text(path), _LONGEST_PATH)
        return f", {'argument' if self.is_given else 'field'} {name}" if path else ""


_OF_A_VALUE = 400
_OF_A_NAME = 16
_PLAIN_PATH = re.compile(r"[\w.-]{1,60}", re.ASCII)
_LONGEST_PATH = 60
_NONE = frozenset[str]()
_NO_RECORD = _Record({})
_LONGEST_JSON = 4 * MAX_BYTES


class _Waiting(NamedTuple):
    """A result in which no rule has looked for values yet; `size` is about its bytes."""

    number: int
    tool: str
    arguments: Mapping[str, JsonValue]
    value: JsonValue
    size: int
    labels: frozenset[str]


@attrs.define(eq=False)
class Heard:
    """What a session hears; it takes a bounded amount of memory. Thread-safe with a `lock`."""

    bounds: Bounds = attrs.field(factory=Bounds)
    lock: contextlib.AbstractContextManager[object] = attrs.field(factory=contextlib.nullcontext, repr=False)
    messages: int = attrs.field(default=0, init=False)
    results: int = attrs.field(default=0, init=False)
    _texts: deque[Message] = attrs.field(factory=deque, init=False, repr=False)
    _size: int = attrs.field(default=0, init=False, repr=False)
    _returned: deque[Returned] = attrs.field(factory=deque, init=False, repr=False)
    _waiting: "deque[_Waiting]" = attrs.field(factory=deque, init=False, repr=False)
    _weight: int = attrs.field(default=0, init=False, repr=False)
    _seen: dict[_Key, list[Seen]] = attrs.field(factory=dict, init=False, repr=False)
    labels: dict[str, frozenset[str]] = attrs.field(factory=dict, init=False, repr=False)
    """By the digest of a call, the labels that it put on the session; those of the latest calls with some."""

    def hear(self, text: str) -> None:
        """Keep a message of the user; miss one that is too long, or cannot be read."""
        message = Message.of(text if len(text) <= self.bounds.message_size else "")
        with self.lock:
            self.messages += 1
            if not message.text and text.strip():
                return
            self._texts.append(message)
            self._size += len(message.text)
            while len(self._texts) > self.bounds.messages or self._size > self.bounds.message_size:
                self._size -= len(self._texts.popleft().text)

    def miss(self) -> None:
        """Count a message that may be the user's, and is not known."""
        with self.lock:
            self.messages += 1

    def label(self, digest: str, labels: frozenset[str]) -> None:
        """Note the labels that a call with this digest puts on the session, for its result."""
        with self.lock:
            self.labels[digest] = self.labels.pop(digest, _NONE) | labels
            if len(self.labels) > self.bounds.results:
                del self.labels[next(iter(self.labels))]

    def keep(
        self,
        tool: str,
        arguments: Mapping[str, JsonValue],
        result: object,
        size: int = 0,
        *,
        labels: frozenset[str] = _NONE,
    ) -> None:
        """Keep a result: a JSON value, or a text, which is read as JSON where it is JSON.

        Its values are looked for when a rule first asks for some: most sessions have no such rule. `size`
        is about how many bytes the arguments take; `labels` are those that the call put on the session.
        """
        # What the host has can change; a text, and what is frozen, cannot.
        value = result if isinstance(result, str | MappingProxyType) else _parse(result)
        size += len(value) if isinstance(value, str) else _size(value)
        with self.lock:
            self.results += 1
            if size > self.bounds.result_size:
                return
            self._waiting.append(_Waiting(self.results, tool, arguments, value, size, labels))
            self._weight += size
            self._bound()

    def _look(self) -> None:
        while self._waiting:
            self._look_into(self._waiting.popleft())

    def _look_into(self, waiting: "_Waiting") -> None:
        tool, arguments, value = waiting.tool, waiting.arguments, _parse(waiting.value)
        self._weight -= waiting.size
        text = value if isinstance(value, str) else None
        given = tuple(_scalars_in(arguments))
        # A model may choose those in inner objects.
        names = tuple(str(name) for is_name, name in leaves_of(arguments) if is_name)
        size, found = sum(len(each) for each in (text, *given, *names) if isinstance(each, str)), []
        for key, record in itertools.chain(_values(tool, value), _values(tool, arguments, is_given=True)):
            found.append((key, record))
            size += key.size
            if size > self.bounds.result_size:
                break
        if size > self.bounds.result_size:
            return
        keys = tuple(key for key, _ in found)
        returned = Returned(waiting.number, tool, given, names, text, size, keys, waiting.labels)
        for key, record in found:
            self._seen.setdefault(key, []).append(Seen(returned, record))
        self._returned.append(returned)
        self._weight += size
        self._bound()

    @property
    def provenance(self) -> "Provenance":
        """What was heard until now."""
        return Provenance(self.messages, self.results, self)

    def _bound(self) -> None:
        while len(self._returned) + len(self._waiting) > self.bounds.results or self._weight > self.bounds.result_size:
            gone = (self._returned or self._waiting).popleft()
            self._weight -= gone.size
            for key in frozenset(gone.keys) if isinstance(gone, Returned) else ():
                left = [seen for seen in self._seen.pop(key, ()) if seen.of is not gone]
                if left:
                    self._seen[key] = left

    # Asking; the numbers are how much there was at the moment that is asked about -------------------------------------

    def said(self, messages: int) -> tuple[Message, ...]:
        """Return those of the first messages that are kept."""
        with self.lock:
            return tuple(itertools.islice(self._texts, max(0, messages - self.messages + len(self._texts))))

    def returned(self, results: int) -> tuple[Returned, ...]:
        """Return those of the first results that are kept."""
        with self.lock:
            self._look()
            return tuple(each for each in self._returned if each.number <= results)

    def seen(self, key: _Key, results: int) -> tuple[Seen, ...]:
        """Return where a value was seen in the first results."""
        with self.lock:
            self._look()
            return tuple(seen for seen in self._seen.get(key, ()) if seen.of.number <= results)

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            self._look()
        return copy_state(self)

    __setstate__ = set_state


@attrs.frozen(eq=False)
class Provenance(HeardCounts):
    """What a session had heard at one moment; never changes, except that it forgets."""

    _heard: Heard = attrs.field(factory=Heard, repr=False)

    @classmethod
    def of(cls, messages: Iterable[str], results: Iterable[GivenResult] = ()) -> "Provenance":
        """Return that of some messages and results, each with tool, arguments and labels."""
        heard = Heard()
        for text in messages:
            heard.hear(text)
        for tool, arguments, result, *labels in results:
            heard.keep(tool, freeze_object(arguments), result, labels=frozenset(*labels))
        return heard.provenance

    @property
    def texts(self) -> tuple[str, ...]:
        """The messages of the user that are still kept, oldest first."""
        return tuple(message.text for message in self._said)

    @property
    def is_complete(self) -> bool:
        """Whether every message is still kept, and there is one."""
        return 0 < self.messages == len(self._said)

    def is_said(self, form: str | None) -> bool:
        """Return whether a value with this normal form is a whole word of a message of the user."""
        return form is not None and any(message.has(form) for message in self._said)

    def is_word(self, word: str) -> bool:
        """Return whether this word is one of the user's messages."""
        return any(message.has_word(word) for message in self._said)

    def given(self, tool: str, path: Path, form: str | None) -> tuple[Seen, ...]:
        """Return where a value was seen at `path` in arguments of calls of a tool."""
        return self._heard.seen(_Key(True, tool, path, form or ""), self.results)

    def seen(self, tool: str, path: Path, form: str | None) -> tuple[Seen, ...]:
        """Return where a value was seen at `path` in results of a tool that it was not given."""
        key = _Key(False, tool, path, form or "")
        return tuple(seen for seen in self._heard.seen(key, self.results) if not seen.of.echoes(key.form))

    def results_with(self, tool: str, form: str) -> Iterator[Returned]:
        """Yield the results of a tool with a value that it was not given, anywhere or as a word."""
        for each in self._returned:
            if each.tool == tool and each.has(form) and not each.echoes(form):
                yield each

    def places(self, form: str) -> Mapping[tuple[str, str], Sequence[int]]:
        """Return by each of `Returned.places` of a value the numbers of the results."""
        found: dict[tuple[str, str], list[int]] = {}
        for each in self._returned:
            for place in dict.fromkeys(each.places(form)):
                found.setdefault(place, []).append(each.number)
        return found

    @property
    def _returned(self) -> tuple[Returned, ...]:
        return self._heard.returned(self.results)

    @property
    def _said(self) -> tuple[Message, ...]:
        return self._heard.said(self.messages)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Provenance) and self._heard is other._heard:
            return (self.messages, self.results) == (other.messages, other.results)
        return super().__eq__(other)

    __hash__ = HeardCounts.__hash__

    @property
    def content(self) -> tuple[object, ...]:
        """What is kept of the messages and results."""
        kept = ((each.number, each.text, each.keys, each.labels) for each in self._returned)
        return (*self.texts, *kept)


_NOTHING = Provenance()


def provenance_of(context: AuthContext) -> Provenance:
    """Return what the session had heard; nothing where its host gave no more than counts."""
    known = context.provenance
    return known if isinstance(known, Provenance) else _NOTHING


def _parse(result: object) -> JsonValue:
    """Return a result as a JSON value; other text stays a text, and all else is nothing."""
    try:
        # A much longer one is more than is frozen, even with blanks for people.
        value = parse_json(result) if isinstance(result, str) and len(result) <= _LONGEST_JSON else result
        return freeze_object({"": value})[""]
    except CallError:
        return result if isinstance(result, str) else None


def _values(
    tool: str, value: JsonValue, path: Path = (), *, is_given: bool = False, around: _Record | None = None
) -> Iterator[tuple[_Key, _Record]]:
    """Yield every text and number in a value, by its path, with the object that it is in.

    Of a text in a result, the addresses in it as well: its author could make it one of them. So is an
    address that is the name of a value, as in `{"shared_with": {"ann@example.com": "read"}}`.
    """
    if isinstance(value, Mapping):
        others = {name: forms for name, inner in value.items() if (forms := _forms_of(inner))}
        record = _Record(others, around)
        for name, inner in value.items():
            here = (*path, name)
            found = itertools.chain(others.get(name, ()), () if is_given else _addresses_in(inner))
            yield from ((_Key(is_given, tool, here, form), record) for form in dict.fromkeys(found))
            # The objects and lists in a value, whose own values are not those of the object around it.
            parts = (each for each in elements_of(inner) if isinstance(each, Mapping | tuple))
            for each in parts:
                yield from _values(tool, each, here, is_given=is_given, around=record)
    elif isinstance(value, tuple):
        for inner in value:
            yield from _values(tool, inner, path, is_given=is_given, around=around)
    else:
        yield from ((_Key(is_given, tool, path, form), _NO_RECORD) for form in _forms_of(value))


def _forms_of(value: JsonValue) -> tuple[str, ...]:
    return tuple(form for form in map(normal, elements_of(value)) if form is not None)


def _addresses_in(value: JsonValue) -> Iterator[str]:
    """Yield the normal forms of the addresses in a text, a list, or the names of an object."""
    for each in value if isinstance(value, Mapping) else elements_of(value):
        if isinstance(each, str):
            yield from addresses(each)


def _scalars_in(value: JsonValue) -> Iterator[str | int | float]:
    for is_name, each in leaves_of(value):
        if isinstance(each, str | int | float) and not (is_name or isinstance(each, bool)):
            yield each


def _size(value: JsonValue) -> int:
    return sum(_OF_A_VALUE + (len(each) if isinstance(each, str) else 0) for each in _scalars_in(value))

"""What is known about programs, read from `programs.toml` on first use, and more records of a policy.

`programs.json` has the same content and is read ten times as fast; it is used only if it was made from exactly these
bytes of `programs.toml`. A build makes it (`.ci/hatch_build.py`), and so do the tests.
"""

import contextlib
import contextvars
import functools
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ParamSpec, TypeAlias, TypeVar

from permitry.actions.programs.entries import Entry
from permitry.actions.programs.notation import Entries, add_fields, by_name, words_of

__all__ = ["Catalogue", "bind", "catalogue", "compact", "record_of", "remember", "shipped", "using"]

_TEXT = Path(__file__).parents[1] / "programs.toml"
_COMPACT = _TEXT.with_suffix(".json")
_UNKNOWN = Entry()
_Added: TypeAlias = Mapping[str, Mapping[str, Any]]


class Catalogue(Entries):
    """The entries of all programs.

    `variables` is what is known about variables of the environment, by names and patterns of names; `elsewhere` are the
    programs that run commands on another machine, or where paths lead elsewhere; `groups` are the names of groups of
    options; `of_gnu` are the names that programs of GNU have where those of the system are others, each with its usual
    one. It never changes, and is equal to itself alone.
    """

    __hash__ = object.__hash__

    def __init__(self, data: Mapping[str, Any], added: _Added | None = None) -> None:
        others = by_name(data.get("other", {}))
        records = {name: {**record, "is_known": False} for name, record in others.items()} | by_name(data["program"])
        for name, views in by_name(data.get("view", {})).items():
            records[name] = {**records.get(name, {"is_known": False}), "views": views}
        for name, own in (added or {}).items():
            records[name] = add_fields(records.get(name, {}), {**own, "is_known": True})
        super().__init__(records, data)
        self.groups = frozenset(data["group"])
        self.of_gnu = {f"g{name}": name for name in data.get("gnu", {}).get("names", "").split()}
        self.variables = by_name(data.get("variable", {}))
        self.elsewhere = frozenset(name for name, record in records.items() if record.get("elsewhere"))

    def __eq__(self, other: object) -> bool:
        return self is other

    def with_records(self, added: _Added) -> "Catalogue":
        """Return what `programs.toml` says, and `added` records, by the names of programs.

        Of a program that has a record, the added one has its fields in place of those, but adds to
        its options and its sub-commands.
        """
        return Catalogue(self._source, added)

    def words(self, field: str) -> frozenset[str]:
        """Return the words that records of `programs.toml` have in a field."""
        records = (*self._source.get("other", {}).values(), *self._source["program"].values())
        return frozenset(word for record in records for word in words_of(record, field))


_CURRENT: contextvars.ContextVar[Catalogue] = contextvars.ContextVar("permitry_catalogue")
_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")


def catalogue() -> Catalogue:
    """Return what is known about programs and variables, with records of the policy that reads."""
    found = _CURRENT.get(None)
    return shipped() if found is None else found


@contextlib.contextmanager
def using(known: Catalogue) -> Iterator[None]:
    """Have what is read inside, in this thread or task, read by this catalogue."""
    token = _CURRENT.set(known)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def bind(read: Callable[[], _Made]) -> Callable[[], _Made]:
    """Return the same function for a later time: it reads by the catalogue of now."""
    return functools.partial(_read_by, catalogue(), read)


def _read_by(known: Catalogue, read: Callable[[], _Made]) -> _Made:
    with using(known):
        return read()


def remember(most: int) -> Callable[[Callable[_Given, _Made]], Callable[_Given, _Made]]:
    """Have up to so many results of a function remembered, those of each catalogue as its own."""

    def decorate(function: Callable[_Given, _Made]) -> Callable[_Given, _Made]:
        @functools.lru_cache(maxsize=most)
        def compute(_: Catalogue, given: tuple[Any, ...], named: tuple[tuple[str, Any], ...]) -> _Made:
            return function(*given, **dict(named))

        @functools.wraps(compute)
        def look_up(*given: _Given.args, **named: _Given.kwargs) -> _Made:
            return compute(catalogue(), given, tuple(named.items()))

        return look_up

    return decorate


@functools.cache
def shipped() -> Catalogue:
    """Return what `programs.toml` says about programs and variables."""
    text = _TEXT.read_bytes()
    try:
        stored = json.loads(_COMPACT.read_bytes())
    except (OSError, ValueError):
        stored = None
    is_same = isinstance(stored, dict) and stored.get("sha256") == hashlib.sha256(text).hexdigest()
    return Catalogue(stored if is_same else _parse(text))


def record_of(name: str) -> Entry:
    """Return what is known about a program; an empty entry for any other name."""
    known: Entry = catalogue().get(name, _UNKNOWN)
    return known


def is_opaque(name: str) -> bool:
    """Return whether all that is known of a program is that it may run any code; `python3.11` is `python`."""
    known = next((each for each in (name, name.lower().rstrip("0123456789.-")) if each in catalogue()), None)
    return known is None or set(record_of(known).does) == {"code"}


def compact() -> str:
    """Return what `programs.json` must hold: `programs.toml` as JSON, and the SHA-256 of its bytes."""
    text = _TEXT.read_bytes()
    data = {"sha256": hashlib.sha256(text).hexdigest(), **_parse(text)}
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False) + "\n"


def _parse(text: bytes) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415 -- slow to import, and not needed if `programs.json` is used

    return tomllib.loads(text.decode())

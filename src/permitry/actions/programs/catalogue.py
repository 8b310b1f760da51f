"""What is known about programs, read from `programs.toml` on first use, and more records of a policy.

`programs.json` has the same content and is read ten times as fast; it is used only if it was made from exactly these
bytes of `programs.toml`. A build makes it (`.ci/hatch_build.py`), and so do the tests.
"""

import contextlib
import contextvars
import functools
import hashlib
import json
from collections import UserDict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ParamSpec, TypeAlias, TypeVar

import attrs

from permitry.core.action import Word

__all__ = [
    "Catalogue",
    "Entry",
    "Options",
    "RefusedError",
    "Shape",
    "Wrapper",
    "bind",
    "catalogue",
    "compact",
    "record_of",
    "remember",
    "shipped",
    "using",
]

_TEXT = Path(__file__).parents[1] / "programs.toml"
_COMPACT = _TEXT.with_suffix(".json")


class RefusedError(Exception):
    """Raised for a command that may do more than read, or whose operands are not certain; its message says why."""


@attrs.frozen
class Options:
    """Options of a program, by how they take values; the names include their hyphens."""

    plain: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    attached: frozenset[str] = frozenset()
    separate: frozenset[str] = frozenset()
    doubled: frozenset[str] = frozenset()
    tripled: frozenset[str] = frozenset()
    has_numbers: bool = False

    def with_more(self, more: "Options") -> "Options":
        """Return these options and `more`."""
        sets = {kind: getattr(self, kind) | getattr(more, kind) for kind in _ENDINGS.values()}
        return Options(has_numbers=self.has_numbers or more.has_numbers, **sets)

    def takes(self, option: str) -> int | None:
        """Return how many of the next words an option, or a cluster of letters, takes; None if that is not known."""
        name, equals, _ = option.partition("=")
        if option.startswith("--"):
            count = self.count(name)
            return 0 if equals and count is not None else count
        if option in self.valued | self.separate:
            return 1
        for at, letter in enumerate(option[1:], start=2):
            count = 0 if letter.isdigit() and self.has_numbers else self.count(f"-{letter}")
            if count is None:
                return None
            if count or f"-{letter}" in self.attached:
                # The rest of the word is the value.
                return count if at == len(option) else 0
        return 0

    def count(self, name: str) -> int | None:
        """Return how many of the next words a single option takes; None if that is not known."""
        kinds = (self.plain | self.attached, self.valued | self.separate, self.doubled, self.tripled)
        return next((count for count, names in enumerate(kinds) if name in names), None)


@attrs.frozen
class Wrapper:
    """How a program runs its operands as a command.

    `leading` operands stand before the command, and `optional` ones may. `sets`: a word with an equals sign before the
    command sets a variable. `shows`: options with which it runs nothing.
    """

    leading: int = 0
    options: Options = Options()
    sets: bool = False
    optional: int = 0
    shows: frozenset[str] = frozenset()

    def is_assignment(self, word: Word) -> bool:
        """Return whether a word before the command sets a variable: no path, which `sudo` runs."""
        return self.sets and "=" in word.text and not word.text.startswith("/")

    def takes(self, option: str) -> int | None:
        """Return how many of the next words an option takes as its values; None if that is not known."""
        if option.startswith("--") and "=" in option:
            return 0
        return self.options.takes(option)


@attrs.frozen
class Shape:
    """What the operands and the values of options are; `programs.toml` says what each field means."""

    operands: tuple[str, ...]
    when: frozenset[str] = frozenset()
    instead: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    entries: frozenset[str] = frozenset()
    connects: frozenset[str] = frozenset()
    at: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()
    skip: frozenset[str] = frozenset()
    trees: frozenset[str] = frozenset()
    lists: frozenset[str] = frozenset()
    skips: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    keeps: frozenset[str] = frozenset()
    exact: frozenset[str] = frozenset()
    unsure: frozenset[str] = frozenset()
    unsure_text: frozenset[str] = frozenset()
    literal: frozenset[str] = frozenset()
    strips: frozenset[str] = frozenset()
    alters: frozenset[str] = frozenset()
    here: str = ""
    format: str = ""
    remote: bool = False


@attrs.frozen
class Entry:
    """What is known about a program or a sub-command; `programs.toml` says what each field means.

    `is_known`: it is known what a program does, and not only what it may run.
    """

    is_known: bool = False
    any_option: bool = False
    runs_nothing: bool = False
    options: Options = Options()
    commands: "Mapping[str, Entry]" = attrs.field(factory=dict)
    bare: bool = False
    needs: frozenset[str] = frozenset()
    most_operands: int | None = None
    operands_need: frozenset[str] = frozenset()
    operand_start: str = ""
    refused_start: str = ""
    refused_text: Mapping[str, str] = attrs.field(factory=dict)
    refused_values: Mapping[str, str] = attrs.field(factory=dict)
    plain: str = ""
    plain_values: frozenset[str] = frozenset()
    refused: Mapping[str, str] = attrs.field(factory=dict)
    options_first: bool = False
    whole_words: bool = False
    script: str = ""
    runs: Wrapper | None = None
    runs_behind: Mapping[str, Wrapper] = attrs.field(factory=dict)
    runner: str = ""
    runs_values: frozenset[str] = frozenset()
    runs_open: frozenset[str] = frozenset()
    runs_after: tuple[str, ...] = ()
    open_words: str = ""
    interprets: bool = False
    guess: str = ""
    evaluates: bool = False
    passes_on: bool = False
    kinds: Mapping[str, frozenset[str]] = attrs.field(factory=dict)
    by_name: bool = False
    input: str = ""
    prints: str = ""
    language: str = ""
    makes: str = ""
    undoable: bool = False
    wraps: bool = False
    unsets: frozenset[str] = frozenset()
    shows: frozenset[str] = frozenset()
    shell: str = ""
    does: Mapping[str, str] = attrs.field(factory=dict)
    views: "Mapping[str, Entry]" = attrs.field(factory=dict)
    names_from: frozenset[str] = frozenset()
    names_behind: frozenset[str] = frozenset()
    code: frozenset[str] = frozenset()
    renames: frozenset[str] = frozenset()
    descends: bool = False
    only_lists: bool = False
    contents: frozenset[str] = frozenset()
    fills: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    filters: tuple[str, ...] = ()
    known: Options = Options()
    shapes: tuple[Shape, ...] = ()

    @property
    def reason(self) -> str:
        """Why no call of it only reads, in one phrase; empty where some do."""
        return " and ".join(self.does.values())


_UNKNOWN, _NONE = Entry(), Options()
_SHAPE = frozenset(attrs.fields_dict(Shape))
_READ_APART = _SHAPE | {"runs", "leading", "optional", "sets", "modes", "elsewhere", "more"}
_KINDS: Mapping[Any, Callable[[list[str]], Any]] = {frozenset[str]: frozenset, tuple[str, ...]: tuple}
_SEVERAL = {
    kind: {field.name: _KINDS[field.type] for field in attrs.fields(kind) if field.type in _KINDS}
    for kind in (Entry, Shape)
}
_DECLARING = {
    **dict.fromkeys(("entries", "names_from", "reads", "texts"), "options"),
    **dict.fromkeys(("at", "code", "connects", "folders", "refused", "runs_open", "writes"), "more"),
}
"""Fields whose options with a value are among those of another field as well."""
_ENDINGS = {"[=]": "attached", "===": "tripled", "==": "doubled", "=": "valued", ":": "separate", "": "plain"}


class _Records(UserDict[str, Any]):
    """Entries of programs or sub-commands by name; each is read when it is first asked for: git's takes long."""

    def __init__(self, records: Mapping[str, Any], source: Mapping[str, Any]) -> None:
        super().__init__()
        self.data, self._source = dict(records), source
        self._entries: dict[str, Entry] = {}

    def __getitem__(self, name: str) -> Entry:
        entry = self._entries.get(name)
        if entry is None:
            entry = self._entries[name] = _entry(self.data[name], self._source)
        return entry


_Added: TypeAlias = Mapping[str, Mapping[str, Any]]
_Joined: TypeAlias = str | Mapping[str, str]


class Catalogue(_Records):
    """The entries of all programs.

    `variables` is what is known about variables of the environment, by names and patterns of names; `elsewhere` are the
    programs that run commands on another machine, or where paths lead elsewhere; `groups` are the names of groups of
    options; `of_gnu` are the names that programs of GNU have where those of the system are others, each with its usual
    one. It never changes, and is equal to itself alone.
    """

    __hash__ = object.__hash__

    def __init__(self, data: Mapping[str, Any], added: _Added | None = None) -> None:
        others = _by_name(data.get("other", {}))
        records = {name: {**record, "is_known": False} for name, record in others.items()} | _by_name(data["program"])
        for name, views in _by_name(data.get("view", {})).items():
            records[name] = {**records.get(name, {"is_known": False}), "views": views}
        for name, own in (added or {}).items():
            records[name] = _add(records.get(name, {}), {**own, "is_known": True})
        super().__init__(records, data)
        self.groups = frozenset(data["group"])
        self.of_gnu = {f"g{name}": name for name in data.get("gnu", {}).get("names", "").split()}
        self.variables = _by_name(data.get("variable", {}))
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
        return frozenset(word for record in records for word in _words_of(record, field))


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


def _by_name(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the records of a table by each name: a key may hold several."""
    records: dict[str, Any] = {}
    for names, record in table.items():
        records |= dict.fromkeys(names.split(), record)
    return records


def _words_of(record: Mapping[str, Any], field: str) -> Iterator[str]:
    """Yield the words in a field of a record, of its modes and of its sub-commands."""
    yield from record.get(field, "").split()
    for inner in (*record.get("modes", ()), *record.get("commands", {}).values()):
        yield from _words_of(inner, field)


def _add(known: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with the fields of another one, which adds to its options and commands."""
    both = [name for name in ("options", "more", *_DECLARING) if name in known and name in own]
    joined: dict[str, Any] = {name: _join(known[name], own[name]) for name in both}
    if "commands" in known and "commands" in own:
        commands = _by_name(known["commands"])
        added = _by_name(own["commands"]).items()
        more = {name: _add(commands.get(name, {}), each) for name, each in added}
        joined["commands"] = commands | more
    return {**known, **own, **joined}


def _join(known: _Joined, own: _Joined) -> _Joined:
    if isinstance(known, str) or isinstance(own, str):
        return f"{known} {own}"
    return {**known, **own}


def _entry(data: Mapping[str, Any], source: Mapping[str, Any]) -> Entry:
    groups: Mapping[str, str] = source["group"]
    fields = _fields(Entry, {name: value for name, value in data.items() if name not in _READ_APART})
    whole_words = fields.get("whole_words", False)
    fields["is_known"] = data.get("is_known", True)
    fields["does"] = {word: source["does"][word] for word in data.get("does", "").split()}
    fields["runs_nothing"] = fields.get("runs_nothing", False) or fields.get("any_option", False)
    fields["options"] = _options(_declare(data, "options"), groups, whole_words=whole_words)
    more = _options(_declare(data, "more"), groups, whole_words=whole_words)
    fields["known"] = fields["options"].with_more(more)
    refused = _by_name(data.get("refused", {}))
    fields["refused"] = {_split(name)[0]: reason for name, reason in refused.items()}
    fields["refused_values"] = _by_name(data.get("refused_values", {}))
    if "runs" in data or data.get("wraps"):
        fields["runs"] = _wrapper(data, groups, fields["known"])
    behind = _by_name(data.get("runs_behind", {}))
    fields["runs_behind"] = {name: _wrapper(each, groups) for name, each in behind.items()}
    fields["kinds"] = {name: frozenset(text.split()) for name, text in data.get("kinds", {}).items()}
    fields["commands"] = _Records(_by_name(data["commands"]), source) if "commands" in data else {}
    fields["views"] = _Records(_views(data.get("views", {})), source)
    return Entry(shapes=_shapes(data), **fields)


def _views(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record for each view, `*` among them, with what that one has for all."""
    rows = {
        name: {"options": row} if isinstance(row, str) else row
        for name, row in _by_name(table).items()
    }  # fmt: skip
    every = rows.get("*", {})
    for name, row in rows.items():
        options = f"{every.get('options', '')} {row.get('options', '')}"
        rows[name] = {**every, **row, "options": options}
    return rows


def _fields(kind: type[Entry] | type[Shape], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a record, with words in place of a text where there are several."""
    several = {name: make(data[name].split()) for name, make in _SEVERAL[kind].items() if name in data}
    for name in _DECLARING.keys() & several.keys():
        several[name] = frozenset(_split(word)[0] for word in several[name])
    return {**data, **several}


def _declare(data: Mapping[str, Any], field: str) -> str:
    """Return the options in a field, and those in the fields that say what their values are."""
    roles = [role for role, of in _DECLARING.items() if of == field]
    tables = ({**data, "refused": " ".join(data.get("refused", ()))}, *data.get("modes", ()))
    words = (word for table in tables for role in roles for word in table.get(role, "").split())
    return " ".join((data.get(field, ""), *(word for word in words if _split(word)[1])))


def _split(word: str) -> tuple[str, str]:
    """Return the name of an option, and the ending that says how it takes a value."""
    ending = next(filter(word.endswith, _ENDINGS))
    return word.removesuffix(ending), ending


def _wrapper(data: Mapping[str, Any], groups: Mapping[str, str], known: Options = _NONE) -> Wrapper:
    options = known.with_more(_options(data.get("runs", ""), groups, whole_words=False))
    shows = frozenset(data["shows"].split()) if data.get("wraps") and "shows" in data else frozenset()
    return Wrapper(data.get("leading", 0), options, data.get("sets", False), data.get("optional", 0), shows)


def _shapes(data: Mapping[str, Any]) -> tuple[Shape, ...]:
    """Return the shapes of a program's operands: those of its modes, in order, and the default one at the end."""
    usual = {name: value for name, value in data.items() if name in _SHAPE}
    shapes = (usual | mode for mode in (*data.get("modes", ()), {}))
    return tuple(Shape(**_fields(Shape, shape)) for shape in shapes if "operands" in shape)


def _options(text: str, groups: Mapping[str, str], *, whole_words: bool) -> Options:
    """Return the options that a text in `programs.toml` lists."""
    sets: dict[str, set[str]] = {kind: set() for kind in _ENDINGS.values()}
    tokens = _tokens(text, groups)
    for item in tokens:
        name, ending = _split(item)
        is_cluster = not (ending or name.startswith("--") or whole_words)
        if item != "-NUM":
            sets[_ENDINGS[ending]].update((f"-{letter}" for letter in name[1:]) if is_cluster else (name,))
    return Options(has_numbers="-NUM" in tokens, **{kind: frozenset(names) for kind, names in sets.items()})


def _tokens(text: str, groups: Mapping[str, str]) -> list[str]:
    tokens: list[str] = []
    for token in text.split():
        tokens += _tokens(groups[token[1:]], groups) if token.startswith("@") else [token]
    return tokens

"""What is known about programs, read from `programs.toml` on first use.

`programs.json` has the same content and is read ten times as fast; it is used only if it was made from exactly these
bytes of `programs.toml`.
"""

import functools
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

__all__ = ["Catalogue", "Entry", "Options", "RefusedError", "Shape", "catalogue", "compact", "record_of"]

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
        names = ("plain", "valued", "attached", "separate", "doubled", "tripled")
        sets = {name: getattr(self, name) | getattr(more, name) for name in names}
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
class Shape:
    """What the operands and the values of options are; `programs.toml` says what each field means."""

    operands: tuple[str, ...]
    when: frozenset[str] = frozenset()
    instead: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
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
    """What is known about a program or a sub-command; `programs.toml` says what each field means."""

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
    refused: Mapping[str, str] = attrs.field(factory=dict)
    options_first: bool = False
    whole_words: bool = False
    script: str = ""
    wraps: bool = False
    leading: int = 0
    sets: bool = False
    unsets: frozenset[str] = frozenset()
    shows: frozenset[str] = frozenset()
    shell: bool = False
    never: str = ""
    network: bool = False
    looks: frozenset[str] = frozenset()
    names_from: frozenset[str] = frozenset()
    code: frozenset[str] = frozenset()
    renames: frozenset[str] = frozenset()
    descends: bool = False
    fills: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    known: Options = Options()
    shapes: tuple[Shape, ...] = ()


Catalogue = Mapping[str, Entry]

_UNKNOWN = Entry()
_SETS_OF_WORDS = frozenset(
    {"needs", "operands_need", "shows", "looks", "names_from", "texts", "unsets", "code", "renames", "fills"}
)
_SHAPE = frozenset(attrs.fields_dict(Shape))


class _Programs(Mapping[str, Entry]):
    """The entries of all programs; each is read when it is first asked for."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._groups = data["group"]
        self._programs = {name: record for names, record in data["program"].items() for name in names.split()}
        self._known: dict[str, Entry] = {}

    def __getitem__(self, name: str) -> Entry:
        if name not in self._known:
            self._known[name] = _entry(self._programs[name], self._groups)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._programs)

    def __len__(self) -> int:
        return len(self._programs)

    def __contains__(self, name: object) -> bool:
        return name in self._programs


@functools.cache
def catalogue() -> Catalogue:
    """Return the entry of every program that is known, by name."""
    text = _TEXT.read_bytes()
    try:
        stored = json.loads(_COMPACT.read_bytes())
    except (OSError, ValueError):
        stored = None
    is_same = isinstance(stored, dict) and stored.get("sha256") == hashlib.sha256(text).hexdigest()
    return _Programs(stored if is_same else _parsed(text))


def record_of(name: str) -> Entry:
    """Return what is known about a program; an empty entry for any other name."""
    return catalogue().get(name, _UNKNOWN)


def compact() -> str:
    """Return what `programs.json` must hold: `programs.toml` as JSON, and the SHA-256 of its bytes."""
    text = _TEXT.read_bytes()
    data = {"sha256": hashlib.sha256(text).hexdigest(), **_parsed(text)}
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False) + "\n"


def _parsed(text: bytes) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415 -- slow to import, and not needed if `programs.json` is used

    return tomllib.loads(text.decode())


def _entry(data: Mapping[str, Any], groups: Mapping[str, str]) -> Entry:
    fields = {name: value for name, value in data.items() if name not in _SHAPE and name != "modes"}
    whole_words = fields.get("whole_words", False)
    fields["runs_nothing"] = fields.get("runs_nothing", False) or fields.get("any_option", False)
    fields["options"] = _options(fields.get("options", ""), groups, whole_words=whole_words)
    fields["known"] = fields["options"].with_more(_options(fields.pop("more", ""), groups, whole_words=whole_words))
    fields["commands"] = {name: _entry(entry, groups) for name, entry in fields.get("commands", {}).items()}
    for name in _SETS_OF_WORDS & fields.keys():
        fields[name] = frozenset(fields[name].split())
    return Entry(shapes=_shapes(data), **fields)


def _shapes(data: Mapping[str, Any]) -> tuple[Shape, ...]:
    """Return the shapes of a program's operands: those of its modes, in order, and the default one at the end."""
    usual = {name: value for name, value in data.items() if name in _SHAPE}
    return tuple(_shape(usual | mode) for mode in (*data.get("modes", ()), {}) if "operands" in usual | mode)


def _shape(data: Mapping[str, Any]) -> Shape:
    fields = dict(data)
    for name, value in data.items():
        if name == "operands":
            fields[name] = tuple(value.split())
        elif isinstance(value, str) and name not in ("here", "format"):
            fields[name] = frozenset(value.split())
    return Shape(**fields)


def _options(text: str, groups: Mapping[str, str], *, whole_words: bool) -> Options:
    """Return the options that a text in `programs.toml` lists."""
    sets: dict[str, set[str]] = {
        "plain": set(),
        "valued": set(),
        "attached": set(),
        "separate": set(),
        "doubled": set(),
    }
    tokens = _tokens(text, groups)
    for item in tokens:
        if item == "-NUM":
            continue
        for ending, kind in (("[=]", "attached"), ("==", "doubled"), ("=", "valued"), (":", "separate"), ("", "plain")):
            if item.endswith(ending):
                name = item.removesuffix(ending)
                is_cluster = kind == "plain" and not name.startswith("--") and not whole_words
                sets[kind].update((f"-{letter}" for letter in name[1:]) if is_cluster else (name,))
                break
    return Options(has_numbers="-NUM" in tokens, **{kind: frozenset(names) for kind, names in sets.items()})


def _tokens(text: str, groups: Mapping[str, str]) -> list[str]:
    tokens: list[str] = []
    for token in text.split():
        tokens += _tokens(groups[token[1:]], groups) if token.startswith("@") else [token]
    return tokens

"""The notation in which `programs.toml` and rule files say what is known about a program."""

from collections import UserDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import attrs

from permitry.actions.programs.entries import Entry, Options, Shape, Wrapper

__all__ = ["Entries", "add_fields", "by_name", "words_of"]

_NONE = Options()
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
_Joined: TypeAlias = str | Mapping[str, str]


class Entries(UserDict[str, Any]):
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


def by_name(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the records of a table by each name: a key may hold several."""
    records: dict[str, Any] = {}
    for names, record in table.items():
        records |= dict.fromkeys(names.split(), record)
    return records


def words_of(record: Mapping[str, Any], field: str) -> Iterator[str]:
    """Yield the words in a field of a record, of its modes and of its sub-commands."""
    yield from record.get(field, "").split()
    for inner in (*record.get("modes", ()), *record.get("commands", {}).values()):
        yield from words_of(inner, field)


def add_fields(known: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with the fields of another one, which adds to its options and commands."""
    both = [name for name in ("options", "more", *_DECLARING) if name in known and name in own]
    joined: dict[str, Any] = {name: _join(known[name], own[name]) for name in both}
    if "commands" in known and "commands" in own:
        commands = by_name(known["commands"])
        added = by_name(own["commands"]).items()
        more = {name: add_fields(commands.get(name, {}), each) for name, each in added}
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
    refused = by_name(data.get("refused", {}))
    fields["refused"] = {_split(name)[0]: reason for name, reason in refused.items()}
    for name in ("refused_values", "runs_here"):
        fields[name] = by_name(data.get(name, {}))
    if "runs" in data or data.get("wraps"):
        fields["runs"] = _wrapper(data, groups, fields["known"])
    behind = by_name(data.get("runs_behind", {}))
    fields["runs_behind"] = {name: _wrapper(each, groups) for name, each in behind.items()}
    fields["kinds"] = {name: frozenset(text.split()) for name, text in data.get("kinds", {}).items()}
    fields["commands"] = Entries(by_name(data["commands"]), source) if "commands" in data else {}
    fields["views"] = Entries(_views(data.get("views", {})), source)
    return Entry(shapes=_shapes(data), **fields)


def _views(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record for each view, `*` among them, with what that one has for all."""
    rows = {name: {"options": row} if isinstance(row, str) else row for name, row in by_name(table).items()}
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
    """Return the name of an option, and the ending that says how it takes a value; other words have none."""
    if not word.startswith("-"):
        return word, ""
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

"""From drafts to the text of a rule file that loads; what cannot be said is dropped or widened on the way."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from permitry.config.importers.drafts import Draft, Imported, Outcome, Row, Template
from permitry.config.importers.probes import compare
from permitry.config.load import load_rules
from permitry.config.origin import Origin
from permitry.config.ruleset import RuleSet
from permitry.core.texts import one_line, visible
from permitry.errors import ConfigError, PermitryError

__all__ = ["Written", "draft_text", "written"]

_MOST_ROUNDS = 8
_LONGEST_SLUG = 40
_BUILT_IN = "What the host has built in. Delete this block, up to the end of the file, where you do not want it."


@attrs.frozen
class Written:
    """The text of a rule file, and the rows with what became of them."""

    text: str
    rows: tuple[Row, ...]


@attrs.define
class _Entry:
    """A draft on its way: the row it comes from (None for what is built in), and its lines in the file."""

    draft: Draft | None
    row: int | None
    is_wider: bool = False
    name: str = ""
    start: int = 0
    keys: dict[int, str] = attrs.field(factory=dict)


def written(imported: Imported, sources: Sequence[str]) -> Written:
    """Return a rule file that has been loaded, whose examples hold, and whose rules have been tried on calls.

    Raises: `PermitryError` if what is made does not load, which is a mistake here.
    """
    entries = [_Entry(draft, number) for number, row in enumerate(imported.rows) for draft in row.drafts]
    entries += [_Entry(draft, None) for draft in imported.built_in]
    templates: dict[int, int] = {}
    text, _ = _loaded(imported, sources, entries, templates)
    rows = [
        attrs.evolve(row, lines=(templates[at],)) if at in templates else row for at, row in enumerate(imported.rows)
    ]
    return Written(text, tuple(_tried(imported, sources, list(_rows(rows, entries)), entries)))


def _loaded(
    imported: Imported, sources: Sequence[str], entries: Sequence[_Entry], templates: dict[int, int]
) -> tuple[str, RuleSet]:
    problems: ConfigError | None = None
    for _ in range(_MOST_ROUNDS):
        text = _text(imported, sources, entries, templates)
        try:
            return text, load_rules([Origin("rules.toml", text=text)])
        except ConfigError as error:
            problems = error
            if not _mended(entries, {problem.line for problem in error.problems}):
                break
    raise PermitryError(f"the imported rules do not load, which is a mistake of permitry:\n{problems}")


def _tried(imported: Imported, sources: Sequence[str], rows: Sequence[Row], entries: Sequence[_Entry]) -> Iterator[Row]:
    """Yield the rows, each compared with the rule of the host on its probes."""
    alone: list[_Entry] = []
    for number, row in enumerate(rows):
        kept = [entry.draft for entry in entries if entry.row == number and entry.draft is not None]
        drafts = row.alone if row.alone and row.outcome is not Outcome.WIDENED else kept
        if row.probes and kept:
            alone += [_Entry(attrs.evolve(draft, match=(), no_match=()), number) for draft in drafts]
    if not alone:
        yield from rows
        return
    _, rules = _loaded(attrs.evolve(imported, built_in=()), sources, alone, {})
    names = [[entry.name for entry in alone if entry.row == number] for number in range(len(rows))]
    yield from compare(rows, names, rules)


def _mended(entries: Sequence[_Entry], lines: set[int]) -> bool:
    """Take out what the loader refuses: examples, exceptions, conditions, at last a permission. Return if any was."""
    found = False
    for entry in entries:
        keys = {key for line, key in entry.keys.items() if line in lines}
        if not keys or entry.draft is None:
            continue
        found = True
        if examples := keys & {"match", "no_match"}:
            draft = entry.draft
            match = () if "match" in examples else draft.match
            entry.draft = attrs.evolve(draft, match=match, no_match=() if "no_match" in examples else draft.no_match)
        else:
            entry.draft, entry.is_wider = entry.draft.wider(), True
    return found


def _rows(rows: Sequence[Row], entries: Sequence[_Entry]) -> Iterator[Row]:
    for number, row in enumerate(rows):
        own = [entry for entry in entries if entry.row == number]
        kept = [entry for entry in own if entry.draft is not None]
        lines = tuple(entry.start for entry in kept)
        if own and not kept:
            yield attrs.evolve(row, outcome=Outcome.DROPPED, note="permitry has no such condition", lines=())
        elif any(entry.is_wider for entry in kept) or len(kept) < len(own):
            yield attrs.evolve(row, outcome=Outcome.WIDENED, note="permitry has no such condition", lines=lines)
        else:
            is_untried = bool(kept) and not row.probes and row.outcome is Outcome.SAME
            outcome = Outcome.NOT_TRIED if is_untried else row.outcome
            yield attrs.evolve(row, outcome=outcome, lines=lines or row.lines)


# The text ------------------------------------------------------------------------------------------------------------


def _text(imported: Imported, sources: Sequence[str], entries: Sequence[_Entry], templates: dict[int, int]) -> str:
    """Return the text of the file; `entries` and `templates` get the lines of what is written."""
    lines = [
        f"# Imported by `permitry import {imported.host}` from {one_line(', '.join(sources))}.",
        "",
        "schema = 1",
        f'description = "The rules of {imported.host}, imported."',
        *([f'extends = ["{imported.tools}"]'] if imported.tools else []),
    ]
    if imported.is_closed:
        lines += ["", "[policy]", 'unmatched = "block"']
    for number, each in enumerate(imported.rows):
        if each.template is not None:
            templates[number] = len(lines) + 3
            lines += ["", f"# From {one_line(each.place)}.", *_template_lines(each.template)]
    taken: set[str] = set()
    is_own = True
    for entry in entries:
        if entry.draft is None:
            entry.keys = {}
            continue
        if is_own and entry.row is None:
            lines += ["", f"# {_BUILT_IN}"]
            is_own = False
        row = None if entry.row is None else imported.rows[entry.row]
        lines.append("")
        entry.start, entry.keys = len(lines) + 1, {}
        reason = "built in" if row is None else f"from {row.place}"
        entry.name = _id(imported.host, row, taken)
        for key, line in _lines(entry.draft, entry.name, reason):
            lines.append(line)
            entry.keys[len(lines)] = key
    return "\n".join(lines) + "\n"


def _template_lines(template: Template) -> Iterator[str]:
    yield f"[template.{_key(template.name)}]"
    yield f"description = {_value(template.description)}"
    yield f"allow_tools = {_value(template.allow_tools)}"


def _id(host: str, row: Row | None, taken: set[str]) -> str:
    what = "built in" if row is None else row.text
    slug = "-".join(re.findall(r"[a-z0-9]+", what.lower()))[:_LONGEST_SLUG].strip("-")
    name = "-".join(filter(None, (host.replace("_", "-"), slug)))
    number, unique = 1, name
    while unique in taken:
        number += 1
        unique = f"{name}-{number}"
    taken.add(unique)
    return unique


def draft_text(draft: Draft, name: str, reason: str) -> str:
    """Return a rule as TOML."""
    return "\n".join(line for _, line in _lines(draft, name, reason)) + "\n"


def _lines(draft: Draft, name: str, reason: str) -> Iterator[tuple[str, str]]:
    yield "rule", "[[rule]]"
    yield "id", f"id = {_value(name)}"
    yield "effect", f"effect = {_value(draft.effect)}"
    if draft.priority is not None:
        yield "priority", f"priority = {draft.priority}"
    if draft.tools:
        yield "tools", f"tools = {_value(draft.tools)}"
    yield "reason", f"reason = {_value(reason)}"
    if draft.message.strip():
        yield "message", f"message = {_value(draft.message)}"
    yield from (("when", f"when.{_key(key)} = {_value(value)}") for key, value in draft.when.items())
    if len(draft.unless) == 1:
        yield from (("unless", f"unless.{_key(key)} = {_value(value)}") for key, value in draft.unless[0].items())
    elif draft.unless:
        yield "unless", "unless = ["
        yield from (("unless", f"  {_value(each)},") for each in draft.unless)
        yield "unless", "]"
    if draft.match:
        yield "match", f"match = {_value(draft.match)}"
    if draft.no_match:
        yield "no_match", f"no_match = {_value(draft.no_match)}"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)


def _value(value: Any) -> str:  # noqa: ANN401 -- any value of TOML
    """Return a value as TOML, in one line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    # A text of JSON is one of TOML. What no one would see, or would see in another order, is written as its number.
    text = json.dumps(value, ensure_ascii=False)
    return "".join(char if visible(char) == char else f"\\U{ord(char):08x}" for char in text)

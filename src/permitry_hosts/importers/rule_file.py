"""From drafts to the text of a rule file that loads; what cannot be said is dropped or widened on the way."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from permitry.config.load import load_rules
from permitry.config.origin import Origin
from permitry.config.rule_text import Draft, rule_lines, write_key, write_value
from permitry.config.ruleset import RuleSet
from permitry.core.texts import one_line
from permitry.errors import ConfigError, PermitryError
from permitry_hosts.importers.drafts import Imported, Outcome, Row, Template
from permitry_hosts.importers.probes import compare

__all__ = ["Written", "write_rules"]

_MOST_ROUNDS = 8
_LONGEST_SLUG = 40
_SAYS = {"allow": "allowed", "confirm": "asked about", "block": "denied"}
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


def write_rules(imported: Imported, sources: Sequence[str]) -> Written:
    """Return a rule file that loads, and was tried on calls. Raises: `PermitryError` if it does not."""
    entries = [_Entry(draft, number) for number, row in enumerate(imported.rows) for draft in row.drafts]
    entries += [_Entry(draft, None) for draft in imported.built_in]
    templates: dict[int, int] = {}
    text, _ = _load(imported, sources, entries, templates)
    rows = [
        attrs.evolve(row, lines=(templates[at],)) if at in templates else row for at, row in enumerate(imported.rows)
    ]
    rows = [_row(row, [entry for entry in entries if entry.row == number]) for number, row in enumerate(rows)]
    return Written(text, tuple(_try(imported, sources, rows, entries)))


def _load(
    imported: Imported, sources: Sequence[str], entries: Sequence[_Entry], templates: dict[int, int]
) -> tuple[str, RuleSet]:
    problems: ConfigError | None = None
    for _ in range(_MOST_ROUNDS):
        text = _text(imported, sources, entries, templates)
        try:
            return text, load_rules([Origin("rules.toml", text=text)])
        except ConfigError as error:
            problems = error
            if not _mend(entries, {problem.line for problem in error.problems}):
                break
    raise PermitryError(f"the imported rules do not load, which is a mistake of permitry:\n{problems}")


def _try(imported: Imported, sources: Sequence[str], rows: Sequence[Row], entries: Sequence[_Entry]) -> Iterator[Row]:
    alone: list[_Entry] = []
    for number, row in enumerate(rows):
        kept = [entry.draft for entry in entries if entry.row == number and entry.draft is not None]
        drafts = row.alone if row.alone and row.outcome is not Outcome.WIDENED else kept
        if row.probes and kept:
            alone += [_Entry(attrs.evolve(draft, match=(), no_match=()), number) for draft in drafts]
    if not alone:
        yield from rows
        return
    _, rules = _load(attrs.evolve(imported, built_in=()), sources, alone, {})
    names = [[entry.name for entry in alone if entry.row == number] for number in range(len(rows))]
    yield from compare(rows, names, rules)


def _mend(entries: Sequence[_Entry], lines: set[int]) -> bool:
    """Take out what the loader refuses: examples, exceptions, conditions, at last a permission. Return if any was."""
    found = False
    for entry in entries:
        keys = {key for line, key in entry.keys.items() if line in lines}
        if not keys or entry.draft is None:
            continue
        found = True
        if examples := keys & {"match", "no_match"}:
            without: Any = dict.fromkeys(examples, ())
            entry.draft = attrs.evolve(entry.draft, **without)
        else:
            entry.draft, entry.is_wider = entry.draft.wider(), True
    return found


def _row(row: Row, own: Sequence[_Entry]) -> Row:
    kept = [entry for entry in own if entry.draft is not None]
    lines = tuple(entry.start for entry in kept)
    if len(kept) < len(own) or any(entry.is_wider for entry in kept):
        outcome = Outcome.WIDENED if kept else Outcome.DROPPED
        return attrs.evolve(row, outcome=outcome, note="permitry has no such condition", lines=lines)
    if kept and not row.probes and row.outcome is Outcome.SAME:
        row = attrs.evolve(row, outcome=Outcome.NOT_TRIED)
    return attrs.evolve(row, lines=lines or row.lines)


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
        reason = f"{_SAYS[entry.draft.effect]} " + ("by default" if row is None else f"in {row.place}")
        entry.name = _id(imported.host, row, taken)
        for key, line in rule_lines(entry.draft, entry.name, reason):
            lines.append(line)
            entry.keys[len(lines)] = key
    return "\n".join(lines) + "\n"


def _template_lines(template: Template) -> Iterator[str]:
    yield f"[template.{write_key(template.name)}]"
    yield f"description = {write_value(template.description)}"
    yield f"allow_tools = {write_value(template.allow_tools)}"


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

"""What observed rules would have changed, for people; and how one is obeyed from now on."""

import argparse
import json
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from permitry.cli.audit_filters import records_from
from permitry.cli.inputs import origins_from, tell
from permitry.cli.main import ExitCode
from permitry.cli.observed_stats import Change, ObservedStats
from permitry.cli.records import RecordFilter, records_at
from permitry.cli.render import console_on
from permitry.cli.stores import record_to_read
from permitry.cli.tables import counts_table
from permitry.config.catalogue import PREFIX, find_file
from permitry.config.drafts import RuleDraft, drafts_of
from permitry.config.load import load_rules
from permitry.core.texts import one_line, shorten
from permitry.errors import AuditError, PermitryError
from permitry.files import replace_file

__all__ = ["count_changes", "enforce"]

_COLUMNS = ("rule", "now", "would", "calls", "sessions", "tools")
_OF_CALL = ("rule", "would", "record", "call")
_LONGEST = 160
_FALSE = re.compile(r"[ \t]*enforce[ \t]*=[ \t]*false[ \t]*(#[^\n]*)?\r?\n?")


def count_changes(options: argparse.Namespace) -> ExitCode:
    """Print what observed rules would have changed, of the records that are asked for."""
    stats = ObservedStats()
    for record in records_from(options, record_to_read(options)):
        stats.add(record)
    if options.json:
        print(json.dumps(stats.to_dict()))
    else:
        _print(stats)
    return ExitCode.OK


def _print(stats: ObservedStats, rule: str | None = None) -> None:
    """Print what observed rules would have changed, or what one of them would, with the last calls of each kind."""
    changes = list(stats.changes(rule))
    other = [each for each in changes if each.is_other]
    calls = sum(each.calls for each in other)
    sessions = set[str]().union(*(each.sessions for each in other))
    whose = "observed rules"
    if rule is not None:
        whose = f"`{rule}`"
    said = f"{whose} would have changed {calls:,} of {stats.calls:,} decisions"
    where = f"in {len(sessions):,} of {len(stats.sessions):,} sessions"
    console = console_on(sys.stdout)
    console.print(one_line(f"{said}, {where}"), markup=False, soft_wrap=True)
    counts_table(console, "what would be decided", _COLUMNS, map(_row, changes))
    counts_table(console, "the last calls of each", _OF_CALL, _examples(other))


def _row(change: Change) -> tuple[str, ...]:
    tools = ", ".join(f"{tool} {count:,}" for tool, count in change.tools.most_common(3))
    return (
        change.rule,
        change.verdict,
        change.would,
        f"{change.calls:,}",
        f"{len(change.sessions):,}",
        tools,
    )


def _examples(changes: list[Change]) -> Iterator[tuple[str, ...]]:
    for change in changes:
        for each in change.examples:
            yield change.rule, change.would, str(each["number"]), _call(each)


def _call(example: Mapping[str, Any]) -> str:
    arguments = json.dumps(example["arguments"], ensure_ascii=False)
    return shorten(f"{example['tool']} {arguments}", _LONGEST)


def enforce(options: argparse.Namespace) -> ExitCode:
    """Show what a rule would have changed, and let it be obeyed from now on, at one word."""
    if options.observe:
        raise PermitryError("a file that `--observe` names is obeyed when `--rules` names it, or a layer has it")
    draft = _find(options)
    stats = ObservedStats()
    try:
        for record in records_at(record_to_read(options), RecordFilter(equal={"event": "decided"})):
            stats.add(record)
    except AuditError as error:
        tell([str(error)])
    _print(stats, draft.table.id)
    text = _without_false(draft)
    if not options.yes and not _is_confirmed(f"obey `{draft.table.id}` from now on?"):
        tell(["nothing was changed"])
        return ExitCode.NEEDS_CONFIRMATION
    path = find_file(draft.source.name).resolve()
    if path.read_text(encoding="utf-8") != draft.source.text:
        raise PermitryError(f"`{draft.source.name}` has changed meanwhile; look at it, and run this again")
    replace_file(path, text.encode(), mode=path.stat().st_mode)
    tell([f"`{draft.table.id}` is obeyed from now on; a project that was trusted is to be trusted again"])
    return ExitCode.OK


def _find(options: argparse.Namespace) -> RuleDraft:
    """Return the observed rule that is named. Raises: `PermitryError`."""
    rules = load_rules(origins_from(options))
    observed = () if rules.observed is None else rules.observed.rules
    ids = {rule.id for rule in observed} - {rule.id for rule in rules.rules}
    if options.id not in ids:
        known = ", ".join(f"`{each}`" for each in sorted(ids)) or "none"
        raise PermitryError(f"`{options.id}` is not an observed rule; those that are: {known}")
    return drafts_of(rules).rules[options.id]


def _without_false(draft: RuleDraft) -> str:
    """Return the text of the file without the line that says it. Raises: `PermitryError`."""
    path, source = (*draft.path, "enforce"), draft.source
    if draft.table.enforce is None or "enforce" in tomllib.loads(source.text).get("policy", {}):
        about = "the whole file is observed, by `[policy] enforce = false` or by `--observe`"
        raise PermitryError(
            f"{draft.place}: {about}; write `enforce = false` on the rules that are still to be observed"
        )
    line = source.places.line(source.places.find(path, key=True).start)
    lines = source.text.splitlines(keepends=True)
    if source.name.startswith(PREFIX) or _FALSE.fullmatch(lines[line - 1]) is None:
        raise PermitryError(f"{source.name}:{line}: take `enforce = false` out by hand")
    del lines[line - 1]
    return "".join(lines)


def _is_confirmed(question: str) -> bool:
    if not _is_at_terminal():
        tell(["there is no terminal to ask at; with `--yes` it is done"])
        return False
    return input(f"{question} [y/N] ").strip().casefold() in ("y", "yes")


def _is_at_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()

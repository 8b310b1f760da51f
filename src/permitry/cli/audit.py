"""`permitry audit`: read the record, count what is in it, and show that nothing in it was changed."""

import argparse
import contextlib
import json
import sys
import time
from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from permitry.audit.record import utc_now
from permitry.cli.audit_filters import add_filters, moment, records_from
from permitry.cli.audit_heads import add_anchors, note_head, read_heads
from permitry.cli.audit_line import line_of
from permitry.cli.audit_policy import add_version, print_policies
from permitry.cli.inputs import print_result, rules_from, tell
from permitry.cli.main import ExitCode
from permitry.cli.observed import count_changes
from permitry.cli.records import RecordFilter, RecordFollower, records_at
from permitry.cli.render import busy, console_on
from permitry.cli.stats import Stats
from permitry.cli.stores import STORE, record_to_read
from permitry.cli.tables import counts_table
from permitry.core.policy import AuthorizationPolicy
from permitry.core.texts import one_line, visible
from permitry.errors import AuditError, PermitryError, count
from permitry.extras import load
from permitry.rules.configured import ConfiguredRule
from permitry.store.chain import BrokenChainError
from permitry.store.chained_store import Store
from permitry.store.policies import PolicyUses
from permitry.store.records import is_address, is_store, store_at

__all__ = ["configure"]

_PAUSE = 0.5
_MOST = 15
_RECENT = 1_000
_UNKEPT = "no rules are kept of {} of a policy that older records name"
_STOPPED = (
    "{behind:,} older records are left behind record {stopped_at}, which is not older; if a clock was wrong when it was"
    " written, forget them with `--through {stopped_at}`"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry audit`."""
    commands = parser.add_subparsers(metavar="ACTION", required=True)
    for name, summary, execute in (
        ("tail", "print the last records", _tail),
        ("show", "print all records of a call, in full", _show),
        ("query", "print the records that are asked for", _query),
        ("export", "write the records that are asked for as JSON lines or Parquet", _export),
        ("stats", "count verdicts, rules and tools", _stats),
        ("policy", "print the rules behind decisions, as they were", _policy),
        ("verify", "check that no record of a store was changed or is missing", _verify),
        ("prune", "forget the oldest records, questions and grants of a store", _prune),
    ):
        command = commands.add_parser(name, allow_abbrev=False, help=summary, description=summary)
        add = command.add_argument
        record = f"a file of lines, or the store that has the record, {STORE}"
        add("--record", "--store", dest="record", metavar="RECORD", help=record)
        add("--json", action="store_true", help="print one JSON object a line, and nothing else")
        command.set_defaults(execute=execute)
        match name:
            case "tail":
                add("-n", "--last", type=int, default=20, metavar="N", help="so many records; default: 20")
                add("-f", "--follow", action="store_true", help="then print new ones as they come, until Ctrl-C")
            case "show":
                add("id", metavar="ID", help="the id of a call, or the number of a record")
            case "query":
                add_filters(command)
            case "export":
                add_filters(command)
                output = "a file .jsonl or .parquet, which is replaced; default: JSON lines on standard output"
                add("-o", "--output", type=Path, metavar="FILE", help=output)
            case "stats":
                add_filters(command)
                rules = "list which of these rules have decided nothing, and which are the slowest"
                add("--rules", action="append", metavar="FILE", help=rules)
                add("--observed", action="store_true", help="count only what observed rules would have changed")
                add("--plot", type=Path, metavar="FILE", help="also draw it: a file .svg, .png or .pdf")
            case "policy":
                add_version(command)
            case "verify":
                add_anchors(command)
            case _:
                add("--older-than", type=moment, required=True, metavar="AGE", help="such as 90d, 12h, or a time")
                through = "also the records up to this one, whatever times they say: a clock may have been wrong"
                add("--through", type=int, default=0, metavar="NUMBER", help=through)


def _tail(options: argparse.Namespace) -> ExitCode:
    if not options.follow:
        _print(options, records_at(record_to_read(options), RecordFilter(last=options.last)))
        return ExitCode.OK
    record = RecordFollower(record_to_read(options))
    _print(options, record.read(RecordFilter(last=options.last)))
    while True:
        sys.stdout.flush()
        time.sleep(_PAUSE)
        _print(options, record.read(RecordFilter()))


def _query(options: argparse.Namespace) -> ExitCode:
    return _print(options, records_from(options, record_to_read(options)))


def _export(options: argparse.Namespace) -> ExitCode:
    name = record_to_read(options)
    if options.output is not None and _is_same(options.output, name):
        raise PermitryError(f"`{options.output}` is the record itself, which would be lost")
    records = records_from(options, name)
    if options.output is None:
        options.json = True
        return _print(options, records)
    with busy(f"writing {one_line(str(options.output))}"):
        count = _write(records, options.output)
    print_result(options, {"exported": count}, f"{count:,} records are in {options.output}")
    return ExitCode.OK if count else ExitCode.FAILED


def _is_same(path: Path, other: str) -> bool:
    with contextlib.suppress(OSError):
        return path.samefile(other)
    return False


def _write(records: Iterable[Mapping[str, Any]], path: Path) -> int:
    if path.suffix == ".parquet":
        return int(load("permitry_ops.parquet:write_parquet")(records, path))
    count = 0
    try:
        with path.open("w", encoding="utf-8") as file:
            for record in records:
                file.write(json.dumps(record) + "\n")
                count += 1
    except OSError as error:
        raise AuditError(f"cannot write `{path}`: {error.strerror}") from error
    return count


def _show(options: argparse.Namespace) -> ExitCode:
    path = record_to_read(options)
    records = list(records_at(path, RecordFilter(equal={"call_id": options.id})))
    if not records and options.id.isdecimal():
        number = int(options.id)
        records = [each for each in records_at(path, RecordFilter(), after=number - 1) if each["number"] == number]
    if not records:
        raise AuditError(f"the record has no call `{options.id}`, and no record with this number")
    for record in records:
        print_result(options, record, visible(json.dumps(record, indent=2, ensure_ascii=False)))
    return ExitCode.OK


def _print(options: argparse.Namespace, records: Iterable[Mapping[str, Any]]) -> ExitCode:
    code = ExitCode.FAILED
    for record in records:
        print(json.dumps(record) if options.json else line_of(record))
        code = ExitCode.OK
    return code


def _stats(options: argparse.Namespace) -> ExitCode:
    if options.observed:
        return count_changes(options)
    return _count(options)


def _count(options: argparse.Namespace) -> ExitCode:
    policy = rules_from(options, ".").policy() if options.rules else None
    rules = [rule for rule in policy.rules if isinstance(rule, ConfiguredRule)] if policy is not None else []
    stats, recent = Stats(), deque[Mapping[str, Any]](maxlen=_RECENT)
    for record in records_from(options, record_to_read(options)):
        stats.add(record)
        if rules and record.get("event") == "decided":
            recent.append(record)
    unused = stats.find_unused(rule.id for rule in rules)
    times = [] if policy is None else _rule_times(options, policy, recent)
    if options.plot is not None:
        load("permitry_ops.replay.plot:plot_stats")(stats, unused, options.plot)
    if options.json:
        extra = {"unused_rules": unused, "rule_seconds": [attrs.asdict(each) for each in times]} if rules else {}
        print(json.dumps(stats.to_dict() | extra))
        return ExitCode.OK
    console = console_on(sys.stdout)
    shares = ", ".join(f"{verdict} {count:,}" for verdict, count in stats.verdicts.most_common())
    said = f"{stats.calls:,} decisions in {len(stats.sessions):,} sessions{': ' + shares if shares else ''}"
    console.print(one_line(said), markup=False)
    for title, columns, rows in stats.tables(_MOST):
        counts_table(console, title, columns, rows)
    if rules:
        slow = [(each.rule, f"{each.mean * 1e6:,.0f}", f"{each.longest * 1e6:,.0f}") for each in times[:_MOST]]
        counts_table(console, "slowest rules now, in microseconds", ("rule", "mean", "longest"), slow)
        counts_table(console, "rules that have decided nothing", ("in", "rules"), _by_file(rules, set(unused)))
    return ExitCode.OK


def _rule_times(
    options: argparse.Namespace, policy: AuthorizationPolicy, records: Iterable[Mapping[str, Any]]
) -> list[Any]:
    from permitry.config.acting import workspaces_in

    sessions = records_at(record_to_read(options), RecordFilter(equal={"event": "session"}))
    return list(load("permitry_ops.replay.rule_times:rule_times")(policy, records, workspaces_in(sessions)))


def _by_file(rules: Iterable[ConfiguredRule], ids: Container[str]) -> Iterator[tuple[str, str]]:
    files: dict[str, list[str]] = {}
    for rule in rules:
        if rule.id in ids:
            files.setdefault((rule.source or "").rpartition(":")[0], []).append(rule.id)
    yield from ((name, ", ".join(found)) for name, found in files.items())


def _verify(options: argparse.Namespace) -> ExitCode:
    store, uses = _store(options, is_read_only=True), PolicyUses()
    try:
        # Read before, and then checked with the others: what is added meanwhile is not what was checked.
        head = store.head
        with busy("checking each record"):
            number = store.verify([*(head for anchor in options.anchor for head in read_heads(anchor)), head], uses)
    except BrokenChainError as error:
        print_result(options, {"ok": False, "number": error.number, "problem": str(error)}, str(error))
        return ExitCode.FAILED
    finally:
        store.close()
    for anchor in options.anchor:
        note_head(anchor, {"at": utc_now(), "number": head.number, "hash": head.hash.hex()})
    unkept = list(uses.unkept)
    if unkept:
        tell([f"{_UNKEPT.format(count(len(unkept), 'version'))}: {', '.join(unkept)}"])
    result = {"ok": True, "records": number, "number": head.number, "hash": head.hash.hex(), "unkept": unkept}
    said = f"{number:,} records, none changed; the last is {head.number:,}: {head.hash.hex()}"
    print_result(options, result, said)
    return ExitCode.OK


def _policy(options: argparse.Namespace) -> ExitCode:
    with contextlib.closing(_store(options, is_read_only=True)) as store:
        return print_policies(options, store)


def _prune(options: argparse.Namespace) -> ExitCode:
    store = _store(options)
    try:
        note = json.dumps({"at": utc_now(), "event": "pruned"})
        counts = dict(store.prune(options.older_than, note, through=options.through))
    finally:
        store.close()
    said = f"{counts['records']:,} records, {counts['questions']:,} closed questions and {counts['grants']:,} grants"
    if "behind" in counts:
        tell([_STOPPED.format_map(counts)])
    print_result(options, {"pruned": counts.pop("records")} | counts, f"{said} are forgotten")
    return ExitCode.OK


def _store(options: argparse.Namespace, *, is_read_only: bool = False) -> Store:
    path = record_to_read(options)
    if not is_store(path):
        raise PermitryError(f"`{path}` is a plain file, in which nothing shows a change; record to a store")
    if not is_address(path) and not Path(path).exists():
        raise AuditError(f"there is no record `{path}`")
    return store_at(path, is_read_only=is_read_only)

"""`permitry diff`: what a change of rules permits that was not permitted, with a call for each way."""

import argparse
import functools
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from permitry.cli.inputs import tell
from permitry.cli.main import ExitCode
from permitry.cli.records import RecordFilter, is_record, records_at
from permitry.cli.stores import STORE, find_store
from permitry.core.texts import one_line
from permitry.errors import PermitryError, count
from permitry.store.records import record_name
from permitry_ops.diff.accepted import read_accepted
from permitry_ops.diff.report import Change, Finding, Report, Unproven, compare
from permitry_ops.diff.sources import load
from permitry_ops.replay.widenings import Called, replay_widenings

__all__ = ["configure"]

_MOST_ROWS = 20
_BAR = "\\|"
"""A bar within a cell of a table."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry diff`."""
    add = parser.add_argument
    meant = "a rule file, a shipped set, a folder of rule files or of a project, git:REVISION:PATH, or audit:VERSION"
    add("old", metavar="OLD", help=f"the rules as they were: {meant}")
    add("new", metavar="NEW", help="the rules as they are to be, named in the same ways")
    add("--only", choices=("wider",), help="look only for what is permitted more")
    add("--budget", type=_seconds, metavar="SECONDS", help="look no longer than this; the rest is not proven")
    add("--accept", type=Path, metavar="FILE", help="widenings that are wanted: [[accept]] with digest, by and why")
    calls = "say of each way how often recorded calls took it, decided by both: the records of sessions"
    add("--sessions", nargs="+", default=[], metavar="RECORD", help=calls)
    add("--store", metavar="STORE", help=f"the store that has the rules of audit:VERSION: {STORE}")
    meant = "the folder that relative paths start from; default: the current one"
    add("--workspace", metavar="DIR", default=".", help=meant)
    shape = parser.add_mutually_exclusive_group()
    put = functools.partial(shape.add_argument, dest="show", action="store_const")
    put("--json", const=_json, help="print one JSON object, and nothing else")
    put("--markdown", const=_markdown, help="print a table for a pull request")
    parser.set_defaults(execute=execute, show=_text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text.removesuffix("s"))
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"`{text}` is not a number of seconds; write 10 or 10s")
    return seconds


def execute(options: argparse.Namespace) -> ExitCode:
    """Compare the rules, and print what was found."""
    accepted = () if options.accept is None else read_accepted(options.accept)
    store = find_store(options)
    workspace = str(Path(options.workspace).absolute())
    called: Called | None = None
    with load(options.old, store) as old, load(options.new, store) as new:
        tell((*old.rules.notices, *new.rules.notices))
        report = compare(
            old,
            new,
            workspace=workspace,
            seconds=options.budget,
            only_wider=options.only is not None,
            accepted=accepted,
        )
        if options.sessions:
            records = _records(options.sessions)
            called = replay_widenings(records, old, new, report.ways, workspace=workspace)
    unknown = {each.digest for each in accepted} - {each.digest for each in report.wider}
    tell(f"`{options.accept}` accepts `{digest}`, which is not there" for digest in sorted(unknown))
    for line in options.show(report, called):
        print(line)
    if report.to_accept:
        return ExitCode.FAILED
    return ExitCode.UNPROVEN if report.unproven else ExitCode.OK


def _records(names: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the records of sessions, one after the other. Raises: `PermitryError` for a file of another kind."""
    for name in names:
        if not is_record(name):
            raise PermitryError(f"`{record_name(name)}` is not a record, which says when each session called what")
        yield from records_at(name, RecordFilter())


def _json(report: Report, called: Called | None) -> Iterator[str]:
    data = report.to_dict()
    if called is not None:
        data["sessions"] = called.summarize()
        shown = (*data["wider"], *data["unproven"])
        for way, found in zip(shown, report.ways, strict=True):
            way["called"] = called.of(found).to_dict()
    yield json.dumps(data)


def _text(report: Report, called: Called | None) -> Iterator[str]:
    yield report.head
    for change in report.wider:
        accepted = f"accepted by {change.accepted_by}" if change.accepted_by else "to accept it"
        yield _paragraph(change, *_list_calls(change, called), f"{accepted}: {change.digest}")
    less = count(len(report.narrower), "way")
    doubts = count(len(report.unproven), "way")
    yield from _under(f"Less is allowed: {less}", map(_paragraph, report.narrower))
    unproven = (_indent(_explain(each), *_list_calls(each, called)) for each in report.unproven)
    yield from _under(f"Not proven: {doubts}", unproven)
    yield from _under("This relies on:", (f"  {each}" for each in report.assumptions))
    asked = count(report.asked, "call")
    rules = count(report.rules, "rule")
    yield f"{report.changed} of {rules} looked at, {asked} asked of both, {report.seconds:.2f} s"
    yield from _sum_up(called)


def _explain(way: Unproven) -> str:
    return f"{way.title}: {', '.join(way.why)}"


def _list_calls(way: Finding, called: Called | None) -> Iterator[str]:
    """Yield what of a way was called, if records were looked at."""
    if called is not None:
        yield str(called.of(way))


def _sum_up(called: Called | None) -> Iterator[str]:
    """Yield what was found in records, if they were looked at."""
    if called is None:
        return
    calls = count(called.calls, "recorded call")
    sessions = count(called.sessions, "session")
    yield f"{calls} of {sessions} decided by both: {called.looser:,} less strictly"
    for reason, number in called.unjudged.items():
        yield f"{count(number, 'recorded call')} not judged: {reason}"
    if called.others.calls:
        yield one_line(f"less strictly in no way above: {called.others}")


def _under(head: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield lines below a head, which is left out without any."""
    for number, line in enumerate(lines):
        yield f"{head}\n{line}" if number == 0 else line


def _paragraph(change: Change, *more: str) -> str:
    return _indent(change.title, change.command, " -> ".join(change.sides), *more)


def _indent(title: str, *lines: str) -> str:
    return "\n    ".join([f"  {one_line(title)}", *map(one_line, lines)])


def _markdown(report: Report, called: Called | None) -> Iterator[str]:
    yield f"### {report.head}"
    yield from _table("", report.wider, called)
    yield from _table("\n### Less is allowed", report.narrower)
    unproven = ("; ".join([f"- {_explain(each)}", *_list_calls(each, called)]) for each in report.unproven)
    yield from _under("\n### Not proven\n", map(one_line, unproven))
    yield from _under("\nThis relies on:\n", (f"- {each}" for each in report.assumptions))
    yield from (f"\n{line}" for line in _sum_up(called))


def _table(head: str, changes: Sequence[Change], called: Called | None = None) -> Iterator[str]:
    columns = ["rule", "what", "call", "before", "after"]
    if called is not None:
        columns.append("called")
    top = f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}"
    rows = (_row(change, *_list_calls(change, called)) for change in changes[:_MOST_ROWS])
    yield from _under(f"{head}\n{top}", rows)
    yield from [f"\nand {len(changes) - _MOST_ROWS} more"] * (len(changes) > _MOST_ROWS)


def _row(change: Change, *more: str) -> str:
    title = change.title.removeprefix(f"{change.rule_id} ")
    command = f"`{change.command}`"
    return markdown_row(change.rule_id, title, command, *change.sides, *more)


def markdown_row(*cells: str) -> str:
    """Return a row of a table of Markdown, without the end of its line."""
    return f"| {' | '.join(one_line(cell).replace('|', _BAR) for cell in cells)} |"

"""`permitry diff`: what a change of rules permits that was not permitted, with a call for each way."""

import argparse
import functools
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from permitry.cli.inputs import tell
from permitry.cli.main import ExitCode
from permitry.core.texts import one_line
from permitry.errors import count
from permitry_ops.diff.report import Change, Report, compare, read_accepted
from permitry_ops.diff.sources import load

__all__ = ["configure"]

_MOST_ROWS = 20
_BAR = "\\|"
"""A bar within a cell of a table."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry diff`."""
    add = parser.add_argument
    meant = "a rule file, a shipped set, a folder of rule files or of a project, or git:REVISION:PATH"
    add("old", metavar="OLD", help=f"the rules as they were: {meant}")
    add("new", metavar="NEW", help="the rules as they are to be, named in the same ways")
    add("--only", choices=("wider",), help="look only for what is permitted more")
    add("--budget", type=_seconds, metavar="SECONDS", help="look no longer than this; the rest is not proven")
    add("--accept", type=Path, metavar="FILE", help="widenings that are wanted: [[accept]] with digest, by and why")
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
    with load(options.old) as old, load(options.new) as new:
        tell((*old.rules.notices, *new.rules.notices))
        report = compare(
            old,
            new,
            workspace=str(Path(options.workspace).absolute()),
            seconds=options.budget,
            only_wider=options.only is not None,
            accepted=accepted,
        )
    unknown = {each.digest for each in accepted} - {each.digest for each in report.wider}
    tell(f"`{options.accept}` accepts `{digest}`, which is not there" for digest in sorted(unknown))
    for line in options.show(report):
        print(line)
    if report.to_accept:
        return ExitCode.FAILED
    return ExitCode.UNPROVEN if report.unproven else ExitCode.OK


def _json(report: Report) -> Iterator[str]:
    yield json.dumps(report.to_dict())


def _text(report: Report) -> Iterator[str]:
    yield report.head
    for change in report.wider:
        accepted = f"accepted by {change.accepted_by}" if change.accepted_by else "to accept it"
        yield f"{_paragraph(change)}\n    {accepted}: {change.digest}"
    less = count(len(report.narrower), "way")
    yield from _under(f"Less is allowed: {less}", map(_paragraph, report.narrower))
    unproven = (f"  {each.title}: {one_line(', '.join(each.why))}" for each in report.unproven)
    yield from _under(f"Not proven: {count(len(report.unproven), 'way')}", unproven)
    yield from _under("This relies on:", (f"  {each}" for each in report.assumptions))
    asked, rules = count(report.asked, "call"), count(report.rules, "rule")
    yield f"{report.changed} of {rules} looked at, {asked} asked of both, {report.seconds:.2f} s"


def _under(head: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield lines below a head, which is left out without any."""
    for number, line in enumerate(lines):
        yield f"{head}\n{line}" if number == 0 else line


def _paragraph(change: Change) -> str:
    lines = (f"  {change.title}", one_line(change.command), " -> ".join(change.sides))
    return "\n    ".join(lines)


def _markdown(report: Report) -> Iterator[str]:
    yield f"### {report.head}"
    yield from _table("", report.wider)
    yield from _table("\n### Less is allowed", report.narrower)
    unproven = (f"- {each.title}: {', '.join(each.why)}" for each in report.unproven)
    yield from _under("\n### Not proven\n", unproven)
    yield from _under("\nThis relies on:\n", (f"- {each}" for each in report.assumptions))


def _table(head: str, changes: Sequence[Change]) -> Iterator[str]:
    columns = "| rule | what | call | before | after |\n| --- | --- | --- | --- | --- |"
    yield from _under(f"{head}\n{columns}", map(_row, changes[:_MOST_ROWS]))
    yield from [f"\nand {len(changes) - _MOST_ROWS} more"] * (len(changes) > _MOST_ROWS)


def _row(change: Change) -> str:
    title = change.title.removeprefix(f"{change.rule_id} ")
    return markdown_row(change.rule_id, title, f"`{change.command}`", *change.sides)


def markdown_row(*cells: str) -> str:
    """Return a row of a table of Markdown, without the end of its line."""
    return f"| {' | '.join(one_line(cell).replace('|', _BAR) for cell in cells)} |"

"""`permitry replay`: what rules say of recorded sessions, and what a change of them would change."""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from permitry.cli.inputs import add_rules_option, add_tools_option, number_lines, open_lines, rules_from, tell
from permitry.cli.main import ExitCode
from permitry.cli.stores import default_to_read
from permitry.config.cache import RuleCache
from permitry.config.origin import Origin
from permitry.errors import CallError
from permitry.guard.session import Session
from permitry.store.records import RecordFilter, is_record, record_name, records_at
from permitry_ops.cli.tool_list import circumstances_from
from permitry_ops.replay.record import replay_record
from permitry_ops.replay.replay import Recording, replay
from permitry_ops.replay.tally import Tally

if TYPE_CHECKING:
    from permitry.core.policy import AuthorizationPolicy

__all__ = ["configure"]

_MOST = 15


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry replay`."""
    add = parser.add_argument
    sessions = "messages, one JSON object a line; -; or a record; default: permitry.db in your state folder"
    add("sessions", nargs="*", metavar="SESSION.jsonl", help=sessions)
    add_rules_option(parser)
    add("--against", action="append", metavar="FILE", help="the rules to compare with; may be given again")
    add("--session-key", metavar="KEY", help="a key of the lines whose value names the session, as in a log of several")
    add("--task-key", metavar="KEY", help="a key of the lines whose value names the task of a session")
    add_tools_option(parser)
    add("--workspace", metavar="DIR", help="the folder the agents worked in; default: as recorded, or this one")
    add("--workers", type=int, default=1, metavar="N", help="so many processes, each for a file at a time; default: 1")
    add("--ray", action="store_true", help="spread the files over a Ray cluster; by default N workers of this machine")
    add("--ray-address", metavar="ADDRESS", help="the cluster that --ray uses, such as host:6379")
    add("--plot", type=Path, metavar="FILE", help="draw the verdicts of each tool: a file .svg, .png or .pdf")
    add("--json", action="store_true", help="print one JSON object, and nothing else")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> ExitCode:
    """Replay each file, and print what was counted of all."""
    options.sessions = options.sessions or [default_to_read()]
    # The rules have to be right before a long run begins.
    _policies(options)
    tally = Tally()
    _show_progress(0, options, tally)
    for number, part in enumerate(_parts(options), 1):
        tally.add(part)
        _show_progress(number, options, tally)
    if options.plot is not None:
        from permitry_ops.replay.plot import plot

        plot(tally, options.plot)
    if options.json:
        print(json.dumps(tally.to_dict()))
    else:
        _print(tally, is_compared=bool(options.against))
    return ExitCode.INVALID if tally.bad else ExitCode.OK


def _show_progress(number: int, options: argparse.Namespace, tally: Tally) -> None:
    """Show on a terminal how far it is; without a thread, as processes are forked meanwhile."""
    if sys.stderr.isatty():
        end = "\n" if number == len(options.sessions) else ""
        print(
            f"\r{number} of {len(options.sessions)} files, {tally.calls:,} calls", end=end, file=sys.stderr, flush=True
        )


def _parts(options: argparse.Namespace) -> Iterator[Tally]:
    work = partial(_replay, options)
    if options.ray:
        from permitry_ops.replay.cluster import spread

        if "-" in options.sessions:
            raise CallError("a cluster cannot read standard input")
        yield from spread(work, options.sessions, address=options.ray_address, workers=options.workers)
        return
    workers = min(options.workers, len(options.sessions))
    if workers <= 1:
        yield from map(work, options.sessions)
        return
    with ProcessPoolExecutor(workers) as pool:
        yield from pool.map(work, options.sessions)


def _replay(options: argparse.Namespace, name: str) -> Tally:
    policy, against = _policies(options)
    given = None if options.workspace is None else str(Path(options.workspace).resolve())
    here = given or str(Path.cwd())
    if name != "-" and is_record(name):
        records = records_at(name, RecordFilter())
        return replay_record(
            records, policy, against, name=record_name(name), circumstances=circumstances_from(options, here)
        )
    with open_lines(name) as stream:
        return replay(
            number_lines(stream),
            policy,
            against,
            recording=Recording(name, options.session_key, options.task_key, here),
            session=partial(Session, workspace=given),
        )


def _policies(options: argparse.Namespace) -> "tuple[AuthorizationPolicy, AuthorizationPolicy | None]":
    policy = rules_from(options, options.workspace or ".").policy()
    if not options.against:
        return policy, None
    return policy, RuleCache().load([Origin(name) for name in options.against]).policy()


def _print(tally: Tally, *, is_compared: bool) -> None:
    from rich.console import Console

    from permitry.cli.tables import counts_table

    console = Console(soft_wrap=True)
    rate = tally.calls / tally.seconds if tally.seconds else 0.0
    shares = ", ".join(
        f"{verdict} {_share(tally.verdicts[verdict], tally.calls)}" for verdict in ("allow", "confirm", "block")
    )
    console.print(
        f"{tally.calls:,} calls of {tally.sessions:,} sessions, {rate:,.0f} a second: {shares}", highlight=False
    )
    tables: list[tuple[str, tuple[str, ...], Iterable[tuple[str, ...]]]] = []
    if tally.changes or is_compared:
        rows = [(*key, f"{n:,}", tally.places.get(key, "")) for key, n in tally.changes.most_common(_MOST)]
        tables.append(("what changes", ("before", "now", "tool", "rule", "calls", "first"), rows))
    rules = [(*key, f"{n:,}", tally.places.get((key[0],), "")) for key, n in tally.rules.most_common(_MOST)]
    unjudged = [(reason, f"{n:,}", tally.places["unjudged", reason]) for reason, n in tally.unjudged.most_common()]
    tables.append(("not judged", ("reason", "calls", "first"), unjudged))
    tables.append(("by rule", ("rule", "verdict", "calls", "first"), rules))
    tools = [(*key, f"{n:,}") for key, n in tally.tools.most_common(_MOST)]
    tables.append(("by tool", ("tool", "verdict", "calls"), tools))
    lost = [
        (task, loss.verdict.value, f"{loss.sessions:,}", f"{loss.calls:,}", loss.first)
        for task, loss in tally.most_lost()[:_MOST]
    ]
    tables.append(("what each task loses", ("task", "verdict", "sessions", "calls", "first"), lost))
    for title, columns, lines in tables:
        counts_table(console, title, columns, lines)
    for verdict, word in (("block", "would lose a call"), ("confirm", "would be asked")):
        console.print(f"sessions that {word}: {tally.lost[verdict]:,} of {tally.sessions:,}", highlight=False)
    more = f", and those of {tally.unlisted:,} more sessions" if tally.unlisted else ""
    console.print(f"tasks that would be asked, or lose a call: {len(tally.tasks):,}{more}", highlight=False)
    tell(f"{tally.places.get(('bad', error), '')}: {error} ({n:,} lines)" for error, n in tally.bad.most_common(_MOST))


def _share(count: int, of: int) -> str:
    return f"{count:,} ({count / of:.1%})" if of else "0"

"""`permitry replay`: what rules say of recorded sessions, and what a change of them would change."""

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from permitry.cli.inputs import add_rules_option, add_tools_option, number_lines, open_lines, rules_from, tell
from permitry.cli.main import ExitCode
from permitry.cli.records import RecordFilter, is_record, records_at
from permitry.cli.stores import default_to_read
from permitry.config.cache import RuleCache
from permitry.config.origin import Origin
from permitry.core.decision import Verdict
from permitry.errors import CallError, PermitryError
from permitry.guard.session import Session
from permitry.store.records import record_name
from permitry_ops.cli.tool_list import circumstances_from
from permitry_ops.replay.progress import Progress
from permitry_ops.replay.record import replay_record
from permitry_ops.replay.replay import Recording, replay
from permitry_ops.replay.tally import Loss, Tally

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
    ways = "exit with 1 where a call is decided so; default: looser with --against, else none"
    add("--fail-on", choices=("looser", "any", "none"), metavar="WAY", help=f"looser, any or none: {ways}")
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
    fail_on = _fail_on(options)
    tally, progress = Tally(), Progress(len(options.sessions))
    progress.begin()
    for part in _parts(options, progress):
        tally.add(part)
        progress.finish_file(part.calls)
    if options.plot is not None:
        from permitry_ops.replay.plot import plot

        plot(tally, options.plot)
    if options.json:
        print(json.dumps(tally.to_dict()))
    else:
        _print(tally)
        if options.against or any(map(_has_decisions, options.sessions)):
            print(_outcome(tally))
    if tally.bad:
        return ExitCode.INVALID
    return ExitCode.FAILED if _counts(tally)[fail_on] else ExitCode.OK


def _fail_on(options: argparse.Namespace) -> str:
    """Return what makes the command fail.

    Raises: `PermitryError` where there is nothing to compare with.
    """
    default = "looser" if options.against else "none"
    wanted = options.fail_on or default
    is_compared = options.against or all(map(_has_decisions, options.sessions))
    if wanted != "none" and not is_compared:
        raise PermitryError(
            f"`--fail-on {wanted}` needs `--against`: messages have no decisions to compare with, as records do"
        )
    return str(wanted)


def _has_decisions(name: str) -> bool:
    # What can be read once alone, such as a pipe, is not looked into.
    return name != "-" and not Path(name).is_fifo() and is_record(name)


def _counts(tally: Tally) -> dict[str, int]:
    """Return how many calls make the command fail, by the words of `--fail-on`."""
    return {
        "none": 0,
        "looser": tally.looser,
        "any": tally.looser + tally.stricter,
    }


def _parts(options: argparse.Namespace, progress: Progress) -> Iterator[Tally]:
    work = partial(_replay, options)
    if options.ray:
        from permitry_ops.replay.cluster import spread

        if "-" in options.sessions:
            raise CallError("a cluster cannot read standard input")
        yield from spread(work, options.sessions, address=options.ray_address, workers=options.workers)
        return
    workers = min(options.workers, len(options.sessions))
    if workers <= 1:
        yield from map(partial(work, watch=progress.watch), options.sessions)
        return
    with ProcessPoolExecutor(workers) as pool:
        yield from pool.map(work, options.sessions)


def _replay(options: argparse.Namespace, name: str, *, watch: Callable[[Iterable[Any]], Iterator[Any]] = iter) -> Tally:
    policy, against = _policies(options)
    given = None if options.workspace is None else str(Path(options.workspace).resolve())
    here = given or str(Path.cwd())
    if _has_decisions(name):
        records = watch(records_at(name, RecordFilter()))
        known = attrs.evolve(circumstances_from(options, here), name=record_name(name))
        return replay_record(records, policy, against, circumstances=known)
    with open_lines(name) as stream:
        return replay(
            watch(number_lines(stream)),
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


def _print(tally: Tally) -> None:
    from rich.console import Console

    from permitry.cli.tables import counts_table

    console = Console(soft_wrap=True, highlight=False)
    rate = tally.calls / tally.seconds if tally.seconds else 0.0
    shares = (f"{each.value} {_share(tally.verdicts[each.value], tally.calls)}" for each in Verdict)
    said = f"{tally.calls:,} calls of {tally.sessions:,} sessions, {rate:,.0f} a second"
    console.print(f"{said}: {', '.join(shares)}")
    for title, columns, rows in _tables(tally):
        counts_table(console, title, columns, rows)
    for verdict, word in (("block", "would lose a call"), ("confirm", "would be asked")):
        console.print(f"sessions that {word}: {tally.lost[verdict]:,} of {tally.sessions:,}")
    more = f", and those of {tally.unlisted:,} more sessions" if tally.unlisted else ""
    console.print(f"tasks that would be asked, or lose a call: {len(tally.tasks):,}{more}")
    for error, count in tally.bad.most_common(_MOST):
        tell([f"{tally.places.get(('bad', error), '')}: {error} ({count:,} lines)"])


def _tables(tally: Tally) -> Iterator[tuple[str, tuple[str, ...], Iterable[tuple[str, ...]]]]:
    """Yield the title, the columns and the rows of each table."""
    columns: tuple[str, ...] = ("before", "now", "tool", "rule", "calls", "first")
    yield "what changes", columns, _rows(tally, tally.changes, _MOST)
    unjudged = Counter({("unjudged", reason): n for reason, n in tally.unjudged.items()})
    yield "not judged", ("reason", "calls", "first"), (row[1:] for row in _rows(tally, unjudged))
    yield "by rule", ("rule", "verdict", "calls", "first"), _rows(tally, tally.rules, _MOST)
    tools = [(*key, f"{n:,}") for key, n in tally.tools.most_common(_MOST)]
    yield "by tool", ("tool", "verdict", "calls"), tools
    columns = ("task", "verdict", "sessions", "calls", "first")
    yield "what each task loses", columns, map(_task_row, tally.most_lost()[:_MOST])


def _rows(tally: Tally, counts: Counter[Any], most: int | None = None) -> Iterator[tuple[str, ...]]:
    """Yield the most frequent kinds of call, how many they are, and where the first is."""
    for key, count in counts.most_common(most):
        first = tally.places.get(key) or tally.places.get(key[:1], "")
        yield *key, f"{count:,}", first


def _task_row(lost: tuple[str, Loss]) -> tuple[str, ...]:
    task, loss = lost
    return task, loss.verdict.value, f"{loss.sessions:,}", f"{loss.calls:,}", loss.first


def _outcome(tally: Tally) -> str:
    unjudged = f", {tally.unjudged.total():,} not judged" if tally.unjudged else ""
    return f"calls that are decided otherwise: {tally.looser:,} looser, {tally.stricter:,} stricter{unjudged}"


def _share(count: int, of: int) -> str:
    return f"{count:,} ({count / of:.1%})" if of else "0"

"""`permitry undo`: bring back what a call has changed."""

import argparse
import datetime as dt
import re
import sys
import time

from permitry.cli.inputs import tell
from permitry.cli.main import ExitCode
from permitry.cli.render import console_on, diff, one_line, shorten
from permitry.cli.telemetry import add_otel_option, sent
from permitry.config.folders import user_state
from permitry.config.layers import default_store
from permitry.core.call import ToolCall
from permitry.errors import UndoError, count
from permitry.store.records import recorder_at
from permitry.undo.diff import diff_of
from permitry.undo.restoration import plan, restore
from permitry.undo.vault import Entry, Vault

__all__ = ["configure"]

_UNITS = {"m": 60.0, "h": 3_600.0, "d": 86_400.0}
_LONGEST = 100


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry undo`."""
    add = parser.add_argument
    what = parser.add_mutually_exclusive_group()
    what.add_argument("id", nargs="?", metavar="ID", help="the entry to undo; without anything, all are listed")
    what.add_argument("--last", action="store_true", help="undo the last call that was not undone")
    what.add_argument("--session", metavar="S", help="undo all calls of a session, the last one first")
    what.add_argument("--list", action="store_true", help="list what can be undone, and what was undone")
    what.add_argument("--prune", action="store_true", help="forget what is older than a week, or as below")
    add("--dry-run", action="store_true", help="only show what would change")
    add("--force", action="store_true", help="also undo what has changed since")
    add("--older-than", metavar="AGE", type=_age, help="with --prune: such as 12h or 2d")
    add("--size", metavar="MB", type=int, help="with --prune: also the oldest, until the others take no more")
    add("--record", metavar="FILE", help="the record to note it in; default: permitry.db in your state folder")
    add_otel_option(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> ExitCode:
    """Undo what is asked for, after its changes are printed; or list or forget what was kept."""
    vault = Vault(user_state() / "undo")
    if options.prune:
        size = None if options.size is None else options.size * 1024 * 1024
        print(f"{vault.prune(options.older_than, size)} entries are forgotten")
        return ExitCode.OK
    asked = _choose(vault, options)
    if asked is None:
        print("\n".join(map(_line, vault.entries())) or "nothing is kept that could be undone")
        return ExitCode.OK
    for entry in asked:
        if not _undo(vault, entry, options):
            return ExitCode.FAILED
    return ExitCode.OK


def _choose(vault: Vault, options: argparse.Namespace) -> list[Entry] | None:
    """Return the entries to undo, the newest first; None to list them. Raises: `UndoError`."""
    if options.id is not None:
        return [vault.find(options.id)]
    if not options.last and options.session is None:
        return None
    open_ones = [entry for entry in reversed(vault.entries()) if not (entry.is_undone or entry.undoes)]
    if options.session is not None:
        open_ones = [entry for entry in open_ones if entry.session == options.session]
    if not open_ones:
        of = "" if options.session is None else f" of a session `{options.session}`"
        raise UndoError(f"nothing{of} is kept that could be undone; see `permitry undo --list`")
    return open_ones[:1] if options.last else open_ones


def _undo(vault: Vault, entry: Entry, options: argparse.Namespace) -> bool:
    print(_line(entry))
    planned = plan(vault, entry)
    text = diff_of(planned, vault.path(entry.id))
    if text:
        diff(console_on(sys.stdout), text)
    if options.dry_run:
        return True
    recorder = recorder_at(options.record or str(default_store()), session=entry.session or None)
    try:
        with sent(recorder, is_on=options.otel) as record:
            began = time.monotonic()
            undoing = restore(vault, entry.id, force=options.force)
            seconds = round(time.monotonic() - began, 6)
            # The call itself is not kept, only what it was.
            details = {"call_id": entry.call_id, "digest": entry.digest, "entry": entry.id, "undone_by": undoing}
            record.record("undone", ToolCall(entry.tool), **details, seconds=seconds)
    except UndoError as error:
        tell([f"`{entry.id}` was not undone: {error}"])
        return False
    finally:
        recorder.close()
    print(f"undone; `permitry undo {undoing}` takes that back")
    return True


def _line(entry: Entry) -> str:
    at = dt.datetime.fromtimestamp(entry.at).astimezone().isoformat(sep=" ", timespec="minutes")[:16]
    if entry.undoes:
        what = f"undid {entry.undoes}"
    elif entry.is_undone:
        what = f"undone by {entry.undone_by}"
    else:
        what = "kept" if entry.after is not None else "kept, end not known"
    words = (f"{entry.id:>4}", at, entry.tool, f"[{what}]", count(len(entry.before), "path"), entry.shown)
    return shorten(one_line("  ".join(words)), _LONGEST * 2)


def _age(text: str) -> float:
    match = re.fullmatch(r"([0-9]{1,6})([mhd])", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"`{text}` is not an age such as 30m, 12h or 2d")
    return int(match[1]) * _UNITS[match[2]]

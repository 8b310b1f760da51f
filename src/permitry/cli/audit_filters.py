"""Which records `permitry audit` is asked for."""

import argparse
import datetime as dt
import re
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

from permitry.records import Wanted, records_at

__all__ = ["add_filters", "moment", "records_from"]

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_FILTERS = ("tool", "rule", "verdict", "event", "session", "agent")


def add_filters(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which records are asked for."""
    add = parser.add_argument
    for name in _FILTERS:
        add(f"--{name}", metavar=name.upper(), help=f"only with this {name}")
    add("--path", metavar="PATTERN", help="only calls that may touch such a path, as in a rule: 'src/**'")
    add("--host", metavar="PATTERN", help="only calls that may connect to such a host, as in a rule: '*.example.com'")
    add("--since", type=moment, metavar="TIME", help="such as 2026-11-23, 2026-11-23T10:00, or 2h, 7d ago")
    add("--until", type=moment, metavar="TIME", help="only before this time")
    add("--text", default="", metavar="TEXT", help="only with this text in the arguments")
    add("-n", "--last", type=int, metavar="N", help="only the last so many")


def moment(text: str) -> str:
    """Return a time as the record has it: of a date, of a date and a time, or of an age such as `2h`."""
    if age := re.fullmatch(r"(\d{1,6})([mhdw])", text):
        at = dt.datetime.now(dt.UTC) - dt.timedelta(**{_UNITS[age[2]]: int(age[1])})
    else:
        try:
            at = dt.datetime.fromisoformat(text)
        except ValueError:
            raise argparse.ArgumentTypeError(
                f"`{text}` is not a time; write 2026-11-23, or an age such as 2h"
            ) from None
    return at.replace(tzinfo=at.tzinfo or dt.UTC).astimezone(dt.UTC).isoformat(timespec="milliseconds")


def records_from(options: argparse.Namespace, path: str | Path) -> Iterator[dict[str, Any]]:
    """Yield the records that are asked for, oldest first.

    Raises: as `records_at`; `ConfigError` for a pattern that is not valid.
    """
    equal = {name: value for name in _FILTERS if (value := getattr(options, name)) is not None}
    wanted = Wanted(options.since or "", options.until or "~", equal, options.text, options.last)
    if options.path is None and options.host is None:
        yield from records_at(path, wanted)
        return
    from permitry.replay.acting import Acting, workspaces_in

    workspaces = workspaces_in(records_at(path, Wanted(equal={"event": "session"})))
    acting = Acting.of(path=options.path, host=options.host, workspaces=workspaces)
    found = filter(acting.holds, records_at(path, attrs.evolve(wanted, last=None)))
    yield from found if options.last is None else deque(found, options.last)

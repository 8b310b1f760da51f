"""Which records `permitry audit` is asked for."""

import argparse
import datetime as dt
import functools
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import attrs

from permitry.core.decision import Verdict
from permitry.dispatch.telemetry import Outcome
from permitry.store.records import RecordFilter, records_at

__all__ = ["add_filters", "moment", "records_from"]

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_KNOWN = {
    "verdict": [each.value for each in Verdict],
    "event": [
        "decided", "asked", "interrupted", "answered", "kept", "started", "finished", "undone",
        "session", "pruned", "reloaded", "granted", "revoked", "unreadable",
    ],
    "outcome": [each.value for each in Outcome],
}  # fmt: skip
"""The values of a field, where no others are recorded: a misspelt one would find nothing, and look like an answer."""
_FILTERS = ("tool", "rule", "verdict", "event", "session", "agent", "outcome", "by")
_ABOUT = {"by": "only the answers of this user, given with `permitry approve` or in the inbox, and grants"}
_ACTS = {
    "path": "that may touch such a path, as in a rule: 'src/**'",
    "changing": "that may change such a path: write, delete or move it",
    "host": "that may connect to such a host, as in a rule: '*.example.com'",
}
_ANSWERS: Mapping[str, Mapping[str, object]] = {
    "approved": {"approved": True},
    "rejected": {"approved": False, "responded": None},
    "responded": {"approved": False, "responded": True},
}
_GRANT = "grant-"

Record: TypeAlias = Mapping[str, Any]
Call: TypeAlias = tuple[object, object, object]
Test: TypeAlias = Callable[[Record], bool]


def add_filters(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which records are asked for."""
    add = parser.add_argument
    for name in _FILTERS:
        known = _KNOWN.get(name)
        values = f": {', '.join(known)}" if known else ""
        about = _ABOUT.get(name, f"only with this {name}{values}")
        add(f"--{name}", choices=known, metavar=name.upper(), help=about)
    add("--policy", metavar="VERSION", help="only what was decided by this version of the policy")
    add("--answer", choices=tuple(_ANSWERS), help="only answers to questions, of this kind")
    add("--grant", nargs="?", const="", metavar="ID", help="only what this grant, or any, has let run, and who gave it")
    add("--unasked", action="store_true", help="only runs for which no human was asked")
    for name, about in _ACTS.items():
        add(f"--{name}", metavar="PATTERN", help=f"only calls {about}")
    add("--since", type=moment, metavar="TIME", help="such as 2026-11-23, 2026-11-23T10:00, or 2h, 7d ago")
    add("--until", type=moment, metavar="TIME", help="only before this time")
    add("--text", default="", metavar="TEXT", help="only with this text in the arguments")
    add("--calls", action="store_true", help="all records of the calls of which each option holds for some record")
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
    """Yield the records that are asked for, oldest first. Raises: as `records_at`; `ConfigError`."""
    equal, tests = _equal(options), list(_tests(options, path))
    times = RecordFilter(options.since or "", options.until or "~")
    if options.calls:
        # A call is decided and answered in two records, so that each option has to hold for one of them.
        each = [RecordFilter(equal={name: value}).holds for name, value in equal.items()]
        text = [RecordFilter(text=options.text).holds] if options.text else []
        yield from _of_calls(path, times, [*each, *text, *tests], options.last)
        return
    last = None if tests else options.last
    found = records_at(path, attrs.evolve(times, equal=equal, text=options.text, last=last))
    found = (record for record in found if all(test(record) for test in tests))
    yield from found if not tests or options.last is None else deque(found, options.last)


def _equal(options: argparse.Namespace) -> dict[str, Any]:
    equal = {name: value for name in _FILTERS if (value := getattr(options, name)) is not None}
    policy = {} if options.policy is None else {"policy_version": options.policy}
    return {**equal, **policy, **_ANSWERS.get(options.answer, {})}


def _tests(options: argparse.Namespace, path: str | Path) -> Iterator[Test]:
    """Yield what is looked for in records one by one, as no store has a column for it."""
    if options.grant is not None:
        yield functools.partial(_is_granted, options.grant)
    if options.unasked:
        edits = _edits(path)
        approved = records_at(path, RecordFilter(equal={"event": "answered", "approved": True}))
        asked = {_call(each, edits) for each in approved if "grant" not in each}
        yield lambda record: record.get("event") == "started" and _call(record, edits) not in asked
    patterns = {name: getattr(options, name) for name in _ACTS if getattr(options, name) is not None}
    if patterns:
        from permitry.config.acting import Acting, workspaces_in

        workspaces = workspaces_in(records_at(path, RecordFilter(equal={"event": "session"})))
        yield from [Acting.of(name, pattern, workspaces).holds for name, pattern in patterns.items()]


def _is_granted(name: str, record: Record) -> bool:
    rule = str(record.get("rule") or "")
    granted = record.get("grant") or (rule.removeprefix(_GRANT) if rule.startswith(_GRANT) else None)
    return granted is not None and name in ("", granted)


def _call(record: Record, edits: Mapping[Call, Call]) -> Call:
    """Return what the records of a call share: a model may choose an id again."""
    call = record.get("session"), record.get("call_id"), record.get("digest")
    return edits.get(call, call)


def _edits(path: str | Path) -> dict[Call, Call]:
    """Return of each call that a human has edited the one that was asked about."""
    edits: dict[Call, Call] = {}
    asked: dict[tuple[object, object], Call] = {}
    for record in records_at(path, RecordFilter(equal={"edited": True})):
        call = session, name, _ = _call(record, edits)
        if record.get("event") == "answered":
            asked[session, name] = call
        else:
            edits[call] = asked.get((session, name), call)
    return edits


def _of_calls(
    path: str | Path, times: RecordFilter, tests: Sequence[Test], last: int | None
) -> Iterator[dict[str, Any]]:
    """Yield all records of calls for which each test holds once in the time."""
    edits, held = _edits(path), dict[Call, set[int]]()
    for record in records_at(path, times):
        if record.get("call_id") is not None:
            held.setdefault(_call(record, edits), set()).update(n for n, test in enumerate(tests) if test(record))
    found = [call for call, numbers in held.items() if len(numbers) == len(tests)]
    calls = set(found if last is None else found[max(len(found) - last, 0) :])
    yield from (record for record in records_at(path, RecordFilter()) if _call(record, edits) in calls)

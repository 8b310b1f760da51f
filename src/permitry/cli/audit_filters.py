"""Which records `permitry audit` is asked for."""

import argparse
import datetime as dt
import functools
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import attrs

from permitry.cli.records import RecordFilter, records_at
from permitry.core.decision import Verdict
from permitry.dispatch.telemetry import Outcome

__all__ = ["add_filters", "moment", "records_from"]

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_KNOWN = {
    "verdict": [each.value for each in Verdict],
    "event": [
        "decided", "asked", "interrupted", "answered", "kept", "started", "finished", "undone",
        "session", "policy", "pruned", "reloaded", "granted", "revoked", "unreadable",
    ],
    "outcome": [each.value for each in Outcome],
}  # fmt: skip
"""The values of a field, where no others are recorded: a misspelt one would find nothing, and look like an answer."""
_FILTERS = ("tool", "rule", "verdict", "event", "session", "agent", "mode", "outcome", "by")
_SESSIONS = {
    "user": "that this user of the system ran",
    "principal": "on behalf of this principal, as `permitry run --principal` names it",
    "workspace": "in this folder",
}
"""What is recorded of a session as it begins."""
_ABOUT = {"by": "only the answers of this user, given with `permitry approve` or in the inbox, and grants"}
_ACTS = {
    "path": "that may touch such a path, as in a rule: 'src/**'",
    "changing": "that may change such a path: write, delete or move it",
    "host": "that may connect to such a host, as in a rule: '*.example.com'",
}
_NAMES = ("tool", "rule")
_NEGATED = (*_NAMES, *_ACTS)
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
        add(f"--{name}", choices=known, type=_value_of(name), metavar=name.upper(), help=about)
    for name, about in _SESSIONS.items():
        add(f"--{name}", type=_value_of(name), metavar=name.upper(), help=f"only of sessions {about}")
    meant = "only what observed rules would have decided so, where they were not obeyed"
    add("--would", choices=_KNOWN["verdict"], metavar="VERDICT", help=meant)
    add("--policy", metavar="VERSION", help="only what was decided by this version of the policy")
    add("--answer", choices=tuple(_ANSWERS), help="only answers to questions, of this kind")
    add("--grant", nargs="?", const="", metavar="ID", help="only what this grant, or any, has let run, and who gave it")
    add(
        "--edited",
        action="store_true",
        help="only answers that changed the arguments, and decisions on what was changed",
    )
    add("--unasked", action="store_true", help="only runs for which no human was asked")
    for name, about in _ACTS.items():
        add(f"--{name}", type=_value_of(name), metavar="PATTERN", help=f"only calls {about}")
    for name in _NEGATED:
        metavar = "PATTERN" if name in _ACTS else name.upper()
        add(f"--not-{name}", type=_value_of(name), metavar=metavar, help=f"leave out what --{name} finds")
    add("--since", type=moment, metavar="TIME", help="such as 2026-11-23, 2026-11-23T10:00, or 2h, 7d ago")
    add("--until", type=moment, metavar="TIME", help="only before this time")
    add("--text", default="", metavar="TEXT", help="only with this text in the arguments")
    add("--calls", action="store_true", help="all records of the calls of which each option holds for some record")
    add("-n", "--last", type=int, metavar="N", help="only the last so many")


def _value_of(name: str) -> Callable[[str], str]:
    return functools.partial(_check_value, name)


def _check_value(name: str, text: str) -> str:
    """Return a value; one that is meant to say what is left out would find nothing, and look like an answer."""
    if not text.startswith("!"):
        return text
    hint = f"these can leave something out: {', '.join(f'--not-{each}' for each in _NEGATED)}"
    if name in _NEGATED:
        hint = f"write --not-{name} '{text[1:]}'"
    raise argparse.ArgumentTypeError(f"`{text}` begins with `!`; {hint}")


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
    left_out = list(_exclusions(options, path))
    times = RecordFilter(options.since or "", options.until or "~")
    if options.calls:
        # A call is decided and answered in two records, so that each option has to hold for one of them.
        each = [RecordFilter(equal={name: value}).holds for name, value in equal.items()]
        text = [RecordFilter(text=options.text).holds] if options.text else []
        yield from _of_calls(path, times, _Tests([*each, *text, *tests], left_out), options.last)
        return
    if left_out:
        tests.append(lambda record: not any(test(record) for test in left_out))
    last = None if tests else options.last
    found = records_at(path, attrs.evolve(times, equal=equal, text=options.text, last=last))
    found = (record for record in found if all(test(record) for test in tests))
    yield from found if not tests or options.last is None else deque(found, options.last)


def _equal(options: argparse.Namespace) -> dict[str, Any]:
    equal = _values_of(_FILTERS, options)
    if options.policy is not None:
        equal["policy_version"] = options.policy
    if options.edited:
        equal["edited"] = True
    return {**equal, **_ANSWERS.get(options.answer, {})}


def _tests(options: argparse.Namespace, path: str | Path) -> Iterator[Test]:
    """Yield what is looked for in records one by one, as no store has a column for it."""
    if began := _values_of(_SESSIONS, options):
        sessions = _find_sessions(began, path)
        yield lambda record: record.get("session") in sessions
    if _values_of(_ACTS, options, "not_"):
        # Of a record without arguments it is not known what the call would do.
        yield _has_arguments
    for value, test in ((options.grant, _is_granted), (options.would, _would_be)):
        if value is not None:
            yield functools.partial(test, value)
    if options.unasked:
        edits = _edits(path)
        approved = records_at(path, RecordFilter(equal={"event": "answered", "approved": True}))
        asked = {_call(each, edits) for each in approved if "grant" not in each}
        yield lambda record: record.get("event") == "started" and _call(record, edits) not in asked
    yield from _find_acts(_values_of(_ACTS, options), path)


def _exclusions(options: argparse.Namespace, path: str | Path) -> Iterator[Test]:
    """Yield what must not hold for a record, nor for any record of a call."""
    for name, value in _values_of(_NAMES, options, "not_").items():
        yield RecordFilter(equal={name: value}).holds
    yield from _find_acts(_values_of(_ACTS, options, "not_"), path)


def _values_of(names: Iterable[str], options: argparse.Namespace, prefix: str = "") -> dict[str, Any]:
    """Return the options that are given, by their names."""
    values = {name: getattr(options, f"{prefix}{name}") for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _find_acts(patterns: Mapping[str, str], path: str | Path) -> Iterator[Test]:
    """Yield whether a record is of a call that does what each pattern is about."""
    if not patterns:
        return
    from permitry.config.acting import Acting, workspaces_in

    workspaces = workspaces_in(records_at(path, RecordFilter(equal={"event": "session"})))
    for name, pattern in patterns.items():
        yield Acting.of(name, pattern, workspaces).holds


def _has_arguments(record: Record) -> bool:
    from permitry.config.acting import call_in

    return call_in(record) is not None


def _find_sessions(values: Mapping[str, str], path: str | Path) -> set[object]:
    """Return the ids of the sessions that began with some values."""
    equal: dict[str, Any] = {"event": "session", **values}
    if "workspace" in values:
        folder = values["workspace"]
        equal["workspace"] = (folder, str(Path(folder).resolve()))
    began = records_at(path, RecordFilter(equal=equal))
    return {record.get("session") for record in began}


def _would_be(verdict: str, record: Record) -> bool:
    would = record.get("would")
    return isinstance(would, Mapping) and would.get("verdict") == verdict


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


@attrs.frozen
class _Tests:
    """What has to hold for some record of a call, and what may hold for none."""

    some: Sequence[Test]
    none: Sequence[Test]

    def refuse(self, record: Record) -> bool:
        """Return whether a record leaves its call out."""
        return any(test(record) for test in self.none)


def _of_calls(path: str | Path, times: RecordFilter, tests: _Tests, last: int | None) -> Iterator[dict[str, Any]]:
    """Yield all records of calls for which each test holds once in the time, and that are not left out."""
    edits, held = _edits(path), dict[Call, set[int]]()
    for record in records_at(path, times):
        if record.get("call_id") is not None:
            held.setdefault(_call(record, edits), set()).update(n for n, test in enumerate(tests.some) if test(record))
    # Also by what is recorded at another time.
    every = records_at(path, RecordFilter()) if tests.none else iter(())
    left_out = {_call(record, edits) for record in every if tests.refuse(record)}
    found = [call for call, numbers in held.items() if len(numbers) == len(tests.some) and call not in left_out]
    calls = set(found if last is None else found[max(len(found) - last, 0) :])
    yield from (record for record in records_at(path, RecordFilter()) if _call(record, edits) in calls)

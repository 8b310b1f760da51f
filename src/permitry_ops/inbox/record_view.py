"""What the pages show of the record: one row a call, page by page, and what is counted in all of it."""

import contextlib
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from permitry.cli.records import RecordFilter, RecordFollower, records_at
from permitry.cli.stats import Stats
from permitry.store.chain import HIGHEST
from permitry.store.records import is_address, store_at

__all__ = ["FILTERS", "MOST", "CallRow", "RecordView", "Rows"]

FILTERS = ("text", "tool", "rule", "verdict", "session", "since", "until", "event")
MOST = 50
_NUMBER = re.compile(r"[0-9]{1,18}")
_EQUAL = ("tool", "rule", "verdict", "session", "event")
# What comes behind the decision on a call is in the row of the call.
_FOLLOWING = ("asked", "interrupted", "answered", "kept", "started", "finished")


@attrs.frozen
class CallRow:
    """An event, and what came behind it if it is the decision on a call."""

    head: Mapping[str, Any]
    following: Sequence[Mapping[str, Any]] = ()


@attrs.frozen
class Rows:
    """Some rows, the newest first; `older` is the number below which there are more, if there are any."""

    rows: Sequence[CallRow]
    older: int | None = None


@attrs.define
class RecordView:
    """A record to look at; without one, or where it is not there yet, there is nothing in it. Thread-safe."""

    record: str | Path | None = None
    _stats: Stats = attrs.field(factory=Stats, init=False, repr=False)
    _follower: RecordFollower | None = attrs.field(default=None, init=False, repr=False)
    _last: int = attrs.field(default=0, init=False, repr=False)
    _counting: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)

    @property
    def version(self) -> str:
        """A text that is another one after each addition. Raises: `StoreError` for a database."""
        if self.record is None:
            return ""
        if is_address(self.record):
            with contextlib.closing(store_at(self.record, is_read_only=True)) as store:
                return str(store.head.number)
        path = Path(self.record)
        return " ".join(_versions(path, path.with_name(f"{path.name}-wal")))

    def rows(self, query: Mapping[str, str]) -> Rows:
        """Return the last rows for a query, below its `before`. Raises: as `records_at`."""
        record = self._find_record()
        if record is None:
            return Rows(())
        heads = list(records_at(record, _read_filter(query)))
        older = heads[1]["number"] if len(heads) > MOST else None
        heads = heads[-MOST:]
        return Rows(list(_rows(record, heads)), older)

    def stats(self) -> Stats:
        """Return what is counted, each event once, for all who look. Raises: as `records_at`."""
        with self._counting:
            record = self._find_record()
            if record is not None:
                self._count(record)
            return self._stats

    def _find_record(self) -> str | Path | None:
        """Return the record, if there is one by now; a database is asked, and not looked for."""
        record = self.record
        if record is None or is_address(record):
            return record
        return record if Path(record).exists() else None

    def _count(self, record: str | Path) -> None:
        is_first = self._follower is None
        self._follower = self._follower or RecordFollower(record)
        if self._add(self._follower) and not is_first:
            # Events that were counted are gone.
            self._stats, self._last, self._follower = Stats(), 0, RecordFollower(record)
            self._add(self._follower)

    def _add(self, follower: RecordFollower) -> bool:
        """Count what is new, and return whether something was forgotten meanwhile."""
        is_pruned = False
        for event in follower.read(RecordFilter()):
            if event["number"] <= self._last:
                # It is another record, which is read from its beginning.
                self._stats = Stats()
            self._last = event["number"]
            self._stats.add(event)
            is_pruned |= event.get("event") == "pruned"
        return is_pruned


def _rows(record: str | Path, heads: Sequence[Mapping[str, Any]]) -> Iterator[CallRow]:
    """Yield a row for each event that is not in the row of a later one, the newest first."""
    following = _group_followers(record, heads)
    known = set[tuple[str, str]]()
    for head in reversed(heads):
        key = _call_of(head)
        if key is None or key not in following:
            yield CallRow(head)
        elif key not in known:
            known.add(key)
            yield CallRow(head, following[key])


def _group_followers(
    record: str | Path, heads: Sequence[Mapping[str, Any]]
) -> Mapping[tuple[str, str], list[Mapping[str, Any]]]:
    """Return what came behind decisions, by the session and the id of the call."""
    calls = filter(None, map(_call_of, heads))
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {key: [] for key in calls}
    if not found:
        return found
    ids = tuple({call for _, call in found})
    wanted = RecordFilter(equal={"call_id": ids, "event": _FOLLOWING})
    for event in records_at(record, wanted, after=heads[0]["number"]):
        key = str(event.get("session")), str(event.get("call_id"))
        if key in found:
            found[key].append(event)
    return found


def _call_of(event: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the session and the id of the call that an event decides on; None for any other event."""
    if event.get("event") != "decided" or not event.get("call_id"):
        return None
    return str(event.get("session")), str(event["call_id"])


def _read_filter(query: Mapping[str, str]) -> RecordFilter:
    equal = {name: query[name] for name in _EQUAL if query.get(name)}
    other = {} if "event" in equal else {"event": _FOLLOWING}
    before = query.get("before", "")
    return RecordFilter(
        query.get("since", ""), query.get("until") or "~", equal, query.get("text", ""), MOST + 1,
        other=other, before=int(before) if _NUMBER.fullmatch(before) else HIGHEST,
    )  # fmt: skip


def _versions(*paths: Path) -> Iterable[str]:
    for path in paths:
        with contextlib.suppress(OSError):
            status = path.stat()
            yield f"{status.st_size}-{status.st_mtime_ns}"

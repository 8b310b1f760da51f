"""The page of the record: its last events, by what is asked for."""

import contextlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from permitry.core.texts import one_line, shorten
from permitry.store.records import RecordFilter, is_address, store_at
from permitry_ops.inbox.access import Login
from permitry_ops.inbox.html import Html, element
from permitry_ops.inbox.pages import framed

__all__ = ["FILTERS", "MOST", "audit_page", "is_there", "version_of", "wanted"]

FILTERS = ("tool", "rule", "verdict", "event", "session", "since", "until", "text")
MOST = 100
_LONGEST = 300
_HINTS = {"since": "2026-11-23T10:00", "until": "2026-11-24"}
_VERDICTS = ("", "allow", "confirm", "block")
_COLUMNS = ("Time (UTC)", "Event", "Outcome", "Tool", "Rule", "Arguments")


def wanted(query: Mapping[str, str]) -> RecordFilter:
    """Return the records that a query asks for: the last ones of them."""
    equal = {name: query[name] for name in FILTERS[:5] if query.get(name)}
    return RecordFilter(query.get("since", ""), query.get("until") or "~", equal, query.get("text", ""), MOST)


def is_there(record: str | Path) -> bool:
    """Return whether there is a record to look at; one in a database is."""
    return is_address(record) or Path(record).exists()


def version_of(record: str | Path) -> str:
    """Return a text that is another one once something was added to the record; a store adds to a file next to it.

    Raises: `StoreError` where the record is in a database that is away.
    """
    if is_address(record):
        with contextlib.closing(store_at(record, is_read_only=True)) as store:
            return str(store.head.number)
    found, path = [], Path(record)
    for name in (path, path.with_name(f"{path.name}-wal")):
        try:
            status = name.stat()
        except OSError:
            continue
        found.append(f"{status.st_size}-{status.st_mtime_ns}")
    return " ".join(found)


def audit_page(records: Sequence[Mapping[str, Any]], query: Mapping[str, str], login: Login, *, version: str) -> str:
    """Return the page of these records, the last one first."""
    given = {name: query[name] for name in FILTERS if query.get(name)}
    count = f"The last {len(records)} events" if len(records) == MOST else f"{len(records)} events"
    live = element("div", element("p", f"{count}, the newest first."), _table(records), id="live")
    here = f"/audit/events?{urlencode(given)}"
    return framed("Audit", _form(given), live, login=login, here="/audit", live=here, version=version)


def _form(given: Mapping[str, str]) -> Html:
    fields = (element("div", element("label", name.capitalize(), for_=name), _field(name, given)) for name in FILTERS)
    return element("form", *fields, element("button", "Show", class_="plain"), action="/audit", class_="filters")


def _field(name: str, given: Mapping[str, str]) -> Html:
    value = given.get(name, "")
    if name == "verdict":
        choices = (element("option", each or "any", value=each, selected=each == value) for each in _VERDICTS)
        return element("select", *choices, id=name, name=name)
    return element("input", id=name, name=name, value=value, placeholder=_HINTS.get(name))


def _table(records: Sequence[Mapping[str, Any]]) -> Html:
    head = element("tr", *(element("th", name, scope="col") for name in _COLUMNS))
    rows = map(_row, reversed(records))
    table = element("table", element("thead", head), element("tbody", *rows))
    # What scrolls must be reached by keyboard.
    return element("div", table, class_="wide", tabindex="0", role="region", aria_label="Events")


def _row(record: Mapping[str, Any]) -> Html:
    arguments = record.get("arguments")
    text = json.dumps(arguments, ensure_ascii=False) if arguments else ""
    verdict = record.get("verdict")
    known = str(verdict) if verdict in _VERDICTS else None
    outcome = element("span", _outcome(record), class_=known)
    cells: Iterable[Html | str] = (
        str(record.get("at") or "")[:19].replace("T", " "), one_line(str(record.get("event") or "")), outcome,
        one_line(str(record.get("tool") or "")), one_line(str(record.get("rule") or "")),
        element("code", shorten(text, _LONGEST)),
    )  # fmt: skip
    return element("tr", *(element("td", cell) for cell in cells))


def _outcome(record: Mapping[str, Any]) -> str:
    if "approved" in record:
        return "approved" if record["approved"] else "responded" if record.get("responded") else "rejected"
    return one_line(str(record.get("verdict") or record.get("outcome") or ""))

"""The page of the record: its last calls, by what is asked for."""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from permitry.core.texts import one_line, shorten
from permitry_ops.inbox.access import Login
from permitry_ops.inbox.call_text import call_text, short_session
from permitry_ops.inbox.pages import Child, Html, card_table, element, frame, link
from permitry_ops.inbox.record_view import FILTERS, CallRow, Rows

__all__ = ["audit_page"]

_LONGEST = 300
_HINTS = {"since": "2026-11-23T10:00", "until": "2026-11-24", "text": "in the arguments"}
_VERDICTS = ("", "allow", "confirm", "block")
_COLUMNS = ("Time (UTC)", "What happened", "Call", "Rule", "Session")
_SAID = {"allow": "allowed", "confirm": "asked", "block": "blocked"}
_LOOKS = {"approved": "allow", "rejected": "block", "allowed": "allow", "asked": "confirm", "blocked": "block"}
# What every event has, and what has a column of its own.
_SHOWN = frozenset({"number", "at", "event", "session", "call_id", "tool", "digest", "rule"})


def audit_page(found: Rows, query: Mapping[str, str], login: Login, *, version: str) -> str:
    """Return the page of these rows."""
    given = {name: query[name] for name in FILTERS if query.get(name)}
    before = query.get("before", "")
    count = f"{len(found.rows)} calls and other events, {'older ones' if before else 'the newest first'}."
    live = element("div", element("p", count), _table(found), _page_links(found, given, before), id="live")
    here = f"/audit/events?{urlencode(given)}"
    return frame(
        "Audit", _form(given), live, login=login, here="/audit", live=None if before else here, version=version
    )


def _form(given: Mapping[str, str]) -> Html:
    fields = (element("div", element("label", name.capitalize(), for_=name), _field(name, given)) for name in FILTERS)
    form = element("form", *fields, element("button", "Show", class_="plain"), action="/audit", class_="filters")
    return element("details", element("summary", "Filter"), form, open=bool(given))


def _field(name: str, given: Mapping[str, str]) -> Html:
    value = given.get(name, "")
    if name == "verdict":
        choices = (element("option", each or "any", value=each, selected=each == value) for each in _VERDICTS)
        return element("select", *choices, id=name, name=name)
    return element("input", id=name, name=name, value=value, placeholder=_HINTS.get(name))


def _page_links(found: Rows, given: Mapping[str, str], before: str) -> Html:
    newest = [link("Newest", f"/audit?{urlencode(given)}")] if before else []
    older = [] if found.older is None else [link("Older", f"/audit?{urlencode({**given, 'before': found.older})}")]
    return element("nav", *newest, *older, class_="paging", aria_label="More of the record")


def _table(found: Rows) -> Html:
    if not found.rows:
        return element("p", "Nothing is on record.")
    return card_table(_COLUMNS, map(_row, found.rows))


def _row(row: CallRow) -> Sequence[Child]:
    head = row.head
    said = _said(row)
    return (
        _text(head, "at")[:19].replace("T", " "),
        element("span", ", ".join(said), class_=_LOOKS.get(said[0].partition(" ")[0])),
        element("code", shorten(_what(head), _LONGEST)),
        one_line(_text(head, "rule")),
        one_line(short_session(_text(head, "session"))),
    )


def _text(event: Mapping[str, Any], name: str) -> str:
    return str(event.get(name) or "")


def _what(head: Mapping[str, Any]) -> str:
    """Return the call that an event is about, or what else it says."""
    tool, arguments = _text(head, "tool"), head.get("arguments")
    if isinstance(arguments, Mapping):
        return call_text(tool, arguments)
    rest = {name: value for name, value in head.items() if name not in _SHOWN and value}
    return f"{tool} {json.dumps(rest, ensure_ascii=False)}".removesuffix("{}").strip()


def _said(row: CallRow) -> list[str]:
    head = row.head
    if head.get("event") != "decided":
        return [_step(head) or one_line(_text(head, "event"))]
    verdict = one_line(_text(head, "verdict"))
    steps = list(filter(None, map(_step, row.following)))
    would = list(filter(None, [_would(head, verdict)]))
    # A call that was asked about and answered need not say that it was asked.
    if verdict == "confirm" and steps:
        return [*steps, *would]
    return [_SAID.get(verdict, verdict), *steps, *would]


def _would(head: Mapping[str, Any], verdict: str) -> str:
    """Return what an observed rule would have decided, where that is something else."""
    would = head.get("would")
    if not isinstance(would, Mapping) or would.get("verdict") == verdict:
        return ""
    said = _SAID.get(str(would.get("verdict")), "decided")
    return one_line(f"would be {said} by {would.get('rule') or 'no rule'}, which is observed")


def _step(event: Mapping[str, Any]) -> str:
    match event.get("event"):
        case "answered":
            by = f" by {event['by']}" if event.get("by") else ""
            return one_line(f"{_answer(event)}{by}")
        case "finished" if event.get("outcome") != "ok":
            return one_line(_text(event, "outcome"))
        case "interrupted":
            return "interrupted"
    return ""


def _answer(event: Mapping[str, Any]) -> str:
    if event.get("responded"):
        return "responded"
    return "approved" if event.get("approved") else "rejected"

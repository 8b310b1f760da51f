"""A record as a line for people."""

import json
from collections.abc import Mapping
from typing import Any

from permitry.core.texts import one_line, shorten

__all__ = ["line_of"]

_LONGEST = 200
_SHOWN = ("number", "at", "event", "session", "verdict", "tool", "rule")


def line_of(record: Mapping[str, Any]) -> str:
    """Return what a record says, shortened: its number, time and event, what came of it, and the arguments."""
    what = [str(record.get(name) or "") for name in ("verdict", "tool", "rule")]
    if "approved" in record:
        what[0] = _name_answer(record)
        what[2] = _describe_answer(record)
    elif "outcome" in record:
        what[0] = str(record["outcome"])
    arguments = record.get("arguments")
    if not record.get("call_id"):
        arguments = {name: value for name, value in record.items() if name not in _SHOWN}
    words = [f"{record['number']:>6}", str(record.get("at") or "")[:19], f"{record.get('event')!s:<11}"]
    words += [f"{what[0]:<8}", what[1]]
    if what[2]:
        words.append(f"[{what[2]}]")
    if arguments:
        words.append(json.dumps(arguments, ensure_ascii=False))
    return shorten(one_line(" ".join(filter(None, words))), _LONGEST)


def _name_answer(record: Mapping[str, Any]) -> str:
    if record["approved"]:
        return "approved"
    return "responded" if record.get("responded") else "rejected"


def _describe_answer(record: Mapping[str, Any]) -> str:
    """Return who has answered, and whether the arguments were changed."""
    if "grant" in record:
        return f"grant-{record['grant']}"
    words = []
    if record.get("by"):
        words.append(f"by {record['by']}")
    if record.get("edited"):
        words.append("edited")
    return ", ".join(words)

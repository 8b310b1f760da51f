"""What the gateway says: to the model why a call did not run, to the user why it is asked about."""

import json
import logging
from collections.abc import Mapping
from typing import Any

import mcp_types as types

from permitry.core.decision import Phase
from permitry.core.texts import shorten
from permitry.errors import ConfigError
from permitry.guard.outcome import Ask
from permitry.guard.refusal import MISTAKEN_RULES

__all__ = ["LATE", "NOT_APPROVED", "NO_FORM", "NO_FORM_FOR_CHANGES", "reasons", "refused", "unknown", "why_not"]

_LOG = logging.getLogger("permitry.gateway")
_CHANGED = "Why you are asked: the server has changed this tool since it was first seen, or last approved: its {}."
NOT_APPROVED = "The server has changed this tool. What it is now is listed once the user has approved a call of it."
NO_FORM = "This client cannot show questions: here only calls run that a rule allows. Say so to the user."
NO_FORM_FOR_CHANGES = (
    "The server has changed this tool, and this client cannot show the user what it is now."
    " Say so to the user: how to approve it is in the manual of `permitry gateway`, under Changed tools."
)
LATE = "No question about this call is open, so it did not run. Make the call again if you still need it."


def unknown(name: str) -> types.CallToolResult:
    """Return the one answer for a tool that is hidden, and for one that never was."""
    return refused(f"There is no tool `{name}`.")


def refused(text: str) -> types.CallToolResult:
    """Return the result of a call that did not run, or failed."""
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)


def why_not(error: Exception) -> str:
    """Return why a request was not carried out, in words for the model; the log has all of it."""
    if isinstance(error, ConfigError):
        _LOG.warning("nothing runs: %s", error)
        return MISTAKEN_RULES
    _LOG.error("a request failed in the gateway", exc_info=error)
    return f"The gateway failed ({type(error).__name__}), so the call did not run."


def reasons(ask: Ask, parts: Mapping[str, Any], changes: tuple[str, ...]) -> tuple[str, ...]:
    """Return why a call of a changed tool is asked about: for its change, and by a rule where one asks as well."""
    now = [f"{part} now: {shorten(_text_of(parts.get(part, 'nothing')), 2_000)}" for part in changes]
    by_rule = () if ask.decision.phase is Phase.HOST else (f"And: {ask.request.reason}",)
    return _CHANGED.format(", ".join(changes)), *now, *by_rule


def _text_of(part: object) -> str:
    return part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)

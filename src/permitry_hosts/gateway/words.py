"""What the gateway says: to the model why a call did not run, to the user why it is asked about.

And what a server says, for a client of another version of the protocol, which may have no form for it.
"""

import json
import logging
from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp_types.methods import validate_server_result

from permitry.core.decision import Phase
from permitry.core.texts import shorten
from permitry.errors import ConfigError
from permitry.guard.outcome import Ask
from permitry.guard.refusal import MISTAKEN_RULES

__all__ = [
    "LATE", "NOT_APPROVED", "NO_FORM", "NO_FORM_FOR_CHANGES", "reasons", "refuse", "result_for", "tool_for", "unknown",
    "why_not",
]  # fmt: skip

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
    return refuse(f"There is no tool `{name}`.")


def refuse(text: str) -> types.CallToolResult:
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
    if not changes:
        return ()
    texts = {
        part: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for part, value in parts.items()
    }
    now = [f"{part} now: {shorten(texts.get(part, 'nothing'), 2_000)}" for part in changes]
    by_rule = () if ask.decision.phase is Phase.HOST else (f"And: {ask.request.reason}",)
    return _CHANGED.format(", ".join(changes)), *now, *by_rule


def tool_for(version: str, tool: types.Tool) -> types.Tool | None:
    """Return a tool for a client, without an output schema that does not fit; None if more does not.

    One tool that does not fit would cost the client the list of all servers.
    """
    each = (tool, tool.model_copy(update={"output_schema": None}))
    return next((one for one in each if _fits(version, "tools/list", types.ListToolsResult(tools=[one]))), None)


def result_for(version: str, result: types.CallToolResult) -> types.CallToolResult:
    """Return the result of a call that has run for a client, without its structured content if that does not fit.

    One that does not fit would look as if the call had failed, and be made again.
    """
    unknown = "The call has run; its result has a form that this client cannot take."
    each = (result, result.model_copy(update={"structured_content": None}))
    fallback = types.CallToolResult(content=[types.TextContent(text=unknown)], is_error=True)
    return next((one for one in each if _fits(version, "tools/call", one)), fallback)


def _fits(version: str, method: str, result: types.Result) -> bool:
    try:
        validate_server_result(method, version, result.model_dump(by_alias=True, mode="json", exclude_none=True))
    except (ValueError, RecursionError):
        return False
    return True

"""For the Claude Agent SDK: a guard in its hooks, in front of every tool of Claude Code, which waits for answers."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from claude_agent_sdk import HookMatcher

from permitry.errors import ReplayError
from permitry.guard.capabilities import Capabilities
from permitry.guard.guard import Guard
from permitry.guard.outcome import Permit, Refusal
from permitry.guard.refusal import already_handled
from permitry_hosts.adapters._outcomes import ended, settle

__all__ = ["CAPABILITIES", "guard_hooks"]

CAPABILITIES = Capabilities(asks="inline", in_parallel=True, sees_text=False, repeats_ids=False)

_NO_NAMES: Mapping[str, str] = MappingProxyType({})


def guard_hooks(
    guard: Guard, *, names: Mapping[str, str] = _NO_NAMES, timeout: float = 3600
) -> dict[str, list[HookMatcher]]:
    """Return the `hooks` of `ClaudeAgentOptions`: a tool runs only where the guard permits its call.

    Questions go to the channel of the guard, for at most `timeout` seconds. `names` are those by which rules know tools
    of Claude Code; a tool of an MCP server is `mcp:server/tool` without one. Whatever goes wrong, the call is blocked.
    """
    running: dict[str, Permit] = {}

    async def before(given: Any, _: str | None, __: object) -> dict[str, Any]:  # noqa: ANN401 -- the SDK's
        key = _key(given)
        call = guard.call(**_name(given["tool_name"], names), arguments=given["tool_input"], call_id=key)
        outcome = settle(await guard.ainline(call))
        if isinstance(outcome, Refusal):
            return _answer("deny", permissionDecisionReason=outcome.text)
        try:
            arguments = outcome.take()
        except ReplayError:
            return _answer("deny", permissionDecisionReason=already_handled(outcome.call))
        running[key] = outcome
        return _answer("allow", updatedInput=arguments)

    async def after(given: Any, _: str | None, __: object) -> dict[str, Any]:  # noqa: ANN401 -- the SDK's
        permit = running.pop(_key(given), None)
        if permit is not None:
            ended(permit, ok=given["hook_event_name"] == "PostToolUse", result=given.get("tool_response"))
        return {}

    return {
        "PreToolUse": [HookMatcher(hooks=[before], timeout=timeout, on_failure="block")],
        "PostToolUse": [HookMatcher(hooks=[after])],
        "PostToolUseFailure": [HookMatcher(hooks=[after])],
    }


def _key(given: Mapping[str, Any]) -> str:
    """Return the id of a call; those of a sub-agent repeat."""
    return f"{given.get('agent_id') or ''}:{given['tool_use_id']}"


def _name(name: str, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the name that rules know, and the server if there is one."""
    known = names.get(name)
    mark, _, rest = name.partition("__")
    server, _, tool = rest.partition("__")
    if known is None and mark == "mcp" and server and tool:
        return {"name": tool, "server": server, "shown": name}
    return {"name": known or name, "shown": name}


def _answer(decision: str, **rest: object) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": decision, **rest}}

"""What a guard asks about the tools of a registry."""

import pytest
from tests.tables import for_each

from permitry.audit.recorder import MemoryRecorder, RunRecord
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Phase, Verdict
from permitry.core.spec import ToolSpec
from permitry.dispatch.arguments import with_check
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import ReplayError, ToolError, UnavailableError, UnknownToolError
from permitry.guard.outcome import Cause
from permitry.guard.registry_tools import RegistryTools
from permitry.guard.session import Session
from permitry.guard.tools import Tools

CALL = ToolCall("look", {"path": "a"}, call_id="c1")
SPEC = ToolSpec("look", parameters={"type": "object", "required": ["path"]}, roles={})
ALLOWED = Decision(Verdict.ALLOW, "yes", Phase.PERMISSION, "why", None)


def _registry() -> RegistryTools:
    registry = ToolRegistry()
    registry.register(SPEC, lambda _: (True, "seen"))
    return RegistryTools(registry)


def _record() -> RunRecord:
    return RunRecord(MemoryRecorder())


@for_each("tools", [Tools(), _registry()])
def test_a_call_is_authorized_once(tools: Tools) -> None:
    """Open until it is redeemed, and what comes back is the call itself."""
    authorized = tools.authorize(CALL, tools.declare(CALL, None), AuthContext(), _record(), Session())
    assert tools.is_open(authorized)
    assert tools.redeem(authorized).call == CALL
    assert not tools.is_open(authorized)
    with pytest.raises(ReplayError):
        tools.redeem(authorized)


@for_each(
    ("call", "verdict", "cause"),
    [
        (CALL, Verdict.ALLOW, Cause.POLICY),
        (ToolCall("look", {}), Verdict.BLOCK, Cause.MISFIT),
        (ToolCall("gone", {}), Verdict.BLOCK, Cause.POLICY),
    ],
)
def test_a_registry_blocks_what_none_of_its_tools_takes(call: ToolCall, verdict: Verdict, cause: Cause) -> None:
    """A tool that is not there, and arguments that do not fit; what the caller says about the tool does not count."""
    tools = _registry()
    decision, found = tools.check(tools.name(call), AuthContext(), ALLOWED)
    assert (decision.verdict, found) == (verdict, cause)
    assert tools.declare(CALL, ToolSpec("other")) == SPEC


def test_a_tool_that_was_replaced_since_is_not_authorized() -> None:
    """The decision was about another one."""
    tools = _registry()
    with pytest.raises(UnknownToolError):
        tools.authorize(CALL, ToolSpec("look"), AuthContext(), _record(), Session())


@for_each(("error", "reason"), [(ToolError, "arguments do not fit"), (UnavailableError, "not available")])
def test_what_does_not_fit_is_said_to_the_model(error: type[ToolError], reason: str) -> None:
    """The operator sees what kind of refusal it is."""

    def check(_: object) -> None:
        raise error("`n` is missing.")

    registry = ToolRegistry()
    registry.register(ToolSpec("look"), with_check(lambda _: "seen", check))
    decision, _ = RegistryTools(registry).check(CALL, AuthContext(), ALLOWED)
    assert (decision.verdict, decision.phase, decision.message) == (Verdict.BLOCK, Phase.INPUT, "`n` is missing.")
    assert reason in decision.reason

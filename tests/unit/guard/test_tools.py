"""What a guard asks about the tools of a host."""

import pytest

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Phase, Verdict
from permitry.core.spec import ToolSpec
from permitry.guard.outcome import Cause
from permitry.guard.tools import Tools

CALL = ToolCall("look", {"path": "a"}, call_id="c1")
SPEC = ToolSpec("look", parameters={"type": "object", "required": ["path"]}, roles={})
ALLOWED = Decision(Verdict.ALLOW, "yes", Phase.PERMISSION, "why", None)


def test_a_host_declares_what_comes_with_the_call() -> None:
    """A declaration of another tool is a mistake of the program; whether a tool takes the call is not known."""
    tools = Tools()
    assert tools.name(CALL) is CALL
    assert (tools.declare(CALL, SPEC), tools.declare(CALL, None)) == (SPEC, None)
    assert tools.check(CALL, AuthContext(), ALLOWED) == (ALLOWED, Cause.POLICY)
    with pytest.raises(ValueError, match="came with the declaration of `other`"):
        tools.declare(CALL, ToolSpec("other"))

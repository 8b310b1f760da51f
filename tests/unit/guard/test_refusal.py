"""Blocks of calls that no rule is about: always a block, without the rule of the decision before."""

from collections.abc import Callable

from tests.tables import for_each

from permitry.core.call import ToolCall
from permitry.core.decision import Decision, Phase, Verdict
from permitry.guard.refusal import block_changed_tool, block_too_many_questions, block_used_id, refuse_input

CALL = ToolCall("read_fil", call_id="c1")
ALLOWED = Decision(Verdict.ALLOW, "reads", Phase.PERMISSION, "it reads", "go on", source="f:1", policy_version="v1")


@for_each(
    "refused",
    [
        lambda: refuse_input(ALLOWED, "the arguments do not fit", "`n` is missing."),
        lambda: block_changed_tool(CALL, ALLOWED),
        lambda: block_too_many_questions(ALLOWED, "8 at most"),
        lambda: block_used_id(CALL, "v1"),
    ],
)
def test_a_refusal_is_a_block_of_its_own(refused: Callable[[], Decision]) -> None:
    """Nothing of what was decided before is left of it but the version of the policy."""
    decision = refused()
    assert (decision.verdict, decision.phase) == (Verdict.BLOCK, Phase.INPUT)
    assert (decision.rule_id, decision.source, decision.policy_version) == (None, None, "v1")
    assert decision.message not in (None, "", ALLOWED.message)

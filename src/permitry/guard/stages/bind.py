"""An answer is for the very call and the very tool that a human was asked about."""

import attrs

from permitry.core.decision import Verdict
from permitry.core.result import ToolResult
from permitry.errors import safe_str
from permitry.guard.case import Case, Parts, Step
from permitry.guard.ledger import digest_of
from permitry.guard.outcome import Blocked, Cause
from permitry.guard.refusal import block_changed_tool

__all__ = ["bind", "edit"]


def edit(case: Case, parts: Parts) -> Step:
    """Return the call with the arguments that a human gave it, or block one that cannot be built."""
    if case.answer is None or case.answer.response.arguments is None:
        return case
    question = case.answer.question
    try:
        call = parts.tools.name(attrs.evolve(question.call, arguments=case.answer.response.arguments))
    except Exception as error:  # noqa: BLE001 -- arguments from outside may fail in any way
        result = ToolResult(False, f"The edited arguments cannot be used: {safe_str(error)}.")
        return Blocked(question.call, question.decision, result, Cause.BAD_EDIT)
    return case._replace(call=call)


def bind(case: Case, _: Parts) -> Case:
    """Put the decision that was asked about in place of the one of now, unless the call or its tool has changed."""
    if case.answer is None:
        return case
    # INVARIANT: law 1. The answer is for these very arguments and this very tool, and no answer lifts a BLOCK.
    question, response = case.answer.question, case.answer.response
    now, cause = case.decision, case.cause
    if now.verdict is not Verdict.BLOCK and digest_of(case.spec) != digest_of(question.spec):
        now, cause = block_changed_tool(case.call, now), Cause.POLICY
    is_as_asked = not case.is_edited and now.verdict is not Verdict.BLOCK
    is_asked_anyway = question.decision.is_question_of_rule or now.is_question_of_rule
    return case._replace(
        decision=question.decision if is_as_asked else now,
        cause=cause,
        is_remembered=response.is_remembered and not is_asked_anyway,
    )

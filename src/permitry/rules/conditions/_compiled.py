"""Conditions once the tool is known: what is left of them, as plain functions of a call and a context."""

from collections.abc import Sequence
from typing import NamedTuple

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Question, Rest, Test, own_method
from permitry.errors import UnevaluableError

__all__ = ["Compiled", "compile_all", "rest_of"]


class Compiled(NamedTuple):
    """A test of several conditions, and whether it looks at the arguments of the call."""

    test: Test
    is_about_call: bool


def compile_all(conditions: Sequence[object], question: Question, *, is_generous: bool) -> Compiled | bool | None:
    """Return the test whether all conditions hold, True or False where it is settled, None where one has none.

    The test answers, and fails, as `Conditions.plain_hold` does.
    """
    tests: list[Test] = []
    is_about_call = False
    for condition in conditions:
        compile_one = own_method(condition, "compiled", "holds")
        answer = None if compile_one is None else compile_one(question, is_generous=is_generous)
        if answer is False:
            return False
        if answer is None:
            return None
        if answer is not True:
            tests.append(answer)
            is_about_call = is_about_call or bool(getattr(condition, "is_about_call", True))
    return Compiled(_all_of(tests), is_about_call) if tests else True


def rest_of(held: Compiled | bool, lifted: Compiled | bool, *, is_generous: bool) -> Rest | bool:  # noqa: FBT001 -- answers that are judged
    """Return what is left of a rule that applies where `held` is true and `lifted` is not."""
    if lifted is False:
        return held if isinstance(held, bool) else Rest(held.test, is_about_call=held.is_about_call)
    if lifted is True:
        # A permission never applies; yet a condition of it that cannot be evaluated is a failure all the same.
        is_sure = is_generous or isinstance(held, bool) or not held.is_about_call
        return False if is_sure else Rest(_but_not(_tested(held), _always), is_about_call=True)
    combined = _unless if is_generous else _but_not
    is_about_call = lifted.is_about_call or (not isinstance(held, bool) and held.is_about_call)
    return Rest(combined(_tested(held), lifted.test), is_about_call=is_about_call)


def _tested(answer: Compiled | bool) -> Test:  # noqa: FBT001 -- it is the answer that is judged
    return _always if isinstance(answer, bool) else answer.test


def _always(_: ToolCall, __: AuthContext) -> bool:
    return True


def _all_of(tests: Sequence[Test]) -> Test:
    """Return `Conditions.plain_hold` of tests: one that does not hold outweighs one that cannot be evaluated."""
    if len(tests) == 1:
        return tests[0]

    def test(call: ToolCall, context: AuthContext) -> bool | str | None:
        trouble: UnevaluableError | str | None = None
        for one in tests:
            try:
                answer = one(call, context)
            except UnevaluableError as error:
                trouble = error if trouble is None else trouble
                continue
            if isinstance(answer, str):
                trouble = answer if trouble is None else trouble
            elif answer is not True:
                return answer
        if isinstance(trouble, UnevaluableError):
            raise trouble
        return True if trouble is None else trouble

    return test


def _but_not(held: Test, lifted: Test) -> Test:
    """Return the test of a permission: where it cannot be told whether it is lifted, it fails."""

    def test(call: ToolCall, context: AuthContext) -> bool | str | None:
        answer = held(call, context)
        if answer is not True:
            return answer
        answer = lifted(call, context)
        return not answer if isinstance(answer, bool) else answer

    return test


def _unless(held: Test, lifted: Test) -> Test:
    """Return the test of a restriction: where it cannot be told whether it is lifted, it is not."""

    def test(call: ToolCall, context: AuthContext) -> bool | str | None:
        try:
            answer = lifted(call, context)
        except UnevaluableError:
            return held(call, context)
        if answer is False or isinstance(answer, str):
            return held(call, context)
        return None if answer is None else False

    return test

"""Conditions as plain tests of a call: they answer as the conditions themselves do."""

import attrs
import pytest

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Question, Test
from permitry.rules.conditions._compiled import Compiled, compile_all

CALL, HERE = ToolCall("t"), AuthContext()


@attrs.frozen
class _Says:
    """A condition whose test returns what it is given."""

    answer: bool | str | None

    def holds(self, _: Question, *, is_generous: bool) -> bool:
        raise NotImplementedError

    def compiled(self, _: Question, *, is_generous: bool) -> Test:  # noqa: ARG002 -- the protocol's
        return lambda *_: self.answer


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ((True, True), True),
        ((True, "why"), "why"),
        (("first", "second"), "first"),
        ((True, ""), ""),
        (("", "why"), ""),
        (("why", False), False),
        (("why", None), None),
    ],
)
def test_all_must_hold(answers: tuple[bool | str | None, ...], expected: bool | str | None) -> None:  # noqa: FBT001 -- a table
    """A text says why there is no answer, even if it is empty; it never counts as yes."""
    compiled = compile_all([_Says(answer) for answer in answers], Question(CALL, HERE), is_generous=False)
    assert isinstance(compiled, Compiled)
    assert compiled.test(CALL, HERE) == expected

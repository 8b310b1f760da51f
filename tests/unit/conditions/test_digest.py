"""The condition `digest`."""

import pytest
from tests.tables import for_each

from permitry.conditions.digest import DigestCondition
from permitry.conditions.keys import condition
from permitry.conditions.written import bare_type
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Request
from permitry.errors import RuleError

CALL = ToolCall("bash", {"command": "ls"})


@for_each(
    ("call", "holds"),
    [
        (CALL, True),
        (ToolCall("bash", {"command": "ls"}, call_id="another"), True),
        (ToolCall("bash", {"command": "ls "}), False),
        (ToolCall("mcp:x/bash", {"command": "ls"}), False),
    ],
)
def test_it_holds_for_the_very_call(*, call: ToolCall, holds: bool) -> None:
    """Tool, server and arguments count to the letter, the id of the call does not."""
    condition = DigestCondition(("0" * 64, CALL.digest))
    assert condition.holds(Request(call, AuthContext())) is holds


def test_its_fact_is_the_beginning_of_the_digest() -> None:
    """Enough to tell two calls apart."""
    fact = DigestCondition(("0" * 64,)).fact(Request(CALL, AuthContext()))
    assert fact == f"digest = {CALL.digest[:12]}..."


def test_one_string_is_no_list_of_digests() -> None:
    """Its digits would become digests, and `in` a search for a part of it."""
    with pytest.raises(RuleError, match="not the one string"):
        DigestCondition(CALL.digest)


def test_a_word_that_is_never_the_case_is_a_problem() -> None:
    """The metadata of the type says so, with a hint."""
    _, (problem,) = bare_type(condition("digest").table)
    assert problem("0a" * 32) is None
    assert all(problem("0a"))

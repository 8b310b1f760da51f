"""The condition `prompt`."""

from typing import Any

import pytest
from tests.tables import for_each

from permitry.conditions.prompt import PromptCondition
from permitry.conditions.provenance.provenance import Heard, Provenance
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.history import Bounds
from permitry.core.rule import Request
from permitry.errors import RuleError, UnevaluableError


def _request(known: Provenance) -> Request:
    return Request(ToolCall("pay"), AuthContext(provenance=known))


@for_each(("written", "text", "holds"))
def test_it_holds_where_the_user_wrote_of_it(*, written: dict[str, Any], text: str, holds: bool) -> None:
    """In any message."""
    request = _request(Provenance.of(["hello", text]))
    assert PromptCondition.read((), written).holds(request) is holds


def test_what_is_not_known_is_no_answer() -> None:
    """Where no message is known, or some are forgotten; one that is known may have the word."""
    condition = PromptCondition.read((), {"words": ["pay"]})
    heard = Heard(Bounds(messages=1))
    for text in ("pay", "x"):
        with pytest.raises(UnevaluableError):
            condition.holds(_request(Provenance()))
        heard.hear(text)
    with pytest.raises(UnevaluableError, match="not all messages"):
        condition.holds(_request(heard.provenance))
    heard.hear("pay")
    assert condition.holds(_request(heard.provenance))


@for_each(("written", "message"))
def test_a_mistake_is_an_error(written: dict[str, Any], message: str) -> None:
    """With the way out."""
    with pytest.raises(RuleError, match=message):
        PromptCondition.read((), written)


def test_near_misses() -> None:
    """They do not repeat what the user wrote."""
    condition = PromptCondition.read((), {"words": ["pay"], "regex": "rent"})
    assert condition.fact(_request(Provenance())) == "the user wrote of no such thing"
    assert condition.expected.startswith('"pay" or a text like ')

"""The condition `label`."""

import pytest
from tests.tables import for_each

from permitry.conditions.keys import condition
from permitry.conditions.label import LabelCondition
from permitry.conditions.written import bare_type
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Request
from permitry.errors import RuleError


def _request(*labels: str) -> Request:
    return Request(ToolCall("bash"), AuthContext(labels=labels))


@for_each(
    ("wanted", "labels", "holds"),
    [
        (("web",), ("web",), True),
        (("mail", "web"), ("web", "files"), True),
        (("web",), ("webs",), False),
        (("we*",), ("web",), False),
        (("web",), (), False),
        ((), ("web",), False),
    ],
)
def test_it_holds_while_the_session_carries_one_of_the_labels(
    *, wanted: tuple[str, ...], labels: tuple[str, ...], holds: bool
) -> None:
    """Labels are words, not patterns, and one is enough."""
    assert LabelCondition(wanted).holds(_request(*labels)) is holds


@for_each(("labels", "fact"), [((), "labels = none"), (("web", "mail"), "labels = mail, web")])
def test_its_fact_is_what_the_session_carries(labels: tuple[str, ...], fact: str) -> None:
    """A near miss names all labels in one order."""
    assert LabelCondition(("x",)).fact(_request(*labels)) == fact


def test_one_string_is_no_list_of_labels() -> None:
    """Its letters would become labels, and a restriction would never apply."""
    with pytest.raises(RuleError, match="not the one string"):
        LabelCondition("web")


def test_a_word_that_is_never_the_case_is_a_problem() -> None:
    """The metadata of the type says so, with a hint."""
    _, (problem,) = bare_type(condition("label").table)
    assert problem("seen-web") is None
    assert all(problem("Web"))

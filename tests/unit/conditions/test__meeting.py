"""How a restriction meets a call: with certainty, by a guess, or not; what is not known never counts as known."""

import attrs
import pytest

from permitry.conditions._conditions import Conditions, Effect
from permitry.conditions._meeting import BY_NAME, may_be_anything, met
from permitry.conditions.command import ArgvPattern
from permitry.conditions.host import HostPattern
from permitry.conditions.path import PathPattern
from permitry.core.action import Access, Actions, Connect, Place, Roots, Run, Touch, Unknown, Word
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Request, Unsure

KEY = Place("key", ("/w/key",), ("/w/key",))
ON_KEY = Conditions(paths=(PathPattern("key"),))
ON_RM = Conditions(commands=(ArgvPattern("rm *"),))
ON_HOST = Conditions(hosts=(HostPattern("*", None, "*", None),))
OPEN = Place("$X", is_certain=False, is_open=True)


def _met(kind: Conditions, actions: Actions, *, is_lifted: bool = False) -> bool | Unsure:
    actions = attrs.evolve(actions, roots=Roots(("/w",), ("/home/u",)))
    request = Request(ToolCall("t"), AuthContext(), reader=lambda *_: actions)
    return met(kind, request, lambda _: is_lifted)


def _run(*texts: str) -> Run:
    return Run(tuple(map(Word, texts)))


@pytest.mark.parametrize(
    ("kind", "action"),
    [
        (ON_KEY, Touch(Access.READ, KEY)),
        (ON_RM, _run("rm", "x")),
        (ON_HOST, Connect("x", "https", "x", 443)),
    ],
)
def test_a_certain_action_meets_a_restriction(kind: Conditions, action: Touch | Run | Connect) -> None:
    """Unless an exception lifts it."""
    assert _met(kind, Actions((action,))) is True
    assert _met(kind, Actions((action,)), is_lifted=True) is False


@pytest.mark.parametrize(
    ("kind", "action"),
    [
        (ON_KEY, Touch(Access.READ, Place("a", ("/w/a",), ("/w/a",)))),
        (ON_RM, _run("ls")),
        (ON_HOST, _run("curl")),
    ],
)
def test_another_action_does_not(kind: Conditions, action: Touch | Run) -> None:
    """Nor does a call without actions."""
    assert _met(kind, Actions((action,))) is False
    assert _met(kind, Actions(())) is False


def test_a_guess_is_never_certain() -> None:
    """The answer is unsure, and says what the call may do."""
    answer = _met(ON_RM, Actions((), guessed=(attrs.evolve(_run("rm", "x"), is_guess=True),)))
    assert isinstance(answer, Unsure)
    assert (answer.may, answer.likeness) == ("run `rm *`", BY_NAME)


@pytest.mark.parametrize(("about", "is_unsure"), [("", True), ("path", True), ("host", False)])
def test_what_could_not_be_read_may_be_what_a_restriction_is_about(about: str, *, is_unsure: bool) -> None:
    """And its reason is that of the doubt."""
    answer = _met(ON_KEY, Actions((Unknown("x", "a brace", about=about),)))
    assert isinstance(answer, Unsure) is is_unsure
    assert not is_unsure or str(answer).startswith("a brace")


def test_an_expansion_that_could_not_be_read_is_named() -> None:
    """By its own text."""
    answer = _met(ON_KEY, Actions((Unknown("cat $HOME/x", "an expansion", 4),)))
    assert str(answer).startswith("`$HOME` is not known before it runs")


@pytest.mark.parametrize(
    ("kind", "subject", "may_be"),
    [
        (ON_KEY, Touch(Access.READ, OPEN), True),
        (ON_KEY, Touch(Access.READ, Place("x", is_certain=False)), True),
        (ON_KEY, Touch(Access.READ, KEY), False),
        (attrs.evolve(ON_KEY, accesses=frozenset({Access.WRITE})), Touch(Access.READ, OPEN), False),
        (ON_HOST, Touch(Access.READ, OPEN), False),
        (ON_HOST, Connect("::"), True),
        (ON_KEY, Connect("::"), False),
    ],
)
def test_an_open_name_may_be_any(kind: Conditions, subject: Touch | Connect, *, may_be: bool) -> None:
    """For conditions of its kind, and of what happens to it."""
    assert (may_be_anything(kind, Effect(subject)) is not None) is may_be

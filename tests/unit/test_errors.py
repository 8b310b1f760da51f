"""The exception tree: who descends from whom, how problems read, and that errors travel."""

import copy
import inspect
import pickle
import re

import pytest
from tests.tables import for_each

from permitry import errors
from permitry.core.decision import Decision, Phase, Verdict
from permitry.errors import CallBlockedError, ConfigError, LateAnswerError, PermitryError, Problem, count

CLASSES = [cls for _, cls in inspect.getmembers(errors, inspect.isclass) if issubclass(cls, Exception)]
PROBLEM = Problem("rules.toml", 3, 5, 4, "unknown key `tols`", "did you mean `tools`?", 'x = "tols"')
BLOCKED = Decision(Verdict.BLOCK, "r", Phase.RESTRICTION, "why", "what")


def _sample(cls: type[Exception]) -> Exception:
    """Return an error of a class, as its users would raise it."""
    arguments: dict[type[Exception], tuple[object, ...]] = {
        ConfigError: ([PROBLEM],),
        CallBlockedError: ("why", BLOCKED),
        LateAnswerError: ("too late", "the question"),
    }
    return cls(*arguments.get(cls, ("what went wrong",)))


def _drawn() -> dict[str, tuple[str, str | None]]:
    """Return the tree in the docstring of the module: name -> (parent, built-in base)."""
    drawn: dict[str, tuple[str, str | None]] = {}
    above: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        if found := re.match(r"^    ([ │├└─]*)(\w+Error)\b(?: +\((\w+)\))?", line):
            branches, name, base = found.groups()
            above[len(branches) // 4 :] = [name]
            drawn[name] = (above[-2] if len(above) > 1 else "Exception", base)
    return drawn


@for_each("cls", CLASSES)
def test_the_tree_is_the_tree_that_is_drawn(cls: type[Exception]) -> None:
    """Every class is in the picture, under its parent and with its built-in base."""
    parent, base = _drawn()[cls.__name__]
    assert [above.__name__ for above in cls.__bases__] == [parent, *([base] if base else [])]


def test_nothing_is_drawn_that_is_not_there() -> None:
    """The picture and `__all__` name the same classes, and `Problem`."""
    assert {*_drawn(), "Problem"} == set(errors.__all__)
    assert errors.__all__ == sorted(errors.__all__)


@for_each("cls", CLASSES)
def test_everything_is_a_permitry_error_with_a_docstring(cls: type[Exception]) -> None:
    """One `except` catches all, and every class says when it is raised."""
    assert issubclass(cls, PermitryError)
    assert cls.__doc__


@for_each("cls", CLASSES)
def test_an_error_survives_pickling_and_copying(cls: type[Exception]) -> None:
    """Errors cross processes: type, text and contents are kept."""
    error = _sample(cls)
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):  # noqa: S301 -- our own bytes
        assert type(again) is cls
        assert str(again) == str(error)
        assert again.__dict__ == error.__dict__


# Problems ---------------------------------------------------------------------------------------------------------


def test_a_problem_shows_its_line_a_caret_line_and_the_way_out() -> None:
    """Place and message, the line itself, carets under the span, the hint."""
    assert str(PROBLEM).splitlines() == [
        "rules.toml:3:5: unknown key `tols`",
        '    3 | x = "tols"',
        "            ^^^^",
        "      hint: did you mean `tools`?",
    ]


def test_the_carets_stand_under_a_line_with_tabs() -> None:
    """A tab takes one column, so that line and carets agree."""
    shown = str(Problem("f", 12345, 3, 1, "bad", text="\t\tx = 1")).splitlines()
    assert shown[1:] == ["12345 |   x = 1", "          ^"]
    assert shown[2].index("^") == shown[1].index("x")


def test_a_problem_cannot_move_the_cursor() -> None:
    """Text of a file that no terminal should obey is marked, and takes the same room; a line stays one line."""
    shown = str(Problem("f\n", 1, 4, 1, "a\x1b[2Jb\u202e", "c\rd", "x\x1b\u00a0y")).splitlines()
    assert shown == ["f :1:4: a\ufffd[2Jb\ufffd", "    1 | x\ufffd y", "           ^", "      hint: c d"]


@for_each("span", [0, -3, 1])
def test_there_is_always_a_caret(span: int) -> None:
    """A span of nothing is still a place."""
    assert str(Problem("f", 1, 1, span, "bad", text="x")).splitlines()[2].strip() == "^"


def test_a_problem_of_the_file_itself_names_the_file() -> None:
    """Line 0 is not a line, and where there is no text there is no picture."""
    assert str(Problem("rules.toml", 0, 0, 0, "cannot be read")) == "rules.toml: cannot be read"


def test_a_problem_needs_neither_text_nor_hint() -> None:
    """Then it is one line."""
    assert str(Problem("f", 2, 7, 1, "bad")) == "f:2:7: bad"


# Errors with contents ---------------------------------------------------------------------------------------------


def test_a_config_error_shows_every_problem_in_order() -> None:
    """All of them, and how many."""
    problems = [Problem("a", 1, 1, 1, "first"), Problem("b", 0, 0, 0, "second")]
    error = ConfigError(problems)
    assert error.problems == tuple(problems)
    assert re.fullmatch("a:1:1: first\nb: second\n2 problems.*", str(error))


def test_one_problem_is_one_problem() -> None:
    """The total agrees in number."""
    assert re.fullmatch(r"a:1:1: first\n1 problem\b.*", str(ConfigError([Problem("a", 1, 1, 1, "first")])))


@for_each(("number", "expected"), [(0, "0 rules"), (1, "1 rule"), (2, "2 rules")])
def test_a_noun_agrees_with_its_number(number: int, expected: str) -> None:
    """Only one is one."""
    assert count(number, "rule") == expected
    assert count(number, "entity", "entities").endswith("y" if number == 1 else "ies")


def test_a_blocked_call_carries_its_decision() -> None:
    """The verdict in full, for hosts that want an exception."""
    with pytest.raises(CallBlockedError, match="why") as caught:
        raise CallBlockedError("why", BLOCKED)
    assert (str(caught.value), caught.value.decision) == ("why", BLOCKED)


def test_a_late_answer_carries_its_question() -> None:
    """The text is for people, the question for the host that closes it."""
    error = LateAnswerError("too late", "the question")
    assert (str(error), error.pending) == ("too late", "the question")

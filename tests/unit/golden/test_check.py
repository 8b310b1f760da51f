"""The calls of golden cases are decided, and each decision must be the one that is wanted."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.golden.conftest import ASKS, WANT, Write

from permitry.config.load import Origin, load_rules
from permitry.errors import ConfigError, GoldenMismatchError
from permitry.golden.case import read_case
from permitry.golden.check import check_case
from permitry.golden.deciders import Deciders

YES = {"answer": {"approved": True}, "then": {"runs": True, "message": None, "tool_ignore_list": []}}


def check(path: Path, deciders: Deciders | None = None) -> None:
    """Read and check a case, without other rules."""
    check_case(path, read_case(path), deciders or Deciders())


def differs(path: Path) -> str:
    """Return how the case of `path` differs."""
    with pytest.raises(GoldenMismatchError) as error:
        check(path)
    return str(error.value)


def problems_of(path: Path) -> list[str]:
    """Return the messages of the problems of a case that cannot be decided."""
    with pytest.raises(ConfigError) as error:
        check(path)
    assert {problem.path for problem in error.value.problems} == {str(path)}
    return [problem.message for problem in error.value.problems]


def test_a_message_that_is_left_out_is_not_compared(write: Write) -> None:
    """A case need not quote the sentences of the product; that there is no message is another thing to want."""
    check(write(want={name: value for name, value in WANT.items() if name != "message"}))
    assert differs(write(want={**WANT, "message": None})) == f'want.message: want null, got "{ASKS}"'


def test_a_case_that_holds_passes(write: Write) -> None:
    """A case whose decision is the wanted one raises nothing."""
    check(write())


@pytest.mark.parametrize(
    ("field", "value"), [("verdict", "allow"), ("rule", "yolo"), ("phase", "permission"), ("message", None)]
)
def test_every_field_is_compared(write: Write, field: str, value: object) -> None:
    """A difference in one field is a mismatch that tells both values of that field, and no other."""
    shown = differs(write(want={**WANT, field: value}))
    assert shown == f"want.{field}: want {json.dumps(value)}, got {json.dumps(WANT[field])}"


def test_all_differences_are_reported(write: Write) -> None:
    """Two differences are reported together, in the order of the fields."""
    shown = differs(write(want={**WANT, "message": "", "rule": "x"}))
    assert shown == f'want.rule: want "x", got null; want.message: want "", got {json.dumps(ASKS)}'


def test_the_context_is_the_cases(write: Write) -> None:
    """A case is judged in its own context."""
    allowed = {"verdict": "allow", "rule": "yolo", "phase": "permission", "message": None}
    check(write(context={"yolo_mode": True}, want=allowed))


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"call": {"name": "x"}}, "the key `arguments` is missing"),
        ({"context": {"mod": "plan"}}, "unknown key `context.mod`"),
    ],
)
def test_a_question_that_cannot_be_asked_is_a_problem(write: Write, changes: dict[str, Any], error: str) -> None:
    """A bad call or context is a bad case, not a mismatch."""
    assert problems_of(write(**changes))[0].startswith(error)


@pytest.mark.parametrize("context", [{}, {"mode": "yolo"}, None])
def test_a_context_in_the_call_is_a_problem(write: Write, context: object) -> None:
    """The case has a context of its own; another one would be skipped in silence."""
    call = {"name": "write_file", "arguments": {}, "context": context}
    assert problems_of(write(call=call)) == ["`call.context` is not read"]


def test_a_case_names_its_rules(write: Write) -> None:
    """Rules named in the case, shipped or next to it, decide it; others given do not."""
    rule = 'schema = 1\n[[rule]]\nid = "no"\neffect = "block"\ntools = ["write_file"]\nmessage = "No."\n'
    want = {"verdict": "block", "rule": "no", "phase": "restriction", "message": "No."}
    path = write(rules=["permitry:base", "no.toml"], want=want)
    (path.parent / "no.toml").write_text(rule)
    check(path, Deciders(load_rules([Origin("permitry:plan")])))


def test_a_case_without_rules_takes_those_given(write: Write) -> None:
    """A case that names no rules is judged by the given ones."""
    path = write(
        call={"name": "send_money", "arguments": {}},
        want={**WANT, "rule": "ask-payment", "phase": "restriction", "message": f"{ASKS[:-1]}: moves money. Go on without it, or say what you need it for."},
    )
    check(path, Deciders(load_rules([Origin("permitry:base")])))
    assert "want.rule" in differs(path)


def test_a_case_of_no_rules_takes_none(write: Write) -> None:
    """An empty list is not the same as none: the built-in rules alone decide, whatever others are given."""
    path = write(call={"name": "send_money", "arguments": {}}, rules=[])
    check(path, Deciders(load_rules([Origin("permitry:base")])))


def test_each_of_several_calls_is_decided(write: Write) -> None:
    """Each in the context of the case; a text is a command of the shell."""
    case: dict[str, Any] = {"call": None, "rules": ["permitry:base"], "context": {"yolo_mode": True}}
    case["want"] = {"verdict": "confirm", "rule": "ask-discard-work", "phase": "restriction"}
    discards = {"name": "bash", "arguments": {"command": "git reset --hard"}}
    check(write(**case, calls=["git reset --hard", "git checkout -- .", discards]))


def test_each_row_that_differs_has_a_line(write: Write) -> None:
    """It says which of the calls is meant, and what differs there."""
    paid = {"name": "send_money", "arguments": {}}
    want = {"verdict": "confirm", "rule": "ask-payment", "phase": "restriction"}
    path = write(call=None, calls=["make", paid, "npm test"], rules=["permitry:base"], want=want)
    assert differs(path).splitlines() == [
        '`calls.0` "make": want.rule: want "ask-payment", got null; want.phase: want "restriction", got "default"',
        '`calls.2` "npm test": want.rule: want "ask-payment", got null; want.phase: want "restriction", got "default"',
    ]


def test_each_row_that_is_no_call_is_a_problem(write: Write) -> None:
    """With its place; the others are looked at all the same."""
    given = [{"name": "x"}, "ls", {"name": "y", "arguments": {}, "context": {}}]
    assert problems_of(write(call=None, calls=given)) == [
        '`calls.0` {"name": "x"}: the key `arguments` is missing',
        "`calls.2.context` is not read",
    ]


def test_the_request_is_compared(write: Write) -> None:
    """What the human is shown is part of a case that says so."""
    check(write(request={"path": "a.txt"}))
    assert differs(write(request={"path": None})) == 'request.path: want null, got "a.txt"'


def test_what_follows_an_answer_is_compared(write: Write) -> None:
    """Whether the call runs and what is remembered is part of a case with an answer."""
    check(write(**YES))
    always = {"approved": True, "skip_future": True}
    shown = differs(write(answer=always, then={"runs": False, "message": None, "tool_ignore_list": []}))
    assert shown == 'then.runs: want false, got true; then.tool_ignore_list: want [], got ["write_file"]'


def test_what_the_model_is_reported_is_compared(write: Write) -> None:
    """After a rejection the words for the model are part of the case; a context's ignore list stays as it is."""
    answer = {"approved": False, "skip_future": True, "instructions": "Use docs/."}
    then = {"runs": False, "message": "nothing", "tool_ignore_list": ["bash"]}
    shown = differs(write(answer=answer, then=then, context={"tool_ignore_list": ["bash"]}))
    assert shown.startswith('then.message: want "nothing", got "The user declined the call of `write_file`')
    assert "Use docs/." in shown
    assert "tool_ignore_list" not in shown



"""Golden cases: one question and everything it must lead to."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from permitry.config.load import Origin, load_rules
from permitry.errors import ConfigError, GoldenMismatchError
from permitry.golden.case import INDEX, check_case, find_cases, index_of, read_case
from tests.tables import for_each

ASKS = "This call needs the user's confirmation before it runs."
WANT = {"verdict": "confirm", "rule": None, "phase": "default", "message": ASKS}
YES = {"answer": {"approved": True}, "then": {"runs": True, "message": None, "tool_ignore_list": []}}

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes the case `one`, a good one unless `changes` say otherwise."""

    def written(name: str = "one", **changes: object) -> Path:
        call = {"name": "write_file", "arguments": {"path": "a.txt"}}
        case = {"id": name, "why": "it is asked about", "call": call, "want": WANT, **changes}
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(case))
        return path

    return written


def check(path: Path) -> None:
    """Read and check a case without other rules."""
    check_case(path, read_case(path))


def differs(path: Path) -> str:
    """Return how the case of `path` differs."""
    with pytest.raises(GoldenMismatchError) as error:
        check(path)
    return str(error.value)


def problems_of(path: Path) -> list[str]:
    """Return the messages of the problems of a case that cannot be used."""
    with pytest.raises(ConfigError) as error:
        check(path)
    assert {problem.path for problem in error.value.problems} == {str(path)}
    return [problem.message for problem in error.value.problems]


# Reading ------------------------------------------------------------------------------------------------------------


def test_a_case_is_read_as_written(write: Write) -> None:
    """What a file leaves out is empty; what it says is kept."""
    case = read_case(write(context={"mode": "plan"}, **{"$schema": "../case.schema.json"}))
    assert (case.id, case.context, case.rules, case.request, case.answer) == ("one", {"mode": "plan"}, [], None, None)
    assert case.want.message == ASKS


@pytest.mark.parametrize("key", ["id", "why", "call", "want"])
def test_a_case_needs_its_parts(write: Write, key: str) -> None:
    """A case without id, reason, call or want is a problem that names the part."""
    path = write()
    path.write_text(json.dumps({name: value for name, value in json.loads(path.read_text()).items() if name != key}))
    assert problems_of(path) == [f"`{key}`: field required"]


@pytest.mark.parametrize("key", ["verdict", "rule", "phase"])
def test_all_of_the_decision_is_wanted(write: Write, key: str) -> None:
    """No field of the decision but the message may be left out: what is not wanted is not compared."""
    path = write(want={name: value for name, value in WANT.items() if name != key})
    assert problems_of(path) == [f"`want.{key}`: field required"]


def test_a_message_that_is_left_out_is_not_compared(write: Write) -> None:
    """A case need not quote the sentences of the product; that there is no message is another thing to want."""
    check(write(want={name: value for name, value in WANT.items() if name != "message"}))
    assert differs(write(want={**WANT, "message": None})) == f'want.message: want null, got "{ASKS}"'


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"why": ""}, "why"),
        ({"want": {**WANT, "verdict": "deny"}}, "want.verdict"),
        ({"want": {**WANT, "phase": "input"}}, "want.phase"),
        ({"want": {**WANT, "reason": "x"}}, "want.reason"),
        ({"wants": WANT}, "wants"),
        ({"rules": "permitry:base"}, "rules"),
        ({"call": []}, "call"),
        ({"request": {}}, "request.path"),
        ({**YES, "answer": {"approved": 1}}, "answer.approved"),
        ({**YES, "answer": {"approved": True, "always": True}}, "answer.always"),
        ({**YES, "then": {"runs": True, "message": None}}, "then.tool_ignore_list"),
    ],
)
def test_a_misspelt_case_is_a_problem(write: Write, changes: dict[str, Any], place: str) -> None:
    """An unknown key, a wrong type and an unknown word are problems with their place in the case."""
    (message,) = problems_of(write(**changes))
    assert message.startswith(f"`{place}`: ")


@pytest.mark.parametrize("key", ["answer", "then"])
def test_an_answer_goes_with_what_follows(write: Write, key: str) -> None:
    """An answer no one looks at, and an outcome without an answer, are problems."""
    assert "`answer` and `then` go together" in problems_of(write(**{key: YES[key]}))[0]


def test_several_problems_are_reported_at_once(write: Write) -> None:
    """All mistakes of one case are collected."""
    assert len(problems_of(write(why="", wants=1, rules=7))) == 3


def test_the_id_is_the_name(write: Write) -> None:
    """A case under a wrong name is a problem, with both ways out."""
    path = write()
    path = path.rename(path.with_name("two.json"))
    assert problems_of(path) == ["the id `one` is not the name of the file"]


@for_each("data", [b"{", b"\xff", b'{"id": "one", "id": "one"}', b'{"id": NaN}', None])
def test_a_file_that_is_no_case_is_a_problem(tmp_path: Path, data: bytes | None) -> None:
    """Broken JSON, a duplicate key, other bytes, and a missing file are problems of that file."""
    path = tmp_path / "one.json"
    if data is not None:
        path.write_bytes(data)
    assert len(problems_of(path)) == 1


# Checking -----------------------------------------------------------------------------------------------------------


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
    check_case(path, read_case(path), load_rules([Origin("permitry:plan")]))


def test_a_case_without_rules_takes_those_given(write: Write) -> None:
    """A case that names no rules is judged by the given ones."""
    path = write(
        call={"name": "send_money", "arguments": {}},
        want={**WANT, "rule": "ask-payment", "phase": "restriction", "message": f"{ASKS[:-1]}: moves money. Go on without it, or say what you need it for."},
    )
    check_case(path, read_case(path), load_rules([Origin("permitry:base")]))
    assert "want.rule" in differs(path)


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


# The index ----------------------------------------------------------------------------------------------------------


def problems_in(folder: Path) -> list[tuple[str, int, str]]:
    """Return file, line and message of every problem of a folder."""
    with pytest.raises(ConfigError) as error:
        find_cases(folder)
    return [(Path(problem.path).name, problem.line, problem.message) for problem in error.value.problems]


def test_cases_come_in_the_order_of_the_index(write: Write, tmp_path: Path) -> None:
    """The index that is written is sorted by id, and is the one that is wanted."""
    paths = [write(name) for name in ("b", "a-b", "a", "a2")]
    (tmp_path / INDEX).write_text(index_of(tmp_path))
    assert (tmp_path / INDEX).read_text() == "a\na-b\na2\nb\n"
    assert find_cases(tmp_path) == sorted(paths, key=lambda path: path.stem)


def test_an_empty_folder_has_an_empty_index(tmp_path: Path) -> None:
    """No cases and no lines agree."""
    (tmp_path / INDEX).write_text(index_of(tmp_path))
    assert find_cases(tmp_path) == []


def test_a_folder_needs_an_index(write: Write, tmp_path: Path) -> None:
    """Without an index no one would notice a case that is lost."""
    write()
    assert problems_in(tmp_path) == [(tmp_path.name, 0, f"the folder has no `{INDEX}`")]


def test_missing_unused_and_unsorted_are_reported_together(write: Write, tmp_path: Path) -> None:
    """Every line and every file that does not fit is a problem with its place."""
    for name in ("a", "b", "c"):
        write(name)
    (tmp_path / INDEX).write_text("b\na\na\nd\n")
    assert problems_in(tmp_path) == [
        (INDEX, 2, "`a` is out of order or listed twice"),
        (INDEX, 3, "`a` is out of order or listed twice"),
        (INDEX, 4, "the case `d` is missing"),
        ("c.json", 0, "the case is not in the index"),
    ]

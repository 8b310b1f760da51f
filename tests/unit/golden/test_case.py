"""Golden cases: how their files are read, and the index of a folder."""

import json
from pathlib import Path
from typing import Any

import pytest

from permitry.errors import ConfigError
from permitry.golden.case import INDEX, find_cases, index_of, read_case
from tests.tables import for_each
from tests.unit.golden.conftest import ASKS, WANT, Write

YES = {"answer": {"approved": True}, "then": {"runs": True, "message": None, "tool_ignore_list": []}}

def problems_of(path: Path) -> list[str]:
    """Return the messages of the problems of a case that cannot be read."""
    with pytest.raises(ConfigError) as error:
        read_case(path)
    assert {problem.path for problem in error.value.problems} == {str(path)}
    return [problem.message for problem in error.value.problems]


# Reading ------------------------------------------------------------------------------------------------------------


def test_a_case_is_read_as_written(write: Write) -> None:
    """What a file leaves out is empty; what it says is kept."""
    case = read_case(write(context={"mode": "plan"}, **{"$schema": "../case.schema.json"}))
    assert (case.id, case.context, case.rules, case.request, case.answer) == ("one", {"mode": "plan"}, None, None, None)
    assert case.want.message == ASKS


@pytest.mark.parametrize("key", ["id", "why", "want"])
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
    assert problems_of(write(**{key: YES[key]})) == ["`answer` and `then` go together"]


@for_each("changes", [{"call": None}, {"calls": ["git push"]}])
def test_a_case_has_one_call_or_several(write: Write, changes: dict[str, Any]) -> None:
    """Without any it asks nothing, and with both keys it is not clear which is meant."""
    assert problems_of(write(**changes)) == ["name either `call` or `calls`"]


@for_each(
    ("calls", "message"),
    [
        ([], "`calls`: list should have at least 1 item after validation, not 0"),
        ("ls", "`calls`: input should be a valid list"),
    ],
)
def test_calls_are_a_list(write: Write, calls: object, message: str) -> None:
    """Without any, the case would hold whatever is decided."""
    assert problems_of(write(call=None, calls=calls)) == [message]


def test_a_bad_row_is_named_with_its_place(write: Write) -> None:
    """Rows count from 0, as in the other errors about lists."""
    assert any(message.startswith("`calls.1.") for message in problems_of(write(call=None, calls=["ls", 1])))


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

"""The table of a record of a program: what is in `programs.toml` and what a rule file may have are one."""

import json
from typing import Any

import pytest
from pydantic import ValidationError
from tests.tables import for_each

from permitry.actions.programs.catalogue import compact
from permitry.config.program_table import ProgramTable

_SHIPPED = json.loads(compact())


@for_each(("name", "record"), [pair for table in ("program", "other") for pair in _SHIPPED[table].items()])
def test_each_shipped_record_is_one_of_a_rule_file(name: str, record: dict[str, Any]) -> None:
    """Nothing is left out, and nothing added, on the way through the table."""
    assert name
    assert ProgramTable.model_validate(record).model_dump(exclude_none=True, by_alias=True) == record


def _problem(record: dict[str, Any]) -> tuple[str, str]:
    with pytest.raises(ValidationError) as caught:
        ProgramTable.model_validate(record)
    context = caught.value.errors()[0]["ctx"]
    return context["message"], context["hint"]


@for_each(
    ("record", "message", "hint"),
    [
        ({"options": "-a b"}, "`b` is not an option",
         "write `-a` or `--name`, and `-a=` or `--name=` where it takes a value"),
        ({"more": "-a @grpe"}, "unknown group of options `@grpe`", "did you mean `@grep`?"),
        ({"runs_behind": {"run": {"runs": "=x"}}}, "`=x` is not an option",
         "write `-a` or `--name`, and `-a=` or `--name=` where it takes a value"),
        ({"operands": "read* wirte"}, "`wirte` is not what an operand can be", "did you mean `write`?"),
        ({"modes": [{"when": "-x", "operands": "read/delet"}]}, "`delet` is not what an operand can be",
         "did you mean `delete`?"),
        ({"commands": {"a": {"commands": {"b": {"here": "reads"}}}}}, "unknown word `reads` for `here`",
         "did you mean `read`?"),
        ({"script": "python"}, "unknown word `python` for `script`",
         "known: awk, find, jq, names, printf, sed, set, tar, test, unzip, xargs"),
        ({"shell": "zsh"}, "unknown word `zsh` for `shell`", "known: bash, other, posix"),
    ],
)  # fmt: skip
def test_a_wrong_word_is_refused_at_any_depth(record: dict[str, Any], message: str, hint: str) -> None:
    """With what may have been meant, or what is known."""
    assert _problem(record) == (message, hint)


@for_each(
    "record",
    [
        {"optoins": "-a"}, {"modes": [{"options": "-a"}]}, {"runs_behind": {"a": {"operands": "read"}}},
        {"leading": -1}, {"leading": True}, {"options": ["-a"]}, {"any_option": "yes"}, {"commands": {"a": "read"}},
        {"is_known": False}, {"known": "-a"}, {"shapes": []}, {"operands": " "}, {"examples": {"a": ""}},
    ],
)  # fmt: skip
def test_any_other_table_is_refused(record: dict[str, Any]) -> None:
    """Keys are those of a record, and values have their types."""
    with pytest.raises(ValidationError):
        ProgramTable.model_validate(record)

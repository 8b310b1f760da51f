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


@for_each(("record", "message", "hint"))
def test_a_wrong_word_is_refused_at_any_depth(record: dict[str, Any], message: str, hint: str) -> None:
    """With what may have been meant, or what is known."""
    assert _problem(record) == (message, hint)


@for_each("record")
def test_any_other_table_is_refused(record: dict[str, Any]) -> None:
    """Keys are those of a record, and values have their types."""
    with pytest.raises(ValidationError):
        ProgramTable.model_validate(record)

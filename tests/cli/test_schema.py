"""`permitry schema`: the JSON Schemas editors complete from."""

import json
from collections.abc import Callable

import pytest

from permitry.config.schema import rule_file_schema
from permitry.golden.case import case_schema

Outcome = tuple[int, str, str]


@pytest.mark.parametrize("words", [("schema",), ("schema", "rules")])
def test_the_schema_of_rule_files_is_printed(cli: Callable[..., Outcome], words: tuple[str, ...]) -> None:
    """`permitry schema` prints the schema of rule files, indented, and nothing else."""
    code, out, err = cli(*words)
    assert (code, err) == (0, "")
    assert out == json.dumps(rule_file_schema(), indent=2) + "\n"


def test_the_schema_of_cases_is_printed(cli: Callable[..., Outcome]) -> None:
    """`permitry schema case` prints the schema of golden cases."""
    code, out, err = cli("schema", "case")
    assert (code, err) == (0, "")
    assert json.loads(out) == case_schema()

"""The samples with ground truth: every command that runs is among what the lenient reader finds."""

import json
from pathlib import Path

import pytest

from permitry.actions.derive.recursive import read_recursively

SAMPLES = Path(__file__).resolve().parents[2] / ".." / "shared" / "cases" / "security" / "shell_cases.jsonl"


def test_every_command_of_every_sample_is_found() -> None:
    """No sample is an exception, in any tier."""
    if not SAMPLES.exists():
        pytest.skip("the shared cases are not here")
    rows = [json.loads(line) for line in SAMPLES.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row["decomposed"]]
    assert len(rows) > 150
    for row in rows:
        found = {command.argv for command in read_recursively(row["command"]).commands}
        assert set(map(tuple, row["decomposed"])) <= found, row["id"]

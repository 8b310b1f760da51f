"""Records as a file of Parquet."""

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from permitry.errors import AuditError, PermitryError
from permitry_ops.parquet import write_parquet


def _read(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


def test_each_field_is_a_column(tmp_path: Path) -> None:
    """Arguments are JSON text, and so is what has no column, or another type than it."""
    path = tmp_path / "a.parquet"
    decided = {
        "number": 1,
        "at": "2026-01-01",
        "event": "decided",
        "tool": "say",
        "arguments": {"x": "é"},
        "rule": None,
    }
    finished = {"number": 2, "event": "finished", "ok": True, "seconds": 2, "extra": [1], "verdict": 7}
    assert write_parquet([decided, finished], path) == 2
    first, second = _read(path)
    assert first == {**{k: v for k, v in decided.items() if v is not None}, "arguments": '{"x": "é"}'}
    assert json.loads(second.pop("rest")) == {"extra": [1], "verdict": 7}
    assert second == {"number": 2, "event": "finished", "ok": True, "seconds": 2.0}


def test_halves_of_surrogate_pairs_are_spelled_out(tmp_path: Path) -> None:
    """One name of a file in an error must not keep all records from an auditor."""
    path = tmp_path / "a.parquet"
    write_parquet([{"number": 1, "error": "no \udcff", "arguments": {"x": "\udcff"}, "seen": "\ud800"}], path)
    (row,) = _read(path)
    assert row["error"] == "no \\udcff"
    assert json.loads(row["arguments"]) == {"x": "\udcff"}
    assert json.loads(row["rest"]) == {"seen": "\ud800"}


def test_many_records_are_written_in_parts(tmp_path: Path) -> None:
    """So that memory does not grow with them."""
    path = tmp_path / "a.parquet"
    assert write_parquet(({"number": number, "event": "asked"} for number in range(25_000)), path) == 25_000
    assert (pq.read_metadata(path).num_rows, pq.read_metadata(path).num_row_groups) == (25_000, 3)
    assert write_parquet([], path) == 0
    assert _read(path) == []


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    """With its name."""
    with pytest.raises(AuditError, match="cannot write"):
        write_parquet([], tmp_path / "none" / "a.parquet")


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is large."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(PermitryError, match=r"permitry\[parquet\]"):
        write_parquet([], tmp_path / "a.parquet")

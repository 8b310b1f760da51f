"""Records as a file of Parquet."""

import datetime as dt
import json
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.tables import for_each

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


def test_who_decided_and_for_whom_are_columns(tmp_path: Path) -> None:
    """Of answers, grants and sessions, so that a report needs no JSON."""
    path = tmp_path / "a.parquet"
    names = ("by", "grant", "user", "mode", "principal", "workspace")
    write_parquet([{"number": 1, **{name: f"a {name}" for name in names}}], path)
    assert _read(path) == [{"number": 1, **{name: f"a {name}" for name in names}}]


@for_each(
    ("at", "time"),
    [
        ("2026-11-23T10:00:00.250+00:00", "2026-11-23T10:00:00.250000+00:00"),
        ("2026-11-23T12:00:00.000001+02:00", "2026-11-23T10:00:00.000001+00:00"),
        ("2026-11-23", "2026-11-23T00:00:00+00:00"),
    ],
)
def test_the_time_is_a_time(tmp_path: Path, at: str, time: str) -> None:
    """In UTC, in microseconds, as programs compare and round them."""
    path = tmp_path / "a.parquet"
    write_parquet([{"number": 1, "at": at}], path)
    assert str(pq.read_schema(path).field("at").type) == "timestamp[us, tz=UTC]"
    assert pq.read_table(path).column("at").cast("int64").to_pylist() == [_microseconds(time)]


def _microseconds(time: str) -> int:
    since = dt.datetime.fromisoformat(time) - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    return since // dt.timedelta(microseconds=1)


@for_each("at", ["soon", 7, "0001-01-01T00:00:00+23:00"])
def test_what_is_no_time_is_kept_as_it_is(tmp_path: Path, at: object) -> None:
    """An auditor loses nothing."""
    path = tmp_path / "a.parquet"
    write_parquet([{"number": 1, "at": at}], path)
    (row,) = _read(path)
    assert json.loads(row["rest"]) == {"at": at}
    assert "at" not in row


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

"""Records as a file of Apache Parquet, for programs that count in columns. Needs the extra `parquet`."""

import datetime as dt
import json
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from permitry.errors import AuditError, PermitryError
from permitry.extras import missing

__all__ = ["write_parquet"]

_TEXTS = (
    "session", "event", "call_id", "tool", "agent", "mode", "user", "principal", "workspace",
    "digest", "verdict", "rule", "phase", "source", "reason", "policy_version", "by", "grant",
    "outcome", "error",
)  # fmt: skip
_FLAGS = ("approved", "edited", "ok")
_BATCH = 10_000


def write_parquet(records: Iterable[Mapping[str, Any]], path: Path) -> int:
    """Write records to a file, and return how many; the file is replaced.

    Each field is a column, null where a record has none; `at` is a time in UTC, in microseconds.
    `arguments`, and as `rest` all fields without a column, are JSON text. Raises: `PermitryError`
    without pyarrow; `AuditError` if it cannot.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 -- an extra
        import pyarrow.parquet as pq  # noqa: PLC0415 -- an extra
    except ImportError as error:
        raise PermitryError(missing("pyarrow", "parquet")) from error
    columns = [("number", pa.int64()), ("at", pa.timestamp("us", tz="UTC"))]
    columns += [(name, pa.string()) for name in _TEXTS]
    columns += [*((name, pa.bool_()) for name in _FLAGS), ("seconds", pa.float64())]
    schema = pa.schema([*columns, ("arguments", pa.string()), ("rest", pa.string())])
    count, source = 0, iter(records)
    try:
        with pq.ParquetWriter(path, schema) as writer:
            while rows := [_row(record) for record in islice(source, _BATCH)]:
                writer.write_table(pa.Table.from_pylist(rows, schema=schema))
                count += len(rows)
    except OSError as error:
        raise AuditError(f"cannot write `{path}`: {error}") from error
    return count


def _row(record: Mapping[str, Any]) -> dict[str, object]:
    """Return a record by columns; a value of another type than its column's is part of `rest`."""
    row: dict[str, object] = {"number": record["number"]}
    row |= {name: _text(record[name]) for name in _TEXTS if isinstance(record.get(name), str)}
    row |= {name: record[name] for name in _FLAGS if isinstance(record.get(name), bool)}
    if isinstance(record.get("at"), str) and (at := _time(record["at"])) is not None:
        row["at"] = at
    if isinstance(record.get("seconds"), int | float):
        row["seconds"] = float(record["seconds"])
    if "arguments" in record:
        row["arguments"] = _text(json.dumps(record["arguments"], ensure_ascii=False))
    rest = {name: value for name, value in record.items() if name not in row and value is not None}
    return row | ({"rest": _text(json.dumps(rest, ensure_ascii=False))} if rest else {})


def _time(text: str) -> dt.datetime | None:
    """Return a time as records have it, one without a zone in UTC; None for what is not one."""
    try:
        at = dt.datetime.fromisoformat(text)
        return at.replace(tzinfo=at.tzinfo or dt.UTC).astimezone(dt.UTC)
    except (ValueError, OverflowError):
        return None


def _text(text: str) -> str:
    """Return a text with halves of surrogate pairs, as names of files have them, spelled out as JSON does."""
    return text.encode(errors="backslashreplace").decode()

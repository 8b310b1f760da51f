"""The samples with ground truth about URLs: which rule matches which address."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.tables import for_each

from permitry.actions.hosts import other_readings, read_host, read_url
from permitry.conditions.host import HostPattern
from permitry.conditions.match import Match

SAMPLES = Path(__file__).resolve().parents[2] / ".." / "shared" / "cases" / "security" / "url_cases.jsonl"


def matches(row: dict[str, Any]) -> bool:
    """Return whether the rule of a sample covers, or binds, its URL."""
    connect = read_url(row["url"], base=row["base"])
    if row["rule_use"] == "allow":
        texts = [f"{scheme}://{row['rule_host']}" for scheme in row["allowed_schemes"]]
        return any(HostPattern.parse(text, read_host).match_address(connect) is Match.YES for text in texts)
    pattern = HostPattern.parse(row["rule_host"], read_host)
    readings = (connect, *other_readings(row["url"]))
    return any(pattern.match_address(each) is not Match.NO for each in readings)


@pytest.fixture(scope="module")
def samples() -> list[dict[str, Any]]:
    """Return the samples that are scored."""
    if not SAMPLES.exists():
        pytest.skip("the shared cases are not here")
    rows = [json.loads(line) for line in SAMPLES.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["tier"] == "core"]


@for_each("use", ["allow", "deny"])
def test_every_core_sample_is_right(samples: list[dict[str, Any]], use: str) -> None:
    """Permissions cover, and restrictions bind, exactly what the samples say."""
    rows = [row for row in samples if row["rule_use"] == use]
    assert len(rows) > 10
    assert [row["id"] for row in rows if matches(row) is not row["should_match"]] == []

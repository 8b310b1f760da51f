"""Of a budget that many processes share, no more is used than there is, and nearly all of it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from permitry.store.counters import Account, StoredCounters
from permitry.store.records import store_at

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return where a store is to be, of each kind."""
    return str(tmp_path / "a.db") if request.param == "sqlite" else str(request.getfixturevalue("postgres").new())


@pytest.mark.parametrize(("count", "most"), [(60, 150), pytest.param(2_000, 500, marks=pytest.mark.large)])
def test_a_crowd_uses_a_budget_and_no_more(address: str, count: int, most: int) -> None:
    """Eight processes at once; what they leased and did not use is there for others in the end."""
    store = store_at(address)
    command = [sys.executable, "-m", "tests.spending", address, str(count), str(most)]
    processes = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(8)]
    said = [process.communicate(timeout=600)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 8
    ran = sum(json.loads(each)[0] for each in said)
    assert most * 0.9 <= ran <= most
    assert StoredCounters(store).count(Account("limit", "organisation", ""), 3600.0) == ran
    store.close()

"""Grants in a store: of those who want the last use, one gets it; what is revoked or has expired counts no more."""

import subprocess
from pathlib import Path

import pytest

from permitry.channels.clock import Moment
from permitry.errors import StoreError
from permitry.guard.grants import Grant
from permitry.guard.ledgers import grants_at
from permitry.store.grants import StoredGrants

NOW = Moment(1_000.0, "boot", 50.0)
TAKING = """
import sys
from permitry.channels.clock import Moment
from permitry.guard.ledgers import grants_at
grants = grants_at(sys.argv[1]).store
print("ready", flush=True)
sys.stdin.readline()
print(sum(grants.take("g1", Moment.now()) for _ in range(20)))
"""


@pytest.fixture
def grants(address: str) -> StoredGrants:
    """Return the grants of a store."""
    return grants_at(address).store


def names(grants: StoredGrants, now: Moment = NOW) -> list[str]:
    """Return the ids of those that count."""
    return [row["id"] for row in grants.in_force(now)]


@pytest.mark.parametrize("uses", [1, 37])
def test_eight_processes_take_no_more_than_there_is(
    address: str, grants: StoredGrants, uses: int, tmp_path: Path, warm_python: str
) -> None:
    """Nor less."""
    (tmp_path / "taking.py").write_text(TAKING, encoding="utf-8")
    grants.add(Grant('tools = ["x"]', uses_left=uses, id="g1").row())
    processes = [
        subprocess.Popen(
            [warm_python, str(tmp_path / "taking.py"), address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(8)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    assert sum(int(process.communicate(timeout=60)[0]) for process in processes) == uses
    assert names(grants) == []


def test_what_is_revoked_counts_no_more_in_another_process(address: str, grants: StoredGrants) -> None:
    """At once; it can be revoked once."""
    grants.add(Grant('tools = ["x"]', id="g1").row())
    other = grants_at(address).store
    assert names(other) == ["g1"]
    assert [grants.revoke("g1", NOW), grants.revoke("g1", NOW), grants.revoke("g2", NOW)] == [True, False, False]
    assert names(other) == []
    assert not other.take("g1", NOW)


@pytest.mark.parametrize(
    ("now", "counts"),
    [
        (Moment(1_050.0, "boot", 100.0), True),
        (Moment(10.0, "boot", 151.0), False),  # set back: the seconds since the start count
        (Moment(1_050.0, "next", 1.0), True),
        (Moment(1_101.0, "next", 1.0), False),
        (Moment(999.0, "next", 1.0), False),  # set back, and nothing else to go by
    ],
)
def test_a_clock_that_is_set_brings_no_grant_back(grants: StoredGrants, now: Moment, *, counts: bool) -> None:
    """What has no deadline counts on."""
    grants.add(Grant('tools = ["x"]', made_at=NOW.wall, deadline=NOW.after(100), id="g1").row())
    grants.add(Grant('tools = ["x"]', made_at=NOW.wall, id="g2").row())
    assert names(grants, now) == (["g1", "g2"] if counts else ["g2"])
    assert grants.take("g1", now) is counts
    assert grants.take("g2", now)


def test_what_does_not_count_is_swept(grants: StoredGrants) -> None:
    """Whatever the reason; the others stay."""
    for name, rest in {"used": {"uses_left": 0}, "late": {"deadline": NOW.after(-1)}, "gone": {}, "stays": {}}.items():
        grants.add(Grant('tools = ["x"]', id=name, **rest).row())  # type: ignore[arg-type]  # fields by name
    grants.revoke("gone", NOW)
    assert len(grants.all()) == 4
    assert grants.sweep(NOW) == 3
    assert [row["id"] for row in grants.all()] == ["stays"]


def test_what_no_store_can_keep_is_an_error(grants: StoredGrants) -> None:
    """Half of a pair of code units, as the command line gives it."""
    with pytest.raises(StoreError, match="cannot write"):
        grants.add(Grant('tools = ["x"]', reason="\udcff").row())
    assert grants.all() == []

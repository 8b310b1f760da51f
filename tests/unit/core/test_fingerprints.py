"""Counts of very many keys in little memory."""

import copy
import pickle
import random
from collections import Counter

import pytest

from permitry.core import fingerprints
from permitry.core.fingerprints import Fingerprints


@pytest.fixture(autouse=True, params=[0, 3, 4_096])
def _few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test holds wherever the keys are: all in the table, some, or none."""
    monkeypatch.setattr(fingerprints, "_FEW", request.param)


def test_each_key_is_counted() -> None:
    """As a counter would, with negative numbers and zero among them."""
    chance = random.Random(7)  # noqa: S311 -- no secret
    numbers = [chance.getrandbits(64) - 2**63 for _ in range(400)] * 2
    table, counts = Fingerprints(500), Counter(numbers)
    assert all(table.add(number) for number in [*numbers, 0, 0, 0])
    assert {number: table.count(number) for number in counts} == dict(counts)
    assert (table.count(0), table.count(12345), table.kept) == (3, 0, 401)


def test_a_full_table_says_so_and_goes_on_counting_what_it_has() -> None:
    """Nothing is pushed out for a new key."""
    table = Fingerprints(2)
    assert [table.add(number) for number in (5, 6, 7, 5)] == [True, True, False, True]
    assert [table.count(number) for number in (5, 6, 7)] == [2, 1, 0]


def test_keys_that_fall_on_one_slot_are_reported_apart() -> None:
    """Only one number for two keys makes them one."""
    table = Fingerprints(4)
    numbers = [8 * step + 3 for step in range(4)]
    for count, number in enumerate(numbers, 1):
        for _ in range(count):
            table.add(number)
    assert [table.count(number) for number in numbers] == [1, 2, 3, 4]


def test_a_copy_counts_for_itself() -> None:
    """Pickled or copied, it has what was counted, and no part of the other."""
    table = Fingerprints(4)
    table.add(9)
    for again in (copy.deepcopy(table), pickle.loads(pickle.dumps(table))):  # noqa: S301 -- our own bytes
        assert again == table
        again.add(9)
        assert (again.count(9), table.count(9), again == table) == (2, 1, False)


def test_they_equal_nothing_else() -> None:
    """And each other by what they hold."""
    assert Fingerprints(2) == Fingerprints(2)
    assert Fingerprints(2) != 2


def test_without_room_nothing_is_kept() -> None:
    """And no memory is reserved."""
    table = Fingerprints(0)
    assert (table.add(1), table.count(1), table.kept) == (False, 0, 0)

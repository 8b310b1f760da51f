"""Counts in little memory: of very many keys, and of calls that are never counted too low."""

import copy
import math
import pickle
import random
from collections import Counter
from typing import cast

import pytest
from tests.tables import for_each

from permitry.core import counts
from permitry.core.counts import Fingerprints, Tally


@pytest.fixture(params=[0, 3, 4_096])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of these tests holds wherever the keys are: all in the table, some, or none."""
    monkeypatch.setattr(counts, "_FEW", request.param)


@pytest.mark.usefixtures("few")
def test_each_key_is_counted() -> None:
    """As a counter would, with negative numbers and zero among them."""
    chance = random.Random(7)  # noqa: S311 -- no secret
    numbers = [chance.getrandbits(64) - 2**63 for _ in range(400)] * 2
    table, counts = Fingerprints(500), Counter(numbers)
    assert all(table.add(number) for number in [*numbers, 0, 0, 0])
    assert {number: table.count(number) for number in counts} == dict(counts)
    assert (table.count(0), table.count(12345), table.kept) == (3, 0, 401)


@pytest.mark.usefixtures("few")
def test_a_full_table_says_so_and_goes_on_counting_what_it_has() -> None:
    """Nothing is pushed out for a new key."""
    table = Fingerprints(2)
    assert [table.add(number) for number in (5, 6, 7, 5)] == [True, True, False, True]
    assert [table.count(number) for number in (5, 6, 7)] == [2, 1, 0]


@pytest.mark.usefixtures("few")
def test_keys_that_fall_on_one_slot_are_reported_apart() -> None:
    """Only one number for two keys makes them one."""
    table = Fingerprints(4)
    numbers = [8 * step + 3 for step in range(4)]
    for count, number in enumerate(numbers, 1):
        for _ in range(count):
            table.add(number)
    assert [table.count(number) for number in numbers] == [1, 2, 3, 4]


@pytest.mark.usefixtures("few")
def test_a_copy_counts_for_itself() -> None:
    """Pickled or copied, it has what was counted, and no part of the other."""
    table = Fingerprints(4)
    table.add(9)
    for again in (copy.deepcopy(table), pickle.loads(pickle.dumps(table))):  # noqa: S301 -- our own bytes
        assert again == table
        again.add(9)
        assert (again.count(9), table.count(9), again == table) == (2, 1, False)


@pytest.mark.usefixtures("few")
def test_they_equal_nothing_else() -> None:
    """And each other by what they hold."""
    assert Fingerprints(2) == Fingerprints(2)
    assert cast("object", Fingerprints(2)) != 2


@pytest.mark.usefixtures("few")
def test_without_room_nothing_is_kept() -> None:
    """And no memory is reserved."""
    table = Fingerprints(0)
    assert (table.add(1), table.count(1), table.kept) == (False, 0, 0)


def test_an_empty_account_has_nothing_spent() -> None:
    """Neither since a time nor in all."""
    account = Tally(exact=2, most=2)
    assert (account.calls_since(None), account.calls_since(-math.inf)) == (0, 0)
    assert (account.targets_since(None, (), 9), account.targets_since(0, (), 9)) == (0, 0)


def test_calls_count_after_a_time_and_not_at_it() -> None:
    """In whatever order they came."""
    account = Tally(exact=8, most=8)
    for at in (3.0, 1.0, 2.0):
        account.add(at, ())
    assert [account.calls_since(since) for since in (0.0, 1.0, 2.0, 3.0, None)] == [3, 2, 1, 0, 3]


@for_each("at", [math.nan, math.inf, -math.inf])
def test_a_call_at_no_known_time_is_never_free_again(at: float) -> None:
    """It counts after every time, and so does what it touched."""
    account = Tally(exact=2, most=2)
    account.add(at, {"a"})
    assert account.calls_since(1e300) == 1
    assert account.targets_since(1e300, (), 9) == 1


def test_a_count_is_at_most_a_part_too_high() -> None:
    """Never too low, and a tenth too high at most where the times of ten calls are kept."""
    account = Tally(exact=10, most=1)
    for at in range(3_000):
        account.add(float(at), ())
    for since in range(3_000):
        true = 2_999 - since
        assert true <= account.calls_since(float(since)) <= true + true // 10


def test_a_forgotten_target_still_counts_for_its_time() -> None:
    """Of three targets two are kept; the lost one counts until it is too old."""
    account = Tally(exact=2, most=2)
    for at, target in enumerate(("a", "b", "c")):
        account.add(float(at), {target})
    assert account.targets_since(None, (), 9) == 3
    assert account.targets_since(-1.0, (), 9) == 3
    assert account.targets_since(0.0, (), 9) == 2


def test_a_target_counts_once() -> None:
    """However often it was seen, and also if the call that is asked about touches it."""
    account = Tally(exact=2, most=2)
    account.add(1.0, {"a"})
    account.add(2.0, {"a"})
    assert account.targets_since(0.0, {"a", "b"}, 9) == 2
    assert account.targets_since(None, {"a", "b"}, 9) == 2

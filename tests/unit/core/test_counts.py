"""Counts in little memory: of very many keys, and of calls that are never counted too low."""

import copy
import math
import pickle
from collections import Counter

from tests.tables import for_each

from permitry.core.counts import Fingerprints, Tally


def test_each_key_is_counted() -> None:
    """As a counter would, with negative numbers and zero among them."""
    numbers = [*range(-200, 200), *range(-200, 200), 0]
    table, counts = Fingerprints(400), Counter(numbers)
    assert all(table.add(number) for number in numbers)
    assert {number: table.count(number) for number in counts} == dict(counts)
    assert table.count(12345) == 0


@for_each(("most", "added", "counts"), [(2, [True, True, False, True], [2, 1, 0]), (0, [False] * 4, [0, 0, 0])])
def test_a_full_table_says_so_and_goes_on_counting_what_it_has(most: int, added: list[bool], counts: list[int]) -> None:
    """Nothing is pushed out for a new key."""
    table = Fingerprints(most)
    assert [table.add(number) for number in (5, 6, 7, 5)] == added
    assert [table.count(number) for number in (5, 6, 7)] == counts


def test_a_copy_counts_for_itself() -> None:
    """Pickled or copied, it has what was counted, and no part of the other."""
    table = Fingerprints(4)
    table.add(9)
    for again in (copy.deepcopy(table), pickle.loads(pickle.dumps(table))):  # noqa: S301 -- our own bytes
        assert again == table
        again.add(9)
        assert (again.count(9), table.count(9), again == table) == (2, 1, False)


def test_an_empty_account_has_nothing_spent() -> None:
    """Neither since a time nor in all."""
    account = Tally(exact=2, most=2)
    assert (account.calls_since(0), account.calls_since(-math.inf)) == (0, 0)
    assert (account.targets_since(-math.inf, ()), account.targets_since(0, ())) == (0, 0)


def test_calls_count_after_a_time_and_not_at_it() -> None:
    """In whatever order they came."""
    account = Tally(exact=8, most=8)
    for at in (3.0, 1.0, 2.0):
        account.add(at, ())
    assert [account.calls_since(since) for since in (0.0, 1.0, 2.0, 3.0, -math.inf)] == [3, 2, 1, 0, 3]


@for_each("at", [math.nan, math.inf, -math.inf])
def test_a_call_at_no_known_time_is_never_free_again(at: float) -> None:
    """It counts after every time, and so does what it touched."""
    account = Tally(exact=2, most=2)
    account.add(at, {"a"})
    assert account.calls_since(1e300) == 1
    assert account.targets_since(1e300, ()) == 1


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
    assert account.targets_since(-math.inf, ()) == 3
    assert account.targets_since(-1.0, ()) == 3
    assert account.targets_since(0.0, ()) == 2


def test_a_target_counts_once() -> None:
    """However often it was seen, and also if the call that is asked about touches it."""
    account = Tally(exact=2, most=2)
    account.add(1.0, {"a"})
    account.add(2.0, {"a"})
    assert account.targets_since(0.0, {"a", "b"}) == 2
    assert account.targets_since(-math.inf, {"a", "b"}) == 2


def test_a_count_is_the_same_where_a_clock_went_back() -> None:
    """The search from the last target ends early only where times have grown."""
    account = Tally(exact=8, most=1_000)
    for at in range(1_000):
        account.add(float(at), {f"t{at}"})
    counts = [account.targets_since(since, {"new", "t995"}) for since in (-math.inf, 990.0)]
    account.add(5.0, {"late"})
    assert counts == [1_001, 10]
    assert [account.targets_since(since, ()) for since in (-math.inf, 990.0, 4.0)] == [1_001, 9, 996]

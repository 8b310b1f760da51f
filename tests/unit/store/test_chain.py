"""The chain of records."""

import pytest
from tests.tables import for_each

from permitry.store.chain import BrokenChainError, ChainedRecord, Head, check_chain, link


def chain(*bodies: str) -> list[ChainedRecord]:
    """Return the records of a chain."""
    records, head = [], Head()
    for body in bodies:
        records.append(link(head, body))
        head = Head(records[-1].number, records[-1].hash)
    return records


def end(records: list[ChainedRecord]) -> Head:
    """Return the end of a chain."""
    return Head(records[-1].number, records[-1].hash) if records else Head()


def test_each_hash_is_of_all_before_it() -> None:
    """The same text at another place, or after another one, has another hash."""
    one, other = chain("a", "b", "b"), chain("c", "b", "b")
    assert len({record.hash for record in one + other}) == 6
    assert chain("a", "b", "b") == one


@for_each("count", [0, 1, 3])
def test_a_chain_as_it_was_written_is_fine(count: int) -> None:
    """Also a part of one."""
    records = chain(*"abc"[:count])
    assert check_chain(records, Head(), end(records)) == count
    if count > 1:
        assert check_chain(records[1:], end(records[:1]), end(records)) == count - 1


def test_the_first_record_that_is_wrong_is_named() -> None:
    """Whatever is wrong with it."""
    records = chain(*"abcd")
    others = chain(*"abxd")
    for given, number in (
        (records[:1] + records[2:], 2),
        ([*records[:2], others[2], records[3]], 3 + 1),
        (records[:3], 4),
        (others, 4),
        ([], 1),
    ):
        with pytest.raises(BrokenChainError) as caught:
            check_chain(given, Head(), end(records))
        assert caught.value.number == number

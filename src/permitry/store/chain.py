"""The chain of records: each is bound to the one before it by a hash, so that a change is found."""

import hashlib
from collections.abc import Iterable

import attrs

from permitry.errors import PermitryError

__all__ = ["BEGINNING", "HIGHEST", "BrokenChainError", "ChainedRecord", "Head", "check_chain", "link"]

BEGINNING = bytes(32)
"""The hash of a chain without a record."""
HIGHEST = 2**63 - 1
"""A number that no record has."""


class BrokenChainError(PermitryError):
    """The record with this `number` is not as it was written, or not there."""

    def __init__(self, number: int, why: str) -> None:
        super().__init__(f"record {number:,}: {why}")
        self.number = number


@attrs.frozen
class Head:
    """The end of a chain: the number of its last record, and its hash; 0 without any."""

    number: int = 0
    hash: bytes = BEGINNING


@attrs.frozen
class ChainedRecord:
    """A record as it is kept: its number, its text, and the hash of both and of all before it."""

    number: int
    body: str
    hash: bytes


def link(head: Head, body: str) -> ChainedRecord:
    """Return the record that comes after `head`."""
    number = head.number + 1
    # The lengths of the first two parts do not change, so that no other parts give the same bytes.
    digest = hashlib.sha256(head.hash + number.to_bytes(8, "big") + body.encode())
    return ChainedRecord(number, body, digest.digest())


def check_chain(records: Iterable[ChainedRecord], before: Head, end: Head) -> int:
    """Return how many records there are from `before` to `end`, or raise `BrokenChainError`."""
    head, count = before, 0
    for record in records:
        # SQLite keeps a value of any type in any column.
        if not isinstance(record.body, str):
            raise BrokenChainError(head.number + 1, "it is not a text")
        due = link(head, record.body)
        if record.number != due.number:
            raise BrokenChainError(due.number, "it is missing")
        if record.hash != due.hash:
            raise BrokenChainError(due.number, "it is not as it was written, or one before it was")
        head, count = Head(due.number, due.hash), count + 1
    if head.number != end.number:
        first = min(head.number, end.number) + 1
        raise BrokenChainError(first, "the last records are missing, or were not written here")
    if head.hash != end.hash:
        raise BrokenChainError(head.number, "it is not the last one that was written")
    return count

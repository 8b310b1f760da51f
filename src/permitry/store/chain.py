"""The chain of records: each is bound to the one before it by a hash, so that a change is found."""

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

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


class ChainedRecord(NamedTuple):
    """A record as it is kept: its number, its text, and the hash of both and of all before it."""

    number: int
    body: str
    hash: bytes


def link(head: Head, body: str) -> ChainedRecord:
    """Return the record that comes after `head`."""
    number = head.number + 1
    return ChainedRecord(number, body, _hash(head.hash, number, body))


def _hash(before: bytes, number: int, body: str) -> bytes:
    # The lengths of the first two parts do not change, so that no other parts give the same bytes.
    return hashlib.sha256(before + number.to_bytes(8, "big") + body.encode()).digest()


def check_chain(records: Iterable[ChainedRecord], before: Head, end: Head) -> int:
    """Return how many records there are from `before` to `end`, or raise `BrokenChainError`."""
    last, digest = before.number, before.hash
    for number, body, found in records:
        last += 1
        # SQLite keeps a value of any type in any column.
        if not isinstance(body, str):
            raise BrokenChainError(last, "it is not a text")
        digest = _hash(digest, last, body)
        if number != last:
            raise BrokenChainError(last, "it is missing")
        if found != digest:
            raise BrokenChainError(last, "it is not as it was written, or one before it was")
    if last != end.number:
        raise BrokenChainError(min(last, end.number) + 1, "the last records are missing, or were not written here")
    if digest != end.hash:
        raise BrokenChainError(last, "it is not the last one that was written")
    return last - before.number

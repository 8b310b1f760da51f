"""Answers for all calls of a tool at once: True, False, or None where the arguments make a difference."""

from collections.abc import Iterable


def every(answers: Iterable[bool | None]) -> bool | None:
    """Return whether all hold; one that never holds settles it."""
    given = set(answers)
    return False if False in given else None if None in given else True


def some(answers: Iterable[bool | None]) -> bool | None:
    """Return whether at least one holds; one that always holds settles it."""
    return opposite(every(map(opposite, answers)))


def opposite(answer: bool | None) -> bool | None:  # noqa: FBT001 -- it is the answer that is judged
    """Return whether it does not hold."""
    return None if answer is None else not answer

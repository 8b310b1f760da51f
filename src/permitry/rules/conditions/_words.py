"""Lists of words, guarded against the one string that would become its letters."""

from collections.abc import Iterable

from permitry.errors import RuleError


def words(value: Iterable[str]) -> tuple[str, ...]:
    """Return the words of a list.

    Raises: `RuleError` for a single string.
    """
    if isinstance(value, str):
        raise RuleError(f"a list of words is needed, not the one string `{value}`")
    return tuple(value)

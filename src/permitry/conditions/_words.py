"""Lists of words, not the one string that would become letters, and words that look alike."""

import difflib
from collections.abc import Iterable, Sequence

from permitry.errors import RuleError

_LONGEST_COMPARED = 40


def words(value: Iterable[str]) -> tuple[str, ...]:
    """Return the words of a list. Raises: `RuleError` for a single string."""
    if isinstance(value, str):
        raise RuleError(f"a list of words is needed, not the one string `{value}`")
    return tuple(value)


def check_sign(pattern: str, key: str) -> str:
    """Return a pattern. Raises: `RuleError` for `!` before it, with the key for `unless`."""
    if pattern.startswith("!"):
        rest = pattern.lstrip("! ") or "..."
        hint = f'write `unless.{key} = "{rest}"`'
        raise RuleError(f"the pattern `{pattern}` begins with `!`, which excepts nothing; {hint}")
    return pattern


def nearest(word: str, known: Sequence[str]) -> str:
    """Return a hint: the known word that is most alike, or all of them."""
    near = difflib.get_close_matches(word[:_LONGEST_COMPARED], known, n=1, cutoff=0.6)
    return f"did you mean `{near[0]}`?" if near else f"known: {', '.join(known)}"

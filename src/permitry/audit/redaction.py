"""What the record does not keep: secrets, found by their form, and by the names that they have.

A form begins with characters of its own, such as `ghp_`, or comes behind a word such as `password=`. More is left out
rather than less: `password: str` in a program loses its last word.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from permitry.audit.secret_forms import FORMS, NAME

__all__ = ["DOUBTFUL", "REDACTED", "redact", "redact_text", "redacted"]

Json: TypeAlias = Any
"""Whatever JSON can hold."""

REDACTED = "[redacted]"
DOUBTFUL = "[redacted; may run commands]"
"""In place of what would be more than a secret where a shell reads it."""

# Quotes do not help: which ones are open where a secret begins is not known.
_BEGINNING = "[redacted"
_RUNS = re.compile(r"[&|<>`]|\$\(|;(?!\s?[\w.-]+=[^\s;]*(?:;|$))|\n(?![\w+/=-]*(?:\n|$))")

_IS_SECRET = re.compile(rf"(?:^|[^a-z])(?:{NAME}|authorization|cookie)s?(?:$|[^a-z])", re.IGNORECASE)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----(?!(?s:.*)-----END )")
_KEY_ENDS = "-----END "
_ANY_VALUE = "x" * 20
_PAIR = 2
_NAME_ALONE = re.compile(r"\w[\w.-]*")
_FAR = 240
"""So many characters of the items before it say what an item is."""
_MARKS = tuple((mark, re.compile(pattern)) for marks, pattern in FORMS for mark in marks.split())


def redact_text(text: str) -> str:
    """Return a text without the secrets in it."""
    small = text.lower()
    for form in dict.fromkeys([form for mark, form in _MARKS if mark in small]):
        text = form.sub(_hide, text)
    return text


def _hide(match: re.Match[str]) -> str:
    secret = match[0][len(match[1]) :]
    if secret.startswith(_BEGINNING):
        return match[0]
    return f"{match[1]}{_mark_of(secret)}"


def _mark_of(secret: str) -> str:
    """Return what takes the place of a secret."""
    if _RUNS.search(secret):
        return DOUBTFUL
    return REDACTED


def redact(value: Json, *, is_secret: bool = False) -> Json:
    """Return a JSON value without secrets: texts below a name that says so, otherwise those of a form."""
    if isinstance(value, str):
        if is_secret and value:
            return REDACTED
        return redact_text(value)
    if isinstance(value, Mapping):
        return {name: redact(inner, is_secret=is_secret or _says_so(name)) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        if is_secret:
            return [redact(inner, is_secret=True) for inner in value]
        return list(_without_secrets(value))
    return value


redacted = redact
"""Its name in programs of others."""


def _without_secrets(items: Sequence[Any]) -> Iterator[Any]:
    """Yield the items of a list without secrets, also where one is behind its option or in a key."""
    before, is_key = "", False
    is_pair = _is_pair(items)
    for number, item in enumerate(items):
        left = redact(item, is_secret=is_key or (is_pair and number > 0))
        if isinstance(item, str):
            _, end, rest = item.partition(_KEY_ENDS)
            if is_key:
                left += end + rest
            is_key = _KEY.search(item) is not None or (is_key and not end)
            if left != REDACTED and _is_value(before, item):
                left = _mark_of(item)
            before = f"{before} {left}"[-_FAR:]
        yield left


def _is_pair(items: Sequence[Any]) -> bool:
    """Return whether a list is a name that says so, and its value."""
    if len(items) != _PAIR or not _says_so(items[0]):
        return False
    return _NAME_ALONE.fullmatch(items[0]) is not None


def _is_value(before: str, item: str) -> bool:
    """Return whether an item of a list is the secret that the items before it name."""
    # As a text, a value ends at the first sign of a shell; as an item, it is all of it.
    if item == "":
        return False
    tried = [item]
    if not item.startswith("-"):
        tried.append(_ANY_VALUE)
    return any(_names(before, each) for each in tried)


def _names(before: str, value: str) -> bool:
    return redact_text(f"{before} {value}") != f"{before} {redact_text(value)}"


def _says_so(name: object) -> bool:
    return isinstance(name, str) and _IS_SECRET.search(_HUMP.sub("_", name)) is not None

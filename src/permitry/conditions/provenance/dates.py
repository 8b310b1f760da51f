"""Dates as people write them: `2025-01-11`, `January 11th, 2025`; of each the same normal form.

Digits between slashes or dots are not read, as the order of day and month differs by country. A
date without a year has a form only where the year follows: `from January 11th to January 15th 2025`.
"""

import datetime as dt
import re
from collections.abc import Iterator

__all__ = ["date_form", "dates_in"]

_NAMES = "january february march april may june july august september october november december"
_MONTHS = {short: at for at, name in enumerate(_NAMES.split(), 1) for short in (name, name[:3])} | {"sept": 9}
_MONTH = f"({'|'.join(sorted(_MONTHS, key=len, reverse=True))})"
_DAY = "([0-9]{1,2})(?:st|nd|rd|th)?"
_DATE = re.compile(
    rf"(?<![\w./-])(?:([0-9]{{4}})-([0-9]{{2}})-([0-9]{{2}})|{_MONTH}\.? {_DAY}(?:,? ([0-9]{{4}}))?"
    rf"|{_DAY}(?: of)? {_MONTH}(?:\.?,? ([0-9]{{4}}))?)(?![\w/-]|\.\w)",
    re.IGNORECASE,
)
_YEAR = re.compile("[0-9]{4}")
_UP_TO = re.compile(r" ?(?:to|till|until|through|-|\u2013) ?(?:the )?", re.IGNORECASE)
_LONGEST = 24


def date_form(text: str) -> str | None:
    """Return the normal form of a text that is a date, or None."""
    found = _DATE.fullmatch(text) if len(text) <= _LONGEST else None
    return None if found is None else _form(*_parts(found))


def dates_in(text: str) -> Iterator[str]:
    """Yield the normal forms of the dates in a text; blanks are single ones."""
    # Without a year there is no form, and most texts have none.
    found = list(_DATE.finditer(text)) if _YEAR.search(text) else []
    for at, each in enumerate(found):
        year, month, day = _parts(each)
        later = found[at + 1] if at + 1 < len(found) else None
        if year is None and later is not None and _UP_TO.fullmatch(text[each.end() : later.start()]):
            year, *rest = _parts(later)
            # From December to January.
            year = year - 1 if year is not None and (month, day) > tuple(rest) else year
        if form := _form(year, month, day):
            yield form


def _parts(found: re.Match[str]) -> tuple[int | None, int, int]:
    year, month, day, name, after, year_of_name, before, last, year_of_last = found.groups()
    if year is not None:
        return int(year), int(month), int(day)
    if name is not None:
        return _year(year_of_name), _MONTHS[name.lower()], int(after)
    return _year(year_of_last), _MONTHS[last.lower()], int(before)


def _year(text: str | None) -> int | None:
    return None if text is None else int(text)


def _form(year: int | None, month: int, day: int) -> str | None:
    try:
        return None if year is None else f"date:{dt.date(year, month, day).isoformat()}"
    except ValueError:
        return None

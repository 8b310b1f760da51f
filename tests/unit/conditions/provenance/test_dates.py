"""Dates as people write them, and their normal form."""

from tests.tables import for_each

from permitry.conditions.provenance.dates import date_form, dates_in


@for_each(
    "text",
    [
        "2025-01-11", "January 11th, 2025", "January 11, 2025", "january 11 2025", "Jan 11 2025", "Jan. 11, 2025",
        "11 January 2025", "11th of January 2025", "11th January, 2025", "11 JAN 2025",
    ],
)  # fmt: skip
def test_spellings_of_one_date_are_one(text: str) -> None:
    """Alone, and in a sentence."""
    assert date_form(text) == "date:2025-01-11"
    assert list(dates_in(f"Book it for {text}, please.")) == ["date:2025-01-11"]


@for_each("text")
def test_other_texts_are_no_dates(text: str) -> None:
    """The order of day and month differs by country, and a part of a name is not a date."""
    assert date_form(text) is None


@for_each("text", ["x-2025-01-11", "a/2025-01-11", "2025-01-11.txt", "2025-01-11T10:00", "May 15th"])
def test_a_part_of_a_word_is_not_found(text: str) -> None:
    """Nor a day of no certain year."""
    assert list(dates_in(text)) == []


@for_each(("text", "days"))
def test_a_year_is_also_that_of_the_day_before(text: str, days: list[str]) -> None:
    """In a range that goes up to a date with a year."""
    assert list(dates_in(text)) == [f"date:{day}" for day in days]

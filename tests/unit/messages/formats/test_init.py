"""The marks of all formats together: how they are searched for."""

import re
import timeit

from tests.tables import for_each

from permitry.messages.formats import _ALL, FORMATS, marks_of


@for_each("name", FORMATS)
def test_the_search_finds_every_mark_of_a_format(name: str) -> None:
    """Where nothing has to follow it; the longest of those that stand there is found."""
    marks = marks_of(name)
    for text, readers in marks.readers.items():
        if all(pattern is None for mark, pattern in readers if mark.text == text):
            found = marks.pattern.search(f"e{text}")
            assert found is not None
            assert found.group() == text


def test_a_pattern_begins_with_the_text_of_its_mark() -> None:
    """The search is grouped by the first characters of the texts."""
    assert all(mark.pattern.startswith(re.escape(mark.text)) for mark in _ALL if mark.pattern)


def test_plain_text_is_passed_over_at_once() -> None:
    """A search for all marks takes not much longer than one for a few characters."""
    text = "e" * 100_000

    def best(pattern: "re.Pattern[str]") -> float:
        return min(timeit.repeat(lambda: pattern.search(text), number=1, repeat=9))

    assert best(marks_of("auto").pattern) < 20 * best(re.compile(r"[<{\[`]x"))

"""The uses of a budget in a window that slides: never too few, whatever the clock does."""

import pytest
from tests.tables import for_each

from permitry.errors import StoreError
from permitry.store.window import Window

HOUR = 3600.0
STEP = HOUR / 256


def test_a_use_counts_for_the_whole_window() -> None:
    """And is free at most one step later."""
    window, at = Window().add(1_000.0, HOUR, 3)
    assert 1_000.0 <= at <= 1_000.0 + STEP
    assert window.count(1_000.0, HOUR) == window.count(1_000.0 + HOUR - 0.001, HOUR) == 3
    assert window.count(1_000.0 + HOUR + STEP, HOUR) == 0


def test_uses_that_may_happen_later_count_until_later() -> None:
    """From the end of their lease."""
    window, at = Window().add(1_000.0, HOUR, 2, 5 * STEP)
    assert at >= 1_000.0 + 5 * STEP
    assert window.count(1_000.0 + 5 * STEP - 0.001 + HOUR, HOUR) == 2


def test_a_clock_that_is_set_back_frees_nothing() -> None:
    """The latest time that was seen counts, also for uses that are taken meanwhile."""
    window, _ = Window().add(10_000.0, HOUR, 1)
    window, at = window.add(100.0, HOUR, 1)
    assert at >= 10_000.0
    assert window.count(100.0, HOUR) == window.count(9_999.0 + HOUR, HOUR) == 2


def test_what_is_given_back_is_free_at_once() -> None:
    """What is not there any more is not."""
    window, at = Window().add(1_000.0, HOUR, 3)
    assert window.remove(at, 2).count(1_000.0, HOUR) == 1
    assert window.remove(at, 3).uses == ()
    assert window.remove(at + 1, 2) == window


def test_the_longest_window_is_remembered() -> None:
    """Rules of two versions may count in windows of different lengths."""
    window, _ = Window().add(1_000.0, 24 * HOUR, 1)
    window, _ = window.add(1_000.0 + 2 * HOUR, HOUR, 1)
    assert window.count(1_000.0 + 2 * HOUR, HOUR) == 1
    assert window.count(1_000.0 + 2 * HOUR, 24 * HOUR) == 2


def test_many_uses_take_little_room() -> None:
    """A text of a bounded length, whatever the number of uses."""
    window = Window()
    for number in range(20_000):
        window, _ = window.add(1e9 + number, HOUR, 1)
    assert len(window.uses) <= 258
    assert len(window.text) < 8_000
    assert HOUR <= window.count(1e9 + 19_999, HOUR) <= HOUR + STEP + 1


def test_a_text_is_read_as_it_was_written() -> None:
    """Also where there is none yet."""
    window, _ = Window().add(1_000.1, HOUR, 3)
    assert Window.of(window.text) == window
    assert Window.of(None) == Window()


@for_each("text", ["", "[]", "{}", "[1, 2, 3]", '["a", 1, []]', "[NaN, 1, []]", "[1, 1, [[Infinity, 1]]]"])
def test_another_text_is_an_error(text: str) -> None:
    """Never an empty window."""
    with pytest.raises(StoreError, match="shared budget in the store"):
        Window.of(text)

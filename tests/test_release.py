"""The table of the CHANGELOG of what the shipped sets permit more than in the last release."""

import pytest

from tests.release import PAGE, compare_sets, list_sets, write_table


def test_the_table_is_true() -> None:
    """`python -m tests.release` writes it; a clone without the release cannot say."""
    if not list_sets():
        pytest.skip("this clone lacks the revision of the release")
    page = PAGE.read_text("utf-8")
    assert page == write_table(page, compare_sets()), "python -m tests.release"

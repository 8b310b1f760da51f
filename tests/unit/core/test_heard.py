"""How much a session has heard."""

from tests.tables import for_each

from permitry.core.heard import HeardCounts


@for_each(
    ("other", "is_equal"),
    [(HeardCounts(1, 2), True), (HeardCounts(1, 3), False), (HeardCounts(2, 2), False), ((1, 2), False)],
)
def test_counts_are_equal_where_both_numbers_are(other: object, *, is_equal: bool) -> None:
    """And are of one hash then."""
    counts = HeardCounts(1, 2)
    assert (counts == other) is is_equal
    assert (hash(counts) == hash(other)) is is_equal or not isinstance(other, HeardCounts)
    assert counts.content == ()

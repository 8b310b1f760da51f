"""How much a session has heard, and where a value was seen, as a text."""

from tests.tables import for_each

from permitry.core.origin import HeardCounts, Origin


@for_each(
    ("origin", "text"),
    [
        (Origin("to", '"x"', (), is_said=True), '`to` = "x" occurs in the user\'s messages'),
        (
            Origin("to", '"x"', ("look #1", "the list `ours`"), is_said=True),
            '`to` = "x" occurs in the user\'s messages and in look #1 and in the list `ours`',
        ),
        (
            Origin("to", '"x"', ("look #1",), is_said=False),
            '`to` = "x" occurs in look #1; not in the user\'s messages',
        ),
        (
            Origin("to", '"x"'),
            '`to` = "x" occurs in no result or call that is known; no message of the user is known',
        ),
        (
            Origin("to", '"x"', ("page #2",), is_said=False, words=(1, 2)),
            "`to` = \"x\" occurs in page #2; not in the user's messages; 1 of its 2 words are in the user's messages",
        ),
    ],
)
def test_it_reads_as_text(origin: Origin, text: str) -> None:
    """Whether the user wrote it is always said."""
    assert str(origin) == text


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

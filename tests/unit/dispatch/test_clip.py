"""Long texts are cut to their two ends."""

from permitry.dispatch.clip import clip


def test_a_longer_text_keeps_its_head_and_tail() -> None:
    """Two thirds come from the beginning, one third from the end, and the gap is reported in characters."""
    assert clip("a" * 20 + "-" * 60 + "z" * 10, 30) == f"{'a' * 20}\n...[60 characters left out]...\n{'z' * 10}"


def test_a_limit_of_nothing_keeps_nothing() -> None:
    """The marker alone is left, and no end of the text slips through."""
    assert clip("secret", 0) == "\n...[6 characters left out]...\n"

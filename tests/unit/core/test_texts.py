"""Texts of others: nothing invisible reaches a terminal, and a line stays one line."""

from tests.tables import for_each

from permitry.core.texts import one_line, shorten, visible


@for_each("text", ["", "plain", "a\n\tb", "é ü 漢字", "a b"])
def test_what_shows_is_left_alone(text: str) -> None:
    """Letters of any language, lines and tabs included."""
    assert visible(text) == text


@for_each(
    ("text", "shown"),
    [
        ("\x1b[2J", "\\u001b[2J"),
        ("a\rb", "a\\u000db"),
        ("a\u202eb", "a\\u202eb"),
        ("\u200b", "\\u200b"),
        ("\u00a0", "\\u00a0"),
        ("\u3164", "\\u3164"),
        ("\ufe0f", "\\ufe0f"),
        ("\udc80", "\\udc80"),
        ("\U000e0041", "\\ue0041"),
    ],
)
def test_what_does_not_show_is_spelled_out(text: str, shown: str) -> None:
    """Codes for a terminal, characters that turn the direction, and blanks that are none."""
    assert visible(text) == shown


def test_a_line_has_no_end_in_it() -> None:
    """What looks like a second line would be believed."""
    assert one_line("a\nallow b\x1b") == "a\\nallow b\\u001b"


def test_a_long_text_keeps_its_head_and_its_end() -> None:
    """And says how long it was; at the bound it is whole."""
    assert shorten("x" * 9, 9) == "x" * 9
    assert shorten("a" * 10 + "b" * 10, 9) == "aaaaaa ... bbb (20 characters)"
    assert shorten("", 9) == ""

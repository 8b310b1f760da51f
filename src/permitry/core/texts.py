"""Texts of others, made fit to be shown."""

import unicodedata

__all__ = ["one_line", "shorten", "visible"]


def visible(text: str) -> str:
    """Return `text` with everything invisible spelled out: what a model writes must not steer a terminal."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if _shows(char) else f"\\u{ord(char):04x}" for char in text)


# Letters, marks and signs by their category, and yet nothing shows: fillers, joiners, selectors, the blank of Braille.
_BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0").union(
    *(map(chr, range(*ends)) for ends in ((0x180B, 0x1810), (0xFE00, 0xFE10), (0xE0100, 0xE01F0)))
)


def _shows(char: str) -> bool:
    return char in " \n\t" or (unicodedata.category(char)[0] not in "CZ" and char not in _BLANKS)


def one_line(text: str) -> str:
    """Return `text` made visible, on one line."""
    return visible(text).replace("\n", "\\n")


def shorten(text: str, longest: int) -> str:
    """Return `text` on one line and at most about `longest` characters long: its head and its end."""
    line = one_line(text)
    if len(line) <= longest:
        return line
    end = longest // 3
    return f"{line[: longest - end]} ... {line[-end:]} ({len(text)} characters)"

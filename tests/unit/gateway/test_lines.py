"""The encoding of what a program writes."""

import codecs

from permitry.gateway.lines import ENCODING


def decoded(*parts: bytes) -> list[str]:
    """Return the text of each part."""
    decoder = codecs.getincrementaldecoder(ENCODING)("replace")
    return [decoder.decode(part) for part in parts]


def test_it_is_utf_8() -> None:
    """Also where a character comes in two parts; what is not UTF-8 is replaced."""
    assert decoded(b"caf\xc3", b"\xa9 \xe9\n", b"\xff") == ["caf", "\u00e9 \ufffd\n", "\ufffd"]
    assert "caf\u00e9".encode(ENCODING) == "caf\u00e9".encode()


def test_a_line_has_a_bound() -> None:
    """Each for itself: what follows is read."""
    long = b"x" * 2**20
    texts = decoded(b"a\n", *[long] * 18, b"y\nz", b"\n")
    assert [len(text) for text in texts] == [2, *[2**20] * 16, 0, 0, 2, 1]
    assert texts[-2:] == ["\nz", "\n"]
    assert sum(len(text) for text in decoded(*[long + b"\n"] * 20)) == 20 * (2**20 + 1)

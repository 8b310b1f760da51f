"""The encoding of what a program writes."""

import codecs
import json

from tests.tables import for_each

from permitry.messages.mcp_lines import ENCODING


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


@for_each(
    ("line", "name"),
    [
        (b'{"jsonrpc":"2.0","id":5,"result":{"x":"%b"}}', 5),
        (b'{"result":{"x":"%b"},"jsonrpc":"2.0","id":"a-1"}', "a-1"),
        (b' { "jsonrpc": "2.0", "id": 7, "result": "%b" } ', 7),
        (b'{"result":{"x":"%b"},"id":"a\\"b"}', None),
        (b"%b", None),
    ],
)
def test_the_request_of_a_long_answer_fails_at_once(line: bytes, name: object) -> None:
    """In place of waiting for what never comes; wherever servers write its id, and however it arrives."""
    whole = line.replace(b"%b", b"x" * (17 * 2**20)) + b"\nlast\n"
    for size in (2**20, len(whole)):
        text = "".join(decoded(*[whole[at : at + size] for at in range(0, len(whole), size)]))
        _, *lines = text.splitlines()
        errors = [json.loads(each) for each in lines[:-1]]
        assert lines[-1] == "last"
        assert [each["id"] for each in errors] == ([] if name is None else [name])
        assert all("longer than 16 MiB" in each["error"]["message"] for each in errors)

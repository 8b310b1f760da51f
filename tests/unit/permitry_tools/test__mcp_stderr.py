"""What a server writes on standard error."""

import pytest
from tests.tables import for_each

from permitry_tools import _mcp_stderr
from permitry_tools._mcp_stderr import LastWords


@for_each(("written", "kept"), [("why\n", "why\n"), ("0123456789", "6789"), ("", ""), ("€", "€")])
def test_the_end_is_kept(written: str, kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As far as there is room."""
    monkeypatch.setattr(_mcp_stderr, "_LAST_WORDS", 4)
    words = LastWords()
    with words.listen() as file:
        file.write(written)
    assert words.text() == kept

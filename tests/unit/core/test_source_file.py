"""A rule file as it was read."""

import hashlib

from permitry.core.source_file import SourceFile


def test_it_is_described_without_its_text() -> None:
    """By the digest of its bytes."""
    described = SourceFile("a.toml", "# ä\n", "project", is_trusted=False).to_dict()
    assert described["digest"] == hashlib.sha256("# ä\n".encode()).hexdigest()
    assert "text" not in described
    assert (described["layer"], described["trusted"], described["observed"]) == ("project", False, False)

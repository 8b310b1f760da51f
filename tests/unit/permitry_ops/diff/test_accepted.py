"""Widenings that are wanted."""

from pathlib import Path

import pytest

from permitry.errors import PermitryError
from permitry_ops.diff.accepted import Accepted, read_accepted


def test_accepted_widenings_are_read(tmp_path: Path) -> None:
    """Each with who wants it."""
    path = tmp_path / "accepted.toml"
    path.write_text('[[accept]]\ndigest = "ab"\nby = "Ada"\nwhy = "wanted"\n')
    assert read_accepted(path) == [Accepted("ab", "Ada", "wanted")]
    path.write_text("accept = 1")
    with pytest.raises(PermitryError, match="nothing but tables"):
        read_accepted(path)

"""How far a rule file is trusted: pinned bytes count to the byte, and without them the trust is gone."""

import hashlib
from pathlib import Path

from permitry.config.origin import Origin

PATH, CONTENT = Path("/w/rules.toml"), b"schema = 1\n"
PINNED = Origin("rules.toml", is_admin=True, pinned={PATH: hashlib.sha256(CONTENT).hexdigest()})


def test_without_pins_every_file_is_admitted() -> None:
    """Nothing was promised about its bytes."""
    assert Origin("rules.toml").admits(PATH, b"anything")


def test_pinned_bytes_are_admitted_and_no_others() -> None:
    """Neither other bytes, nor the same ones in another place."""
    assert PINNED.admits(PATH, CONTENT)
    assert not PINNED.admits(PATH, CONTENT + b" ")
    assert not PINNED.admits(Path("/w/other.toml"), CONTENT)


def test_with_no_pin_at_all_no_file_is_admitted() -> None:
    """An empty list of pins is not the same as none."""
    assert not Origin("rules.toml", pinned={}).admits(PATH, CONTENT)


def test_a_shipped_set_needs_no_pin() -> None:
    """It comes with the program."""
    assert Origin("permitry:base", pinned={}).admits(PATH, CONTENT)


def test_without_its_bytes_an_origin_is_not_trusted() -> None:
    """And says that it has changed; one that was never pinned stays as it is."""
    origin = PINNED.unpinned()
    assert (origin.is_trusted, origin.pinned) == (False, None)
    assert "changed" in origin.distrust
    assert Origin("rules.toml").unpinned() == Origin("rules.toml")

"""The rule sets that come with permitry, by name: `permitry:base` and so on."""

import os
from pathlib import Path

__all__ = ["BASE", "PREFIX", "find_file", "find_shipped", "list_shipped"]

PREFIX = "permitry:"
BASE = f"{PREFIX}base"
"""The mandatory rules, which every other set extends."""

_HERE = Path(__file__).resolve().parent
_PACKAGED = _HERE / "shipped"
# In a checkout the sets are at the top of the repository; in the wheel, next to this file.
_FOLDER = _PACKAGED if _PACKAGED.is_dir() else _HERE.parents[2] / "rules"


def list_shipped() -> list[str]:
    """Return the names of all shipped sets, sorted, each with its `permitry:` prefix."""
    with os.scandir(_FOLDER) as entries:
        files = [each.name for each in entries if each.name.endswith(".toml")]
    return sorted(f"{PREFIX}{name.removesuffix('.toml')}" for name in files)


def find_shipped(name: str) -> Path:
    """Return the file of a shipped set, existing or not; `name` has its prefix."""
    return _FOLDER / f"{name.removeprefix(PREFIX)}.toml"


def find_file(name: str) -> Path:
    """Return the file that a rule file's name denotes, existing or not: that of a shipped set, or a path."""
    return find_shipped(name) if name.startswith(PREFIX) else Path(name)

"""The locations of a project's rules and of the user's files.

They are those of `platformdirs`, which is not imported where the result is simple, as that is slow.
"""

import os
import sys
from pathlib import Path

__all__ = ["PROJECT_FILE", "is_guarded", "user_cache", "user_config", "user_state"]

PROJECT_FILE = Path(".permitry") / "rules.toml"
"""Where a project keeps its rules, below its folder."""

_GUARDED = (".cache", ".local/state", "Library/Caches", "Library/Application Support")
"""Where, below the home folder, `permitry:base` prevents agents from writing to the folder `permitry`."""


def user_cache() -> Path:
    """Return the folder of files that can be recreated: `~/.cache/permitry` on Linux."""
    return _usual("XDG_CACHE_HOME", ".cache") or _ask("user_cache_path")


def user_config() -> Path:
    """Return the folder of the user's own rules: `~/.config/permitry` on Linux."""
    return _usual("XDG_CONFIG_HOME", ".config") or _ask("user_config_path")


def user_state() -> Path:
    """Return the folder of the list of trusted projects, and of the record: `~/.local/state/permitry` on Linux."""
    return _usual("XDG_STATE_HOME", ".local/state") or _ask("user_state_path")


def is_guarded(folder: Path) -> bool:
    """Return whether `permitry:base` protects a folder, both as named and with links followed."""
    home = os.environ.get("HOME", "")
    real = os.path.realpath(home)
    return home.startswith("/") and any(
        folder == Path(home, below, "permitry") and os.path.realpath(folder) == f"{real}/{below}/permitry"
        for below in _GUARDED
    )


def _usual(variable: str, below: str) -> Path | None:
    """Return the folder on Linux with absolute paths; None otherwise."""
    # If platformdirs is already imported, it is asked itself.
    if sys.platform != "linux" or "platformdirs" in sys.modules or "ANDROID_ROOT" in os.environ:
        return None
    home, named = os.environ.get("HOME", ""), os.environ.get(variable, "")
    base = named or (f"{home}/{below}" if home else "")
    is_plain = base.startswith("/") and base == base.strip()
    return Path(base) / "permitry" if is_plain else None


def _ask(name: str) -> Path:
    import platformdirs  # noqa: PLC0415 -- slow to import, and seldom needed

    folder: Path = getattr(platformdirs, name)("permitry")
    return folder

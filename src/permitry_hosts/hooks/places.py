"""Where the resident listens, and what its client runs with."""

import hashlib
import os
import sys
from pathlib import Path

import permitry
from permitry.config.folders import user_state

__all__ = ["LONGEST_PATH", "PACKAGE", "PACKAGES", "base_python", "place"]

LONGEST_PATH = 107
"""The most bytes that the name of a socket may have on Linux."""
PACKAGE = Path(permitry.__file__).parent
"""The code of permitry that decides."""
PACKAGES = tuple(PACKAGE.with_name(name) for name in ("permitry", "permitry_hosts", "permitry_ops", "permitry_tools"))
"""All code of permitry."""


def place() -> Path:
    """Return the path of the socket of this user and this installation."""
    name = hashlib.sha256(os.fsencode(f"{sys.executable}\0{PACKAGE}")).hexdigest()[:12]
    return user_state().absolute() / "resident" / name


def base_python() -> Path:
    """Return the Python that the client runs with: that of a virtual environment takes longer to start."""
    return Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")

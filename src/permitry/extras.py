"""Packages that an extra of permitry brings, where they are missing."""

import shlex
import sys

__all__ = ["missing"]


def missing(package: str | None, extra: str) -> str:
    """Return that a package is missing, and the command that installs it into the environment that runs.

    Which environment that is the user may not know: hooks have one of their own.
    """
    command = f"{shlex.quote(sys.executable)} -m pip install 'permitry[{extra}]'"
    return f"the package {package} is missing; install it with: {command}"

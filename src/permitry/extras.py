"""What comes with other packages: those that an extra brings, and those of this wheel that are built on this one."""

import importlib
import shlex
import sys
import warnings
from typing import Any

from permitry.errors import PermitryError

__all__ = ["load", "missing", "rename"]


def missing(package: str | None, extra: str) -> str:
    """Return that a package is missing, and the command that installs it into the environment that runs.

    Which environment that is the user may not know: hooks have one of their own.
    """
    command = f"{shlex.quote(sys.executable)} -m pip install 'permitry[{extra}]'"
    return f"the package {package} is missing; install it with: {command}"


def load(place: str, extra: str = "") -> Any:  # noqa: ANN401 -- whatever has the name
    """Return what `package.module:name` names, in a package that is built on this one, which imports none of them.

    Raises: `PermitryError` where a package of the `extra` is missing.
    """
    module, _, name = place.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        if not extra:
            raise
        raise PermitryError(missing(error.name, extra)) from error


def rename(old: str, new: str) -> None:
    """Let a module be imported under its earlier name, with one warning; called by the module of that name."""
    warnings.warn(f"`{old}` is now `{new}`; the old name goes with the next release", DeprecationWarning, stacklevel=3)
    sys.modules[old] = importlib.import_module(new)

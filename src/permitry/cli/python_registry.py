"""`--python MODULE:REGISTRY`: the tools that a program of the user registers."""

import argparse
import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from permitry.errors import PermitryError, safe_str

if TYPE_CHECKING:
    from permitry.dispatch.registry import ToolRegistry

__all__ = ["add_python_option", "registry_at"]


def add_python_option(parser: argparse.ArgumentParser) -> None:
    """Add `--python`."""
    meant = "the tools of a ToolRegistry in Python; the module is imported, so that its code runs"
    parser.add_argument("--python", metavar="MODULE:REGISTRY", help=meant)


def registry_at(place: str) -> "ToolRegistry":
    """Return the registry that `MODULE:REGISTRY` names, also in this folder. Raises: `PermitryError`."""
    from permitry.dispatch.registry import ToolRegistry

    module, colon, name = place.partition(":")
    if not (module and colon and name):
        raise PermitryError(f"`{place}` is not MODULE:REGISTRY, such as app.tools:registry")
    found = getattr(_import(module), name, None)
    if not isinstance(found, ToolRegistry):
        kind = {type(None): "nothing"}.get(type(found), f"a {type(found).__name__}")
        raise PermitryError(f"`{name}` of the module `{module}` is {kind}; name a ToolRegistry")
    return found


def _import(module: str) -> object:
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        return importlib.import_module(module)
    except Exception as error:
        problem = safe_str(error)
        raise PermitryError(f"the module `{module}` cannot be imported: {problem}") from error
    finally:
        sys.path.remove(here)

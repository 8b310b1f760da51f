"""`permitry --version --verbose`: what a report of a bug needs, and nothing that is secret."""

import importlib.metadata
import platform
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from permitry.config.folders import user_cache, user_config, user_state
from permitry.core.texts import one_line
from permitry_hosts.hooks.hosts import find_hosts

__all__ = ["describe"]

_NEEDED = re.compile(r"""(?m)^([\w.-]+).*extra == ["']([\w-]+)["']""")


def describe() -> Iterator[str]:
    """Yield a line for each: version, Python, system, folders, extras whose packages are there, and hosts."""
    yield f"permitry {importlib.metadata.version('permitry')}"
    yield f"python   {platform.python_version()}, {_short(Path(sys.executable))}"
    yield f"system   {platform.platform()}"
    yield f"package  {_short(Path(__file__).parents[2])}"
    yield f"config   {_short(user_config())}"
    yield f"state    {_short(user_state())}"
    yield f"cache    {_short(user_cache())}"
    yield f"extras   {', '.join(_extras()) or 'none'}"
    yield f"hosts    {', '.join(find_hosts(Path.home())) or 'none'}"


def _extras() -> list[str]:
    """Return the extras of which each package is installed."""
    found: dict[str, list[str]] = {}
    for name, extra in _NEEDED.findall("\n".join(importlib.metadata.requires("permitry") or ())):
        found.setdefault(extra, []).append(name)
    return sorted(extra for extra, names in found.items() if all(map(_is_installed, names)))


def _is_installed(name: str) -> bool:
    return next(iter(importlib.metadata.Distribution.discover(name=name)), None) is not None


def _short(path: Path) -> str:
    """Return a path without the name of the user."""
    return one_line(re.sub(rf"^{re.escape(str(Path.home()))}(?=/|$)", "~", str(path)))

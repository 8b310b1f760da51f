"""The hosts: each is one file here, whose name is its own, and one set of tools in `rules/`."""

import importlib
from pathlib import Path

from permitry_hosts.hooks.host import Host

__all__ = ["HOSTS", "find_hosts", "host_named"]

_FILES = Path(__file__).parent.glob("[!_]*.py")
HOSTS = tuple(sorted(path.stem.replace("_", "-") for path in _FILES))
"""The names of all hosts."""


def host_named(name: str) -> Host:
    """Return a host by its name, one of `HOSTS`."""
    host: Host = importlib.import_module(f"{__name__}.{name.replace('-', '_')}").HOST
    return host


def find_hosts(home: Path) -> list[str]:
    """Return the names of the hosts that have a folder in a home folder."""
    return [name for name in HOSTS if (home / host_named(name).settings.folder).is_dir()]

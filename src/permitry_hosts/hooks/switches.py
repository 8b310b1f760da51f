"""Settings of a host by which it runs no hook."""

import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from permitry.core.json_values import strict_decoder
from permitry.errors import CallError, PermitryError
from permitry_hosts.hooks.host import Host, Settings

__all__ = ["check_all_switches", "check_switches", "parse_settings", "read_settings"]


def read_settings(path: Path) -> str:
    """Return the text of a file of settings; an empty one where there is none.

    Raises: `PermitryError`.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise PermitryError(f"cannot read `{path}`: {error}") from error


def parse_settings(path: Path, text: str) -> Any:  # noqa: ANN401 -- settings of another program
    """Return the document in a text that was read from `path`, JSON or TOML by its name.

    Raises: `PermitryError`.
    """
    try:
        if path.suffix == ".toml":
            return tomllib.loads(text)
        return strict_decoder().decode(text) if text.strip() else {}
    except (ValueError, CallError) as error:
        raise PermitryError(f"cannot read `{path}`: {error}") from error


def check_switches(host: Host, path: Path) -> None:
    """Check settings of a host, and what is next to them, whether or not a hook is in them.

    Raises: `PermitryError` for settings by which the host would run no hook, or that cannot be read.
    """
    if host.settings.text is None:
        check_all_switches(host.settings, path, parse_settings(path, read_settings(path)))


def check_all_switches(settings: Settings, path: Path, data: object) -> None:
    """Check a document that is to be in `path`, and the files next to it.

    Raises: `PermitryError` for settings by which the host would run no hook, or that cannot be read.
    """
    _check(settings.switches, path, data)
    for name, switches in settings.elsewhere.items():
        other = Path(os.path.normpath(path.parent / name))
        _check(switches, other, parse_settings(other, read_settings(other)))


def _check(switches: Iterable[tuple[str, object]], path: Path, data: object) -> None:
    """Raise `PermitryError` for settings by which the host would not run the hook."""
    for switch, off in switches:
        value: Any = data
        for key in switch.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        if value is off or (isinstance(value, list) and off in value):
            raise PermitryError(f"`{switch}` in `{path}` switches the hook off; change that first")

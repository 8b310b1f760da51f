"""Settings of a machine, which only an administrator writes and no project can take back: hooks stay switched on."""

import json
import re
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

from permitry.errors import PermitryError
from permitry_hosts.hooks.host import Host
from permitry_hosts.hooks.install import Change, change
from permitry_hosts.hooks.switches import parse_settings, read_settings

__all__ = ["find_managed", "is_pinned", "pin"]

_SWITCH = "disableAllHooks"
_HEADER = re.compile(r"^\[features\][ \t]*(?:#.*)?$", re.MULTILINE)
_LINE = "hooks = true\n"


def find_managed(host: Host) -> Path | None:
    """Return the file by which an administrator keeps the hooks of a host switched on; None where there is none."""
    name = host.settings.managed.get(sys.platform)
    return None if name is None else Path(name)


def is_pinned(host: Host) -> bool:
    """Return whether an administrator keeps the hooks of a host switched on.

    Raises: `PermitryError` for a file that cannot be read.
    """
    path = find_managed(host)
    if path is None:
        return False
    data = parse_settings(path, read_settings(path))
    features = data.get("features") if isinstance(data, dict) else None
    if path.suffix == ".toml":
        return isinstance(features, dict) and features.get("hooks") is True
    return isinstance(data, dict) and data.get(_SWITCH) is False


def pin(host: Host, path: Path, command: Sequence[str] | None, seconds: int) -> Change:
    """Return the change by which hooks are kept on, or with None no longer; Claude Code gets the hook itself as well.

    Raises: `PermitryError` for settings that cannot be read, or that switch hooks off.
    """
    if path.suffix == ".toml":
        before = read_settings(path)
        return Change(path, before, _pin_features(path, before, is_on=command is not None))
    made = change(host, path, command, seconds)
    data = parse_settings(path, made.after)
    if command is not None:
        data = {_SWITCH: False, **data}
    elif data.get(_SWITCH) is False:
        del data[_SWITCH]
    return Change(path, made.before, json.dumps(data, indent=2, ensure_ascii=False) + "\n" if data else "")


def _pin_features(path: Path, before: str, *, is_on: bool) -> str:
    """Return the text of a TOML file with or without our line; all else in it stays as it is written."""
    data = parse_settings(path, before)
    features = data.get("features", {})
    if features.get("hooks", is_on) is not True or features.get("codex_hooks") is False:
        raise PermitryError(f"`{path}` switches the hooks off; change that first")
    if ("hooks" in features) is is_on:
        return before
    if not is_on:
        after = re.sub(rf"{_HEADER.pattern}\n{_LINE}(?=\s*(?:\[|\Z))|^{_LINE}", "", before, flags=re.MULTILINE)
    elif "features" in data:
        after = _HEADER.sub(lambda found: f"{found[0]}\n{_LINE.rstrip()}", before, count=1)
    else:
        after = f"{before.rstrip()}\n\n[features]\n{_LINE}".lstrip()
    if is_on is not _has_hooks(after):
        raise PermitryError(
            f"`{path}` has `features` in a form that cannot be changed here; write `hooks = true` there"
        )
    return after


def _has_hooks(text: str) -> bool:
    return tomllib.loads(text).get("features", {}).get("hooks") is True

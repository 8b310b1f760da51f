"""Put a hook into the settings of a host, or take it out; what others have put there stays."""

import difflib
import json
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from permitry.core.json_values import strict_decoder
from permitry.errors import CallError, PermitryError
from permitry.files import replace_file
from permitry.hooks.host import Settings

__all__ = ["Change", "change", "hook_command"]

_OURS = re.compile(r"permitry['\"]?,? ['\"]?hook\b|Written by permitry")
_NO_FILE = ""


@attrs.frozen
class Change:
    """What a file of settings is to become; without text it is removed."""

    path: Path
    before: str
    after: str
    is_program: bool = False

    def diff(self) -> Iterator[str]:
        """Yield the lines of a unified diff; none if nothing changes."""
        before, after = self.before.splitlines(), self.after.splitlines()
        yield from difflib.unified_diff(before, after, str(self.path), str(self.path), lineterm="")

    def carry_out(self) -> None:
        """Write the file in one step, or remove it.

        Raises: `OSError`.
        """
        # Settings may be a link into a folder of dot files, which then stays one.
        path = Path(os.path.realpath(self.path))
        if not self.after:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = path.stat().st_mode & 0o777 if path.exists() else None
        replace_file(path, self.after.encode(), mode=0o755 if self.is_program else mode)


def hook_command(host: str, options: Sequence[str] = ()) -> list[str]:
    """Return the words that run the hook of a host, wherever it is started and whatever the environment says."""
    return [sys.executable, "-I", "-m", "permitry", "hook", host, *options]


def change(settings: Settings, path: Path, command: Sequence[str] | None, seconds: int = 30) -> Change:
    """Return the change that puts a command into the settings in `path`, or with None takes ours out.

    The host waits for so many seconds; the hook must be done before.

    Raises: `PermitryError` for settings that cannot be read, or a file of this name that is not ours.
    """
    try:
        before = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        before = _NO_FILE
    except (OSError, UnicodeDecodeError) as error:
        raise PermitryError(f"cannot read `{path}`: {error}") from error
    if settings.text is None:
        return Change(path, before, _merged(settings, path, before, command, seconds))
    if before and not _OURS.search(before):
        raise PermitryError(f"`{path}` is not from permitry; move it away first, or call the hook from it")
    after = _NO_FILE if command is None else settings.text(command, seconds)
    return Change(path, before, after, is_program=settings.is_program)


def _merged(settings: Settings, path: Path, before: str, command: Sequence[str] | None, seconds: int) -> str:
    try:
        data = strict_decoder().decode(before) if before.strip() else {}
    except (ValueError, CallError) as error:
        raise PermitryError(f"cannot read `{path}`: {error}") from error
    hooks = data.get("hooks", {}) if isinstance(data, dict) else None
    if not isinstance(hooks, dict) or not all(isinstance(each, list) for each in hooks.values()):
        raise PermitryError(f"`{path}` has no hooks in the form that is known")
    kept = {event: [each for each in map(_without_ours, entries) if each] for event, entries in hooks.items()}
    # What was empty before was so on purpose.
    kept = {event: entries for event, entries in kept.items() if entries or not hooks[event]}
    if command is not None:
        # A program that is killed, or cannot be started, has other exit codes, with which some hosts run the call.
        for event, entry in settings.entries(f"{shlex.join(command)} || exit 2", seconds).items():
            kept[event] = [*kept.get(event, []), entry]
        data = {**settings.frame, **data, "hooks": kept}
    elif kept != hooks:
        data = {**data, "hooks": kept} if kept else {key: value for key, value in data.items() if key != "hooks"}
    else:
        return before
    if data == settings.frame:
        return _NO_FILE
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _without_ours(entry: Any) -> Any:  # noqa: ANN401 -- settings of another program
    """Return an entry without our commands; None for one that has nothing else."""
    if isinstance(entry, Mapping) and isinstance(entry.get("hooks"), list):
        rest = [each for each in entry["hooks"] if not _is_ours(each)]
        return {**entry, "hooks": rest} if rest or not entry["hooks"] else None
    return None if _is_ours(entry) else entry


def _is_ours(entry: object) -> bool:
    return isinstance(entry, Mapping) and any(isinstance(each, str) and _OURS.search(each) for each in entry.values())

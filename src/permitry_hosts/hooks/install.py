"""Put a hook into the settings of a host, or take it out; what others have put there stays."""

import contextlib
import difflib
import json
import math
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from permitry.config.folders import user_cache, user_config, user_state
from permitry.errors import PermitryError
from permitry.files import replace_file
from permitry_hosts.hooks.host import Host, Settings
from permitry_hosts.hooks.places import LONGEST_PATH, base_python, place
from permitry_hosts.hooks.switches import check_all_switches, parse_settings, read_settings

__all__ = [
    "OR_BLOCK",
    "SPARE",
    "Change",
    "change",
    "hook_command",
    "installed",
    "is_as_written",
    "others",
    "write_managed_command",
]

_OUR_FILE = re.compile(r"(?:#!/bin/sh\n# |// )Written by permitry: ")
_OUR_WORDS = ("-I", "-m", "permitry", "hook")
# A program that is killed, or cannot be started, has other exit codes, with which some hosts run
# the call; some also do so with 2 where it comes without a word. The shell of a host may be any, so
# that another one says it.
OR_BLOCK = " || /bin/sh -c 'echo permitry did not permit this >&2; exit 2' || exit 2"
"""What blocks a call where the hook cannot even be started."""
_OR_NOTHING = " || exit 0"
"""What is only reported is lost then; no message of the user is held up."""
# The second one is that of hooks that were installed before, and an end of the first.
_ENDS = (OR_BLOCK, " || exit 2", _OR_NOTHING)
SPARE = 2
"""So many seconds longer than the hook may take, its client waits for the resident."""
_ENV = "/usr/bin/env"
_CLIENT = Path(__file__).with_name("client.py")
# The second one is that of hooks that were installed before.
_CLIENT_NAMES = ("/permitry_hosts/hooks/client.py", "/permitry/hooks/client.py")
_CLIENT_FLAGS = ["-I", "-S"]
_BLOCKED = 2
_FIXED = ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
_UNSET = [word for name in _FIXED for word in ("-u", name)]
_NO_FILE = ""
_LIST = "const COMMAND = "


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

        Raises: `OSError`; `PermitryError` if the file is not as it was when the change was made.
        """
        if read_settings(self.path) != self.before:
            raise PermitryError(f"`{self.path}` has changed meanwhile; run the command again")
        # Settings may be a link into a folder of dot files, which then stays one.
        path = Path(os.path.realpath(self.path))
        if not self.after:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = path.stat().st_mode & 0o777 if path.exists() else None
        replace_file(path, self.after.encode(), mode=0o755 if self.is_program else mode)


def write_managed_command(host: str, options: Sequence[str] = ()) -> list[str]:
    """Return the words that run the hook of a host for every user of a machine, in process.

    Without these variables the folders are those of the user in the list of users, whatever the environment says.
    """
    return [_ENV, *_UNSET, sys.executable, *_OUR_WORDS, host, *options]


def hook_command(host: str, options: Sequence[str] = (), seconds: float | None = None) -> list[str]:
    """Return the words that run the hook of a host, wherever it is started and whatever the environment says.

    Some hosts take variables from a project, which must not say where the user's rules, answers and trust are kept.
    With `seconds` they ask the resident first, where there can be one, and wait for it no longer than that.
    """
    folders = (Path.home(), *(folder.parent for folder in (user_config(), user_state(), user_cache())))
    fixed = [f"{name}={folder.absolute()}" for name, folder in zip(_FIXED, folders, strict=True)]
    asking = [] if seconds is None else _client(seconds)
    return [_ENV, *fixed, *asking, sys.executable, *_OUR_WORDS, host, *options]


def _client(seconds: float) -> list[str]:
    """Return the words that ask the resident; none where there can be no resident, or no Python to ask it with."""
    start = [str(base_python()), *_CLIENT_FLAGS, str(_CLIENT)]
    # Without any words, it blocks. `env` takes a program with a `=` in its path for a variable.
    done = subprocess.run([_ENV, *start], cwd="/", capture_output=True, check=False)  # noqa: S603 -- our own program
    works = done.returncode == _BLOCKED
    is_possible = works and sys.platform == "linux" and len(os.fsencode(place())) <= LONGEST_PATH
    return [*start, str(place()), f"{seconds:g}"] if is_possible else []


def change(host: Host, path: Path, command: Sequence[str] | None, seconds: int = 30) -> Change:
    """Return the change that puts a command into the settings of a host in `path`, or with None takes ours out.

    The host waits for so many seconds; the hook must be done before.

    Raises: `PermitryError` for settings that cannot be read or switch hooks off, or a file of this name that is not
    ours.
    """
    before, settings = read_settings(path), host.settings
    if settings.text is None:
        return Change(path, before, _merge(host, path, before, command, seconds))
    if before and not _OUR_FILE.match(before):
        raise PermitryError(f"`{path}` is not from permitry; move it away first, or call the hook from it")
    after = _NO_FILE if command is None else settings.text(command, seconds)
    return Change(path, before, after, is_program=settings.is_program)


def installed(host: Host, path: Path) -> list[str] | None:
    """Return the words of our command in the settings of a host; None where there is none.

    Raises: `PermitryError` for settings that cannot be read.
    """
    text = read_settings(path)
    if host.settings.text is not None:
        words = _words_in(text) if _OUR_FILE.match(text) else None
        return words if words is not None and _is_our_command(_line(words), host.name) else None
    data = parse_settings(path, text)
    hooks = data.get("hooks") if isinstance(data, dict) else None
    lines = [line for line in _texts(hooks) if _is_our_command(line, host.name)]
    return shlex.split(_without_end(lines[0])) if lines else None


def is_as_written(host: Host, path: Path, words: Sequence[str], seconds: float) -> bool:
    """Return whether our command in the settings of a host is as `hook install` puts it there, here and now.

    One that is not may run any program, or is not asked about all calls. The hook takes up to so many seconds.
    """
    settings, options = host.settings, words[words.index("hook") + 2 :]
    ours = (
        hook_command(host.name, options),
        hook_command(host.name, options, seconds + SPARE),
        write_managed_command(host.name, options),
    )
    if words not in ours:
        return False
    patience = math.ceil(seconds) + settings.spare
    if settings.text is not None:
        is_started = not settings.is_program or os.access(path, os.X_OK)
        return is_started and read_settings(path) == settings.text(words, patience)
    hooks = parse_settings(path, read_settings(path))["hooks"]
    return all(entry in hooks.get(event, ()) for event, entry in _all_entries(settings, words, patience).items())


def _words_in(text: str) -> list[str] | None:
    """Return the words of the command in a file of ours: a list in a plugin, a line in a script."""
    with contextlib.suppress(ValueError, TypeError):
        for line in text.splitlines():
            if line.startswith(_LIST):
                return list(map(str, json.loads(line.removeprefix(_LIST))))
            if line.startswith(_ENV):
                words = shlex.split(line)
                return words[: words.index("||")]
    return None


def _line(words: Sequence[str]) -> str:
    return shlex.join(words) + OR_BLOCK


def _without_end(line: str) -> str:
    """Return a line of settings without what we write behind our command, if that is there."""
    end = next((each for each in _ENDS if line.endswith(each)), "")
    return line.removesuffix(end)


def _all_entries(settings: Settings, words: Sequence[str], seconds: int) -> Mapping[str, Any]:
    """Return what the hooks of a host get, by event."""
    reports = settings.reports(shlex.join(words) + _OR_NOTHING, seconds)
    return {**settings.entries(_line(words), seconds), **reports}


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(each)


def _merge(host: Host, path: Path, before: str, command: Sequence[str] | None, seconds: int) -> str:
    settings = host.settings
    data = parse_settings(path, before)
    hooks = data.get("hooks", {}) if isinstance(data, dict) else None
    if not isinstance(hooks, dict) or not all(isinstance(each, list) for each in hooks.values()):
        raise PermitryError(f"`{path}` has no hooks in the form that is known")
    kept = others(host, hooks)
    if command is not None:
        check_all_switches(settings, path, data)
        for event, entry in _all_entries(settings, command, seconds).items():
            kept[event] = [*kept.get(event, []), entry]
        data = {**settings.frame, **data, "hooks": kept}
    elif kept != hooks:
        data = {**data, "hooks": kept} if kept else {key: value for key, value in data.items() if key != "hooks"}
    else:
        return before
    if data == settings.frame:
        return _NO_FILE
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def others(host: Host, hooks: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """Return the hooks of others in the table of a host, by event."""
    rests = {event: [_without_ours(each, host.name) for each in entries] for event, entries in hooks.items()}
    kept = {event: [each for each in entries if each] for event, entries in rests.items()}
    # What was empty before was so on purpose.
    return {event: entries for event, entries in kept.items() if entries or not hooks[event]}


def _without_ours(entry: Any, host: str) -> Any:  # noqa: ANN401 -- settings of another program
    """Return an entry without our commands; None for one that has nothing else."""
    if isinstance(entry, Mapping) and isinstance(entry.get("hooks"), list):
        rest = [each for each in entry["hooks"] if not _is_ours(each, host)]
        return {**entry, "hooks": rest} if rest or not entry["hooks"] else None
    return None if _is_ours(entry, host) else entry


def _is_ours(entry: object, host: str) -> bool:
    return isinstance(entry, Mapping) and any(
        isinstance(each, str) and _is_our_command(each, host) for each in entry.values()
    )


def _is_our_command(text: str, host: str) -> bool:
    """Return whether a text is a command as we write it, and not one of the user that runs the hook as well."""
    line = _without_end(text)
    try:
        words = shlex.split(line)
    except ValueError:
        return False
    is_for_all = words[: 1 + len(_UNSET)] == [_ENV, *_UNSET]
    at = 1 + len(_UNSET if is_for_all else _FIXED)
    is_fixed = is_for_all or [word.partition("=")[0] for word in words[:at]] == [_ENV, *_FIXED]
    # Written by a shell's rules in another way, there is more in it than one program.
    is_one = line != text and shlex.join(words) == line
    rest = words[at:]
    # The client has five words after its Python.
    if rest[1:3] == _CLIENT_FLAGS and rest[3:4] and rest[3].endswith(_CLIENT_NAMES):
        rest = rest[6:]
    # After them, the Python.
    return is_one and is_fixed and rest[1:][: len(_OUR_WORDS) + 1] == [*_OUR_WORDS, host]

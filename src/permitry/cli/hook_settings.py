"""`permitry hook install` and `uninstall`: the settings of a host are shown as they change, then written."""

import argparse
import math
import re
import subprocess
import sys
from pathlib import Path

from permitry.cli.inputs import tell
from permitry.cli.main import ExitCode
from permitry.config.catalogue import PREFIX
from permitry.config.load import load_rules
from permitry.config.origin import Origin
from permitry.errors import PermitryError
from permitry.hooks.answering import host_named
from permitry.hooks.doctor import version
from permitry.hooks.install import SPARE, change, hook_command
from permitry.hooks.places import place
from permitry.records import is_address

__all__ = ["change_settings"]


def change_settings(options: argparse.Namespace, seconds: float) -> ExitCode:
    """Show what changes in the settings of a host, and write it; the hook takes up to so many seconds."""
    guarded = host_named(options.host)
    settings = guarded.settings
    if options.is_install and seconds > settings.longest:
        host, longest = options.host, f"{settings.longest:g} seconds"
        raise PermitryError(f"a hook of {host} may take {longest}: {host} runs calls whose hook is late")
    if options.is_install and options.rules:
        # A hook whose rules do not load blocks each call, and the user would learn it from the agent.
        load_rules([Origin(name) for name in options.rules])
    path = Path.cwd() / settings.project if options.project else Path.home() / settings.user
    command = None
    if options.is_install:
        command = hook_command(options.host, _options(options), seconds + SPARE)
        _check(options.host, command)
    # The hook is to be the first to give up, then its client.
    made = change(guarded, path, command, math.ceil(seconds) + settings.spare)
    lines = list(made.diff())
    print("\n".join(lines) if lines else f"nothing to change in {path}")
    if lines and not options.dry_run:
        made.carry_out()
    if options.is_install and not options.dry_run:
        # Of hooks that start at once, one starts the resident and the others wait: that is noted there.
        place().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if options.is_install:
        tell(_notices(settings.note, command or ()))
    if options.is_install and not options.dry_run:
        tell([f"installed in {path}; to try the hook: permitry hook doctor {options.host}"])
    return ExitCode.OK


def _options(options: argparse.Namespace) -> list[str]:
    """Return the options that the command in the settings gets; files are named by their whole path."""
    words = ["--grant"] if options.grant else []
    for name in options.rules or ():
        words += ["--rules", name if name.startswith(PREFIX) else str(Path(name).absolute())]
    if options.ask:
        words += ["--ask", f"wait={options.ask:g}"]
    if options.deadline is not None:
        words += ["--deadline", f"{options.deadline:g}"]
    for name in ("store", "record"):
        if getattr(options, name) is not None:
            words += [f"--{name}", _record(f"--{name}", getattr(options, name))]
    return words


def _record(option: str, record: str) -> str:
    """Return what names a record in settings, which others may read: no password."""
    if not is_address(record):
        return str(Path(record).absolute())
    if re.search(r"//[^/@]*:[^/]*@|[?&]password=", record):
        raise PermitryError(f"settings may be read by others: keep the password of {option} in `~/.pgpass`")
    return record


def _check(host: str, command: list[str]) -> None:
    """Raise `PermitryError` where the hook could not be started, or where the host would not wait for it."""
    at = command.index("hook")
    start = [command[0], *command[at - 4 : at], "--version"]
    if subprocess.run(start, cwd="/", capture_output=True, check=False).returncode != 0:  # noqa: S603 -- our own program
        raise PermitryError("permitry cannot be started as `python -I -m permitry`; install it in an environment")
    found = version(host)
    if found.is_well is False:
        raise PermitryError(f"{host}: {found.text}")


def _notices(note: str, command: list[str] | tuple[str, ...]) -> list[str]:
    notices = [note] if note else []
    if Path(sys.prefix).is_relative_to(Path.cwd()) and command:
        notices.append(f"`{sys.prefix}` lies in this folder: an agent that works here could change permitry itself")
    return notices

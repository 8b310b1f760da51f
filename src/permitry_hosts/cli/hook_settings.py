"""`permitry hook install` and `uninstall`: the settings of a host are shown as they change, then written."""

import argparse
import math
import re
import shlex
import subprocess
import sys
from pathlib import Path

from permitry.cli.inputs import tell
from permitry.cli.main import ExitCode
from permitry.config.catalogue import PREFIX
from permitry.config.load import load_rules
from permitry.config.origin import Origin
from permitry.errors import PermitryError
from permitry.store.records import is_address
from permitry_hosts.hooks.doctor import version
from permitry_hosts.hooks.host import Host
from permitry_hosts.hooks.hosts import host_named
from permitry_hosts.hooks.install import SPARE, Change, change, hook_command, installed, write_managed_command
from permitry_hosts.hooks.managed import find_managed, is_pinned, pin
from permitry_hosts.hooks.places import place

__all__ = ["carry_out", "change_settings", "notices", "plan_change"]


def change_settings(options: argparse.Namespace, seconds: float) -> ExitCode:
    """Show what changes in the settings of a host, and write it; the hook takes up to so many seconds."""
    made = plan_change(options, seconds)
    lines = list(made.diff())
    print("\n".join(lines) if lines else f"nothing to change in {made.path}")
    if options.dry_run:
        if options.is_install:
            tell(notices(options, made.path))
        return ExitCode.OK
    carry_out(made, options)
    if options.is_install:
        tell(notices(options, made.path))
        again = f"start {options.host} again: a session that runs has not read it"
        tell([f"installed in {made.path}; {again}; to try the hook: permitry hook doctor {options.host}"])
    return ExitCode.OK


def plan_change(options: argparse.Namespace, seconds: float) -> Change:
    """Return what is to be changed in the settings of a host, where the hook takes up to so many seconds.

    Raises: `PermitryError` where the hook could not be started, or would not guard.
    """
    host = host_named(options.host)
    longest = host.settings.longest
    if options.is_install and seconds > longest:
        raise PermitryError(
            f"a hook of {host.name} may take {longest:g} seconds: {host.name} runs calls whose hook is late"
        )
    if options.is_install and (options.rules or options.observe):
        # A hook whose rules do not load blocks each call, and the user would learn it from the agent.
        load_rules([*map(Origin, options.rules or ()), *(Origin(name, is_observed=True) for name in options.observe)])
    path, command = _path(options, host), None
    if options.is_install:
        command = _command(options, seconds)
        _check(host, command)
    # The hook is to be the first to give up, then its client.
    make = pin if options.managed else change
    return make(host, path, command, math.ceil(seconds) + host.settings.spare)


def carry_out(made: Change, options: argparse.Namespace) -> None:
    """Write the settings, where anything changes in them.

    Raises: `OSError`, `PermitryError`.
    """
    if made.before != made.after:
        made.carry_out()
    if options.is_install and not options.managed:
        # Of hooks that start at once, one starts the resident and the others wait: that is noted there.
        place().parent.mkdir(mode=0o700, parents=True, exist_ok=True)


def _command(options: argparse.Namespace, seconds: float) -> list[str]:
    words = _options(options)
    if options.managed:
        return write_managed_command(options.host, words)
    return hook_command(options.host, words, seconds + SPARE)


def _path(options: argparse.Namespace, host: Host) -> Path:
    """Return the file of settings that is to be changed.

    Raises: `PermitryError` for a host that has none for a machine.
    """
    if not options.managed:
        settings = host.settings
        return Path.cwd() / settings.project if options.project else Path.home() / settings.user
    path = find_managed(host)
    if path is None:
        raise PermitryError(f"{host.name} has no settings of a machine that permitry can write here")
    return path


def _options(options: argparse.Namespace) -> list[str]:
    """Return the options that the command in the settings gets; files are named by their whole path."""
    words = ["--grant"] if options.grant else []
    for option, names in (("--rules", options.rules or ()), ("--observe", options.observe)):
        for name in names:
            words += [option, name if name.startswith(PREFIX) else str(Path(name).absolute())]
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


def _check(host: Host, command: list[str]) -> None:
    """Raise `PermitryError` where the hook could not be started, or where the host would not wait for it."""
    at = command.index("hook")
    start = [command[0], *command[at - 4 : at], "--version"]
    if subprocess.run(start, cwd="/", capture_output=True, check=False).returncode != 0:  # noqa: S603 -- our own program
        raise PermitryError("permitry cannot be started as `python -I -m permitry`; install it in an environment")
    found = version(host)
    if found.is_well is False:
        raise PermitryError(f"{host.name}: {found.text}")


def notices(options: argparse.Namespace, path: Path) -> list[str]:
    """Return what the user has to know about a hook that is put into `path`."""
    host = host_named(options.host)
    settings = host.settings
    found = [settings.note] if settings.note else []
    if host.takes_permissions and not options.grant:
        found.append(f"asked less: with `--grant`, {host.name} runs unasked what your rules permit")
    is_managed = path == find_managed(host)
    if settings.pinned and not is_managed and not is_pinned(host):
        alias = f"alias {settings.pinned.split()[0]}={shlex.quote(settings.pinned)}"
        pinned = f"`permitry hook install {host.name} --managed` as root, or `{alias}` in your shell"
        found.append(f"a project can switch this hook off; so that none can: {pinned}")
    own = Path.home() / settings.user
    if is_managed and path.suffix == own.suffix and installed(host, own) is not None:
        found.append(f"the hook in `{own}` counts as well: `permitry hook uninstall {host.name}` takes it out")
    if Path(sys.prefix).is_relative_to(Path.cwd()):
        found.append(f"`{sys.prefix}` lies in this folder: an agent that works here could change permitry itself")
    return found

"""`permitry init`: write a first rule file for a project."""

import argparse
from pathlib import Path

from permitry.cli.main import ExitCode
from permitry.config.layers import PROJECT_FILE
from permitry.config.starter import kinds_of, starter_text
from permitry.core.texts import one_line
from permitry.errors import PermitryError
from permitry_hosts.hooks.hosts import find_hosts

__all__ = ["configure", "found_in", "text_for", "write_rules"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry init`."""
    parser.add_argument("folder", nargs="?", type=Path, default=Path(), metavar="DIR", help="the project; default: .")
    parser.add_argument("--print", action="store_true", help="print the file and write nothing")
    what = "a coding agent with a hook, which asks by itself, or an agent loop of your own; default: what is found"
    parser.add_argument("--for", dest="purpose", choices=("host", "loop"), metavar="host|loop", help=what)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> ExitCode:
    """Look at what kind of project it is, and write its rule file; one that exists is never replaced."""
    folder: Path = options.folder
    hosts = find_hosts(Path.home())
    is_for_host = bool(hosts) if options.purpose is None else options.purpose == "host"
    text = text_for(folder, is_for_host=is_for_host)
    if options.print:
        print(text, end="")
        return ExitCode.OK
    here = "" if folder == Path() else f" {one_line(str(folder))}"
    write_rules(folder, text)
    print(f"wrote {one_line(str(folder / PROJECT_FILE))}; kinds of project found: {found_in(folder)}")
    if options.purpose is None and hosts:
        print(f"it is for coding agents with a hook, as {', '.join(hosts)}; for a loop of your own: --for loop")
    print("next:")
    print(f"  read it, then let its permissions count:  permitry trust{here}")
    if is_for_host:
        print(f"  put the hook into your agent's settings:  permitry setup{here}")
    print("  ask what would happen to a command:       permitry explain --command 'make && git push'")
    return ExitCode.OK


def found_in(folder: Path) -> str:
    """Return the kinds of project that a folder holds, in words."""
    return ", ".join(kind.name for kind in kinds_of(folder)) or "none that is known here"


def text_for(folder: Path, *, is_for_host: bool) -> str:
    """Return the rule file of a project.

    Raises: `PermitryError` for what is not a directory.
    """
    if not folder.is_dir():
        raise PermitryError(f"`{folder}` is not a directory; name the folder of a project")
    return starter_text(folder.resolve().name or "this folder", kinds_of(folder), is_for_host=is_for_host)


def write_rules(folder: Path, text: str) -> None:
    """Write the rule file of a project, which must not exist yet.

    Raises: `PermitryError`, also where the folder of the file is a link: a repository may
    bring one that leads to rules of the user. `OSError`.
    """
    file = folder / PROJECT_FILE
    if file.parent.is_symlink():
        raise PermitryError(f"`{file.parent}` is a link; put a folder in its place")
    file.parent.mkdir(exist_ok=True)
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise PermitryError(f"`{file}` exists already; edit it, or see a new one with --print") from None

"""`permitry completion`: a script by which a shell completes the words of a command line."""

import argparse

from permitry.cli.main import ExitCode, actions_of, whole_parser
from permitry.errors import PermitryError
from permitry.extras import missing

__all__ = ["configure"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry completion`."""
    parser.add_argument("shell", nargs="?", choices=("bash", "zsh", "fish"), help="the shell that is to complete")
    parser.set_defaults(execute=execute, help=parser.format_help)


def execute(options: argparse.Namespace) -> ExitCode:
    """Print the script, or without a shell the help."""
    if options.shell is None:
        print(options.help(), end="")
        return ExitCode.OK
    try:
        import shtab
    except ImportError as error:
        raise PermitryError(missing("shtab", "completion")) from error
    parser = whole_parser()
    for action in actions_of(parser):
        if action.metavar in ("FILE", "SESSION.jsonl"):
            action.complete = shtab.FILE  # type: ignore[attr-defined]  # how shtab is given it
        elif action.metavar == "DIR":
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]  # how shtab is given it
    print(shtab.complete(parser, options.shell))
    return ExitCode.OK

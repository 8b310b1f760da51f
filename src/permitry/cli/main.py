"""`permitry`: the commands, their exit codes, and what happens to errors."""

import argparse
import enum
import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from permitry.errors import ConfigError, PermitryError

__all__ = ["ExitCode", "main", "run_from_shell"]

_COMMANDS = {
    "run": "guard and run the tool calls of a session",
    "check": "say what would happen to calls, and run nothing",
    "explain": "say why: every rule, match and near miss",
    "parse": "find the calls that a model wrote as text",
    "tools": "list the tools there are: what they take, and what rules know of them",
    "corpus": "fill the store of documents that the document tools read",
    "test": "check golden cases and the examples in rules",
    "lint": "point out what is odd about rules that load",
    "rules": "list the rules in force, in the order of evaluation",
    "trust": "let the permissions of a project count, for its files as they are now",
    "schema": "print the JSON Schema of rule files or golden cases",
}


class ExitCode(enum.IntEnum):
    """What the exit status means, for every command."""

    OK = 0
    FAILED = 1
    BLOCKED = 2
    NEEDS_CONFIRMATION = 3
    INVALID = 4
    INTERRUPTED = 130


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        # argparse would exit with 2, which here means "blocked".
        self.print_usage(sys.stderr)
        self.exit(ExitCode.INVALID, f"{self.prog}: {message}\n")


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib.metadata import version  # slow to import, and seldom asked for

        print(f"permitry {version('permitry')}")
        parser.exit(ExitCode.OK)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = sys.argv[1:] if argv is None else list(argv)
    if sys.stderr is None:
        # Closed by whoever started us; what is meant for it must not land on standard output.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 -- it stays open for the run
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show a character gets its number, not a traceback.
            stream.reconfigure(errors="backslashreplace")
    command = next((word for word in words if word in _COMMANDS), None)
    options = _parser(command).parse_args(words)
    try:
        code = int(options.execute(options))
        # What is still buffered is part of the command: it may meet a reader that has left, too.
        sys.stdout.flush()
    except PermitryError as error:
        from permitry.cli.render import visible

        # The places of a rule file come first on their lines, as editors and terminals look for them.
        prefix = "" if isinstance(error, ConfigError) else "permitry: "
        print(f"{prefix}{visible(str(error))}", file=sys.stderr)
        return ExitCode.INVALID
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output is gone. Standard output must not fail once more while Python shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.FAILED
    except OSError as error:
        print(f"permitry: {error.strerror or error}", file=sys.stderr)
        return ExitCode.FAILED
    return code


def run_from_shell() -> NoReturn:
    """Run one command and end the process with its exit code."""
    sys.exit(main())


def _parser(chosen: str | None) -> argparse.ArgumentParser:
    parser = _Parser(
        allow_abbrev=False,
        prog="permitry",
        description="Decide, before a tool call of an LLM agent runs, whether it may: allow, confirm or block.",
        epilog="exit codes: 0 allowed or fine, 1 a check failed, 2 blocked, 3 needs confirmation, 4 invalid input",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and end")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, summary in _COMMANDS.items():
        description = f"{summary[:1].upper()}{summary[1:]}."
        command = commands.add_parser(name, allow_abbrev=False, help=summary, description=description)
        if name == chosen:
            # Only the command that runs is imported: starting up is what a short check costs most.
            importlib.import_module(f"permitry.cli.{name}").configure(command)
    return parser

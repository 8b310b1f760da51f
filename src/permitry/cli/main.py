"""`permitry`: the commands, their exit codes, and what happens to errors."""

import argparse
import contextlib
import enum
import importlib
import io
import itertools
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NoReturn

from permitry.errors import ConfigError, PermitryError

__all__ = ["ExitCode", "actions_of", "main", "run_from_shell", "terminal_columns", "whole_parser"]

_COMMANDS = {
    "demo": "watch a recorded coding session being guarded, in a temporary folder",
    "setup": "guard the coding agents of this user, in this project: all steps, shown first",
    "init": "write a first rule file for a project",
    "run": "guard and run the tool calls of a session",
    "gateway": "be the MCP server in front of others, and decide each of their calls",
    "check": "say what would happen to calls, and run nothing",
    "approve": "answer a question of a hook or a store, from another terminal",
    "undo": "bring back what a call has changed",
    "grants": "permit calls beforehand: for a time, for a number of uses, for an agent",
    "inbox": "answer questions in a browser",
    "audit": "read the record, count what is in it, and show that nothing in it was changed",
    "hook": "answer a coding agent that asks before it runs a tool",
    "explain": "say why: every rule, match and near miss",
    "parse": "find the calls that a model wrote as text",
    "tools": "list the tools there are: what they take, and what rules know of them",
    "corpus": "fill the store of documents that the document tools read",
    "import": "turn the rules of another host into a rule file",
    "suggest": "suggest permissions that would have removed questions",
    "replay": "say what rules would have done in recorded sessions",
    "diff": "say what a change of rules permits that was not permitted, with a call for each way",
    "test": "check golden cases and the examples in rules",
    "lint": "point out what is odd about rules that load",
    "fmt": "bring rule files into the one layout, and change nothing that they say",
    "rules": "list the rules in force, in the order of evaluation",
    "trust": "let the permissions of a project count, for its files as they are now",
    "completion": "print what makes a shell complete these words",
    "man": "print the manual page",
    "schema": "print the JSON Schema of rule files or golden cases",
}

_HOSTS, _OPS = "permitry_hosts", "permitry_ops"
_PACKAGES = {
    "gateway": _HOSTS, "hook": _HOSTS, "import": _HOSTS, "init": _HOSTS, "setup": _HOSTS,
    "corpus": _OPS, "demo": _OPS, "diff": _OPS, "fmt": _OPS, "inbox": _OPS, "lint": _OPS, "man": _OPS, "replay": _OPS,
    "run": _OPS, "suggest": _OPS, "test": _OPS, "tools": _OPS,
}  # fmt: skip
"""The packages of the commands that are not of this one, which imports neither."""

_POSIX = ("fcntl", "termios")
"""Modules of Python that Windows does not have."""

_OPEN = (["install"], ["uninstall"], ["doctor"], ["-h"], ["--help"])
"""What follows `hook` where no host waits for an answer."""


class ExitCode(enum.IntEnum):
    """What the exit status means, for every command."""

    OK = 0
    FAILED = 1
    BLOCKED = 2
    NEEDS_CONFIRMATION = 3
    INVALID = 4
    UNPROVEN = 5
    INTERRUPTED = 130


class _Formatter(argparse.HelpFormatter):
    """Help as wide as the terminal: argparse would load `shutil` for each option to ask for that."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=terminal_columns() - 2)


class _Parser(argparse.ArgumentParser):
    def parse_known_args(  # type: ignore[override]  # one of its overloads is used
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Read words; a command with sub-commands, given none of them, shows them."""
        if not args and self._subparsers is not None:
            # What is on standard output of a hook, a host may take for its answer.
            self.print_help(sys.stderr if self.prog == "permitry hook" else sys.stdout)
            self.exit(ExitCode.OK)
        return super().parse_known_args(args, namespace)

    def _check_value(self, action: argparse.Action, value: object) -> None:
        names = list(map(str, action.choices or ()))
        if action.choices is not None and value not in action.choices:
            hint = _nearest(str(value), names)
            message = f"there is no `{value}`{hint}; there are: {', '.join(names)}"
            raise argparse.ArgumentError(action, message)

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
    """Run one command and return its exit code; without any word, print the help."""
    words = sys.argv[1:] if argv is None else list(argv)
    if sys.stderr is None:
        # Closed by the parent process; what is meant for it must not land on standard output.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 -- it stays open for the run
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show a character gets its number, not a traceback.
            stream.reconfigure(errors="backslashreplace")
    if words == ["--version", "--verbose"]:
        print(*importlib.import_module("permitry_hosts.cli.about").describe(), sep="\n")
        return ExitCode.OK
    if words[:1] == ["help"]:
        _options([*words[1:], "--help"])
        # INVARIANT: law 6. Behind `--` that is a name; no one who may not run a command runs it by asking for help.
        return ExitCode.INVALID
    if not words or (words == ["hook"] and sys.stdin is not None and sys.stdin.isatty()):
        # A host that gives no more words waits for an answer, and must get that of a hook.
        words = [*words, "--help"]
    return _run_closed(words) if words[0] == "hook" and words[1:2] not in _OPEN else _run(words)


def _run_closed(words: Sequence[str]) -> int:
    """Run a hook: exit code 2 alone says to all hosts that the call must not run."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A host that cannot read the answer takes it for none, whatever PYTHONIOENCODING says.
            stream.reconfigure(encoding="utf-8")
    try:
        code = _run(words)
    except BaseException as error:  # noqa: BLE001 -- an exit code of Python's own lets the call run
        code = ExitCode.FAILED
        if not isinstance(error, SystemExit):
            from permitry.core.texts import visible

            with contextlib.suppress(OSError):
                print(f"permitry: {type(error).__name__}: {visible(str(error))}", file=sys.stderr)
    if code == ExitCode.OK:
        return ExitCode.OK
    # INVARIANT: law 2. Output that cannot be written would give the process another exit code when it ends.
    _drop_output()
    return ExitCode.BLOCKED


def _drop_output() -> None:
    """Let what is still buffered go nowhere: it must not fail once more at the end."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        # What has no file, as in a test, does not fail.
        with contextlib.suppress(io.UnsupportedOperation):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _run(words: Sequence[str]) -> int:
    try:
        options = _options(words)
        code = int(options.execute(options))
        # What is still buffered is part of the command: it may meet a reader that has left, too.
        sys.stdout.flush()
    except PermitryError as error:
        from permitry.core.texts import visible

        # The places of a rule file come first on their lines, as editors and terminals look for them.
        prefix = "" if isinstance(error, ConfigError) else "permitry: "
        print(f"{prefix}{visible(str(error))}", file=sys.stderr)
        return ExitCode.INVALID
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # The reader of our output is gone.
        _drop_output()
        return ExitCode.FAILED
    except OSError as error:
        from permitry.core.texts import visible

        place = "" if error.filename is None else f"`{visible(str(error.filename))}`: "
        print(f"permitry: {place}{error.strerror or error}", file=sys.stderr)
        return ExitCode.FAILED
    return code


def run_from_shell() -> NoReturn:
    """Run one command and end the process with its exit code."""
    sys.exit(main())


def _options(words: Sequence[str]) -> argparse.Namespace:
    if words and words[0] in _COMMANDS:
        # The others need not be known to read the words of one: starting up is what a short check costs most.
        alone = _configure(words[0], _Parser(prog=f"permitry {words[0]}", **_about(words[0])))
        _refuse_unknown(alone, words[1:])
        options, more = alone.parse_known_args(words[1:])
        if more:
            alone.error(f"`{more[0]}` is one word too many{_as_rules(alone, more[0])}")
        return options
    if words and not words[0].startswith("-"):
        _parser().error(f"there is no command `{words[0]}`{_nearest(words[0], _COMMANDS)}")
    return _parser(*(word for word in words if word in _COMMANDS)).parse_args(words)


def _as_rules(parser: argparse.ArgumentParser, word: str) -> str:
    is_wanted = word.endswith(".toml") or word.startswith("permitry:")
    return f"; rules are named with --rules {word}" if is_wanted and "--rules" in _option_names(parser) else ""


def _option_names(parser: argparse.ArgumentParser) -> set[str]:
    return set(itertools.chain.from_iterable(action.option_strings for action in actions_of(parser)))


def actions_of(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the arguments of a parser and of its commands."""
    for action in parser._actions:  # noqa: SLF001 -- nothing public lists them
        yield action
        if isinstance(action.choices, dict):
            for command in action.choices.values():
                yield from actions_of(command)


def _refuse_unknown(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """End with an error for an unknown option before argparse complains of a missing one."""
    known = _option_names(parser)
    for word in itertools.takewhile(lambda word: word != "--", words):
        if word.startswith("--") and word.partition("=")[0] not in known:
            parser.error(f"there is no option `{word}`{_nearest(word, known)}")


def _nearest(word: str, names: Iterable[str]) -> str:
    from difflib import get_close_matches  # only where something is misspelt

    near = get_close_matches(word.partition("=")[0], list(names), n=1)
    return f"; did you mean `{near[0]}`?" if near else ""


def whole_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands with all their options, which means importing them all."""
    return _parser(*_COMMANDS)


def _parser(*chosen: str) -> argparse.ArgumentParser:
    parser = _Parser(
        allow_abbrev=False,
        formatter_class=_Formatter,
        prog="permitry",
        description="Decide, before a tool call of an LLM agent runs, whether it may: allow, confirm or block.",
        epilog="More: `permitry help COMMAND`. "
        "exit codes: 0 allowed or fine, 1 a check failed, 2 blocked, 3 needs confirmation, 4 invalid input",
    )
    parser.add_argument(
        "--version", action=_Version, nargs=0, help="print the version; with --verbose, what a bug report needs"
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, summary in _COMMANDS.items():
        command = commands.add_parser(name, help=summary, **_about(name))
        if name in chosen:
            _configure(name, command)
    return parser


def _about(name: str) -> dict[str, Any]:
    summary = _COMMANDS[name]
    described = f"{summary[:1].upper()}{summary[1:]}."
    return {"allow_abbrev": False, "description": described, "formatter_class": _Formatter}


def terminal_columns() -> int:
    """Return how many columns the terminal has, as `shutil.get_terminal_size` does."""
    with contextlib.suppress(KeyError, ValueError):
        if (columns := int(os.environ["COLUMNS"])) > 0:
            return columns
    with contextlib.suppress(AttributeError, ValueError, OSError):
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80  # type: ignore[union-attr]  # None is an error, too
    return 80


def _configure(name: str, command: argparse.ArgumentParser) -> argparse.ArgumentParser:
    # Only the command that runs is imported; no module can be called `import`.
    module = "import_" if name == "import" else name
    try:
        importlib.import_module(f"{_PACKAGES.get(name, 'permitry')}.cli.{module}").configure(command)
    except ModuleNotFoundError as error:
        if error.name not in _POSIX:
            raise
        message = f"`permitry {name}` runs on Linux and macOS: this Python has no module `{error.name}`"
        raise PermitryError(message) from error
    return command

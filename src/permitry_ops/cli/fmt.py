"""`permitry fmt`: rule files in the one layout."""

import argparse
import json
import stat
from collections.abc import Iterator
from pathlib import Path

from permitry.cli.main import ExitCode
from permitry.config.diagnostics import unreadable_problem
from permitry.errors import ConfigError, PermitryError, Problem
from permitry.files import replace_file
from permitry_ops.fmt.layout import format_text

__all__ = ["configure"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry fmt`."""
    add = parser.add_argument
    add("files", nargs="+", type=Path, metavar="FILE", help="rule files, or other TOML files of permitry")
    add("--check", action="store_true", help="change nothing, and fail where a file is in another layout")
    add("--json", action="store_true", help="print one JSON object a file, and nothing else")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> ExitCode:
    """Name the files in another layout, and write them, once all of them could be read."""
    texts = dict(_format(options.files))
    for path, (before, after) in texts.items():
        if before != after and not options.check:
            # What a link leads to is what is replaced.
            target = path.resolve()
            replace_file(target, after.encode(), mode=stat.S_IMODE(target.stat().st_mode))
        _report(options, path, is_changed=before != after)
    is_changed = any(before != after for before, after in texts.values())
    return ExitCode.FAILED if is_changed and options.check else ExitCode.OK


def _format(paths: list[Path]) -> Iterator[tuple[Path, tuple[str, str]]]:
    """Yield each file with its text before and after.

    Raises: `ConfigError` with the problems of all files.
    """
    problems: list[Problem] = []
    for path in paths:
        before = ""
        try:
            before = path.read_bytes().decode()
            yield path, (before, format_text(before))
        except (OSError, RecursionError, ValueError) as error:
            problems.append(unreadable_problem(str(path), before, error))
        except PermitryError as error:
            problems.append(Problem(str(path), 0, 0, 0, str(error), "please report it; nothing was written"))
    if problems:
        raise ConfigError(problems)


def _report(options: argparse.Namespace, path: Path, *, is_changed: bool) -> None:
    if options.json:
        print(json.dumps({"file": str(path), "changed": is_changed}))
    elif is_changed and options.check:
        print(f"would change {path}")
    elif is_changed:
        print(f"changed {path}")

"""`permitry import`: the rules of another host, as a rule file of ours."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from permitry.cli.main import ExitCode
from permitry.core.texts import one_line
from permitry.errors import PermitryError, count
from permitry.files import open_regular, write_new
from permitry_hosts.importers import HOSTS, Row, Source, usual_files, write_rules

__all__ = ["configure"]

_LARGEST = 4 * 1024 * 1024
_FOLDERS = (".claude", ".codex", ".gemini", ".config/opencode")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry import`."""
    names = sorted(HOSTS)
    parser.add_argument("host", choices=names, metavar="HOST", help=f"whose rules: {', '.join(names)}")
    parser.add_argument(
        "files", nargs="*", default=[], type=Path, metavar="FILE", help="its files; default: those at its usual places"
    )
    write = "write the rules to this file, which must not exist; default: print them"
    parser.add_argument("-o", "--output", type=Path, metavar="RULES", help=write)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> ExitCode:
    """Print or write the rules, and on standard error what became of each."""
    home = Path.home()
    files = [(str(path), path) for path in options.files] or usual_files(options.host, Path(), home)
    if not files:
        places = ", ".join(f"`{place}`" for place in HOSTS[options.host].places)
        raise PermitryError(f"no rules of {options.host} found at {places}; name its files")
    sources = [Source(name, _text(path), is_users=_is_users(path, home)) for name, path in files]
    imported = HOSTS[options.host].read(sources)
    made = write_rules(imported, [source.name for source in sources])
    is_complete = not any(row.is_lost for row in made.rows)
    if is_complete and options.output is not None:
        _write(options.output, made.text)
    elif is_complete:
        print(made.text, end="")
    print(f"read {', '.join(source.name for source in sources)}", file=sys.stderr)
    for line in _report(made.rows, "" if options.output is None else options.output.name):
        print(one_line(line), file=sys.stderr)
    if not is_complete:
        print("nothing was written: a restriction could be neither said nor widened", file=sys.stderr)
    return ExitCode.OK if is_complete else ExitCode.FAILED


def _text(path: Path) -> str:
    try:
        with open_regular(path, follows_links=True) as (stream, _):
            content = stream.read(_LARGEST + 1)
    except OSError as error:
        raise PermitryError(f"`{path}` cannot be read: {error.strerror or error}") from None
    if len(content) > _LARGEST:
        raise PermitryError(f"`{path}` has more than {_LARGEST} bytes")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise PermitryError(f"`{path}` is not UTF-8") from None


def _is_users(path: Path, home: Path) -> bool:
    """Return whether a file is at one of the user's own places, and not in a project."""
    return any(path.absolute().is_relative_to(home / folder) for folder in _FOLDERS)


def _write(path: Path, text: str) -> None:
    try:
        write_new(path, text.encode(), mode=None)
    except FileExistsError:
        raise PermitryError(f"`{path}` exists already; name another file, or print the rules without -o") from None
    except OSError as error:
        raise PermitryError(f"`{path}` cannot be written: {error.strerror or error}") from None


def _report(rows: Sequence[Row], name: str) -> Iterator[str]:
    """Yield a line for each rule: what became of it, its place, the place of what was made, and why."""
    where = [", ".join(f"{name}:{line}" if name else f"line {line}" for line in row.lines) or "-" for row in rows]
    cells = [(row.outcome.value, row.place, to, row.text) for row, to in zip(rows, where, strict=True)]
    widths = [max((len(cell[column]) for cell in cells), default=0) for column in range(3)]
    for row, cell in zip(rows, cells, strict=True):
        start = "  ".join(text.ljust(width) for text, width in zip(cell, widths, strict=False))
        yield f"{start}  {row.text}" + (f": {row.note}" if row.note else "")
    counts = Counter(row.outcome.value for row in rows)
    numbers = ", ".join(f"{number} {outcome}" for outcome, number in counts.items())
    yield f"{count(len(rows), 'rule')}" + (f": {numbers}" if numbers else "")

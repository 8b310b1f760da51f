"""`permitry corpus`: the documents that the document tools work on."""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from permitry.cli.main import ExitCode
from permitry.errors import PermitryError, ToolError, count

if TYPE_CHECKING:
    from permitry_tools.corpus.store import Added, CorpusStore, Document

__all__ = ["configure"]

_FILE = Path("corpus.sqlite3")
_FEW = 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry corpus`."""
    doing = parser.add_subparsers(metavar="add | list | remove", required=True)
    add = doing.add_parser("add", allow_abbrev=False, help="take in text files; folders are walked")
    add.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a text, Markdown or HTML file, or a folder")
    add.add_argument("--date", metavar="YYYY-MM-DD", help="the date of these documents; default: the one in a name")
    add.add_argument("--tag", action="append", metavar="TAG", help="a tag for these documents; may be repeated")
    add.set_defaults(execute=_add)
    listing = doing.add_parser("list", allow_abbrev=False, help="list the documents")
    listing.set_defaults(execute=_list)
    remove = doing.add_parser("remove", allow_abbrev=False, help="remove documents")
    remove.add_argument("documents", nargs="+", metavar="DOCUMENT", help="the number or the path of a document")
    remove.set_defaults(execute=_remove)
    for each in (add, listing, remove):
        each.add_argument(
            "--db", type=Path, default=_FILE, metavar="FILE",
            help=f"the SQLite file of the corpus; default: `{_FILE}` in the current folder",
        )  # fmt: skip
        each.add_argument("--json", action="store_true", help="print one JSON object a document, and nothing else")


def _add(options: argparse.Namespace) -> ExitCode:
    from permitry_tools.corpus.store import CorpusStore, iso_date

    try:
        date = None if options.date is None else iso_date(options.date)
    except ValueError as error:
        raise PermitryError(str(error)) from error
    store = CorpusStore(options.db)
    # A corpus that cannot be used is reported once, not with every file.
    store.documents()
    failed = 0
    for file in _show_progress(list(_files(options.files))):
        try:
            added = store.add(file, date=date, tags=options.tag)
        except ToolError as error:
            failed += 1
            print(f"permitry: {_show(error)}", file=sys.stderr)
        else:
            as_json = {"file": str(file), **attrs.asdict(added)}
            print(json.dumps(as_json) if options.json else _as_text(file, added))
    print(f"{count(len(store.documents()), 'document')} in {_show(store.file.absolute())}", file=sys.stderr)
    return ExitCode.FAILED if failed else ExitCode.OK


def _list(options: argparse.Namespace) -> ExitCode:
    for each in _open_existing(options.db).documents():
        print(json.dumps(attrs.asdict(each)) if options.json else _line(each))
    return ExitCode.OK


def _remove(options: argparse.Namespace) -> ExitCode:
    store = _open_existing(options.db)
    for word in options.documents:
        path = store.remove(word)
        print(json.dumps({"path": path, "outcome": "removed"}) if options.json else f"removed   {_show(path)}")
    return ExitCode.OK


def _open_existing(file: Path) -> "CorpusStore":
    from permitry_tools.corpus.store import CorpusStore

    if not file.is_file():
        raise PermitryError(f"there is no corpus `{file}`; `permitry corpus add` makes one, `--db` names another")
    return CorpusStore(file)


def _files(given: Iterable[Path]) -> Iterator[Path]:
    """Yield the files named, and those texts in folders that are not hidden, in order; no link is followed there."""
    from permitry_tools.corpus.text import SUFFIXES

    for path in given:
        if not path.is_dir():
            yield path
            continue
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                file = Path(folder, name)
                if file.suffix.lower() in SUFFIXES and not name.startswith(".") and not file.is_symlink():
                    yield file


def _show_progress(files: list[Path]) -> Iterator[Path]:
    """Yield the files; where they are many and nothing else tells, a bar on the terminal shows how many are done."""
    if len(files) < _FEW or sys.stderr is None or not sys.stderr.isatty() or sys.stdout.isatty():
        yield from files
        return
    from rich.progress import Progress

    from permitry.cli.render import console_on

    # What is printed on standard output is for the program that reads it, not for the terminal.
    with Progress(console=console_on(sys.stderr), transient=True, redirect_stdout=False) as progress:
        yield from progress.track(files, description="adding")


def _as_text(file: Path, added: "Added") -> str:
    line = f"{added.outcome:<9} {_show(file)}"
    if added.outcome == "duplicate":
        return f"{line}: the same as {_show(added.path)}"
    return f"{line}: {count(added.chunks, 'part')}"


def _line(each: "Document") -> str:
    tags = "".join(f" #{_show(tag)}" for tag in each.tags)
    parts = count(each.chunks, "part")
    return f"{each.document_id:>4}  {each.date or '-':<10}  {_show(each.path)}: {_show(each.title)} ({parts}){tags}"


def _show(text: object) -> str:
    from permitry.core.texts import one_line

    return one_line(str(text))

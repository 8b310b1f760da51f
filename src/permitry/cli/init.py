"""`permitry init`: write a first rule file for a project."""

import argparse
from pathlib import Path

from permitry.cli.main import ExitCode
from permitry.config.layers import PROJECT_FILE
from permitry.config.starter import kinds_of, starter_text
from permitry.core.texts import one_line
from permitry.errors import PermitryError

__all__ = ["configure"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry init`."""
    parser.add_argument("folder", nargs="?", type=Path, default=Path(), metavar="DIR", help="the project; default: .")
    parser.add_argument("--print", action="store_true", help="print the file and write nothing")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> ExitCode:
    """Look at what kind of project it is, and write its rule file; one that exists is never replaced."""
    folder: Path = options.folder
    if not folder.is_dir():
        raise PermitryError(f"`{folder}` is not a directory; name the folder of a project")
    kinds = kinds_of(folder)
    text = starter_text(folder.resolve().name or "this folder", kinds)
    if options.print:
        print(text, end="")
        return ExitCode.OK
    file = folder / PROJECT_FILE
    _write(file, text)
    here = "" if folder == Path() else f" {one_line(str(folder))}"
    found = ", ".join(kind.name for kind in kinds) or "none that is known here"
    print(f"wrote {one_line(str(file))}; kinds of project found: {found}")
    print("next:")
    print(f"  read it, then let its permissions count:  permitry trust{here}")
    print("  ask what would happen to a command:       permitry explain --command 'make && git push'")
    return ExitCode.OK


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise PermitryError(f"`{file}` exists already; edit it, or see a new one with --print") from None

"""`permitry demo`: a recorded coding session, guarded in a temporary folder."""

import argparse
import contextlib
import os
import shutil
import tempfile
from pathlib import Path

from permitry.cli.inputs import tell
from permitry.cli.main import ExitCode, main

__all__ = ["configure"]

_HERE = Path(__file__).resolve().parent
_PACKAGED = _HERE / "bug-fix"
# In a checkout the session is below the folder `golden`; in the wheel, next to this file.
_SESSION = _PACKAGED if _PACKAGED.is_dir() else _HERE.parents[2] / "golden/sessions/bug-fix"
_NEXT = """next:
  permitry setup                          guard the coding agents that you have, in the folder of a project
  permitry init                           write a first rule file
  permitry check --command 'rm -rf .git'  ask about a call, and run nothing
the files of the demo are in {folder}; nothing was written elsewhere"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry demo`: there are none."""
    parser.set_defaults(execute=execute)


def execute(_options: argparse.Namespace) -> ExitCode:
    """Guard the session on a copy of its files, and say what to do next."""
    folder = Path(tempfile.mkdtemp(prefix="permitry-demo-"))
    shutil.copytree(_SESSION / "workspace", folder / "workspace")
    tell(["a model fixes a bug, wants to delete the history, to read a key and to publish; the answers are recorded"])
    if shutil.which("git") is None:
        tell(["there is no git here, so that its commands will fail; they are decided all the same"])
    _move_home(folder / "home")
    with (folder / "results.jsonl").open("w", encoding="utf-8") as results, contextlib.redirect_stdout(results):
        code = main(["run", *_words(folder)])
    print(_NEXT.format(folder=folder))
    return ExitCode(code)


def _words(folder: Path) -> list[str]:
    files = [str(_SESSION / "session.jsonl"), "--answers", str(_SESSION / "answers.jsonl")]
    return [*files, "--rules", "permitry:coding-agent", "--workspace", str(folder / "workspace")]


def _move_home(home: Path) -> None:
    """Have record, copies, cache, settings of git and all else below another home, for this process."""
    for name in filter(lambda name: name.startswith(("GIT_", "XDG_")), list(os.environ)):
        del os.environ[name]
    os.environ.update(HOME=str(home), GIT_CONFIG_NOSYSTEM="1")

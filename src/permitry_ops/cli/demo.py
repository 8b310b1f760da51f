"""`permitry demo`: a recorded coding session, guarded in a temporary folder."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from permitry.cli.inputs import tell
from permitry.cli.main import ExitCode

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
    with (folder / "results.jsonl").open("wb") as results:
        done = subprocess.run(_command(folder), env=_environment(os.environ, folder), stdout=results, check=False)  # noqa: S603 -- permitry itself
    print(_NEXT.format(folder=folder))
    return ExitCode(done.returncode)


def _command(folder: Path) -> list[str]:
    files = [str(_SESSION / "session.jsonl"), "--answers", str(_SESSION / "answers.jsonl")]
    rules = ["--rules", "permitry:coding-agent", "--workspace", str(folder / "workspace")]
    return [sys.executable, "-P", "-m", "permitry", "run", *files, *rules]


def _environment(now: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return an environment whose home is in the folder: record, copies, cache, settings of git and all else."""
    kept = {name: value for name, value in now.items() if not name.startswith(("GIT_", "XDG_"))}
    return {**kept, "HOME": str(folder / "home"), "GIT_CONFIG_NOSYSTEM": "1"}

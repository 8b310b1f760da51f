"""What `permitry diff` compares: rule files, shipped sets, folders, and files as a revision of git has them."""

import functools
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import attrs

from permitry.config.catalogue import PREFIX
from permitry.config.layers import find_layers
from permitry.config.load import load_rules
from permitry.config.origin import Origin
from permitry.config.ruleset import RuleSet
from permitry.errors import PermitryError
from permitry_ops.diff.side import Side

__all__ = ["Loaded", "load"]

_GIT = "git:"
_SHIPPED = re.compile(rb'"permitry:([a-z-]+)"')


@attrs.frozen
class Loaded:
    """Rules, and how to name their files to people: what they were read from, in place of a folder that is gone.

    Without `has_disk`, no link on the disk is looked up.
    """

    rules: RuleSet
    folder: str = ""
    revision: str = ""
    has_disk: bool = True

    def side(self, workspace: str) -> Side:
        """Return their side of a comparison in a workspace."""
        return Side.of(self.rules, workspace, has_disk=self.has_disk)

    def name(self, source: str | None) -> str:
        """Return a place `file:line` as it is to be shown; empty for None."""
        shown = source or ""
        if not self.folder or not shown.startswith(self.folder):
            return shown
        return f"{self.revision}{shown.removeprefix(self.folder)}"


@contextmanager
def load(name: str) -> Iterator[Loaded]:
    """Give the rules of a file, a shipped set, a folder, or `git:REVISION:PATH`.

    A folder is a project, with all layers in force there, where it has rules in `.permitry`; otherwise all of its rule
    files count. Raises: `ConfigError` with every problem of every file; `PermitryError` where git has no such thing.
    """
    if not name.startswith(_GIT):
        yield Loaded(load_rules(_origins(name)))
        return
    revision, colon, path = name.removeprefix(_GIT).partition(":")
    if not (revision and colon):
        raise PermitryError(f"`{name}` names no file; write `git:REVISION:PATH`, such as `git:main:rules/mine.toml`")
    with TemporaryDirectory(prefix="permitry-diff-") as folder:
        top = Path(folder).resolve()
        _check_out(revision, top)
        yield Loaded(load_rules(_origins(str(top / path), shown=name)), f"{top}/", f"{revision}:")


def _origins(name: str, shown: str = "") -> list[Origin]:
    path = Path(name)
    if name.startswith(PREFIX) or not path.is_dir():
        if shown and not path.exists():
            raise PermitryError(
                f"`{shown}`: that revision has no such file; the path is from the top of the repository"
            )
        return [Origin(name)]
    if (path / ".permitry").exists() and not shown:
        # What a project permits counts here, whether it is trusted yet or not.
        return [attrs.evolve(each, is_trusted=True, pinned=None) for each in find_layers(path)]
    found = [Origin(str(each)) for each in sorted(path.glob("*.toml"))]
    if not found:
        raise PermitryError(f"the folder `{shown or name}` has no rule files; name a file, or a folder with `*.toml`")
    return found


def _check_out(revision: str, folder: Path) -> None:
    """Write the rule files that a revision has, at their places, into a folder. Raises: `PermitryError`."""
    listed = _git("ls-tree", "-r", "-z", "--full-tree", "--name-only", "--end-of-options", revision)
    for name in listed.decode(errors="surrogateescape").split("\0"):
        path = folder / name
        # What extends a file is a file as well; links and other modes are never written.
        if name.endswith(".toml") and path.is_relative_to(folder) and ".." not in Path(name).parts:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_git("show", "--end-of-options", f"{revision}:{name}"))
    for path in folder.rglob("*.toml"):
        path.write_bytes(_SHIPPED.sub(functools.partial(_beside, path.parent), path.read_bytes()))


def _beside(folder: Path, found: re.Match[bytes]) -> bytes:
    """Return the name of a shipped set, or of the file that the revision itself has of it: permitry's own rules."""
    file = f"{found[1].decode()}.toml"
    return f'"{file}"'.encode() if (folder / file).exists() else found[0]


def _git(*words: str) -> bytes:
    try:
        command = [shutil.which("git") or "git", *words]
        done = subprocess.run(command, capture_output=True, check=False, timeout=60)  # noqa: S603 -- no shell, and no words but these
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PermitryError(f"git did not answer: {error}") from error
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise PermitryError(f"git: {reason}; write `git:REVISION:PATH`, in a repository that has the revision")
    return done.stdout

"""What `permitry setup` has written, so that it can be undone: each file as it was before, and what it became."""

import base64
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from permitry.errors import PermitryError
from permitry.files import open_regular, replace_file

__all__ = ["Journal", "Setup", "Touched"]

_MOST = 100
_KEY = "setups of version 1"


@attrs.frozen
class Touched:
    """A file that a setup writes: what it held before and its mode (None: there was none), and the digest since then.

    `part` is what the setup has put there: `rules`, `trust`, or the name of a host. Without a digest it is not known
    whether the file was written.
    """

    path: Path
    part: str
    before: bytes | None
    mode: int | None = None
    digest: str | None = None

    @classmethod
    def of(cls, path: Path, part: str) -> "Touched":
        """Return a file as it is now, before it is written; of a link the file it leads to.

        Raises: `OSError`.
        """
        real = Path(os.path.realpath(path))
        return cls(real, part, *_read(real))

    def since(self) -> "Touched":
        """Return the same with the digest of what the file holds now."""
        return attrs.evolve(self, digest=_digest(_read(self.path)[0]))

    @property
    def is_as_before(self) -> bool:
        """Whether the file holds what it held before the setup."""
        return _read(self.path)[0] == self.before

    @property
    def is_as_written(self) -> bool:
        """Whether the file holds what the setup has written."""
        return self.digest is not None and _digest(_read(self.path)[0]) == self.digest

    def restore(self) -> None:
        """Put back what the file held before, or remove it.

        Raises: `OSError`.
        """
        if self.before is None:
            self.path.unlink(missing_ok=True)
        else:
            replace_file(self.path, self.before, mode=self.mode)


@attrs.frozen
class Setup:
    """One setup: the folder of the project, the files it touches, and the folders it makes, the outer ones first."""

    folder: Path
    files: tuple[Touched, ...]
    folders: tuple[Path, ...] = ()

    @classmethod
    def before(cls, folder: Path, files: Sequence[Touched]) -> "Setup":
        """Return a setup that has not begun: folders that are missing are those it makes."""
        missing = {parent for file in files for parent in file.path.parents if not parent.exists()}
        return cls(folder, tuple(files), tuple(sorted(missing)))

    def undo(self, is_gone: Callable[[Touched], bool]) -> list[Path]:
        """Put back all files, and return those that were not as before; `is_gone` says that a file has no part of ours.

        Raises: `PermitryError` if a file was changed since, unless nothing of the setup is in it any more; then nothing
        is put back. `OSError`.
        """
        changed = [each for each in self.files if not each.is_as_before]
        ours = [each for each in changed if each.is_as_written]
        others = [each for each in changed if each not in ours and not is_gone(each)]
        if others:
            lines = "\n".join(f"  `{each.path}`: {self._way_out(each)}" for each in others)
            raise PermitryError(f"changed since the setup, so nothing is undone:\n{lines}\nthen undo the setup again")
        for each in ours:
            each.restore()
        for made in reversed(self.folders):
            if made.is_dir() and not any(made.iterdir()):
                made.rmdir()
        return [each.path for each in ours]

    def _way_out(self, file: Touched) -> str:
        if file.part == "rules":
            return "move it away, or delete it"
        if file.part == "trust":
            return f"`permitry trust --revoke {self.folder}` takes the trust back, and leaves that of other projects"
        return f"`permitry hook uninstall {file.part}` takes the hook out, and leaves the rest"


@attrs.define
class Journal:
    """The setups that can be undone, in a file that only the user may read: settings may hold keys."""

    path: Path

    def setups(self) -> list[Setup]:
        """Return all setups, the oldest first.

        Raises: `PermitryError` for a file that cannot be read.
        """
        try:
            text = _read(self.path)[0]
            data = {_KEY: []} if text is None else json.loads(text)
            return [_setup_of(each) for each in data[_KEY]]
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise PermitryError(f"cannot read `{self.path}`, by which a setup is undone: {error!r}") from error

    def last(self, folder: Path) -> Setup | None:
        """Return the last setup of a project; None where there is none.

        Raises: `PermitryError` for a file that cannot be read.
        """
        return next((each for each in reversed(self.setups()) if each.folder == folder), None)

    def add(self, setup: Setup) -> None:
        """Add a setup, before it begins; the oldest of many is forgotten.

        Raises: `OSError`, `PermitryError`.
        """
        self._write([*self.setups(), setup][-_MOST:])

    def replace(self, old: Setup, new: Setup | None) -> None:
        """Put another account of a setup in place of one, or with None forget it.

        Raises: `OSError`, `PermitryError`.
        """
        rest = [new if each == old else each for each in self.setups()]
        self._write([each for each in rest if each is not None])

    def _write(self, setups: Sequence[Setup]) -> None:
        if not setups:
            self.path.unlink(missing_ok=True)
            return
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        data = {_KEY: [dict(_to_dict(each)) for each in setups]}
        replace_file(self.path, json.dumps(data, indent=1).encode(), is_durable=True)


def _read(path: Path) -> tuple[bytes | None, int | None]:
    """Return what is in a file, and its mode; None for both where there is none."""
    try:
        with open_regular(path) as (stream, status):
            return stream.read(), status.st_mode & 0o777
    except (FileNotFoundError, NotADirectoryError):
        return None, None


def _digest(data: bytes | None) -> str:
    return "" if data is None else hashlib.sha256(data).hexdigest()


def _to_dict(setup: Setup) -> Iterator[tuple[str, object]]:
    yield "folder", str(setup.folder)
    yield "folders", [str(each) for each in setup.folders]
    yield "files", [_file_to_dict(each) for each in setup.files]


def _file_to_dict(file: Touched) -> dict[str, object]:
    before = None if file.before is None else base64.b64encode(file.before).decode()
    return {**attrs.asdict(file), "path": str(file.path), "before": before}


def _setup_of(data: Mapping[str, Any]) -> Setup:
    files = tuple(_file_of(each) for each in data["files"])
    return Setup(Path(data["folder"]), files, tuple(map(Path, data["folders"])))


def _file_of(data: Mapping[str, Any]) -> Touched:
    before = None if data["before"] is None else base64.b64decode(data["before"], validate=True)
    return Touched(Path(data["path"]), str(data["part"]), before, data["mode"], data["digest"])

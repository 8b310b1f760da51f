"""Which projects the user trusts: a file of pins that only the user can have written."""

import contextlib
import errno
import fcntl
import json
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import attrs
import platformdirs

from permitry.config.load import Origin
from permitry.config.pin import Pin, Project, read_project, real_path
from permitry.errors import ConfigError, Problem

__all__ = ["TrustStore"]

_OWN = "look who could have written it, then chown it to yourself, chmod go-w"
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_LOCK = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


@attrs.frozen
class TrustStore:
    """The projects a user trusts, in a file that only this user can have written. Safe among processes and threads.

    A file that is damaged, a link, of another owner or writable by others trusts nothing: `entries`, `trust` and
    `revoke` raise `ConfigError` then, and `origin` says so in the notices of what is dropped.
    """

    path: Path = attrs.field(factory=lambda: platformdirs.user_state_path("permitry") / "trust.json")

    def trust(self, project_root: Path) -> Project:
        """Pin the project as it is now, and return what was pinned.

        Raises: `ConfigError` when its rules do not load, or reach outside of it; then nothing is trusted.
        """
        project = read_project(project_root)
        self._check_outside(project.root)
        with self._changing() as pins:
            pins[project.root] = project.pin
        return project

    def revoke(self, project_root: Path) -> bool:
        """Forget a project, which may be gone by now; return whether it was known."""
        with self._changing() as pins:
            return pins.pop(real_path(project_root), None) is not None

    def entries(self) -> tuple[Pin, ...]:
        """Return every project trusted once and not revoked, sorted by folder; some may have changed since."""
        return tuple(sorted(self._read().values(), key=lambda pin: pin.root))

    def is_trusted(self, project_file: Path) -> bool:
        """Return whether a project's file, and all it extends, are the bytes that were trusted."""
        return self.origin(project_file).is_trusted

    def origin(self, project_file: Path) -> Origin:
        """Return the origin of a project's file: pinned when it is trusted, else with the reason why it is not."""
        root, real = project_file.parent.parent, real_path(project_file.parent.parent)
        untrusted = Origin(str(project_file), is_trusted=False, root=root)
        try:
            self._check_outside(real)
            pin = self._read().get(real)
        except ConfigError as error:
            problem = error.problems[0]
            return attrs.evolve(untrusted, distrust=f"nothing is trusted: `{problem.path}` {problem.message}")
        if pin is None:
            return untrusted
        # INVARIANT: the loader compares the bytes it parses once more; what changes from here on is not trusted either.
        pinned = Origin(str(project_file), root=root, pinned=pin.files())
        return pinned if pin.holds() else pinned.unpinned()

    def _check_outside(self, root: Path) -> None:
        # What an agent may write in the project must not be what says that the project is trusted.
        if real_path(self.path).is_relative_to(root):
            raise self._refused(f"lies inside the project `{root}`", "put rules of your own into the user's rule file")

    def _read(self) -> dict[Path, Pin]:
        try:
            text = self._text()
        except FileNotFoundError:
            return {}
        except OSError as error:
            told = "is a link" if error.errno == errno.ELOOP else f"cannot be read: {_reason(error)}"
            raise self._refused(told) from error
        try:
            return {Path(root): Pin(Path(root), digests) for root, digests in _projects(json.loads(text)).items()}
        except (ValueError, RecursionError) as error:
            raise self._refused("is damaged") from error

    def _text(self) -> bytes:
        file = os.open(self.path, _READ)
        try:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                raise self._refused("is no regular file")
            if not (_is_own(status) and _is_own(self.path.parent.stat())):
                raise self._refused("and its folder must be yours, and nobody else may write them", _OWN)
            with open(file, "rb", closefd=False) as stream:
                return stream.read()
        finally:
            os.close(file)

    @contextlib.contextmanager
    def _changing(self) -> Iterator[dict[Path, Pin]]:
        """Yield the entries to be changed, while nobody else changes them."""
        lock = self._lock()
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            before = self._read()
            pins = dict(before)
            yield pins
            if pins != before:
                self._write(pins)
        finally:
            os.close(lock)

    def _lock(self) -> int:
        folder = self.path.parent
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_own(folder.stat()):
                raise self._refused("lies in a folder that must be yours, and that nobody else may write", _OWN)
            return os.open(self.path.with_name(f"{self.path.name}.lock"), _LOCK, 0o600)
        except OSError as error:
            raise self._refused(f"cannot be written: {_reason(error)}", "check its folder") from error

    def _write(self, pins: Mapping[Path, Pin]) -> None:
        projects = {str(root): dict(pin.digests) for root, pin in sorted(pins.items())}
        with tempfile.NamedTemporaryFile("w", prefix=".trust-", dir=self.path.parent, delete=False) as stream:
            temporary = Path(stream.name)
            try:
                json.dump({"version": 1, "projects": projects}, stream, indent=2)
                stream.flush()
                os.fsync(stream.fileno())
                temporary.replace(self.path)
            except BaseException:
                temporary.unlink()
                raise

    def _refused(self, message: str, hint: str = "look at it, delete it, and trust your projects again") -> ConfigError:
        return ConfigError([Problem(str(self.path), 0, 0, 0, message, hint)])


def _projects(data: object) -> dict[str, dict[str, str]]:
    """Return the digests by file and project, as they are stored.

    Raises: `ValueError` for anything of another shape.
    """
    match data:
        case {"version": 1, "projects": dict(projects)} if all(map(_is_digests, projects.values())):
            return projects
    raise ValueError("no trust store of this version")


def _is_digests(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(digest, str) for digest in value.values())


def _is_own(status: os.stat_result) -> bool:
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _reason(error: OSError) -> str:
    return (error.strerror or "unknown reason").lower()

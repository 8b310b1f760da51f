"""The projects and plugin folders that the user trusts: a file of pins that only the user can have written."""

import contextlib
import errno
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import attrs

from permitry.config.folders import PROJECT_FILE, user_state
from permitry.config.origin import Origin, is_own
from permitry.config.pin import Pin, PluginPin, Project, read_project, real_path
from permitry.errors import ConfigError, Problem, RegistryError
from permitry.files import LOCK, open_regular, replace_file

if TYPE_CHECKING:
    from permitry.dispatch.plugin_folder import PluginFolder

__all__ = ["TrustStore"]

# Windows has none, and nothing is trusted there.
with contextlib.suppress(ImportError):
    import fcntl

Pins: TypeAlias = dict[str, dict[Path, Pin]]
PROJECTS, PLUGINS = "projects", "plugins"
SECTIONS: Mapping[str, type[Pin]] = {PROJECTS: Pin, PLUGINS: PluginPin}

_OWN = "look who could have written it, then chown it to yourself, chmod go-w"


@attrs.frozen
class TrustStore:
    """What a user trusts, in a file that only this user can have written. Safe among processes.

    If the file is damaged, a link, or could be another user's, nothing is trusted: `origin` is untrusted and says
    why, and all other methods raise `ConfigError`.
    """

    path: Path = attrs.field(factory=lambda: user_state() / "trust.json")

    def trust(self, project_root: Path, *, only: bytes | None = None) -> Project:
        """Pin the project as it is now, or as one file `only`. Raises: `ConfigError`; nothing is trusted."""
        project = read_project(project_root)
        self._check_outside(project.root)
        if only is not None and project.pin.digests != {str(PROJECT_FILE): hashlib.sha256(only).hexdigest()}:
            message = "was changed while it was to be trusted"
            raise ConfigError([Problem(str(project_root / PROJECT_FILE), 0, 0, 0, message, "read it, then trust it")])
        with self._change() as pins:
            pins[PROJECTS][project.root] = project.pin
        return project

    def trust_plugins(self, folder: Path) -> "PluginFolder":
        """Pin a plugin folder, and return what was pinned. Raises: `ConfigError` if it is none."""
        plugins = _read_plugins(folder)
        self._check_outside(plugins.path)
        with self._change() as pins:
            pins[PLUGINS][plugins.path] = PluginPin(plugins.path, plugins.digests)
        return plugins

    def plugins(self, folder: Path) -> "PluginFolder":
        """Return a trusted folder of plugins; only its bytes may be run. Raises: `ConfigError`."""
        plugins = _read_plugins(folder)
        self._check_outside(plugins.path)
        pin = self._read()[PLUGINS].get(plugins.path)
        if pin is None or dict(pin.digests) != plugins.digests:
            reason = "is not trusted, and a plugin is code" if pin is None else "has changed since it was trusted"
            hint = f"read its files, then `permitry trust {folder}`"
            raise ConfigError([Problem(str(folder), 0, 0, 0, f"the plugin folder {reason}", hint)])
        return plugins

    def revoke(self, folder: Path) -> bool:
        """Forget a project or a plugin folder, which may be gone by now; return whether it was known."""
        root = real_path(folder)
        with self._change() as pins:
            found = [pins[section].pop(root, None) for section in SECTIONS]
        return any(pin is not None for pin in found)

    def entries(self) -> tuple[Pin, ...]:
        """Return all that was trusted once and not revoked, sorted by folder; some may have changed since."""
        read = self._read()
        return tuple(sorted((pin for each in read.values() for pin in each.values()), key=lambda pin: pin.root))

    def is_trusted(self, project_file: Path) -> bool:
        """Return whether a project's file, and all it extends, are the bytes that were trusted."""
        return self.origin(project_file).is_trusted

    def origin(self, project_file: Path) -> Origin:
        """Return the origin of a project's file: pinned when it is trusted, else with the reason why it is not."""
        root, real = project_file.parent.parent, real_path(project_file.parent.parent)
        untrusted = Origin(str(project_file), is_trusted=False, root=root)
        try:
            self._check_outside(real)
            pin = self._read()[PROJECTS].get(real)
        except ConfigError as error:
            problem = error.problems[0]
            return attrs.evolve(untrusted, distrust=f"nothing is trusted: `{problem.path}` {problem.message}")
        if pin is None:
            return untrusted
        # INVARIANT: the loader also compares the bytes that it parses: a file that changes now is not trusted.
        pinned = Origin(str(project_file), root=root, pinned=pin.files())
        return pinned if pin.holds() else pinned.unpinned()

    def _check_outside(self, root: Path) -> None:
        # The store must not be in the project, where an agent may write.
        if real_path(self.path).is_relative_to(root):
            raise self._error(f"lies inside the project `{root}`", "put rules of your own into the user's rule file")

    def _read(self) -> Pins:
        try:
            text = self._text()
        except FileNotFoundError:
            return {section: {} for section in SECTIONS}
        except OSError as error:
            reason = "is a link" if error.errno == errno.ELOOP else f"cannot be read: {_reason(error)}"
            raise self._error(reason) from error
        try:
            stored = _as_stored(json.loads(text))
        except (ValueError, RecursionError) as error:
            raise self._error("is damaged") from error
        return {
            section: {Path(root): SECTIONS[section](Path(root), digests) for root, digests in pins.items()}
            for section, pins in stored.items()
        }

    def _text(self) -> bytes:
        with open_regular(self.path) as (stream, status):
            if not (is_own(status) and is_own(self.path.parent.stat())):
                raise self._error("and its folder must be yours, and no other user may write to them", _OWN)
            return stream.read()

    @contextlib.contextmanager
    def _change(self) -> Iterator[Pins]:
        lock = self._lock()
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            before = self._read()
            pins = {section: dict(each) for section, each in before.items()}
            yield pins
            if pins != before:
                self._write(pins)
        finally:
            os.close(lock)

    def _lock(self) -> int:
        folder = self.path.parent
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not is_own(folder.stat()):
                raise self._error("lies in a folder that must be yours, and that no other user may write to", _OWN)
            return os.open(self.path.with_name(f"{self.path.name}.lock"), LOCK, 0o600)
        except OSError as error:
            raise self._error(f"cannot be written: {_reason(error)}", "check its folder") from error

    def _write(self, pins: Pins) -> None:
        stored = {
            section: {str(root): dict(pin.digests) for root, pin in sorted(each.items())}
            for section, each in pins.items()
            if each or section == PROJECTS
        }
        replace_file(self.path, json.dumps({"version": 1, **stored}, indent=2).encode(), is_durable=True)

    def _error(self, message: str, hint: str = "look at it, delete it, and trust your projects again") -> ConfigError:
        return ConfigError([Problem(str(self.path), 0, 0, 0, message, hint)])


def _as_stored(data: object) -> dict[str, dict[str, dict[str, str]]]:
    """Return the digests by section, folder and file. Raises: `ValueError`."""
    if not isinstance(data, dict) or data.get("version") != 1 or PROJECTS not in data:
        raise ValueError("no trust store of this version")
    stored = {section: data.get(section, {}) for section in SECTIONS}
    if not all(isinstance(each, dict) and all(map(_is_digests, each.values())) for each in stored.values()):
        raise ValueError("no trust store of this version")
    return stored


def _read_plugins(folder: Path) -> "PluginFolder":
    from permitry.dispatch.plugin_folder import PluginFolder  # noqa: PLC0415 -- loaded on first use

    try:
        plugins = PluginFolder.read(real_path(folder))
    except RegistryError as error:
        raise ConfigError([Problem(str(folder), 0, 0, 0, str(error), "name a folder of Python files")]) from error
    if not plugins.plugins:
        hint = "a plugin is a file `NAME.py` with a module-level `plugin`"
        raise ConfigError([Problem(str(folder), 0, 0, 0, "there is no plugin in it", hint)])
    return plugins


def _is_digests(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(digest, str) for digest in value.values())


def _reason(error: OSError) -> str:
    return (error.strerror or "unknown reason").lower()

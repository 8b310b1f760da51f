"""Pinned rule files of a project: which bytes are trusted, and whether the files still have these bytes."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

import attrs

from permitry.config.catalogue import PREFIX, find_file
from permitry.config.folders import PROJECT_FILE
from permitry.config.origin import Origin
from permitry.errors import ConfigError, Problem, RegistryError
from permitry.files import open_regular

__all__ = ["PROJECT_FILE", "Pin", "PluginPin", "Project", "ProjectFile", "file_digest", "read_project", "real_path"]

_LARGEST = 256 * 1024


@attrs.frozen
class Pin:
    """A trusted project: its real folder, and the SHA-256 of its rule files, by their names below the folder."""

    root: Path
    digests: Mapping[str, str]

    @property
    def digest(self) -> str:
        """One SHA-256 over the names and digests of all files."""
        return hashlib.sha256(json.dumps(sorted(self.digests.items())).encode()).hexdigest()

    def files(self) -> dict[Path, str]:
        """Return the digests by real path."""
        return {self.root / name: digest for name, digest in self.digests.items()}

    def holds(self) -> bool:
        """Return whether the project's file, and all files it extends, have the same bytes and real paths as then."""
        files = self.files()
        # The real path shows a link that now leads elsewhere, even to the same bytes.
        return real_path(self.root / PROJECT_FILE) in files and all(
            real_path(path) == path and file_digest(path) == digest for path, digest in files.items()
        )


@attrs.frozen
class PluginPin(Pin):
    """A trusted plugin folder: the SHA-256 of each of its Python files; a file more or less is a change as well."""

    def holds(self) -> bool:
        """Return whether the folder has exactly these files, unchanged."""
        from permitry.dispatch.plugin_folder import PluginFolder  # noqa: PLC0415 -- loaded on first use

        try:
            return real_path(self.root) == self.root and PluginFolder.read(self.root).digests == dict(self.digests)
        except RegistryError:
            return False


@attrs.frozen
class ProjectFile:
    """One rule file of a project, and its SHA-256 unless it is a shipped set."""

    name: str
    digest: str | None
    permissions: int
    templates: int
    tools: int
    restrictions: int
    lists: int = 0
    programs: int = 0
    unmatched: str | None = None


@attrs.frozen
class Project:
    """A project as it is now: its real folder and all its rule files."""

    root: Path
    files: tuple[ProjectFile, ...]

    @property
    def pin(self) -> Pin:
        """The pin that is stored when the user trusts the project."""
        return Pin(self.root, {file.name: file.digest for file in self.files if file.digest is not None})


def read_project(root: Path) -> Project:
    """Return the project in `root`, as trusting it now would pin it. Raises: `ConfigError`."""
    from permitry.config.load import load_rules  # noqa: PLC0415 -- slow to import, and only for trusting

    real = real_path(root)
    path = real / PROJECT_FILE
    if not os.path.lexists(path):
        hint = "name the folder of a project; without one it is searched from the current folder upward"
        raise ConfigError([Problem(str(root), 0, 0, 0, f"there is no file `{PROJECT_FILE}` in it", hint)])
    rules = load_rules([Origin(str(path), root=real)])
    return Project(real, tuple(_project_file(name, real) for name in rules.files))


def file_digest(path: Path) -> str | None:
    """Return the SHA-256 of a file's bytes, or None if it is not a readable file of at most 256 KiB."""
    content = _content(path)
    return None if content is None else hashlib.sha256(content).hexdigest()


def _content(path: Path) -> bytes | None:
    try:
        with open_regular(path, follows_links=True) as (stream, status):
            content = stream.read(_LARGEST + 1)
    except OSError:
        return None
    return content if len(content) == status.st_size <= _LARGEST else None


def _project_file(named: str, root: Path) -> ProjectFile:
    from permitry.config.toml import load_toml  # noqa: PLC0415 -- loaded on first use

    is_shipped = named.startswith(PREFIX)
    path = real_path(find_file(named))
    if not is_shipped and not path.is_relative_to(root):
        hint = "a project extends its own files and shipped sets"
        raise ConfigError([Problem(named, 0, 0, 0, "the file lies outside the project", hint)])
    content = path.read_bytes() if is_shipped else _content(path)
    if content is None:
        raise _error_of_change(named)
    try:
        # The rules are counted in the same bytes that are pinned.
        data = load_toml(content.decode())
        effects = [rule.get("effect") for rule in data.get("rule", ())]
        counts = {f"{key}s": len(data.get(key, ())) for key in ("template", "tool", "list", "program")}
        unmatched = data.get("policy", {}).get("unmatched")
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise _error_of_change(named) from error
    permissions = effects.count("allow")
    return ProjectFile(
        name=named if is_shipped else str(path.relative_to(root)),
        digest=None if is_shipped else hashlib.sha256(content).hexdigest(),
        permissions=permissions,
        restrictions=len(effects) - permissions,
        unmatched=unmatched,
        **counts,
    )


def _error_of_change(named: str) -> ConfigError:
    return ConfigError([Problem(named, 0, 0, 0, "the file changed while it was read", "try again")])


def real_path(path: Path) -> Path:
    """Return `path` with all links followed, existing or not; a cycle of links is left unchanged."""
    return Path(os.path.realpath(path))

"""A plugin folder that is read once, so that the bytes that were trusted are the bytes that run."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import attrs

from permitry.errors import RegistryError
from permitry.files import open_regular

__all__ = ["PluginFolder"]

_MOST_FILES = 1_000
_LARGEST = 1024 * 1024
_WHY = {NotADirectoryError: "is not a folder", FileNotFoundError: "does not exist"}


def _read_only(files: Mapping[str, bytes]) -> Mapping[str, bytes]:
    return MappingProxyType(dict(files))


@attrs.frozen
class PluginFolder:
    """The Python files of a plugin folder as they were read once: the name of each, and its bytes.

    Files whose names start with `_` are internal: others import them (`from . import _shared`), and no tool is looked
    for in them.
    """

    path: Path
    files: Mapping[str, bytes] = attrs.field(converter=_read_only, repr=False)

    @classmethod
    def read(cls, path: Path) -> "PluginFolder":
        """Return the folder as it is now.

        Raises: `RegistryError` when it is not a directory, cannot be read, or has too many or too large files.
        """
        try:
            names = sorted(each.name for each in path.iterdir() if each.name.endswith(".py"))
        except OSError as error:
            why = _WHY.get(type(error), f"cannot be read: {error.strerror}")
            raise RegistryError(f"the plugin folder `{path}` {why}") from error
        if len(names) > _MOST_FILES:
            raise RegistryError(f"the plugin folder `{path}` holds more than {_MOST_FILES} files")
        return cls(path, {name: _content(path / name) for name in names})

    @property
    def digests(self) -> dict[str, str]:
        """The SHA-256 (hex) of each file, by name."""
        return {name: hashlib.sha256(content).hexdigest() for name, content in self.files.items()}

    @property
    def plugins(self) -> tuple[str, ...]:
        """The names of the files that should hold a tool, sorted."""
        return tuple(name for name in sorted(self.files) if not name.startswith("_"))


def _content(path: Path) -> bytes:
    try:
        with open_regular(path, follows_links=True) as (stream, _):
            content = stream.read(_LARGEST + 1)
    except OSError as error:
        raise RegistryError(f"the plugin file `{path}` cannot be read: {error.strerror}") from error
    if len(content) > _LARGEST:
        raise RegistryError(f"the plugin file `{path}` is larger than {_LARGEST} bytes")
    return content

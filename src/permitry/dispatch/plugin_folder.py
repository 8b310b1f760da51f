"""A plugin folder that is read once, and its modules: the bytes that were trusted are those that run."""

import hashlib
import importlib.abc
import importlib.util
import itertools
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import attrs

from permitry.errors import RegistryError
from permitry.files import open_regular

__all__ = ["PluginFolder", "PluginModules"]

_MOST_FILES = 1_000
_LARGEST = 1024 * 1024
_NUMBERS = itertools.count(1)
_WHY = {NotADirectoryError: "is not a folder", FileNotFoundError: "does not exist"}


def _read_only(files: Mapping[str, bytes]) -> Mapping[str, bytes]:
    return MappingProxyType(dict(files))


@attrs.frozen
class PluginFolder:
    """The Python files of a plugin folder as they were read once: the name of each, and its bytes.

    No tool is looked for in those whose names start with `_`; others import them (`from . import _shared`).
    """

    path: Path
    files: Mapping[str, bytes] = attrs.field(converter=_read_only, repr=False)

    @classmethod
    def read(cls, path: Path) -> "PluginFolder":
        """Return the folder as it is now; `RegistryError` where it cannot be read, or is too large."""
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


@attrs.frozen(eq=False)
class PluginModules(importlib.abc.MetaPathFinder, importlib.abc.ExecutionLoader):
    """The modules of a plugin folder, under a name of their own: nothing is looked for on the disk."""

    folder: PluginFolder
    name: str = attrs.field(init=False, factory=lambda: f"permitry_plugins_{next(_NUMBERS)}")

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> Any:  # noqa: ANN401, ARG002 -- the protocol's
        """Return the spec of a module of the folder, or None."""
        is_ours = fullname.rpartition(".")[0] == self.name and _file_of(fullname) in self.folder.files
        return importlib.util.spec_from_loader(fullname, self) if is_ours else None

    def get_source(self, fullname: str) -> str:
        """Return the text of a module."""
        return importlib.util.decode_source(self.folder.files[_file_of(fullname)])

    def get_filename(self, fullname: str) -> str:
        """Return where the module was read from."""
        return str(self.folder.path / _file_of(fullname))

    def install(self) -> None:
        """Let its modules be imported."""
        module = ModuleType(self.name, f"The plugins of {self.folder.path}.")
        module.__path__ = []
        sys.modules[self.name] = module
        sys.meta_path.append(self)

    def module(self, file: str) -> ModuleType:
        """Return the module of a file; it runs the first time, and raises what its code raises."""
        name = file.removesuffix(".py")
        if "." in name:
            raise RegistryError("the name of a plugin file has no dot before its `.py`")
        return importlib.import_module(f"{self.name}.{name}")

    def remove(self) -> None:
        """Forget the modules; what still runs of them imports no more of them. Safe to call again."""
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]
        for name in [each for each in list(sys.modules) if each.partition(".")[0] == self.name]:
            sys.modules.pop(name, None)


def _content(path: Path) -> bytes:
    try:
        with open_regular(path, follows_links=True) as (stream, _):
            content = stream.read(_LARGEST + 1)
    except OSError as error:
        raise RegistryError(f"the plugin file `{path}` cannot be read: {error.strerror}") from error
    if len(content) > _LARGEST:
        raise RegistryError(f"the plugin file `{path}` is larger than {_LARGEST} bytes")
    return content


def _file_of(module: str) -> str:
    return f"{module.rpartition('.')[2]}.py"

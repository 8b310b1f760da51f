"""Modules made of the bytes of a plugin folder, which were read when the user trusted it."""

import importlib.abc
import importlib.util
import itertools
import sys
from types import ModuleType
from typing import Any

import attrs

from permitry.dispatch.plugin_folder import PluginFolder
from permitry.errors import RegistryError

__all__ = ["PluginModules"]

_NUMBERS = itertools.count(1)


@attrs.frozen
class _Loader(importlib.abc.ExecutionLoader):
    """Creates a module from given bytes, so that what runs is what was trusted, whatever is on disk by now."""

    folder: PluginFolder
    file: str

    def get_source(self, fullname: str) -> str:  # noqa: ARG002 -- the loader is for one module
        return importlib.util.decode_source(self.folder.files[self.file])

    def get_filename(self, fullname: str) -> str:  # noqa: ARG002 -- as above
        return str(self.folder.path / self.file)


@attrs.frozen
class _Finder(importlib.abc.MetaPathFinder):
    """Finds the modules of one plugin package, and nothing else."""

    package: str
    folder: PluginFolder

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> Any:  # noqa: ANN401, ARG002 -- the protocol's
        package, _, name = fullname.rpartition(".")
        if package != self.package or f"{name}.py" not in self.folder.files:
            return None
        return importlib.util.spec_from_loader(fullname, _Loader(self.folder, f"{name}.py"))


@attrs.frozen(eq=False)
class PluginModules:
    """The modules of a plugin folder, under a name of their own: none of them is looked for on the disk."""

    folder: PluginFolder
    name: str = attrs.field(init=False, factory=lambda: f"permitry_plugins_{next(_NUMBERS)}")
    _finder: _Finder = attrs.field(init=False)

    @_finder.default
    def _new_finder(self) -> _Finder:
        return _Finder(self.name, self.folder)

    def install(self) -> None:
        """Let its modules be imported."""
        module = ModuleType(self.name, f"The plugins of {self.folder.path}.")
        module.__path__ = []
        sys.modules[self.name] = module
        sys.meta_path.append(self._finder)

    def module(self, file: str) -> ModuleType:
        """Return the module of a file; it runs the first time.

        Raises: `RegistryError` for a file whose name no module can have; whatever its code raises.
        """
        name = file.removesuffix(".py")
        if "." in name:
            raise RegistryError("the name of a plugin file has no dot before its `.py`")
        return importlib.import_module(f"{self.name}.{name}")

    def remove(self) -> None:
        """Forget the modules; what still runs of them goes on, and imports no more of them. Safe to call again."""
        # By identity: finders of two packages may be equal.
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self._finder]
        for name in [each for each in list(sys.modules) if each.partition(".")[0] == self.name]:
            sys.modules.pop(name, None)

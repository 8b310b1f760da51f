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


@attrs.frozen(eq=False)
class PluginModules(importlib.abc.MetaPathFinder, importlib.abc.ExecutionLoader):
    """The modules of a plugin folder, under a name of their own: none of them is looked for on the disk.

    It finds and loads these modules, and nothing else: what runs is what was trusted, whatever is on disk by now.
    """

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
        """Return the module of a file; it runs the first time.

        Raises: `RegistryError` for a file whose name no module can have; whatever its code raises.
        """
        name = file.removesuffix(".py")
        if "." in name:
            raise RegistryError("the name of a plugin file has no dot before its `.py`")
        return importlib.import_module(f"{self.name}.{name}")

    def remove(self) -> None:
        """Forget the modules; what still runs of them goes on, and imports no more of them. Safe to call again."""
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]
        for name in [each for each in list(sys.modules) if each.partition(".")[0] == self.name]:
            sys.modules.pop(name, None)


def _file_of(module: str) -> str:
    return f"{module.rpartition('.')[2]}.py"

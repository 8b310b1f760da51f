"""The modules of a plugin folder are made of the bytes that were read."""

import sys
from pathlib import Path

import pytest

from permitry.dispatch.plugin_folder import PluginFolder
from permitry.dispatch.plugin_modules import PluginModules
from permitry.errors import RegistryError


def _modules(path: Path, **files: str) -> PluginModules:
    for name, text in files.items():
        (path / f"{name}.py").write_text(text)
    modules = PluginModules(PluginFolder.read(path))
    modules.install()
    return modules


def test_what_runs_is_what_was_read(tmp_path: Path) -> None:
    """Once, whatever is on the disk by now; siblings are found, and nothing that came since."""
    modules = _modules(tmp_path, a="from . import _b\nWORD = _b.WORD", _b="WORD = 'read'", c="from . import _d")
    for name in ("a", "_b", "_d"):
        (tmp_path / f"{name}.py").write_text("WORD = 'from the disk'")
    assert modules.module("a.py").WORD == "read"
    assert modules.module("a.py") is modules.module("a.py")
    with pytest.raises(ImportError):
        modules.module("c.py")
    modules.remove()


def test_two_folders_have_modules_of_their_own(tmp_path: Path) -> None:
    """Also where all files are equal."""
    one, other = (_modules(tmp_path, a="") for _ in range(2))
    assert one.module("a.py") is not other.module("a.py")
    one.remove()
    assert other.module("a.py").__name__ in sys.modules
    other.remove()


def test_removing_leaves_nothing_behind(tmp_path: Path) -> None:
    """It may be done again."""
    finders = list(sys.meta_path)
    modules = _modules(tmp_path, a="")
    modules.module("a.py")
    modules.remove()
    modules.remove()
    assert sys.meta_path == finders
    assert not [name for name in sys.modules if name.startswith(modules.name)]


def test_a_name_with_a_dot_is_not_a_module(tmp_path: Path) -> None:
    """It would be looked for in a package of that name."""
    modules = _modules(tmp_path, a="")
    with pytest.raises(RegistryError, match="no dot"):
        modules.module("a.b.py")
    modules.remove()

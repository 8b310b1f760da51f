"""A plugin folder as it was read once: names, bytes, digests, and what is not a plugin folder."""

import hashlib
import os
import sys
from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.dispatch.plugin_folder import PluginFolder, PluginModules
from permitry.errors import RegistryError


def test_a_folder_is_its_python_files(tmp_path: Path) -> None:
    """Internal files belong to it and hold no tool; other files and folders below do not belong to it."""
    for name in ("b.py", "a.py", "_shared.py", "note.txt"):
        (tmp_path / name).write_text(name)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "c.py").write_text("")
    folder = PluginFolder.read(tmp_path)
    assert (list(folder.files), folder.plugins) == (["_shared.py", "a.py", "b.py"], ("a.py", "b.py"))
    assert folder.digests["a.py"] == hashlib.sha256(b"a.py").hexdigest()


def test_what_was_read_does_not_change(tmp_path: Path) -> None:
    """The bytes stay those that were looked at."""
    (tmp_path / "a.py").write_text("before")
    folder = PluginFolder.read(tmp_path)
    (tmp_path / "a.py").write_text("after")
    assert folder.files["a.py"] == b"before"
    with pytest.raises(TypeError):
        folder.files["a.py"] = b"after"  # type: ignore[index]  # it is read-only


def _pipe(path: Path) -> None:
    os.mkfifo(path / "a.py")


def _folder(path: Path) -> None:
    (path / "a.py").mkdir()


def _broken_link(path: Path) -> None:
    (path / "a.py").symlink_to("nowhere")


def _large(path: Path) -> None:
    (path / "a.py").write_bytes(b"#" * (1024 * 1024 + 1))


def _many(path: Path) -> None:
    for number in range(1_001):
        (path / f"p{number}.py").touch()


@for_each(
    ("make", "told"),
    [
        (_pipe, "is not a regular file"),
        (_folder, "is not a regular file"),
        (_broken_link, "cannot be read: No such file"),
        (_large, "is larger than 1048576 bytes"),
        (_many, "holds more than 1000 files"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, make: object, told: str) -> None:
    """Without waiting for it, and with its name."""
    assert callable(make)
    make(tmp_path)
    with pytest.raises(RegistryError, match=told):
        PluginFolder.read(tmp_path)


def test_what_is_no_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file, nothing at all, and a folder that cannot be read: that one is not empty."""
    (tmp_path / "file").touch()
    with pytest.raises(RegistryError, match="is not a folder"):
        PluginFolder.read(tmp_path / "file")
    with pytest.raises(RegistryError, match="does not exist"):
        PluginFolder.read(tmp_path / "nowhere")

    def refused(_: object) -> object:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "listdir", refused)
    with pytest.raises(RegistryError, match="cannot be read: Permission denied"):
        PluginFolder.read(tmp_path)


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

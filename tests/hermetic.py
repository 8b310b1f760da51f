"""What keeps the tests to themselves: an empty home, nothing of the user's environment, no write elsewhere.

The home is a temporary folder; the `XDG` folders are those below it, as none of their variables is set. A write of
the test process outside of the temporary folders raises `OutsideWriteError`, whatever makes it.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["OutsideWriteError", "clear_home", "forbid_writes", "is_outside", "keep_bytecode", "set_environment"]

# What programs under test look at beside the home: folders of their own, a repository, hosts that run us.
_PREFIXES = ("XDG_", "GIT_", "CLAUDE", "CODEX", "GEMINI", "COPILOT", "CURSOR", "CLINE", "OPENCODE", "PERMITRY_")
_OF_TESTS = "PERMITRY_TEST_"
# Where tools keep what they remember of a checkout.
_CACHES = (
    ".coverage",
    ".hypothesis",
    ".pytest_cache",
    "pytest-cache-files-",
    ".mypy_cache",
    ".ruff_cache",
    "__pycache__",
)
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class OutsideWriteError(RuntimeError):
    """A test writes outside of the temporary folders."""


def set_environment(home: Path) -> None:
    """Make `home` the home of this process and its children, and forget what the user has set for permitry."""
    for name in list(os.environ):
        if name.startswith(_PREFIXES) and not name.startswith(_OF_TESTS):
            del os.environ[name]
    os.environ["HOME"] = str(home)


def keep_bytecode(folder: Path) -> None:
    """Have Python keep in `folder` what it compiles, if it is set to keep nothing: tests start it a thousand times."""
    if sys.dont_write_bytecode:
        sys.dont_write_bytecode = False
        sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(folder)
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def clear_home(home: Path) -> None:
    """Remove what an earlier test has left below `home`."""
    for entry in os.scandir(home):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            Path(entry.path).unlink()


def is_outside(path: object, temporary: tuple[str, ...]) -> bool:
    """Return whether a path lies outside of the temporary folders, of devices and of the tools' caches."""
    if isinstance(path, int):
        return False
    name = os.path.abspath(os.fsdecode(path))  # type: ignore[arg-type]  # noqa: PTH100 -- a link stays as it is named
    if f"{name}/".startswith((*temporary, "/dev/", "/proc/")):
        return False
    return not any(part.startswith(_CACHES) for part in Path(name).parts)


def forbid_writes() -> None:
    """Raise from now on where this process writes outside of the temporary folders."""
    folders = {tempfile.gettempdir(), os.path.realpath(tempfile.gettempdir())}
    temporary = tuple(f"{folder}/" for folder in folders)

    def check(paths: tuple[object, ...]) -> None:
        for path in paths:
            if path is not None and is_outside(path, temporary):
                raise OutsideWriteError(f"a test writes to {path!r}")

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        paths = _PATHS.get(event)
        if paths is not None:
            check(paths(arguments))

    sys.addaudithook(hook)


def _opened(arguments: tuple[Any, ...]) -> tuple[object, ...]:
    """Return the file that is opened to be written; `os.open`, which has no mode, does not say below which folder."""
    path, mode, flags = arguments
    is_known = mode is not None or isinstance(path, int) or Path(os.fsdecode(path)).is_absolute()
    return (path,) if flags & _WRITES and is_known else ()


def _of_folder(paths: int, folder: int) -> Callable[[tuple[Any, ...]], tuple[object, ...]]:
    """Return the first `paths` arguments of an event, unless a descriptor of a folder (at `folder`) is given."""
    return lambda arguments: arguments[:paths] if arguments[folder] == -1 else ()


def _database(name: object) -> tuple[object, ...]:
    """Return the file of a database, if it is one that may be written to."""
    text = os.fsdecode(name)  # type: ignore[arg-type]  # a path in any form
    path, _, query = text.removeprefix("file:").partition("?")
    is_file = path not in ("", ":memory:") and "mode=memory" not in query and "mode=ro" not in query
    return (path,) if is_file else ()


def _made(arguments: tuple[Any, ...]) -> tuple[object, ...]:
    """Return the folder that is made: none where it is there, as `exist_ok` tries it all the same."""
    path, _, folder = arguments
    return (path,) if folder == -1 and not Path(os.fsdecode(path)).is_dir() else ()


_PATHS: dict[str, Callable[[tuple[Any, ...]], tuple[object, ...]]] = {
    "open": _opened,
    "os.chmod": _of_folder(1, 2),
    "os.chown": _of_folder(1, 3),
    "os.mkdir": _made,
    "os.remove": _of_folder(1, 1),
    "os.rename": _of_folder(2, 2),
    "os.rmdir": _of_folder(1, 1),
    "sqlite3.connect": lambda arguments: _database(arguments[0]),
    "os.truncate": lambda arguments: arguments[:1],
    "os.utime": _of_folder(1, 3),
    "os.link": lambda arguments: arguments[1:2] if arguments[3] == -1 else (),
    "os.symlink": lambda arguments: arguments[1:2] if arguments[2] == -1 else (),
}

"""The tests touch nothing of who runs them."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hermetic import OutsideWriteError, is_outside

ROOT = Path(__file__).resolve().parents[1]
_HOMES = "import os, pathlib; print(pathlib.Path.home(), *(n for n in os.environ if n.startswith(('XDG_', 'GIT_'))))"


def _unused(folder: Path) -> Path:
    return folder / "permitry-test-that-must-not-be-there"


@pytest.mark.parametrize(
    "write",
    [
        lambda path: path.write_text(""),
        lambda path: path.mkdir(),
        lambda path: path.symlink_to("a"),
        lambda path: path.unlink(missing_ok=True),
        lambda path: path.with_name("never").rename(path),
        lambda path: shutil.rmtree(path.parent / "never"),
        lambda path: os.close(os.open(path, os.O_RDWR | os.O_CREAT)),
        lambda path: sqlite3.connect(path).close(),
    ],
    ids=["write", "mkdir", "symlink", "unlink", "rename", "rmtree", "open", "sqlite"],
)
def test_a_write_elsewhere_is_an_error(write: Callable[[Path], object]) -> None:
    """Of the tests themselves, and of what they import."""
    for folder in (Path("/"), Path("/usr")):
        with pytest.raises((OutsideWriteError, FileNotFoundError)):
            write(_unused(folder))
        assert not _unused(folder).is_symlink()
        assert not _unused(folder).exists()


def test_a_folder_that_is_there_is_not_made() -> None:
    """`exist_ok` tries it first: pytest and coverage do that to the checkout, which may be anywhere."""
    Path("/usr").mkdir(exist_ok=True)


def test_a_file_below_an_open_folder_is_not_elsewhere(tmp_path: Path) -> None:
    """Whatever folder the process is in."""
    folder = os.open(tmp_path, os.O_RDONLY)
    os.close(os.open("a", os.O_WRONLY | os.O_CREAT, dir_fd=folder))
    os.close(folder)
    assert (tmp_path / "a").exists()


def test_temporary_files_and_caches_are_not_elsewhere(tmp_path: Path) -> None:
    """What a tool remembers of a checkout is its own."""
    places = (tmp_path / "a", Path.home() / "a", "/dev/null", 3, ROOT / ".hypothesis/x", ROOT / "src/__pycache__/a.pyc")
    assert not [place for place in places if is_outside(place, (f"{Path.home().parent}/", f"{tmp_path}/"))]


def test_programs_that_tests_start_have_the_home_of_the_tests() -> None:
    """And no folder or repository that the environment of who runs the tests names."""
    done = subprocess.run([sys.executable, "-c", _HOMES], check=True, capture_output=True, text=True)
    assert done.stdout.split() == [os.environ["HOME"]]
    assert not is_outside(os.environ["HOME"], ("/tmp/",))  # noqa: S108 -- the name alone


@pytest.mark.parametrize("_", range(2))
def test_each_test_has_an_empty_home(_: int) -> None:
    """Whatever the test before has left."""
    assert not list(Path.home().iterdir())
    (Path.home() / "left/over").mkdir(parents=True)

"""A file counts as root's own when no one else could have written it, or put another in its place."""

import errno
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

import pytest
from tests.tables import for_each

from permitry.config.origin import writable_by_others

ROOT, GUEST, MISSING = 0, 1000, -1
Told: TypeAlias = Callable[..., str | None]


def _status(mode: int, owner: int) -> os.stat_result:
    if owner == MISSING:
        raise OSError(mode, os.strerror(mode)) if mode else OSError
    return os.stat_result((mode, 0, 0, 0, owner, 0, 0, 0, 0, 0))


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    """Return a function from mode and owner of file, folder and top to what is reported of `/top/folder/file`."""

    def asked(file: tuple[int, int], folder: tuple[int, int], top: tuple[int, int] = (0o755, ROOT)) -> str | None:
        statuses: Mapping[str, tuple[int, int]] = {"file": file, "folder": folder, "top": top, "": (0o755, ROOT)}
        with monkeypatch.context() as patch:
            patch.setattr(Path, "stat", lambda path: _status(*statuses[path.name]))
            return writable_by_others(Path("/top/folder/file"))

    return asked


@for_each("file", [0o644, 0o400, 0o755, stat.S_IFREG | 0o600])
@for_each("folder", [0o755, 0o500, stat.S_IFDIR | 0o700])
def test_a_file_that_only_root_may_write_is_fine(told: Told, file: int, folder: int) -> None:
    """Readable by all is fine, writable by root alone is a must."""
    assert told((file, ROOT), (folder, ROOT)) is None


@for_each("status", [(0o644, GUEST), (0o664, ROOT), (0o646, ROOT), (0o666, GUEST), (0o422, ROOT)])
def test_a_file_of_somebody_else_or_that_others_may_write_is_told(told: Told, status: tuple[int, int]) -> None:
    """Owner, group and world each count."""
    message = "`/top/folder/file` is not owned by root, or others may write it"
    assert told(status, (0o755, ROOT)) == message


@for_each("status", [(0o755, GUEST), (0o775, ROOT), (0o757, ROOT), (0o1777, ROOT)])
def test_a_folder_of_somebody_else_or_that_others_may_write_is_told(told: Told, status: tuple[int, int]) -> None:
    """Who may write the folder may put another file there; a sticky bit does not help."""
    assert told((0o644, ROOT), status) == "`/top/folder` is not owned by root, or others may write it"


def test_what_cannot_be_looked_at_is_told(told: Told) -> None:
    """Not known to be safe is not safe; the system's reason is reported in lower case."""
    reason = os.strerror(errno.EACCES).lower()
    assert told((0o644, ROOT), (errno.EACCES, MISSING)) == f"`/top/folder` cannot be looked at: {reason}"


def test_what_cannot_be_looked_at_for_no_reason_is_told(told: Told) -> None:
    """A system that gives no reason is not a reason to trust the file."""
    assert told((0, MISSING), (0o755, ROOT)) == "`/top/folder/file` cannot be looked at: unknown reason"


@for_each("status", [(0o755, GUEST), (0o775, ROOT), (0o757, ROOT)])
def test_a_folder_further_up_that_others_may_write_is_told(told: Told, status: tuple[int, int]) -> None:
    """Who may rename the folder may put another in its place."""
    assert told((0o644, ROOT), (0o755, ROOT), status) == "`/top` is not owned by root, or others may write it"


def test_a_sticky_folder_further_up_is_fine(told: Told) -> None:
    """In a sticky folder no one can replace what root owns."""
    assert told((0o644, ROOT), (0o755, ROOT), (0o1777, ROOT)) is None


def test_the_folder_of_a_link_counts_too(tmp_path: Path) -> None:
    """Who may write the folder of a link chooses the file it leads to."""
    (tmp_path / "closed").mkdir(mode=0o755)
    (tmp_path / "closed" / "rules.toml").touch(0o644)
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    link = tmp_path / "open" / "rules.toml"
    link.symlink_to(tmp_path / "closed" / "rules.toml")
    assert writable_by_others(link) is not None

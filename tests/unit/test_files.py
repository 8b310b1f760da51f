"""Opening files safely, and writing them in one step."""

import errno
import os
import stat
from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.files import (
    CREATE,
    DIRECTORY,
    READ,
    NotRegularError,
    mode_at,
    open_regular,
    opened,
    replace_file,
    temporary_next_to,
    write_new,
)

LOOP = {errno.ELOOP, errno.ENOTDIR}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file with content."""
    file = tmp_path / "a"
    file.write_bytes(b"old")
    return file


@pytest.fixture
def link(tmp_path: Path, file: Path) -> Path:
    """Return a link to the file."""
    link = tmp_path / "link"
    link.symlink_to(file)
    return link


# Opening ----------------------------------------------------------------------------------------------------------


def test_a_regular_file_is_read(file: Path) -> None:
    """With what the system says of it."""
    with open_regular(file) as (stream, status):
        assert (stream.read(), status.st_size) == (b"old", 3)


def test_a_link_is_followed_only_on_request(link: Path) -> None:
    """What it leads to is someone else's choice."""
    with pytest.raises(OSError, match="link") as caught, open_regular(link):
        pass
    assert caught.value.errno in LOOP
    with open_regular(link, follows_links=True) as (stream, _):
        assert stream.read() == b"old"


@for_each("make", [os.mkdir, os.mkfifo])
@for_each("follows_links", [False, True])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path, make: type, *, follows_links: bool) -> None:
    """Nothing is waited for: a pipe that no one writes to would never end."""
    make(tmp_path / "x")
    with (
        pytest.raises(NotRegularError, match="it is not a regular file"),
        open_regular(tmp_path / "x", follows_links=follows_links),
    ):
        pass


@for_each("flags", [READ, DIRECTORY, CREATE])
def test_a_descriptor_is_not_inherited_and_is_closed(tmp_path: Path, flags: int) -> None:
    """Python sets O_CLOEXEC for every file it opens."""
    name = {READ: "a", DIRECTORY: ".", CREATE: "new"}[flags]
    (tmp_path / "a").touch()
    with opened(tmp_path / name, flags) as descriptor:
        assert not os.get_inheritable(descriptor)
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(descriptor)


def test_a_directory_is_opened_without_following_a_link(tmp_path: Path) -> None:
    """Not even to a directory."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(OSError, match="link") as caught, opened(tmp_path / "link", DIRECTORY):
        pass
    assert caught.value.errno in LOOP


def test_a_name_is_taken_below_an_open_directory(tmp_path: Path, file: Path) -> None:
    """Wherever the process is."""
    with opened(tmp_path, DIRECTORY) as folder:
        with open_regular(file.name, folder=folder) as (stream, _):
            assert stream.read() == b"old"
        assert stat.S_ISREG(mode_at(file.name, folder=folder) or 0)


def test_the_mode_is_that_of_a_link_itself(link: Path, tmp_path: Path) -> None:
    """And there is none where there is nothing."""
    assert stat.S_ISLNK(mode_at(link) or 0)
    assert mode_at(tmp_path / "none") is None


# Writing ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a", "link"])
def test_a_new_file_takes_nothing_that_is_there(tmp_path: Path, file: Path, link: Path, name: str) -> None:
    """Neither a file nor a link."""
    with pytest.raises(FileExistsError):
        write_new(tmp_path / name, b"new")
    assert (link.is_symlink(), file.read_bytes()) == (True, b"old")


@for_each(("mode", "expected"), [(0o600, 0o600), (0o755, 0o755), (None, 0o640)])
def test_a_new_file_has_its_mode(tmp_path: Path, mode: int | None, expected: int) -> None:
    """Whatever the mask says, unless it is left to the mask."""
    before = os.umask(0o027)
    try:
        inode = write_new(tmp_path / "new", b"new", mode=mode)
    finally:
        os.umask(before)
    status = (tmp_path / "new").stat()
    assert (status.st_ino, stat.S_IMODE(status.st_mode)) == (inode, expected)


@pytest.mark.parametrize("is_durable", [False, True])
def test_a_file_is_replaced_and_nothing_is_left(file: Path, *, is_durable: bool) -> None:
    """The file is another one: who has the old one open keeps it."""
    with file.open("rb") as old:
        replace_file(file, b"new", is_durable=is_durable)
        assert old.read() == b"old"
    assert (file.read_bytes(), list(file.parent.iterdir())) == (b"new", [file])


def test_a_link_is_replaced_and_not_followed(file: Path, link: Path) -> None:
    """What it led to stays."""
    replace_file(link, b"new")
    assert (link.is_symlink(), link.read_bytes(), file.read_bytes()) == (False, b"new", b"old")


def test_a_file_below_an_open_directory_is_replaced(tmp_path: Path, file: Path) -> None:
    """By its name alone."""
    with opened(tmp_path, DIRECTORY) as folder:
        replace_file(file.name, b"new", folder=folder)
    assert (file.read_bytes(), list(tmp_path.iterdir())) == (b"new", [file])


@pytest.mark.parametrize("step", ["fsync", "fchmod", "replace"])
def test_what_cannot_be_written_leaves_the_old_file(file: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """And nothing next to it, whatever interrupts."""

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, step, stopped)
    with pytest.raises(KeyboardInterrupt):
        replace_file(file, b"new", is_durable=True)
    assert (file.read_bytes(), list(file.parent.iterdir())) == (b"old", [file])


def test_a_file_next_to_is_there_for_a_while(file: Path) -> None:
    """In the same directory, so that a rename is one step."""
    with temporary_next_to(file, b"new") as temporary:
        assert Path(temporary).parent == file.parent
        assert Path(temporary).read_bytes() == b"new"
    assert list(file.parent.iterdir()) == [file]

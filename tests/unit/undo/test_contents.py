"""The contents of kept files: copied or cloned, and what comes back is what was kept."""

import os
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from permitry.errors import UndoError
from permitry.files import DIRECTORY, READ, opened
from permitry.undo import contents
from permitry.undo.contents import Contents, clone, content_of
from permitry.undo.nodes import Kind, Node

LARGE = b"0123456789abcdef" * 8_192


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    """Yield an open folder."""
    (tmp_path / "kept").mkdir()
    with opened(tmp_path / "kept", DIRECTORY) as file:
        yield file


def _take(kept: Contents, path: Path, data: bytes) -> Node:
    path.write_bytes(data)
    with opened(path, READ) as file:
        digest, name, offset = kept.take(file, len(data))
    return Node(str(path), Kind.FILE, size=len(data), digest=digest, data=name, offset=offset)


def test_what_is_kept_comes_back(folder: int, tmp_path: Path) -> None:
    """Several files share one, each with its own part."""
    with Contents(folder, 1 << 20) as kept:
        nodes = [_take(kept, tmp_path / str(number), data) for number, data in enumerate((b"a", b"", b"bc", LARGE))]
        kept.sync()
    assert [b"".join(content_of(folder, node)) for node in nodes] == [b"a", b"", b"bc", LARGE]


def test_what_is_damaged_is_found(folder: int, tmp_path: Path) -> None:
    """It is read, and its digest is not that of what was kept."""
    with Contents(folder, 100) as kept:
        node = _take(kept, tmp_path / "a", b"abc")
    with pytest.raises(OSError, match="damaged"):
        list(content_of(folder, attrs.evolve(node, offset=1)))


def test_no_more_is_kept_than_there_is_room_for(folder: int, tmp_path: Path) -> None:
    """Over all files of an entry."""
    with Contents(folder, 4) as kept:
        _take(kept, tmp_path / "a", b"abc")
        with pytest.raises(UndoError, match="too large"):
            _take(kept, tmp_path / "b", b"de")


def test_a_large_file_is_cloned_where_that_works(folder: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts as if it was copied; a small one is copied."""

    def copied(source: int, target: int) -> bool:
        os.write(target, os.pread(source, 1 << 20, 0))
        os.lseek(target, 0, os.SEEK_SET)
        return True

    monkeypatch.setattr(contents, "clone", copied)
    with Contents(folder, 1 << 20) as kept:
        large, small = _take(kept, tmp_path / "a", LARGE), _take(kept, tmp_path / "b", b"b")
        assert kept.size == len(LARGE) + 1
    assert (large.data, small.data) == ("clone-0", "copies")
    assert b"".join(content_of(folder, large)) == LARGE


def test_where_files_cannot_be_cloned_they_are_copied(
    folder: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That is tried once for an entry, and leaves nothing."""
    tried: list[int] = []

    def cannot(source: int, _: int) -> bool:
        tried.append(source)
        return False

    monkeypatch.setattr(contents, "clone", cannot)
    with Contents(folder, 1 << 20) as kept:
        nodes = [_take(kept, tmp_path / name, LARGE) for name in "ab"]
    assert [node.data for node in nodes] == ["copies", "copies"]
    assert len(tried) == 1
    assert os.listdir(folder) == ["copies"]


def test_cloning_shares_the_content_or_fails(tmp_path: Path) -> None:
    """Whatever this file system can do: never half of it."""
    (tmp_path / "a").write_bytes(LARGE)
    with (tmp_path / "a").open("rb") as source, (tmp_path / "b").open("wb") as target:
        done = clone(source.fileno(), target.fileno())
    assert (tmp_path / "b").read_bytes() == (LARGE if done else b"")

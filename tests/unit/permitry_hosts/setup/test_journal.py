"""What a setup has written can be undone to the byte, or not at all."""

from pathlib import Path

import attrs
import pytest

from permitry.errors import PermitryError
from permitry_hosts.setup.journal import Journal, Setup, Touched


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """Return an empty journal."""
    return Journal(tmp_path / "state/setup.json")


def _never(_: Touched) -> bool:
    return False


def _written(folder: Path, **texts: bytes) -> Setup:
    """Return a setup that has written these files of a folder."""
    setup = Setup.before(folder, [Touched.of(folder / "new" / name, name) for name in texts])
    for name, text in texts.items():
        (folder / "new").mkdir(exist_ok=True)
        (folder / "new" / name).write_bytes(text)
    return attrs.evolve(setup, files=tuple(each.since() for each in setup.files))


def test_each_file_is_as_it_was(tmp_path: Path) -> None:
    """With its bytes and its mode; what was not there is gone, with the folders that were made for it."""
    (tmp_path / "old").write_bytes(b"\xff\r\n")
    (tmp_path / "old").chmod(0o640)
    old = Touched.of(tmp_path / "old", "codex")
    setup = _written(tmp_path, claude=b"x")
    (tmp_path / "old").write_bytes(b"other")
    setup = attrs.evolve(setup, files=(*setup.files, old.since()))
    assert set(setup.undo(_never)) == {tmp_path / "new/claude", tmp_path / "old"}
    assert (tmp_path / "old").read_bytes() == b"\xff\r\n"
    assert (tmp_path / "old").stat().st_mode & 0o777 == 0o640
    assert sorted(each.name for each in tmp_path.iterdir()) == ["old"]


def test_a_link_stays_one(tmp_path: Path) -> None:
    """The file that it leads to is restored."""
    (tmp_path / "dotfile").write_text("a")
    (tmp_path / "link").symlink_to("dotfile")
    setup = Setup.before(tmp_path, [Touched.of(tmp_path / "link", "codex")])
    (tmp_path / "link").write_text("b")
    attrs.evolve(setup, files=tuple(each.since() for each in setup.files)).undo(_never)
    assert (tmp_path / "dotfile").read_text() == "a"
    assert (tmp_path / "link").readlink() == Path("dotfile")


@pytest.mark.parametrize(
    ("part", "way_out"),
    [("rules", "delete it"), ("trust", "permitry trust --revoke"), ("codex", "permitry hook uninstall codex")],
)
def test_a_file_that_was_changed_since_keeps_all_as_they_are(tmp_path: Path, part: str, way_out: str) -> None:
    """The error names the file and the way out."""
    setup = _written(tmp_path, **{part: b"x", "other": b"y"})
    (tmp_path / "new" / part).write_bytes(b"mine")
    with pytest.raises(PermitryError, match=way_out) as caught:
        setup.undo(_never)
    assert str(tmp_path / "new" / part) in str(caught.value)
    assert (tmp_path / "new" / part).read_bytes() == b"mine"
    assert (tmp_path / "new/other").read_bytes() == b"y"


def test_what_has_nothing_of_the_setup_any_more_stays(tmp_path: Path) -> None:
    """Once the user has gone the way out, the rest is undone."""
    setup = _written(tmp_path, codex=b"x", other=b"y")
    (tmp_path / "new/codex").write_bytes(b"mine")
    assert setup.undo(lambda file: file.part == "codex") == [tmp_path / "new/other"]
    assert [each.name for each in (tmp_path / "new").iterdir()] == ["codex"]


def test_what_is_as_before_already_is_left_alone(tmp_path: Path) -> None:
    """Of a setup that was broken off, it is not known what it wrote."""
    (tmp_path / "a").write_text("a")
    setup = Setup.before(tmp_path, [Touched.of(tmp_path / "a", "codex")])
    assert setup.undo(_never) == []
    (tmp_path / "a").write_text("b")
    with pytest.raises(PermitryError, match="changed since"):
        setup.undo(_never)


def test_setups_are_kept_and_forgotten(journal: Journal, tmp_path: Path) -> None:
    """For the user's eyes alone; the last one of a folder is found."""
    first, second = _written(tmp_path, a=b"1"), _written(tmp_path, b=b"\xff")
    for each in (first, second):
        journal.add(each)
    assert journal.path.stat().st_mode & 0o777 == 0o600
    assert (journal.last(tmp_path), journal.last(tmp_path / "other")) == (second, None)
    journal.replace(second, None)
    assert journal.setups() == [first]
    journal.replace(first, attrs.evolve(first, folders=()))
    assert journal.setups() == [attrs.evolve(first, folders=())]
    journal.replace(attrs.evolve(first, folders=()), None)
    assert not journal.path.exists()


@pytest.mark.parametrize("text", ["[]", "{", '{"setups": []}', '{"setups of version 1": [{}]}'])
def test_a_damaged_journal_is_reported(journal: Journal, text: str) -> None:
    """By its path; nothing is added to it."""
    journal.path.parent.mkdir()
    journal.path.write_text(text)
    with pytest.raises(PermitryError, match=r"setup\.json"):
        journal.add(Setup(Path("/"), ()))
    assert journal.path.read_text() == text

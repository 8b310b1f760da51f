"""Output that keeps coming: bounded memory, everything on disk, counts that are true."""

import errno
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from permitry.dispatch.events import Reporter
from permitry_tools._output import Output, Piece
from permitry_tools.artifacts import ArtifactStore


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    """Return an empty store."""
    return ArtifactStore(tmp_path / "kept")


@pytest.fixture
def reporter(store: ArtifactStore) -> Reporter:
    """Return the reporter of a run whose output is kept there."""
    return Reporter("run_shell", "c1", "main", artifacts=store)


def _kept(store: ArtifactStore) -> str:
    """Return the one text that is kept."""
    (path,) = store.folder.glob("*.jsonl")
    lines: list[str] = []
    for row in map(json.loads, path.read_text(encoding="utf-8").split("\n")[1:-1]):
        if isinstance(row, str):
            lines.append(row)
        elif row["line"] > len(lines):
            lines.append(row["part"])
        else:
            lines[-1] += row["part"]
    return "\n".join(lines)


def test_short_output_is_shown_whole(store: ArtifactStore, reporter: Reporter) -> None:
    """And kept nowhere."""
    piece = Piece(10)
    for text in ("abc", "", "defghijklmnopq"):
        piece.add(text, reporter)
    assert (piece.shown(17), piece.length, piece.is_whole) == ("abcdefghijklmnopq", 17, True)
    assert not store.folder.exists()


def test_what_is_shortened_is_kept(store: ArtifactStore, reporter: Reporter) -> None:
    """All of it, also when all of it was in memory."""
    piece = Piece(10)
    piece.add("a" * 9 + "\n" + "z" * 9, reporter)
    shown = piece.shown(6, reporter)
    (path,) = store.folder.glob("*.jsonl")
    assert shown == f"aaaa\n...[13 characters left out; the whole is the artifact {path.stem}]...\nzz"
    assert _kept(store) == "a" * 9 + "\n" + "z" * 9


@given(
    texts=st.lists(st.text("ab\nä", max_size=30), max_size=30),
    keep=st.integers(1, 12),
    limit=st.integers(1, 30),
)
def test_the_counts_are_true(texts: list[str], keep: int, limit: int) -> None:
    """However it comes: what is shown and what is left out add up, and the ends are those of the whole."""
    piece, whole = Piece(keep), "".join(texts)
    for text in texts:
        piece.add(text, None)
    shown = piece.shown(limit)
    assert (piece.length, piece.lines) == (len(whole), whole.count("\n"))
    if shown != whole:
        head, _, rest = shown.partition("\n...[")
        count, _, tail = rest.partition(" characters left out]...\n")
        assert len(head) + int(count) + len(tail) == len(whole)
        assert len(head) + len(tail) <= limit
        assert whole.startswith(head)
        assert whole.endswith(tail)


def test_much_output_is_on_disk_and_not_in_memory(store: ArtifactStore, reporter: Reporter) -> None:
    """3.4 million characters, as they come: the file has them while the command still runs."""
    output = Output(1_000, reporter)
    line = "0123456789abcdef\n"
    for _ in range(2_000):
        output.add(line * 100)
    assert len(output.shown(5_000)) < 2_200
    assert len(_kept(store)) > 3_300_000
    piece = output.take()
    assert (piece.length, output.lines) == (3_400_000, 200_000)
    assert f"[{3_400_000 - 2_000} characters left out; the whole is the artifact " in piece.shown(5_000)
    assert _kept(store) == line * 200_000


def test_a_long_line_is_kept_as_it_comes(store: ArtifactStore, reporter: Reporter) -> None:
    """Without a line end there is still a file that grows."""
    output = Output(10, reporter)
    for _ in range(100):
        output.add("x" * 997)
    assert len(_kept(store)) > 90_000
    output.take()
    assert _kept(store) == "x" * 99_700


def test_there_is_a_bound_and_it_is_said(
    store: ArtifactStore, reporter: Reporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is beyond is counted all the same."""
    monkeypatch.setattr("permitry_tools.artifacts._MOST_BYTES", 1_000)
    output = Output(10, reporter)
    for _ in range(500):
        output.add("0123456\n")
    shown = output.take().shown(20)
    assert "[3980 characters left out; about the first " in shown
    assert ": no more than 1000 bytes are kept]" in shown
    assert 700 < len(_kept(store)) < 1_000


class _Full:
    """A file on a disk that is full after so many bytes."""

    closed = False

    def __init__(self, room: int) -> None:
        self.room = room

    def write(self, data: bytes) -> int:
        """Write what there is room for."""
        if not self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        count = min(self.room, len(data))
        self.room -= count
        return count

    def close(self) -> None:
        """Close it."""
        self.closed = True


def test_a_full_disk_ends_nothing(reporter: Reporter, monkeypatch: pytest.MonkeyPatch) -> None:
    """The output goes on, the count stays true, and the marker says what happened."""
    monkeypatch.setattr("os.fdopen", lambda *_, **__: _Full(2_000))
    output = Output(10, reporter)
    for _ in range(1_000):
        output.add("0123456\n")
    shown = output.take().shown(20)
    assert shown.startswith("0123456\n01\n...[7980 characters left out; about the first ")
    assert ": No space left on device]...\n" in shown


@pytest.mark.parametrize("room", [0, 120])
def test_a_disk_that_was_full_before_keeps_nothing(
    store: ArtifactStore, reporter: Reporter, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    """No artifact is named that holds nothing of the text."""
    monkeypatch.setattr("os.fdopen", lambda *_, **__: _Full(room))
    output = Output(10, reporter)
    for _ in range(10):
        output.add("0123456\n")
    assert "[60 characters left out; the whole could not be kept: No space left on device]" in output.take().shown(20)
    assert room or store.list() == "No artifacts found."


def test_where_nothing_can_be_kept_that_is_said(tmp_path: Path) -> None:
    """A folder that cannot be made is not a reason to stop."""
    (tmp_path / "file").touch()
    reporter = Reporter("run_shell", "c1", "main", artifacts=ArtifactStore(tmp_path / "file" / "kept"))
    output = Output(5, reporter)
    output.add("a" * 100)
    assert "[90 characters left out; the whole could not be kept: " in output.take().shown(10)


def test_what_was_taken_begins_again(store: ArtifactStore, reporter: Reporter) -> None:
    """Each look has its own text, count and artifact."""
    output = Output(5, reporter)
    pieces = []
    for letter in "ab":
        output.add(letter * 100)
        pieces.append(output.take())
    assert [piece.length for piece in pieces] == [100, 100]
    assert len(list(store.folder.glob("*.jsonl"))) == 2


def test_after_its_end_nothing_is_taken(store: ArtifactStore, reporter: Reporter) -> None:
    """A process that left its command may write on for ever: into no artifact, closed or new."""
    output = Output(4, reporter)
    output.add("0123456789")
    output.end()
    output.add("abcdefghij")
    assert _kept(store) == "0123456789"
    assert (output.lines, output.take().length) == (0, 10)
    output.add("klmnopqrst")
    assert output.take().length == 0
    assert len(list(store.folder.glob("*.jsonl"))) == 1

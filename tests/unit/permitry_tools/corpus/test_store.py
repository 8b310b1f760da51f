"""The corpus: what is added, replaced, listed and removed."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from permitry.errors import ToolError
from permitry_tools.corpus.store import MOST_BYTES, Added, CorpusStore


def _count(store: CorpusStore, table: str) -> int:
    with store.read() as connection:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608 -- names of the test


def test_documents_are_kept_with_what_is_known_about_them(store: CorpusStore) -> None:
    """Title, path, date, size and tags; in the order they were added."""
    shown = [(each.path, each.title, each.date, each.media, each.chunks, each.tags) for each in store.documents()]
    assert shown == [
        ("documents/2024-05-01-engine.md", "The Analytical Engine", "2024-05-01", "markdown", 1, ("history",)),
        ("documents/bank.html", "A bank", None, "html", 1, ()),
        ("documents/journey.txt", "journey", "2023-05-02", "text", 1, ()),
    ]


def test_the_same_file_is_not_added_again(store: CorpusStore, folder: Path) -> None:
    """Nothing changes, not even the numbers."""
    before = store.documents()
    added = store.add(folder / "2024-05-01-engine.md")
    assert added == Added("unchanged", "documents/2024-05-01-engine.md", 1)
    assert store.documents() == before


def test_a_changed_file_replaces_its_document(store: CorpusStore, folder: Path) -> None:
    """It keeps its number, its date and its tags; of the old text nothing is left."""
    file = folder / "2024-05-01-engine.md"
    file.write_text("# New\n\nGrace Hopper.\n", encoding="utf-8")
    assert store.add(file).outcome == "replaced"
    first = store.documents()[0]
    assert (first.document_id, first.title, first.date, first.tags) == (1, "New", "2024-05-01", ("history",))
    with store.read() as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM entities")}
        assert connection.execute("SELECT * FROM words WHERE words MATCH 'punch'").fetchall() == []
    assert names == {"Grace Hopper", "Charles Babbage", "Bank of England", "Luigi Menabrea", "Royal Society"}


@pytest.mark.parametrize(
    ("date", "tags", "want"),
    [
        (None, ["other", "more"], ("2024-05-01", ("more", "other"))),
        (None, [], ("2024-05-01", ())),
        ("2020-01-01", None, ("2020-01-01", ("history",))),
    ],
)
def test_other_metadata_replace_a_document_as_well(
    store: CorpusStore, folder: Path, date: str | None, tags: list[str] | None, want: tuple[str, tuple[str, ...]]
) -> None:
    """The content alone is not all there is."""
    added = store.add(folder / "2024-05-01-engine.md", date=date, tags=tags)
    first = store.documents()[0]
    assert added.outcome == "replaced"
    assert (first.date, first.tags) == want


def test_the_same_content_under_another_name_is_not_added(store: CorpusStore, folder: Path) -> None:
    """The same passage is not found twice."""
    (folder / "copy.txt").write_bytes((folder / "journey.txt").read_bytes())
    assert store.add(folder / "copy.txt") == Added("duplicate", "documents/journey.txt")
    assert len(store.documents()) == 3


@pytest.mark.parametrize(
    ("name", "date"),
    [("notes 2021-02-28.txt", "2021-02-28"), ("2021-02-30.txt", None), ("12021-02-03.txt", None), ("a.txt", None)],
)
def test_a_date_in_the_name_is_the_date(put: Callable[..., CorpusStore], name: str, date: str | None) -> None:
    """When it is a day, and no other is given."""
    assert put(name, "words").documents()[0].date == date


def test_a_date_given_counts_for_more(put: Callable[..., CorpusStore]) -> None:
    """The caller knows better than a name."""
    assert put("2021-02-28.txt", "words", date="2020-01-01").documents()[0].date == "2020-01-01"


@pytest.mark.parametrize("date", ["1.1.2020", "2020-1-1", "20200101", "2020-13-01", ""])
def test_what_is_no_date_is_refused(empty: CorpusStore, folder: Path, date: str) -> None:
    """Before anything is written."""
    with pytest.raises(ToolError, match=r"date|day"):
        empty.add(folder / "journey.txt", date=date)
    assert empty.documents() == []


@pytest.mark.parametrize(
    ("content", "expected"),
    [(None, "is not a file"), (b"\xff", "not UTF-8"), (b" " * (MOST_BYTES + 1), "is larger than 16777216 bytes")],
)
def test_what_cannot_be_read_is_reported(
    empty: CorpusStore, tmp_path: Path, content: bytes | None, expected: str
) -> None:
    """With the name of the file; no corpus is made."""
    file = tmp_path / "odd.txt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ToolError, match=f"odd.txt.*{expected}"):
        empty.add(file)
    assert not empty.file.exists()


def test_documents_outside_of_the_folder_have_their_full_path(tmp_path: Path, folder: Path) -> None:
    """The others move together with the corpus."""
    (tmp_path / "elsewhere").mkdir()
    store = CorpusStore(tmp_path / "elsewhere" / "corpus.sqlite3")
    assert store.add(folder / "journey.txt").path == (folder / "journey.txt").resolve().as_posix()


def test_any_name_of_a_corpus_will_do(tmp_path: Path, folder: Path) -> None:
    """What would mean something in an address is a part of the name."""
    store = CorpusStore(tmp_path / "a?mode=memory#b%20c.sqlite3")
    store.add(folder / "journey.txt")
    assert (store.file.is_file(), len(store.documents())) == (True, 1)


def test_a_name_that_is_not_utf8_is_spelled_out(empty: CorpusStore, tmp_path: Path) -> None:
    """Linux has such names, SQLite has not."""
    file = tmp_path / "a\udcff.txt"
    file.write_bytes(b"words")
    assert empty.add(file).path == "a\\udcff.txt"
    assert empty.add(file).outcome == "unchanged"


@pytest.mark.parametrize("word", ["2", "documents/bank.html", "{folder}/bank.html"])
def test_a_document_is_removed_with_all_it_left(store: CorpusStore, folder: Path, word: str) -> None:
    """By number or path; entities that others mention stay."""
    assert store.remove(word.format(folder=folder)) == "documents/bank.html"
    assert [each.document_id for each in store.documents()] == [1, 3]
    assert [_count(store, table) for table in ("chunks", "words", "entities", "mentions")] == [2, 2, 7, 8]


def test_numbers_are_not_given_again(store: CorpusStore, folder: Path) -> None:
    """What was cited stays what it was."""
    store.remove("3")
    store.add(folder / "journey.txt")
    assert [each.document_id for each in store.documents()] == [1, 2, 4]


@pytest.mark.parametrize("word", ["9", "missing.txt", "9" * 30, "²"])
def test_removing_what_is_not_there_is_reported(store: CorpusStore, word: str) -> None:
    """And changes nothing."""
    with pytest.raises(ToolError, match=f"there is no document `{word}`"):
        store.remove(word)
    assert len(store.documents()) == 3


def test_a_corpus_that_is_not_there_is_empty(empty: CorpusStore) -> None:
    """Looking makes no file."""
    assert (empty.documents(), empty.has_documents()) == ([], False)
    with pytest.raises(ToolError, match="there is no corpus yet"), empty.read():
        pytest.fail("there is nothing to read")
    with pytest.raises(ToolError, match="there is no corpus"):
        empty.remove("1")
    assert not empty.file.exists()


def test_a_corpus_knows_whether_it_has_documents(store: CorpusStore) -> None:
    """Until the last one is gone."""
    assert store.has_documents()
    for number in ("1", "2", "3"):
        store.remove(number)
    assert not store.has_documents()


def test_reading_can_write_nothing(store: CorpusStore) -> None:
    """Not even where no one looks at the statements."""
    with pytest.raises(ToolError, match="readonly"), store.read() as connection:
        connection.execute("DELETE FROM documents")
    assert len(store.documents()) == 3


def test_the_file_of_another_program_is_left_alone(empty: CorpusStore, folder: Path) -> None:
    """A database that is none of ours is neither read nor written."""
    connection = sqlite3.connect(empty.file)
    connection.execute("CREATE TABLE documents (secret)")
    connection.commit()
    connection.close()
    before = empty.file.read_bytes()
    for attempt in (lambda: empty.add(folder / "journey.txt"), empty.documents):
        with pytest.raises(ToolError, match="is not a corpus of this version of permitry"):
            attempt()
    assert not empty.has_documents()
    assert empty.file.read_bytes() == before


def test_a_file_that_is_no_database_is_reported(empty: CorpusStore, folder: Path) -> None:
    """In a sentence, not in a traceback."""
    empty.file.write_bytes(b"no database at all" * 100)
    with pytest.raises(ToolError, match=r"the corpus `corpus.sqlite3` cannot be used: file is not a database"):
        empty.add(folder / "journey.txt")


def test_a_failure_half_way_leaves_the_old_document(
    store: CorpusStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file is added whole or not at all."""
    before = store.documents()
    (folder / "journey.txt").write_text("changed", encoding="utf-8")

    def fail(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("permitry_tools.corpus.store.entities_of", fail)
    with pytest.raises(KeyboardInterrupt):
        store.add(folder / "journey.txt")
    assert store.documents() == before

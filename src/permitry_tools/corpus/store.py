"""`CorpusStore`: documents, their pieces and what they name, in one SQLite file."""

import contextlib
import datetime as dt
import hashlib
import re
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs

from permitry.port import ToolError, current_cancellation
from permitry_tools.corpus.entities import entities_of
from permitry_tools.corpus.text import Text, pieces_of, read_text, spell_out

__all__ = ["METADATA", "MOST_BYTES", "Added", "CorpusStore", "Document", "iso_date"]

MOST_BYTES = 16 * 1024 * 1024
_APPLICATION = 0x7065_6D63  # no other program's file is taken for a corpus
_VERSION = 1
_PATIENCE = 5.0
_STEPS = 10_000
_DATE = re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)")

METADATA = {
    "documents": "document_id, path, title, date (YYYY-MM-DD or NULL), size (bytes), media, chunks, sha256",
    "tags": "document_id, tag",
    "chunks": "chunk_id, document_id, chunk_index",
    "entities": "entity_id, key (lower case), name, kind (name, identifier or hashtag)",
    "mentions": "entity_id, chunk_id",
}
"""The tables that hold no text of a document, with their columns."""

_SCHEMA = (
    """CREATE TABLE documents (
        document_id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL UNIQUE, title TEXT NOT NULL, date TEXT,
        size INTEGER NOT NULL, media TEXT NOT NULL, chunks INTEGER NOT NULL, sha256 TEXT NOT NULL)""",
    """CREATE TABLE
        tags ( document_id INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE, tag TEXT NOT NULL,
        PRIMARY KEY (document_id, tag)) WITHOUT ROWID""",
    """CREATE TABLE chunks (
        chunk_id INTEGER PRIMARY KEY AUTOINCREMENT, document_id INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
        chunk_index INTEGER NOT NULL, UNIQUE (document_id, chunk_index))""",
    "CREATE VIRTUAL TABLE words USING fts5 (title, content, tokenize = 'porter unicode61 remove_diacritics 2')",
    """CREATE TABLE entities (
        entity_id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, name TEXT NOT NULL, kind TEXT NOT NULL)""",
    """CREATE
        TABLE mentions ( entity_id INTEGER NOT NULL REFERENCES entities, chunk_id INTEGER NOT NULL REFERENCES chunks ON
        DELETE CASCADE, PRIMARY KEY (entity_id, chunk_id)) WITHOUT ROWID""",
    "CREATE INDEX mentions_of_chunk ON mentions (chunk_id, entity_id)",
    """CREATE VIEW relations AS
        SELECT a.entity_id AS entity_a, b.entity_id AS entity_b, a.chunk_id AS chunk_id
        FROM mentions AS a JOIN mentions AS b ON b.chunk_id = a.chunk_id AND b.entity_id <> a.entity_id""",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {_VERSION}",
)


@attrs.frozen
class Document:
    """What is known about a document; `path` is relative to the folder of the corpus where it lies in there."""

    document_id: int
    path: str
    title: str
    date: str | None
    size: int
    media: str
    chunks: int
    tags: tuple[str, ...]


@attrs.frozen
class Added:
    """What came of adding a file: `added`, `replaced`, `unchanged`, or `duplicate` of the document `path`."""

    outcome: str
    path: str
    chunks: int = 0


@attrs.frozen
class CorpusStore:
    """Documents in the SQLite file `file`, with full-text search and a graph of what they name.

    The file is made when the first document is added. Thread-safe: every operation has a connection of its own.
    """

    file: Path = attrs.field(converter=Path)

    def add(self, file: Path, *, date: str | None = None, tags: Iterable[str] | None = None) -> Added:
        """Take in a text file, in one transaction; a file that was there before is replaced where it has changed.

        Without `date` (YYYY-MM-DD) the date in the file's name counts, else the one it had. Without `tags` it keeps
        those it had.

        Raises: `ToolError` when the file cannot be read, is not text or too large, or the corpus cannot be written.
        """
        data = _bytes_of(file)
        try:
            text = read_text(file, data)
            given = iso_date(date) if date is not None else _date_in(file.name)
        except ValueError as error:
            raise ToolError(f"`{file}` is not added: {error}") from error
        wanted = None if tags is None else frozenset(map(spell_out, tags))
        with self._begin_writing() as connection:
            return self._put(connection, file, data, text, given, wanted)

    def documents(self) -> list[Document]:
        """Return all documents, in the order they were added; none where there is no corpus yet.

        Raises: `ToolError` when the corpus cannot be read.
        """
        if not self.file.exists():
            return []
        with self.read() as connection:
            rows = connection.execute(
                "SELECT document_id, path, title, date, size, media, chunks FROM documents ORDER BY document_id"
            )
            return [Document(*(*row, tuple(sorted(_tags(connection, row[0]))))) for row in rows.fetchall()]

    def has_documents(self) -> bool:
        """Return whether there is anything to search; a corpus that cannot be read has nothing."""
        with contextlib.suppress(ToolError), self.read() as connection:
            return connection.execute("SELECT 1 FROM documents LIMIT 1").fetchone() is not None
        return False

    def remove(self, word: str) -> str:
        """Remove the document with this id or path, and return its path.

        Raises: `ToolError` when there is none, or the corpus cannot be written.
        """
        if not self.file.exists():
            raise ToolError(f"there is no corpus `{self.file}`")
        with self._begin_writing() as connection:
            names = (word, self._path_of(Path(word)))
            row = connection.execute(
                "SELECT document_id, path FROM documents WHERE document_id = ? OR path IN (?, ?)",
                (int(word) if word.isascii() and word.isdigit() and len(word) < 18 else None, *names),  # noqa: PLR2004 -- what SQLite holds
            ).fetchone()
            if row is None:
                raise ToolError(f"there is no document `{word}` in the corpus; `permitry corpus list` shows all")
            _drop(connection, row[0])
            return str(row[1])

    @contextlib.contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Give a connection that can write nothing, for the time of a `with` block; a cancelled call ends its queries.

        Raises: `ToolError` when there is no corpus, or SQLite cannot read it.
        """
        if not self.file.is_file():
            raise ToolError("there is no corpus yet; `permitry corpus add` makes one")
        cancellation = current_cancellation()
        with self._connect("ro") as connection:
            connection.set_progress_handler(lambda: cancellation.is_cancelled, _STEPS)
            if _stamp(connection) != (_APPLICATION, _VERSION):
                raise ToolError(f"`{self.file.name}` is not a corpus of this version of permitry")
            yield connection

    @contextlib.contextmanager
    def _begin_writing(self) -> Iterator[sqlite3.Connection]:
        with self._connect("rwc") as connection:
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("BEGIN IMMEDIATE")
            _prepare(connection, self.file)
            yield connection
            connection.execute("COMMIT")

    @contextlib.contextmanager
    def _connect(self, mode: str) -> Iterator[sqlite3.Connection]:
        try:
            address = f"{self.file.absolute().as_uri()}?mode={mode}"
            # What is not committed when the connection closes is rolled back.
            with contextlib.closing(
                sqlite3.connect(address, uri=True, timeout=_PATIENCE, isolation_level=None)
            ) as connection:
                connection.execute("PRAGMA trusted_schema = OFF")
                yield connection
        except sqlite3.Error as error:
            raise ToolError(f"the corpus `{self.file.name}` cannot be used: {error}") from error

    def _put(  # noqa: PLR0917 -- one document, in its parts
        self,
        connection: sqlite3.Connection,
        file: Path,
        data: bytes,
        text: Text,
        date: str | None,
        tags: frozenset[str] | None,
    ) -> Added:
        path, digest = self._path_of(file), hashlib.sha256(data).hexdigest()
        old = connection.execute(
            "SELECT document_id, sha256, date, chunks FROM documents WHERE path = ?", (path,)
        ).fetchone()
        if old is None:
            same = connection.execute("SELECT path FROM documents WHERE sha256 = ? LIMIT 1", (digest,)).fetchone()
            if same is not None:
                return Added("duplicate", same[0])
        else:
            had = _tags(connection, old[0])
            tags, date = had if tags is None else tags, old[2] if date is None else date
            if (old[1:3], had) == ((digest, date), tags):
                return Added("unchanged", path, old[3])
            _drop(connection, old[0])
        pieces = pieces_of(text.body)
        document_id = connection.execute(
            "INSERT INTO documents (document_id, path, title, date, size, media, chunks, sha256)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (None if old is None else old[0], path, text.title, date, len(data), text.media, len(pieces), digest),
        ).lastrowid
        connection.executemany("INSERT INTO tags VALUES (?, ?)", [(document_id, tag) for tag in tags or ()])
        for index, piece in enumerate(pieces):
            _put_piece(connection, (document_id, index), text.title, piece)
        return Added("added" if old is None else "replaced", path, len(pieces))

    def _path_of(self, file: Path) -> str:
        """Return the name of a file in the corpus, which stays the same when both are moved together."""
        place, folder = file.resolve(), self.file.resolve().parent
        name = (place.relative_to(folder) if place.is_relative_to(folder) else place).as_posix()
        return spell_out(name)


def iso_date(text: str) -> str:
    """Return a date as YYYY-MM-DD.

    Raises: `ValueError` for anything else.
    """
    if not _DATE.fullmatch(text):
        raise ValueError(f"`{text}` is not a date; write it as in `2025-03-31`")
    try:
        return dt.date.fromisoformat(text).isoformat()
    except ValueError as error:
        raise ValueError(f"there is no day `{text}`") from error


def _date_in(name: str) -> str | None:
    for match in _DATE.finditer(name):
        with contextlib.suppress(ValueError):
            return iso_date(match[0])
    return None


def _bytes_of(file: Path) -> bytes:
    try:
        if not file.is_file():
            raise ToolError(f"`{file}` is not a file")
        with file.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise ToolError(f"`{file}` cannot be read: {error.strerror}") from error
    if len(data) > MOST_BYTES:
        raise ToolError(f"`{file}` is larger than {MOST_BYTES} bytes")
    return data


def _stamp(connection: sqlite3.Connection) -> tuple[int, int]:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return application, version


def _prepare(connection: sqlite3.Connection, file: Path) -> None:
    """Make the tables in an empty file; refuse one that holds something else."""
    if _stamp(connection) == (_APPLICATION, _VERSION):
        return
    if connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() != (0,):
        raise ToolError(f"`{file.name}` is not a corpus of this version of permitry; name another file")
    for statement in _SCHEMA:
        connection.execute(statement)


def _tags(connection: sqlite3.Connection, document_id: int) -> frozenset[str]:
    rows = connection.execute("SELECT tag FROM tags WHERE document_id = ?", (document_id,))
    return frozenset(tag for (tag,) in rows)


def _put_piece(connection: sqlite3.Connection, place: tuple[int | None, int], title: str, piece: str) -> None:
    chunk_id = connection.execute("INSERT INTO chunks (document_id, chunk_index) VALUES (?, ?)", place).lastrowid
    connection.execute("INSERT INTO words (rowid, title, content) VALUES (?, ?, ?)", (chunk_id, title, piece))
    for entity in entities_of(piece):
        connection.execute(
            "INSERT INTO entities (key, name, kind) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING",
            (entity.key, entity.name, entity.kind),
        )
        connection.execute(
            "INSERT INTO mentions SELECT entity_id, ? FROM entities WHERE key = ?", (chunk_id, entity.key)
        )


def _drop(connection: sqlite3.Connection, document_id: int) -> None:
    """Remove a document, its pieces, and the entities that nothing else mentions."""
    named = connection.execute(
        "SELECT DISTINCT entity_id FROM mentions JOIN chunks USING (chunk_id) WHERE document_id = ?", (document_id,)
    ).fetchall()
    connection.execute(
        "DELETE FROM words WHERE rowid IN (SELECT chunk_id FROM chunks WHERE document_id = ?)", (document_id,)
    )
    connection.execute("DELETE FROM documents WHERE document_id = ?", (document_id,))
    connection.executemany(
        "DELETE FROM entities WHERE entity_id = ? "
        "AND NOT EXISTS (SELECT 1 FROM mentions WHERE mentions.entity_id = entities.entity_id)",
        named,
    )

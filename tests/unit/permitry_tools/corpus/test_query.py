"""SQL of a model: the metadata, and nothing else."""

import pytest
from tests.tables import for_each

from permitry.dispatch.cancel import SIGNAL, Cancellation, SetFor
from permitry.errors import ToolError
from permitry_tools.corpus.query import QueryError, query
from permitry_tools.corpus.store import METADATA, CorpusStore


def _from_numbers(what: str, most: int) -> str:
    """Return a query of `what` for each number up to `most`."""
    numbers = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT"
    return f"{numbers} {most}) SELECT {what}, x FROM n"  # noqa: S608 -- the texts of the test


@for_each(
    ("sql", "want"),
    [
        ("SELECT title FROM documents ORDER BY lower(title)", ["A bank", "journey", "The Analytical Engine"]),
        ("SELECT count(*) FROM documents WHERE date >= '2024'", [1]),
        ("SELECT d.title FROM documents d JOIN tags t USING (document_id) WHERE t.tag = 'history'", None),
        ("SELECT x FROM (SELECT date AS x FROM documents WHERE path LIKE '%journey%')", ["2023-05-02"]),
        ("WITH t AS (SELECT max(size) AS m FROM documents) SELECT m > 10 FROM t", [1]),
        ("SELECT DISTINCT document_id FROM chunks JOIN mentions USING (chunk_id)", [1, 2, 3]),
        ("SELECT name FROM entities WHERE kind = 'name' AND key GLOB 'ada*'", ["Ada Lovelace"]),
        ("SELECT strftime('%Y', date) FROM documents WHERE date IS NOT NULL GROUP BY 1", ["2023", "2024"]),
        ("VALUES (1), (2)", [1, 2]),
        ("SELECT 1 WHERE 0", []),
    ],
)
def test_metadata_are_answered(store: CorpusStore, sql: str, want: list[object] | None) -> None:
    """With joins, groups and the usual functions."""
    rows, is_whole = query(store, sql)
    assert ([next(iter(row.values())) for row in rows], is_whole) == (
        want or ["The Analytical Engine"][: want is None],
        True,
    )


def test_all_tables_of_the_metadata_can_be_read(store: CorpusStore) -> None:
    """Each that is named is there."""
    for table in METADATA:
        assert query(store, f"SELECT * FROM {table}")[0]  # noqa: S608 -- our own names


@for_each(
    "sql",
    [
        "SELECT * FROM words",
        "SELECT count(*) FROM words",
        "SELECT * FROM words_content",
        "SELECT c0 FROM words_content AS documents",
        "SELECT highlight(words, 0, '', '') FROM words",
        "WITH documents AS (SELECT * FROM words) SELECT * FROM documents",
        "WITH documents AS (SELECT c1 FROM words_content) SELECT * FROM documents",
        "SELECT * FROM (SELECT c1 FROM words_content) AS documents",
        "SELECT title FROM documents WHERE title IN (SELECT c0 FROM words_content)",
        "SELECT * FROM documents JOIN words_content",
        "SELECT * FROM relations",
        "SELECT * FROM sqlite_master",
        "SELECT count(*) FROM sqlite_schema",
        "SELECT * FROM sqlite_sequence",
        "SELECT * FROM pragma_table_info('documents')",
        "SELECT * FROM json_each('[1]')",
        "PRAGMA table_info(documents)",
        "PRAGMA query_only = OFF",
        "ATTACH '/tmp/other' AS other",
        "INSERT INTO tags VALUES (1, 'x')",
        "UPDATE documents SET title = 'x'",
        "DELETE FROM documents",
        "WITH t AS (SELECT 1) DELETE FROM documents",
        "CREATE TEMP TABLE documents (x)",
        "DROP TABLE documents",
        "BEGIN",
        "VACUUM",
        "EXPLAIN SELECT 1",
        "SELECT load_extension('x')",
        "SELECT randomblob(1000000000)",
        "SELECT zeroblob(1000000000)",
        "SELECT printf('%1000000000d', 1)",
        "SELECT readfile('/etc/passwd')",
        "SELECT sqlite_version()",
        "SELECT 1; SELECT 2",
        "SELECT",
        "SELECT author FROM documents",
        "",
        "-- nothing",
        "\0",
        "SELECT '\ud800'",
    ],
)
def test_everything_else_is_refused(store: CorpusStore, sql: str) -> None:
    """Texts, inner tables, other files, other statements, other functions, whatever name a subquery bears."""
    with pytest.raises(QueryError):
        query(store, sql)
    assert len(store.documents()) == 3


@for_each(
    ("sql", "expected"),
    [
        (
            "SELECT * FROM sqlite_master",
            "`sqlite_master` may not be read; only SELECT is allowed, from documents, tags",
        ),
        ("SELECT hex(1)", "the function `hex` may not be used"),
        ("SELECT author FROM documents", "no such column: author"),
        ("DELETE FROM tags", "only SELECT is allowed, from documents, tags, chunks, entities, mentions"),
        (_from_numbers("sum(x)", 10**9), "the query takes too long; ask for less"),
        ("SELECT replace('aaaaaaaaaa', 'a', title || title) || replace(title, '', '') FROM documents", None),
        (_from_numbers(f"group_concat('{'x' * 100}')", 1_000), "too big"),
    ],
)
def test_a_refusal_says_why(store: CorpusStore, sql: str, expected: str | None) -> None:
    """So that a model can do better."""
    if expected is None:
        assert query(store, sql)[1]
        return
    with pytest.raises(QueryError) as caught:
        query(store, sql)
    assert expected in str(caught.value)


def test_at_most_200_rows_are_given(store: CorpusStore) -> None:
    """And it is shown that there are more."""
    rows, is_whole = query(store, _from_numbers("1", 201))
    assert (len(rows), is_whole) == (200, False)
    rows, is_whole = query(store, _from_numbers("1", 200))
    assert (len(rows), is_whole) == (200, True)


def test_at_most_12000_characters_are_given(store: CorpusStore) -> None:
    """Few rows can be long as well."""
    rows, is_whole = query(store, _from_numbers(f"'{'x' * 1_980}' AS a", 9))
    assert (len(rows), is_whole) == (6, False)


def test_values_are_json(store: CorpusStore) -> None:
    """A blob is reported by its spelling, and two columns of one name are one."""
    assert query(store, "SELECT 1 AS a, 2.5 AS b, NULL AS c, x'00' AS d")[0] == [
        {"a": 1, "b": 2.5, "c": None, "d": "b'\\x00'"}
    ]


def test_a_cancelled_query_ends(store: CorpusStore) -> None:
    """A call that is over does not go on working."""
    cancellation, sql = Cancellation(), _from_numbers("sum(x)", 10_000)
    assert query(store, sql)[1]
    cancellation.cancel()
    with SetFor(SIGNAL, cancellation), pytest.raises(QueryError, match="interrupted"):
        query(store, sql)


def test_without_a_corpus_there_is_nothing_to_ask(empty: CorpusStore) -> None:
    """And no file is made."""
    with pytest.raises(ToolError, match="there is no corpus yet"):
        query(empty, "SELECT 1")
    assert not empty.file.exists()

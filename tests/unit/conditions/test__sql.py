"""One SQL statement that only reads: nothing else is taken for one."""

import pickle
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import for_each

from permitry.conditions._sql import Select
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.errors import ConfigError

SELECT = Select()

READS = r"""
SELECT 1
select * from t where a = 'x; drop table' and b in (1,2,3) order by c limit 10 offset 5
SELECT count(*) AS n, lower(name) FROM users u JOIN orders o ON u.id = o.user_id GROUP BY 2 HAVING count(*) > 3;
SELECT a FROM t UNION ALL SELECT b FROM u
WITH x AS (SELECT a FROM t) SELECT * FROM x
SELECT CASE WHEN a > 1 THEN 'x' ELSE 'y' END AS k FROM s.t
SELECT coalesce(a, 0) FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id)
SELECT DISTINCT city FROM c WHERE name LIKE 'O''Brien%' AND age BETWEEN 3 AND 5 AND comment IS NOT NULL
SELECT max("order total") FROM "orders"
SELECT cast(a AS integer) FROM t
SELECT row_number() OVER (PARTITION BY a ORDER BY b) AS n FROM t
SELECT 'né' AS x
SELECT a - 1, -b FROM t LEFT JOIN u ON t.a = u.a
SELECT sum(a * b) / 100.0 AS total FROM t WHERE day >= '2026-01-01'
SELECT (SELECT max(a) FROM u) AS m FROM t
(SELECT a FROM t) UNION (SELECT b FROM u)
SELECT a || '-' || b AS c FROM t
""".strip().split("\n")

# None of these may be taken for a statement that only reads.
ATTACKS = r"""
SELECT 1; DROP TABLE t
SELECT 1;;SELECT 2
SELECT 1 -- x
SELECT--1
SELECT 1 /* x */
SELECT 1 /*!50000 INTO OUTFILE '/x' */
SELECT 1 # x
SELECT * INTO x FROM t
SELECT a FROM t INTO OUTFILE '/tmp/x'
SELECT a FROM t INTO DUMPFILE '/tmp/x'
SELECT a FROM t FOR UPDATE
SELECT a FROM t FOR SHARE
SELECT a FROM t LOCK IN SHARE MODE
SELECT a FROM t holdlock
SELECT a FROM t WHERE a IS DISTINCT FROM b
SELECT $1
SELECT pg_sleep(10)
SELECT "pg_sleep"(10)
SELECT "pg_sleep" (10)
SELECT pg_sleep (10)
SELECT pg_catalog.pg_sleep(10)
SELECT sleep(5)
SELECT benchmark(1,2)
SELECT get_lock('a', 10)
SELECT load_file('/etc/passwd')
SELECT * FROM pg_read_file('/etc/passwd')
SELECT nextval('s')
SELECT s.nextval FROM dual
COPY t TO PROGRAM 'x'
WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x
WITH x AS (INSERT INTO t VALUES (1) RETURNING *) SELECT * FROM x
WITH x AS (UPDATE t SET a = 1 RETURNING *) SELECT * FROM x
WITH x AS (SELECT 1) DELETE FROM t
WITH RECURSIVE x AS (SELECT 1 UNION ALL SELECT 1 FROM x) SELECT * FROM x
EXEC xp_cmdshell 'dir'
xp_cmdshell 'dir'
SELECT 1 EXEC xp_cmdshell 'dir'
SELECT 1 DROP TABLE t
SELECT 1 SHUTDOWN
SELECT 1 WAITFOR DELAY '0:0:5'
SELECT 1 GO DROP TABLE x
SELECT 'a\'; DROP TABLE t; --'
SELECT 'a\' , 'b'
SELECT $$a$$
SELECT E'x'
SELECT N'x'
SELECT q'[it's]' FROM dual
SELECT mytype 'x'
SELECT _utf8 'x'
SELECT `a` FROM t
SELECT [a] FROM t
SELECT @@version
SELECT @x := 1
EXPLAIN ANALYZE DELETE FROM t
PRAGMA journal_mode=OFF
ATTACH 'x' AS y
SELECT load_extension('x')
SELECT * FROM 'x.csv'
SELECT * FROM "http://x/y.csv"
SELECT * FROM t WHERE a = dblink('x','y')
SELECT lo_export(1, '/x')
SELECT set_config('x','y',false)
SELECT query_to_xml('delete from t', true, true, '')
CALL p()
VALUES (1)
TABLE t
SELECT 1 WHERE (SELECT p())
SELECT my_func(1)
SELECT 1 UNION SELECT pg_sleep(1)
SELECT (t).f FROM t
SELECT * FROM openrowset('x','y','z')
SELECT * FROM t CROSS APPLY f(1)
SELECT 1 AS "a""b"
SELECT XMLPARSE(DOCUMENT 'x')
SELECT * FROM t TABLESAMPLE BERNOULLI (1)
SET x = 1
BEGIN; SELECT 1
SELECT a FROM t PROCEDURE ANALYSE(1,1)
SELECT cast('x' AS mytype)
SELECT 0x41
SELECT {fn now()}
SELECT a::regclass
SELECT 1 +/ 2
SELECT t.a.b.c.d.e() FROM t
not sql at all
""".strip().split("\n")
ODD = (
    "",
    " ",
    ";",
    "SELECT 1\x00",
    "SELECT\u00a01",
    "SELECT 1 \u2028 x",
    "(" * 100 + "SELECT 1" + ")" * 100,
    "S" * 5_000,
)
PARTS = (
    "; DROP TABLE t", "-- ", "/* */", "/*! x */", "# ", "INTO x", "FOR UPDATE", "pg_sleep(1)", "EXEC p", "DROP TABLE t",
    "WAITFOR DELAY '0:0:9'", "\\", "`", "$$", "{", "[", "@x", "::", "load_file('x')", "xp_cmdshell 'x'", "\x00",
    "DELETE FROM t",
)  # fmt: skip


@for_each("text", READS)
def test_a_statement_that_only_reads_is_one(text: str) -> None:
    """As people write them."""
    assert SELECT.truth(text) is True


@for_each("text", [*ATTACKS, *ODD])
def test_nothing_else_is_taken_for_one(text: str) -> None:
    """It has no answer: a permission does not match, and a restriction does."""
    assert str(SELECT.truth(text)).startswith("is not certain to be one SQL statement that only reads: ")


@for_each("text", ["DELETE FROM t", "  drop table t", "Update t SET a = 1", "INSERT INTO t VALUES (1)", "TRUNCATE t"])
def test_a_change_is_certainly_none(text: str) -> None:
    """By its first word."""
    assert SELECT.truth(text) is False


@given(st.sampled_from([text for text in READS if not {*"'\""} & {*text}]), st.sampled_from(PARTS), st.data())
def test_an_attack_at_any_place_is_seen(text: str, part: str, data: st.DataObject) -> None:
    """Outside of texts and quoted names there is no place where it hides."""
    words = text.split(" ")
    at = data.draw(st.integers(1, len(words)))
    assert SELECT.truth(" ".join([*words[:at], part, *words[at:]])) is not True


@given(st.text(max_size=60))
def test_no_text_breaks_it(text: str) -> None:
    """Whatever a model writes has an answer."""
    assert isinstance(SELECT.truth(text), bool | str)


def decide(effect: str, part: str, value: object) -> Verdict:
    """Return the verdict of one rule about a call."""
    rule = (
        f'schema = 1\n[[rule]]\nid = "r"\neffect = "{effect}"\ntools = ["q"]\n{part}.args.sql = {{ sql = "select" }}\n'
    )
    return load_policy(rule).decide(ToolCall("q", {"sql": value}), AuthContext()).verdict


@for_each("value, permitted, matched, excepted", [
    ("SELECT 1", Verdict.ALLOW, Verdict.BLOCK, Verdict.CONFIRM),
    ("SELECT f(1)", Verdict.CONFIRM, Verdict.BLOCK, Verdict.BLOCK),
    ("DELETE FROM t", Verdict.CONFIRM, Verdict.CONFIRM, Verdict.BLOCK),
    (["SELECT 1"], Verdict.CONFIRM, Verdict.BLOCK, Verdict.BLOCK),
    (3, Verdict.CONFIRM, Verdict.BLOCK, Verdict.BLOCK),
])  # fmt: skip
def test_what_is_not_certain_restricts_and_permits_nothing(
    value: object, permitted: Verdict, matched: Verdict, excepted: Verdict
) -> None:
    """Law 2, for a permission, a restriction, and the exception of one."""
    assert (decide("allow", "when", value), decide("block", "when", value)) == (permitted, matched)
    assert decide("block", "unless", value) == excepted


def test_another_word_is_an_error() -> None:
    """There is no other one yet."""
    with pytest.raises(ConfigError, match='only `sql = "select"` is known'):
        load_policy('schema = 1\n[[rule]]\nid = "r"\neffect = "allow"\nwhen.args.q = { sql = "insert" }\n')


def test_without_sqlglot_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule is not loaded."""
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    with pytest.raises(ConfigError, match=r"install it with: .* -m pip install 'permitry\[sql\]'"):
        load_policy('schema = 1\n[[rule]]\nid = "r"\neffect = "allow"\nwhen.args.q = { sql = "select" }\n')


def test_it_is_a_value() -> None:
    """Equal to another one, shown as in the file, and taken to another process."""
    assert pickle.loads(pickle.dumps(SELECT)) == SELECT  # noqa: S301 -- our own pickle
    assert str(SELECT) == "select"

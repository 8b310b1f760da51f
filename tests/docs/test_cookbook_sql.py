"""The recipe for SQL in the cookbook, attacked: what it lets through reads the known tables, and does nothing else."""

import re
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import for_each

from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "cookbook.md"
TABLES = {"orders", "customers"}
AGGREGATES = {"count", "sum", "avg", "min", "max", "like"}
READING = [
    "select 1",
    "select * from orders",
    "SELECT *\nFROM customers ;",
    "select count(*) from orders",
    "select city, sum(total) from customers",
    "select id from orders where name = 'Ann, Bob' and total >= 1.5",
    "select id from orders where day like '2026-01-%' or id <> 7 order by id, total desc limit 3;",
    "select city, max(total) from customers group by city",
]
ATTACKS = [
    "", "1", "select", "select *", "select current_user", "select sqlite_version()", "select version()",
    "drop table orders", "delete from orders", "update orders set id = 1", "insert into orders values (1)",
    "pragma writable_schema = 1", "attach 'x' as y", "vacuum", "table orders", "values (1)", "call f()", "do $$ $$",
    "select 1; drop table orders", "select 1;select 1", "select 1;;", "; select 1", "select * from orders;--",
    "select * from orders --", "select * from orders #", "select * from orders /*", "select/**/1", "select 1/*!,2*/",
    "select * from orders where name = 'a' -- '", "select * from orders where name = 'a--b'",
    "select * from orders where name = '/*' and id = '*/'", "select * from orders where name = '#'",
    "select * from orders where name = 'a;b'", "select * from orders where name = 'a''b'",
    "select * from orders where name = 'a' 'b'", "select * from orders where name = 'a\\'",
    "select * from orders where name = E'a'", 'select * from orders where name = "a"',
    "select * from orders where name = $$a$$", "select * from orders where name = 'a\x00'",
    "select * from orders where name = 'a\nb'", "select * from orders where name = \u2018a\u2019",
    "select `id` from orders",
    'select "id" from orders', "select [id] from orders", "select id::text from orders", "select @@version from orders",
    "select @a := 1 from orders", "select :id from orders", "select ? from orders", "select 0x1g from orders where",
    "select * from secrets", "select * from Orders", "select * from orders2", "select * from public.orders",
    "select * from orders o", "select * from orders as o", "select * from orders, secrets", "select * from (orders)",
    "select * from orders join secrets", "select * from orders natural join secrets", "select id from secrets, orders",
    "select id from secrets where a from orders", "select (select key from secrets) from orders",
    "select * from orders where id in (select key from secrets)", "select * from orders where exists (select 1)",
    "select * from orders union select * from secrets", "select * from orders union all select * from secrets",
    "select * from orders where a = b union select * from secrets", "select * from orders except select 1",
    "select * from orders limit 1 union select * from secrets", "select * from orders limit (select 1)",
    "select * from orders limit 1, 2", "select * from orders limit 1 offset f(1)", "select * from orders order by f(1)",
    "select * from orders order by (select 1)", "select * from orders group by f(1)",
    "select * from orders where f(1) = 1", "select * from orders where id = f(1)", "select f(id) from orders",
    "select sleep(9) from orders", "select pg_sleep(9) from orders", "select load_extension('x') from orders",
    "select count(f(1)) from orders", "select count((select 1)) from orders", "select count(distinct f(1)) from orders",
    "select count (*) from orders", "select sum(id) over (order by f(1)) from orders", "select count(*)(1) from orders",
    "select id into copies from orders", "select * into copies from orders", "select id, total into copies from orders",
    "select * from orders into outfile 'x'", "select * from orders into dumpfile 'x'", "select * from orders into @a",
    "select * from orders for update", "select * from orders for share", "select * from orders lock in share mode",
    "select * from orders procedure analyse()", "select * from orders where a = b delete from orders",
    "select * from orders shutdown", "select * from orders exec x", "select * from orders go drop table orders",
    "with a as (delete from orders returning *) select * from a", "explain select * from orders",
    "explain analyze delete from orders", "copy orders to program 'x'", "create table a as select * from orders",
    "begin; select 1; commit", "set x = 1", "show tables", "use x", "load data infile 'x' into table orders",
    "select * from orders where id = 1 and", "select * from orders\\g", "\\! ls", ".shell ls",
    "select * from orders\x00",
    "select * from orders\x0b", "select\u00a0* from orders", "select * from order\u017f", "select * from \uff4frders",
    "select * from orders\u037e", "\ufeffselect * from orders", "select 1\u2028drop table orders",
]  # fmt: skip
WORDS = st.sampled_from(
    [
        ",", ";", "(", ")", "=", "<", ">", "'", ".", "--", "/*", "*/", "\\", "\n", "1", "-1", "1.5", "'a'",
        "select", "from", "where", "and", "like",
        "orders", "customers", "secrets", "id", "key", "into", "union", "count(*)", "max(id)", "load_file(1)", "join",
        "order by", "group by", "limit", "delete from", "drop table", "as", "on", " ",
    ]
)  # fmt: skip


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> AuthorizationPolicy:
    """Return the policy of the recipe, as the page has it."""
    recipe = re.search(
        r"<!-- file: sql.toml -->\n```toml\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    assert recipe is not None
    path = tmp_path_factory.mktemp("sql") / "sql.toml"
    path.write_text(recipe[1], encoding="utf-8")
    return load_policy(path)


def _runs(policy: AuthorizationPolicy, sql: object) -> bool:
    call = ToolCall("query", {"sql": sql})
    return policy.decide(call, AuthContext(yolo_mode=True)).verdict is Verdict.ALLOW


def _touched(sql: str) -> set[str]:
    """Return what a database does for the text beyond reading the known tables, in second statements too."""
    database = sqlite3.connect(":memory:")
    database.executescript(
        "create table orders (id, name, total, day); create table customers (id, city, total, name);"
        "create table secrets (key, id);"
    )
    beyond: set[str] = set()

    def watch(action: int, first: str | None, second: str | None, *_: object) -> int:
        is_known = (
            action == sqlite3.SQLITE_SELECT
            or (action == sqlite3.SQLITE_READ and first in TABLES)
            or (action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in AGGREGATES)
        )
        if not is_known:
            beyond.add(f"{action} {first} {second}")
        return sqlite3.SQLITE_OK if is_known else sqlite3.SQLITE_DENY

    database.set_authorizer(watch)
    try:
        database.executescript(sql)
    except (sqlite3.Error, ValueError):
        pass  # what the database refuses does nothing
    finally:
        database.close()
    return beyond


@for_each("sql", READING)
def test_what_only_reads_runs(policy: AuthorizationPolicy, sql: str) -> None:
    """Also in YOLO mode the rest is asked about, so this is what the recipe lets through."""
    assert _runs(policy, sql)
    assert _touched(sql) == set()


@for_each("sql", ATTACKS)
def test_what_may_do_more_is_asked_about(policy: AuthorizationPolicy, sql: str) -> None:
    """Other tables, functions, statements, comments, and what databases read differently."""
    assert not _runs(policy, sql)


@for_each("sql", [["select 1"], {"text": "select 1"}, None, 1, True])
def test_another_type_is_asked_about(policy: AuthorizationPolicy, sql: object) -> None:
    """The tool may make a text of it in a way of its own."""
    assert not _runs(policy, sql)


@settings(max_examples=400, deadline=None)
@given(
    base=st.sampled_from(READING),
    at=st.integers(0, 60),
    words=st.lists(WORDS, min_size=1, max_size=5),
)
def test_what_runs_after_a_change_still_only_reads(
    policy: AuthorizationPolicy, base: str, at: int, words: list[str]
) -> None:
    """Words put anywhere into a statement: if it is let through, the database only reads the known tables."""
    sql = base[:at] + "".join(words) + base[at:]
    if _runs(policy, sql):
        assert _touched(sql) == set()
        assert "--" not in sql
        assert "/*" not in sql
        assert ";" not in sql.rstrip().removesuffix(";")

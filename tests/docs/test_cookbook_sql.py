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


@for_each("sql")
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

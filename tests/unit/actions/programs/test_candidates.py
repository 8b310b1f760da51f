"""What a word may name."""

import time

from tests.tables import for_each

from permitry.actions.programs.candidates import (
    UNSEEN,
    code_of,
    expand_globs,
    hosts_in,
    hosts_of_git,
    names_in,
    paths_in,
)
from permitry.core.action import Word


def test_the_home_folder_stays_in_front_of_a_colon() -> None:
    """The shell expands a tilde only at the beginning of a word."""
    found = {word.text: word.is_home for word in paths_in(Word("~/a:~/b", is_home=True), "x")}
    assert (found["~/a"], found["~/b"]) == (True, False)


def test_a_module_of_jq_is_a_file_with_an_ending() -> None:
    """Of a name that `import` and `include` give without one."""
    found = {word.text for word in paths_in(Word('import "a/keys" as $k; $k'), "jq")}
    assert {"a/keys", "a/keys.jq", "a/keys.json"} <= found


@for_each(
    ("program", "text", "has_star"),
    [
        ("sqlite3", "SELECT count(*) FROM a;", False),
        ("sqlite3", "select * from a", False),
        ("sqlite3", "select *, b from a", False),
        ("sqlite", "select a * 2, (*)", False),
        ("sqlite3", "select *;", False),
        ("sqlite3", ".read */x", True),
        ("sqlite3", ".output *.sql", True),
        ("vim", ":e *", True),
    ],
)
def test_a_star_of_sql_is_no_file(program: str, text: str, *, has_star: bool) -> None:
    """Alone it is all columns or a product; an editor expands it."""
    found = {word.text for word in paths_in(Word(text), program)} - {text}
    assert any("*" in name and " " not in name for name in found) is has_star


def test_code_names_what_its_literals_open() -> None:
    """Perl opens a file for writing by a mark before its name, and PHP one by its address."""
    found = {word.text for word in names_in(Word("open F, '>> a/b'; g('file:///c/d')"))}
    assert found == {">> a/b", "a/b", "file:///c/d", "/c/d"}
    assert UNSEEN in set(names_in(Word("'a' " * 1000)))


def test_too_many_parts_are_a_name_nobody_has_seen() -> None:
    """What is not looked at is not nothing."""
    assert UNSEEN in set(hosts_in(Word("--x=" + "a.b," * 1000), is_network=True))
    assert UNSEEN in set(paths_in(Word("'a'" * 1000), "awk"))


@for_each("text")
def test_a_computed_name_is_one_nobody_has_seen(text: str) -> None:
    """What a program of `awk` opens or runs by it may be anything."""
    assert UNSEEN in set(paths_in(Word(text), "awk"))


@for_each("text")
def test_a_whole_name_is_the_one_that_is_named(text: str) -> None:
    """And nothing else is opened."""
    assert UNSEEN not in set(paths_in(Word(text), "awk"))


@for_each(
    ("text", "addresses"),
    [
        ("http://a.b/{c,d}", {"http://a.b/{c,d}"}),
        ("{http://a/,http://b/}", {"http://a/", "http://b/"}),
        ("http://[a-c].b", {"http://a.b", "http://b.b", "http://c.b"}),
        ("http://[01-02].b/x", {"http://01.b/x", "http://02.b/x"}),
        ("http://[::1]/", {"http://[::1]/"}),
    ],
)
def test_braces_and_ranges_are_expanded(text: str, addresses: set[str]) -> None:
    """As curl does; what is behind the host is left alone."""
    assert {word.text for word in expand_globs(Word(text))} == addresses


def test_too_many_addresses_are_an_open_one() -> None:
    """It may lead anywhere."""
    assert [word.is_open for word in expand_globs(Word("http://[1-9][1-9]"))] == [True]


def test_only_programs_of_the_network_have_bare_hosts() -> None:
    """Elsewhere a word needs the look of an address."""
    assert list(hosts_in(Word("a.b"), is_network=False)) == []
    assert {word.text for word in hosts_in(Word("a.b"), is_network=True)} == {"a.b"}
    assert [word.text for word in hosts_in(Word('"/inet/tcp/0/a.b/80"'), is_network=False)] == ["a.b"]


def test_a_repository_may_be_on_any_machine() -> None:
    """Where git expects one, a name without a dot is a machine as well."""
    assert [word.text for word in hosts_of_git(tuple(map(Word, ("git", "fetch", "host:a", "b:c"))))] == ["host"]


@for_each("text", ['"\\' * 30_000, "{" * 60_000, "[a-" * 20_000, "w" * 60_000, "a@" * 30_000, "getline " * 8_000])
def test_long_words_take_no_time(text: str) -> None:
    """The processor is measured, as the machine may be busy."""
    begin = time.process_time()
    for program in ("awk", "sed", "vim"):
        list(paths_in(Word(text), program))
    list(hosts_in(Word(text), is_network=True))
    assert time.process_time() - begin < 8


@for_each(
    ("text", "code"),
    [
        ("perl -pe s/a/b/ c", {"s/a/b/"}), ("deno eval a/b", {"a/b"}), ("tsx gen.ts -p secret/a", set()),
        ("deno run gen.ts eval secret/a", set()), ("python3 -W x -c f('a')", {"f('a')"}), ("make -c x", set()),
    ],
)  # fmt: skip
def test_code_is_behind_an_option_of_the_interpreter(text: str, code: set[str]) -> None:
    """Behind a script, what looks like a file is one."""
    assert {word.text for word in code_of([Word(each) for each in text.split()])} == code


@for_each(
    ("program", "text", "named"),
    [
        ("mysql", "source a.sql; select 1", {"a.sql"}), ("mysql", r"\. a", {"a"}), ("psql", r"\i 'a b'", {"a"}),
        ("psql", r"\copy t from a.csv", {"a.csv"}), ("psql", "select * from t", set()), ("sftp", "put a b", {"a"}),
        ("smbclient", "lcd a; mput *", {"a", "*"}), ("mariadb", "load data infile 'a' into table t", {"a"}),
        ("cat", "source a", set()), ("curl", "x=<a", {"a"}),
    ],
)  # fmt: skip
def test_a_console_opens_what_is_behind_its_commands(program: str, text: str, named: set[str]) -> None:
    """And not what is behind those of SQL, unless it looks like a path."""
    found = {each.text for each in paths_in(Word(text), program)}
    assert named <= found
    assert named or found <= {text}

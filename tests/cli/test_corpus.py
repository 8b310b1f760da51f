"""`permitry corpus`: documents in, listed and out again."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Outcome = tuple[int, str, str]
Cli = Callable[..., Outcome]
Objects = Callable[[str], list[dict[str, Any]]]


@pytest.fixture
def folder(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with a folder `docs` of two texts in it, and things that are none."""
    docs = workspace / "docs"
    (docs / "deep").mkdir(parents=True)
    (docs / ".hidden").mkdir()
    (docs / "2024-05-01-engine.md").write_text("# The engine\n\nAda Lovelace.\n", encoding="utf-8")
    (docs / "deep" / "bank.html").write_text("<title>A bank</title><p>Money.", encoding="utf-8")
    for name in (".hidden/a.txt", ".a.txt", "picture.png", "main.py"):
        (docs / name).write_text(f"not taken: {name}", encoding="utf-8")
    (docs / "link.txt").symlink_to("main.py")
    monkeypatch.chdir(workspace)
    return workspace


def test_a_folder_is_walked(cli: Cli, folder: Path) -> None:
    """For texts that are not hidden; where the corpus is goes to standard error."""
    assert cli("corpus", "add", "docs") == (
        0,
        "added     docs/2024-05-01-engine.md: 1 part\nadded     docs/deep/bank.html: 1 part\n",
        f"2 documents in {folder / 'corpus.sqlite3'}\n",
    )


def test_a_file_named_is_taken_whatever_its_ending(cli: Cli, folder: Path) -> None:
    """What is named is meant."""
    code, out, _ = cli("corpus", "add", "docs/main.py", "--db", "other.sqlite3")
    assert (code, out) == (0, "added     docs/main.py: 1 part\n")
    assert (folder / "other.sqlite3").is_file()
    assert not (folder / "corpus.sqlite3").exists()


def test_adding_again_takes_only_what_has_changed(cli: Cli, folder: Path) -> None:
    """The same content under another name is not taken twice."""
    cli("corpus", "add", "docs")
    (folder / "docs" / "2024-05-01-engine.md").write_text("# Changed\n", encoding="utf-8")
    (folder / "docs" / "copy.txt").write_text("<title>A bank</title><p>Money.", encoding="utf-8")
    assert cli("corpus", "add", "docs")[1].splitlines() == [
        "replaced  docs/2024-05-01-engine.md: 1 part",
        "duplicate docs/copy.txt: the same as docs/deep/bank.html",
        "unchanged docs/deep/bank.html: 1 part",
    ]


def test_documents_are_listed(cli: Cli, folder: Path) -> None:
    """One a line, with date, title and tags."""
    assert folder.is_dir()
    cli("corpus", "add", "docs/2024-05-01-engine.md", "--tag", "old", "--tag", "history")
    cli("corpus", "add", "docs/deep", "--date", "1999-12-31")
    cli("corpus", "add", "docs/main.py")
    code, out, err = cli("corpus", "list")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "   1  2024-05-01  docs/2024-05-01-engine.md: The engine (1 part) #history #old",
        "   2  1999-12-31  docs/deep/bank.html: A bank (1 part)",
        "   3  -           docs/main.py: main (1 part)",
    ]


def test_documents_are_removed(cli: Cli, folder: Path) -> None:
    """By number or path."""
    assert folder.is_dir()
    cli("corpus", "add", "docs")
    assert cli("corpus", "remove", "2", "docs/2024-05-01-engine.md") == (
        0,
        "removed   docs/deep/bank.html\nremoved   docs/2024-05-01-engine.md\n",
        "",
    )
    assert cli("corpus", "list") == (0, "", "")


def test_with_json_objects_are_printed(cli: Cli, objects: Objects, folder: Path) -> None:
    """One a document, and nothing else on standard output."""
    assert folder.is_dir()
    file = "docs/2024-05-01-engine.md"
    (added,) = objects(cli("corpus", "add", file, "--json")[1])
    assert added == {"file": file, "outcome": "added", "path": file, "chunks": 1}
    (listed,) = objects(cli("corpus", "list", "--json")[1])
    assert listed == {
        "document_id": 1, "path": file, "title": "The engine", "date": "2024-05-01", "size": 28,
        "media": "markdown", "chunks": 1, "tags": [],
    }  # fmt: skip
    (removed,) = objects(cli("corpus", "remove", "1", "--json")[1])
    assert removed == {"path": file, "outcome": "removed"}


def test_a_file_that_cannot_be_added_stops_no_other(cli: Cli, folder: Path) -> None:
    """It is reported, and the exit code says so."""
    (folder / "docs" / "a.txt").write_bytes(b"\xff\xfe")
    code, out, err = cli("corpus", "add", "missing", "docs")
    assert (code, len(out.splitlines())) == (1, 2)
    assert err.splitlines() == [
        "permitry: `missing` is not a file",
        "permitry: `docs/a.txt` is not added: it is not UTF-8 text",
        f"2 documents in {folder / 'corpus.sqlite3'}",
    ]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("list",), "permitry: there is no corpus `corpus.sqlite3`; `permitry corpus add` makes one"),
        (("remove", "1"), "permitry: there is no corpus `corpus.sqlite3`; `permitry corpus add` makes one"),
        (("add", "docs", "--date", "today"), "permitry: `today` is not a date; write it as in `2025-03-31`"),
        (("add",), "usage: permitry corpus add "),
        (("drop",), "usage: permitry corpus "),
    ],
)
def test_mistakes_are_reported(cli: Cli, folder: Path, words: tuple[str, ...], expected: str) -> None:
    """With code 4, and no corpus is made."""
    code, out, err = cli("corpus", *words)
    assert (code, out, err[: len(expected)]) == (4, "", expected)
    assert not (folder / "corpus.sqlite3").exists()


def test_removing_what_is_not_there_is_a_mistake(cli: Cli, folder: Path) -> None:
    """What was before it is removed all the same."""
    assert folder.is_dir()
    cli("corpus", "add", "docs")
    assert cli("corpus", "remove", "1", "9") == (
        4,
        "removed   docs/2024-05-01-engine.md\n",
        "permitry: there is no document `9` in the corpus; `permitry corpus list` shows all\n",
    )


def test_the_file_of_another_program_is_left_alone(cli: Cli, folder: Path) -> None:
    """`--db` may be a slip."""
    connection = sqlite3.connect(folder / "other.sqlite3")
    connection.execute("CREATE TABLE accounts (secret)")
    connection.close()
    message = "permitry: `other.sqlite3` is not a corpus of this version of permitry\n"
    assert cli("corpus", "add", "docs", "--db", "other.sqlite3") == (4, "", message)


def test_what_documents_say_of_themselves_does_not_steer_a_terminal(cli: Cli, folder: Path) -> None:
    """A title is shown spelled out, on one line."""
    (folder / "odd\x1b[2J.html").write_text("<title>A\x1b[31m</title>", encoding="utf-8")
    assert "\x1b" not in cli("corpus", "add", "odd\x1b[2J.html", "--tag", "\x1b[1m")[1]
    out = cli("corpus", "list")[1]
    assert ("\x1b" in out, out.count("\n"), "A\\u001b[31m" in out) == (False, 1, True)


def test_many_files_show_their_progress(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal, on standard error alone."""
    for number in range(30):
        (folder / f"{number}.txt").write_text(f"text {number}", encoding="utf-8")
    assert "adding" not in cli("corpus", "add", ".")[2]
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    code, out, err = cli("corpus", "add", ".")
    assert (code, len(out.splitlines())) == (0, 32)
    assert "adding" in err

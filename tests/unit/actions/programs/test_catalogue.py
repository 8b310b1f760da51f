"""What is known about programs: read late, and from the fast file only if it says the same."""

import hashlib
import json
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.actions.derive.opened import OPEN_WORDS
from permitry.actions.programs import catalogue as module
from permitry.actions.programs import guesses, inputs, names
from permitry.actions.programs.catalogue import bind, catalogue, compact, record_of, remember, shipped, using
from permitry.actions.programs.entries import Entry
from permitry.actions.programs.languages import LANGUAGES
from permitry.actions.programs.nested import RUNNERS

TEXT = """
[group]
[program."show display"]
operands = "read*"
[other."over above"]
elsewhere = true
runs = "-x="
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Have the catalogue read from `programs.toml` of a folder, and return the path of its fast file."""
    (tmp_path / "programs.toml").write_text(TEXT, encoding="utf-8")
    monkeypatch.setattr(module, "_TEXT", tmp_path / "programs.toml")
    monkeypatch.setattr(module, "_COMPACT", tmp_path / "programs.json")
    shipped.cache_clear()
    yield tmp_path / "programs.json"
    shipped.cache_clear()


@pytest.mark.usefixtures("files")
def test_an_unknown_program_is_not_there() -> None:
    """Nothing is guessed about it."""
    assert "other" not in catalogue()
    assert set(catalogue()) == {"show", "display", "over", "above"}
    assert len(catalogue()) == 4
    with pytest.raises(KeyError):
        catalogue()["other"]
    assert record_of("other") == Entry()


@pytest.mark.usefixtures("files")
def test_of_some_programs_it_is_only_known_what_they_run() -> None:
    """They are in a table of their own."""
    assert [name for name, entry in catalogue().items() if not entry.is_known] == ["over", "above"]


@pytest.mark.usefixtures("files")
def test_some_programs_run_commands_elsewhere() -> None:
    """No entry is read to know which."""
    assert catalogue().elsewhere == {"over", "above"}


def test_a_program_is_in_one_table() -> None:
    """And in one record."""
    names = [name for table in ("program", "other") for key in json.loads(compact())[table] for name in key.split()]
    assert len(names) == len(set(names))


def test_the_fast_file_counts_for_the_same_text(files: Path) -> None:
    """It holds what the text says; read from it, the programs are the same."""
    stored = json.loads(compact())
    assert stored["sha256"] == hashlib.sha256(TEXT.encode()).hexdigest()
    stored["program"]["fast"] = {}
    files.write_text(json.dumps(stored), encoding="utf-8")
    assert "fast" in catalogue()


@pytest.mark.parametrize("stored", ["", "[]", "{", '{"sha256": "0", "program": {"evil": {}}, "group": {}}', "\udcff"])
def test_any_other_fast_file_is_not_read(files: Path, stored: str) -> None:
    """One that is broken, or of another text, adds no program."""
    files.write_bytes(stored.encode(errors="surrogateescape"))
    assert "evil" not in catalogue()
    assert "show" in catalogue()


@for_each(
    ("name", "expected"),
    [("cat", True), ("curl", True), ("[[", True), ("find", False), ("git", False), ("unknown", False)],
)
def test_some_programs_run_nothing(name: str, *, expected: bool) -> None:
    """Where every option is harmless, or the file says so."""
    assert record_of(name).runs_nothing is expected


@for_each(
    ("field", "functions"),
    [
        ("guess", guesses.GUESSES),
        ("input", [*inputs.FED, "code", "console"]),
        ("language", LANGUAGES),
        ("makes", ["copies", "named", "downloads", "empty"]),
        ("open_words", OPEN_WORDS),
        ("prints", [*names.PRINTERS, *names.FILTERS, "operands", "xargs"]),
        ("runner", RUNNERS),
        ("script", ["awk", "find", "jq", "names", "printf", "sed", "set", "tar", "test", "unzip", "xargs"]),
        ("shell", ["bash", "posix", "other"]),
    ],
)
def test_a_field_is_one_of_some_words(field: str, functions: Collection[str]) -> None:
    """A word that no function is named by would be one that is not looked at; and none is of no program."""
    assert {getattr(record, field) for record in catalogue().values()} - {""} == set(functions)


def test_the_page_on_how_to_teach_a_program_shows_rows_of_the_data() -> None:
    """They are copied from it, and so they are what the commands on the page are decided by."""
    root = Path(__file__).parents[4]
    page = (root / "docs" / "how-to" / "teach-a-program.md").read_text(encoding="utf-8")
    data = (root / "src" / "permitry" / "actions" / "programs.toml").read_text(encoding="utf-8").splitlines()
    rows = [line for line in page.splitlines() if " = { " in line]
    assert rows
    assert set(rows) <= set(data)


def test_what_is_read_inside_is_read_by_another_catalogue() -> None:
    """Until its end, also where that is an error; what is bound inside is read by it later as well."""
    known = shipped().with_records({"ours": {"operands": "read*"}})
    with using(known):
        later = bind(lambda: "ours" in catalogue())
        assert catalogue() is known
    with pytest.raises(ZeroDivisionError), using(known):
        raise ZeroDivisionError
    assert catalogue() is shipped()
    assert later()


def test_what_is_remembered_belongs_to_a_catalogue() -> None:
    """Another one has its own results, and each is worked out once."""
    asked: list[str] = []

    @remember(4)
    def is_known(name: str, *, _again: bool = False) -> bool:
        asked.append(name)
        return name in catalogue()

    known = shipped().with_records({"ours": {}})
    for _ in range(2):
        assert not is_known("ours", _again=True)
        with using(known):
            assert is_known("ours", _again=True)
    assert asked == ["ours", "ours"]

"""Which commands of git are read, and where they run."""

from pathlib import Path

from tests.tables import for_each
from tests.unit.actions.test_changes import _changes

from permitry.actions.git_commands import GitCommand, git_command
from permitry.core.action import Operands, Run, Word


@for_each(
    ("command", "expected"),
    [
        ("git checkout -- a d/x", ("checkout", "", (), ("a", "d/x"))),
        ("git checkout -q -- .", ("checkout", "", ("-q",), (".",))),
        ("git checkout -- 'a b' c", ("checkout", "", (), ("a b", "c"))),
        ("git restore a", ("restore", "", (), ("a",))),
        ("git restore -W ./d/", ("restore", "", ("-W",), ("./d/",))),
        ("git restore --quiet -- a", ("restore", "", ("--quiet",), ("a",))),
        ("git clean -fd", ("clean", "", ("-f", "-d"), ())),
        ("git clean --force -d -- -x", ("clean", "", ("--force", "-d"), ("-x",))),
        ("git clean d -f", ("clean", "", ("-f",), ("d",))),
        ("cd d && git clean -fdX", ("clean", "/d", ("-f", "-d", "-X"), ())),
        ("ls; git restore x && git status", ("restore", "", (), ("x",))),
        ("git checkout -- a >/dev/null 2>&1", ("checkout", "", (), ("a",))),
    ],
)
def test_what_brings_files_back_or_removes_them_is_read(
    tmp_path: Path, command: str, expected: tuple[str, str, tuple[str, ...], tuple[str, ...]]
) -> None:
    """With the folder it runs in, also where something that only reads is next to it."""
    (tmp_path / "d").mkdir()
    name, folder, options, paths = expected
    found = _changes(tmp_path, command)
    assert found.git == GitCommand(name, f"{tmp_path}{folder}", options, paths)
    assert (found.paths, found.doubt) == ((), None)


@for_each("command")
def test_what_is_not_certain_is_no_such_command(tmp_path: Path, command: str) -> None:
    """It may do more, or elsewhere, or what is changed before may change what it does."""
    (tmp_path / "d").mkdir()
    found = _changes(tmp_path, command)
    assert found.git is None
    assert found.doubt is not None


def test_where_it_runs_must_be_known() -> None:
    """An operand of which the place is certain says so."""
    words = tuple(map(Word, ("git", "restore", "a")))
    assert git_command(Run(words, "`git restore` changes the repository", read_operands=Operands)) is None
    assert git_command(Run(words, "another reason")) is None

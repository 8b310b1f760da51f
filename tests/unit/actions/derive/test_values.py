"""What expansions become where the text, and where it runs, say that: a path that leads where the shell would go."""

from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.actions.command import Command
from permitry.actions.derive.values import expand, shown_values
from permitry.actions.disk import Disk
from permitry.actions.folders import Folder
from permitry.actions.reading.strict import read_strictly

FOLDER = Folder(("/w",), "/h", disk=Disk(is_there=False))


def _expand(text: str, folder: Folder = FOLDER) -> Command:
    *_, last = script = read_strictly(text)
    return expand(last, folder, script)


@for_each(("text", "expected"))
def test_an_expansion_is_what_the_shell_passes(text: str, expected: str) -> None:
    """One in a word, in quotes or without, and what is around it."""
    last = _expand(text).words[-1]
    assert (last.text, last.is_open) == (expected, False)


@for_each("text")
def test_an_expansion_stays_unknown(text: str) -> None:
    """Where another value is possible, or the text may be one in quotes."""
    assert any(word.is_open for word in _expand(text).words)


@for_each(
    ("base", "text", "is_open"), [("/w", "a $(pwd)", False), ("/a b", "a $(pwd)", True), ("/a b", 'a "$(pwd)"', False)]
)
def test_a_value_with_a_blank_is_split(base: str, text: str, *, is_open: bool) -> None:
    """Where no quotes are around it."""
    assert _expand(text, Folder((base,), "/h")).words[-1].is_open is is_open


def test_a_target_is_expanded() -> None:
    """A folder that is one of several has no value."""
    assert [(each.target, each.is_open) for each in _expand("a > $(pwd)/b").redirections] == [("/w/b", False)]
    assert _expand("a > $(pwd)/b", Folder(("/w", "/v"), "/h")).redirections[0].is_open


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return the top of a work tree on the branch `main`."""
    for name, text in (("HEAD", "ref: refs/heads/main\n"), ("config", "[core]\n\tbare = false\n")):
        (tmp_path / ".git").mkdir(exist_ok=True)
        (tmp_path / ".git" / name).write_text(text)
    (tmp_path / "src").mkdir()
    return tmp_path


def _shown(text: str, folder: Path) -> list[tuple[str, str]]:
    *_, last = read_strictly(text)
    return list(shown_values(last, Folder((str(folder),), "/h", writes_alone=True)))


def test_what_git_would_print_is_shown(repository: Path) -> None:
    """By the files of the repository, from a folder in it too; the word itself stays as unknown as it was."""
    text = "git push origin $(git branch --show-current)"
    assert _shown(text, repository / "src") == [("$(git branch --show-current)", "main")]
    top = ("$(git rev-parse --show-toplevel)", str(repository))
    assert _shown('ls "$(git rev-parse --show-toplevel)/a"', repository / "src") == [top]
    assert _expand(text, Folder((str(repository),), "/h")).words[-1].is_open
    assert _shown("x=$(pwd); ls $x", repository) == []
    *_, last = read_strictly(f"git switch a; {text}")
    assert list(shown_values(last, Folder((str(repository),), "/h"))) == []


@for_each(
    ("name", "text"),
    [
        ("HEAD", "0" * 40 + "\n"),
        ("HEAD", "x" * 20_000),
        ("HEAD", "ref: refs/heads/.invalid\n"),
        ("HEAD", f"ref: refs/heads/{'x' * 300}\n"),
        ("config", "[core]\n\tWorkTree = /x\n"),
    ],
)
def test_what_git_would_print_is_not_known(repository: Path, name: str, text: str) -> None:
    """Without a branch in this file, with a work tree that is elsewhere, or where there is no repository."""
    (repository / ".git" / name).write_text(text)
    assert _shown("echo $(git branch --show-current)", repository) == []
    assert _shown("echo $(git branch --show-current)", repository.parent) == []


def test_a_folder_of_two_names_is_not_known(tmp_path: Path) -> None:
    """A shell may print either, and a rule about commands may be about one."""
    link = tmp_path / "link"
    link.symlink_to(tmp_path, target_is_directory=True)
    folder = Folder((str(tmp_path),), "/h", disk=Disk(workspace=str(link)))
    assert _expand("ls $(pwd)", folder).words[-1].is_open

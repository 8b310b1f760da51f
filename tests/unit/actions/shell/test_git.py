"""What git runs besides itself."""

import pytest

from permitry.actions.shell.git import git_runs
from permitry.actions.shell.lenient import read_leniently


def _runs(text: str) -> set[str]:
    inners = git_runs(read_leniently(text).commands[0].words)
    return {(inner.text if inner.text is not None else " ".join(word.text for word in inner.words)) for inner in inners}


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("git -c alias.p=push p", "git push "),
        ("git -C d -c alias.p='push --force' p", "git push --force "),
        ("git config alias.p push", "git push "),
        ("git -c alias.p='!rm x' p", "git p"),
        ("git submodule --quiet foreach --recursive 'git push'", "git push"),
        ("git bisect run rm x", "rm x"),
        ("git clone 'ext::rm x' y", "rm x"),
        ("git filter-branch --tree-filter 'rm x'", "rm x"),
    ],
)
def test_what_git_runs_is_found(text: str, inner: str) -> None:
    """An alias without a mark is another command of git."""
    assert inner in _runs(text)


def test_a_plain_command_runs_only_git() -> None:
    """Words that merely stand there are none."""
    assert _runs("git commit -m x") == set()

"""Comparisons of two rule files that are written down as text."""

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import pytest

from permitry.config.load import load_rules
from permitry_ops.diff.search import Answer, Search
from permitry_ops.diff.side import Side

WORKSPACE = "/permitry-diff/workspace"
Git: TypeAlias = Callable[[Path], None]
Found: TypeAlias = Callable[[str, str], Sequence[Answer]]


def side_of(text: str) -> Side:
    """Return the side of the rules in a text."""
    return Side.of(load_rules(f"schema = 1\n{text}\n"), WORKSPACE)


@pytest.fixture
def found() -> Found:
    """Return a function that returns what is found of each opening from one text to another."""

    def answers(old: str, new: str) -> Sequence[Answer]:
        return Search(side_of(old), side_of(new)).answer_all()

    return answers


@pytest.fixture
def git() -> Git:
    """Return a function that makes a repository of a folder, with all that is in it."""

    def commit(folder: Path) -> None:
        for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "all")):
            command = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.com", *words]
            subprocess.run(command, check=True, capture_output=True)

    return commit

"""The real program behind a real terminal: which stream the editor gets, and answers typed too early."""

import json
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Outcome = tuple[int, str, str, str]
Objects = Callable[[str], list[dict[str, Any]]]
Talk = Callable[..., Outcome]

QUESTION = "[q]uit: "
AS_EDITED = "back to the first: "
GUIDANCE = "(empty for nothing) "
WRITE = {"id": "w", "name": "write_file", "arguments": {"path": "a.txt", "content": "new\n"}}
AGAIN = {"id": "v", "name": "write_file", "arguments": {"path": "b.txt", "content": "new\n"}}
SHELL = {"id": "s", "name": "run_shell", "arguments": {"command": "touch c.txt"}}


@pytest.fixture
def talk(at_terminal: Callable[..., Outcome], guarding: list[str]) -> Talk:
    """Return a function that runs a session of calls, given on standard input, with a dialogue at the terminal."""

    def talked(*dialogue: tuple[str, str], calls: list[dict[str, Any]]) -> Outcome:
        session = "".join(f"{json.dumps(call)}\n" for call in calls).encode()
        return at_terminal([*guarding, "--json"], *dialogue, session=session)

    return talked


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that makes `$EDITOR` of Python code, in which `path` is the file to edit."""

    def made(code: str) -> None:
        script = tmp_path / "editor"
        script.write_text(f"#!{sys.executable}\nimport pathlib, sys\npath = pathlib.Path(sys.argv[-1])\n{code}\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("EDITOR", str(script))

    return made


def test_the_editor_works_on_the_terminal(
    talk: Talk, editor: Callable[[str], None], objects: Objects, workspace: Path
) -> None:
    """What the editor prints is no result, and what it reads is no line of the session."""
    change = "path.write_text(path.read_text().replace('new', 'newer'))"
    editor(f"print('an editor'); {change}; sys.exit(sys.stdin.readline() != 'quit editor\\n')")
    edit = ((QUESTION, "e\n"), ("an editor", "quit editor\n"), (AS_EDITED, "y\n"))
    _, out, _, seen = talk(*edit, (QUESTION, "y\n"), calls=[WRITE, AGAIN])
    assert [line["ok"] for line in objects(out)[:-1]] == [True, True]
    assert "an editor" in seen
    assert sorted(path.name for path in workspace.iterdir()) == ["a.txt", "b.txt"]


def test_a_wide_change_is_shown_to_its_end(talk: Talk) -> None:
    """A line of a diff that is wider than the terminal is folded, not cut: what hides at its end would run unseen."""
    hidden = {"id": "w", "name": "write_file", "arguments": {"path": "a.sh", "content": f"{'x' * 300} evil\n"}}
    _, _, _, seen = talk((QUESTION, "n\n"), (GUIDANCE, "\n"), calls=[hidden])
    assert "evil" in seen.partition("+++")[2]


def test_what_was_typed_ahead_is_no_answer(talk: Talk, workspace: Path) -> None:
    """An answer typed before its question could be read does not count."""
    _, _, _, seen = talk((QUESTION, "y\ny\n"), (QUESTION, "q\n"), calls=[WRITE, AGAIN])
    assert seen.count(QUESTION) == 2
    assert [path.name for path in workspace.iterdir()] == ["a.txt"]

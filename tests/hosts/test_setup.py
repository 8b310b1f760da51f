"""`permitry setup` in front of the real Claude Code, as an editor starts it: fewer questions, and each one is shown."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.golden.test_asked_less import COMMANDS, UNASKED
from tests.hosts.editor import Question, ask_in_editor
from tests.hosts.fake_models import FakeModel
from tests.hosts.real_hosts import HOSTS, MODULES

from permitry.cli.main import main
from permitry_hosts.hooks.places import place

_HOST = HOSTS["claude-code"]
pytestmark = [
    pytest.mark.hosts,
    pytest.mark.skipif(not MODULES or not _HOST.program.exists(), reason="needs the npm package of claude-code"),
]
_DAY = COMMANDS[3::8][:100]
"""A hundred of the commands that developers and agents type all day."""


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a home folder in which Claude Code was started before, with a project as the current folder."""
    folder = tmp_path_factory.mktemp("h")
    (folder / ".claude").mkdir()
    (folder / "project").mkdir()
    (folder / "project/pyproject.toml").touch()
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("PATH", f"{MODULES}/.bin:{os.environ['PATH']}")
    monkeypatch.chdir(folder / "project")
    yield folder
    # The resident ends without its socket.
    shutil.rmtree(place().parent, ignore_errors=True)


def _commands(asked: list[Question]) -> set[str]:
    return {question["input"]["command"] for question in asked}


def _results(model: FakeModel) -> str:
    return json.dumps(model.requests[-1]["messages"])


def test_a_day_has_fewer_questions_than_without(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the same project, by the same program; what permitry blocks is none of them."""
    alone, _ = ask_in_editor(home, _DAY)
    assert _commands(alone) == set(_DAY) - UNASKED
    assert main(["setup", "--yes"]) == 0, capsys.readouterr()
    guarded, model = ask_in_editor(home, _DAY)
    blocked = _results(model).count("was blocked")
    with capsys.disabled():
        print(f"\n{len(_DAY)} calls: {len(alone)} questions without, {len(guarded)} with, {blocked} blocked")
    assert len(guarded) + blocked < 0.9 * len(alone)
    assert main(["setup", "--undo", "--yes"]) == 0
    again, _ = ask_in_editor(home, _DAY[:10])
    assert _commands(again) == set(_DAY[:10]) - UNASKED


def test_a_question_of_the_hook_is_shown_in_the_editor(home: Path) -> None:
    """With its reason, and the answer counts; what is permitted runs unasked."""
    (home / "project/.git").mkdir()
    (home / "project/build").mkdir()
    (home / "project/build/a").touch()
    assert main(["setup", "--yes"]) == 0
    asked, _ = ask_in_editor(home, ["cat pyproject.toml", "rm -rf build"])
    assert _commands(asked) == {"rm -rf build"}
    assert "deletes a folder" in asked[0]["decision_reason"]
    assert (home / "project/build/a").exists()
    _, model = ask_in_editor(home, ["rm -rf build", "git push"], says="allow")
    assert not (home / "project/build").exists()
    assert "Publishing is left to the user." in _results(model)

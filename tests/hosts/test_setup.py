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
from tests.tables import for_each

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
    figures = len(alone), len(guarded), blocked
    assert len(guarded) + blocked < 0.9 * len(alone), figures
    assert main(["setup", "--undo", "--yes"]) == 0
    again, _ = ask_in_editor(home, _DAY[:10])
    assert _commands(again) == set(_DAY[:10]) - UNASKED


RULES = """\
schema = 1
[[rule]]
id = "ask-touch-asked"
effect = "confirm"
when.command = "touch asked*"
reason = "MARTEN: makes a file that is asked about"
"""


@for_each("mode", ["default", "acceptEdits", "auto"])
def test_a_question_of_the_hook_is_shown_in_the_editor(home: Path, mode: str) -> None:
    """With its reason, and the answer counts; what is permitted runs unasked, and what is blocked does not run."""
    rules = home / ".config/permitry/rules.toml"
    rules.parent.mkdir(parents=True, exist_ok=True)
    rules.write_text(RULES)
    assert main(["setup", "--yes"]) == 0
    asked, _ = ask_in_editor(home, ["touch asked"], mode=mode)
    assert [question["decision_reason"] for question in asked] == ["MARTEN: makes a file that is asked about"]
    assert not (home / "project/asked").exists()
    asked, model = ask_in_editor(home, ["touch asked", "cat pyproject.toml", "git push"], mode=mode, says="allow")
    assert _commands(asked) == {"touch asked"}
    assert (home / "project/asked").exists()
    assert "Publishing is left to the user." in _results(model)
    (home / "project/asked").unlink()

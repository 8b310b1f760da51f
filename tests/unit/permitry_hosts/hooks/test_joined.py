"""A host that joins server and tool: the same name may be that of three tools, and each reading of it counts."""

import functools
import json
from contextlib import closing
from pathlib import Path

import pytest
from tests.tables import for_each
from tests.unit.permitry_hosts.hooks.payloads import command

from permitry.channels.clock import Moment
from permitry.channels.response import ToolConfirmationResponse
from permitry.channels.stored_question import StoredQuestion, answer_to
from permitry.cli.records import RecordFilter, records_at
from permitry.core.call import ToolCall
from permitry.guard.grants import Grant
from permitry.store.grants import StoredGrants
from permitry.store.questions import StoredQuestions
from permitry.store.sqlite import SqliteStore
from permitry_hosts.hooks.answering import Options, answer

_JOINT = """\
schema = 1
[[rule]]
id = "{effect}"
effect = "{effect}"
priority = 260
tools = [{tools}]
"""
_NAMES = ["a_b_c", "mcp:a/b_c", "mcp:a_b/c"]


@pytest.fixture(autouse=True)
def _folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def _grant(store: str, grant: Grant) -> None:
    with closing(SqliteStore(Path(store))) as opened:
        StoredGrants(opened).add(grant.row())


def _joint(tmp_path: Path, store: str, effect: str, *tools: str, more: str = "") -> str:
    """Return what opencode is answered about `a_b_c`."""
    named = ", ".join(map(json.dumps, tools))
    (tmp_path / "joint.toml").write_text(_JOINT.format(effect=effect, tools=named) + more)
    payload = command("opencode", "")
    arguments = {"path": str(tmp_path / "kept")} if more else {}
    payload |= {"input": {**payload["input"], "tool": "a_b_c"}, "output": {"args": arguments}}
    options = Options([str(tmp_path / "joint.toml")], store=store, grants=True)
    return answer("opencode", json.dumps(payload).encode(), options, {}).out


@for_each("asked", _NAMES[1:])
def test_a_grant_of_one_reading_of_a_name_permits_no_other(tmp_path: Path, asked: str) -> None:
    """Each may be the right one; of that which is asked about, a grant answers."""
    store = str(tmp_path / f"{_NAMES.index(asked)}.db")
    (other,) = set(_NAMES[1:]) - {asked}
    _grant(store, Grant(f'tools = ["{other}"]'))
    assert "permitry approve" in _joint(tmp_path, store, "confirm", *_NAMES[1:])
    assert "permitry approve" in _joint(tmp_path, store, "confirm", *_NAMES[1:])
    _grant(store, Grant(f'tools = ["{asked}"]'))
    assert _joint(tmp_path, store, "confirm", *_NAMES[1:]) == ""


# All readings write what can be kept.
_KEPT = "".join(f'[tool."{each}"]\ntraits = []\nroles.path = "write_path"\n' for each in _NAMES)
_KEEPS = '[[rule]]\nid = "keeps"\neffect = "allow"\npriority = 240\nkeep = true\ntools = ["{}"]\n'


@for_each("granted", _NAMES)
def test_a_grant_that_keeps_permits_no_other_reading(tmp_path: Path, granted: str) -> None:
    """Whichever comes first, and whether it answers a question; it permits where no other is asked about."""
    asked = functools.partial(_joint, tmp_path, str(tmp_path / f"{_NAMES.index(granted)}.db"), "confirm", more=_KEPT)
    _grant(asked.args[1], Grant(f'tools = ["{granted}"]\nkeep = true'))
    # The others are left to the host, and so is the call.
    assert asked("other") == ""
    assert {each["verdict"] for each in records_at(asked.args[1], RecordFilter(equal={"event": "decided"}))} == {
        "confirm"
    }
    assert asked(granted) == ""
    assert "permitry approve" in asked(*_NAMES)
    assert "permitry approve" in asked(*_NAMES)
    _grant(asked.args[1], Grant(f"tools = {_NAMES}\nunless.tools = ['{granted}']"))
    assert asked(*_NAMES) == ""


@for_each("granted", _NAMES)
def test_a_grant_of_the_very_call_is_one_of_one_reading(tmp_path: Path, granted: str) -> None:
    """Also where a rule asks that no other grant answers."""
    store, more = str(tmp_path / f"{_NAMES.index(granted)}.db"), _KEPT.replace("write_path", "read_path")
    server, _, tool = granted.removeprefix("mcp:").rpartition("/")
    digest = ToolCall(tool, {"path": str(tmp_path / "kept")}, server=server or None).digest
    _grant(store, Grant(f'tools = ["{granted}"]', digest))
    first = "[[rule]]\nid = 'first'\neffect = 'confirm'\npriority = 150\ntools = "
    assert _joint(tmp_path, store, "allow", *_NAMES, more=f"{more}{first}['{granted}']") == ""
    assert "permitry approve" in _joint(tmp_path, store, "allow", *_NAMES, more=f"{more}{first}{_NAMES}")


@for_each("kept", _NAMES)
def test_what_is_kept_first_is_so_for_one_reading(tmp_path: Path, kept: str) -> None:
    """A rule with `keep` permits no other that is asked about, and counts though others are allowed."""
    store, keeps = str(tmp_path / f"{_NAMES.index(kept)}.db"), _KEPT + _KEEPS.format(kept)
    others = [each for each in _NAMES if each != kept]
    assert _joint(tmp_path, store, "confirm", kept, more=keeps) == ""
    assert [each["event"] for each in records_at(store, RecordFilter())].count("kept") == 1
    _grant(store, Grant(f'tools = ["{others[0]}"]\nkeep = true'))
    assert "permitry approve" in _joint(tmp_path, store, "confirm", kept, others[0], more=keeps)
    (tmp_path / "kept").mkdir(exist_ok=True)
    assert "permitry approve" in _joint(tmp_path, store, "confirm", kept, more=keeps)


@for_each("asked", _NAMES[1:])
def test_a_question_about_one_reading_of_a_name_stays_one(tmp_path: Path, asked: str) -> None:
    """Law 6: whatever the rules say by now of all of them, and a human's no stays one."""
    store = str(tmp_path / f"{_NAMES.index(asked)}.db")
    assert "permitry approve" in _joint(tmp_path, store, "confirm", asked)
    assert "permitry approve" in _joint(tmp_path, store, "allow", *_NAMES)
    with closing(SqliteStore(Path(store))) as opened:
        questions = StoredQuestions(opened)
        (question,) = map(StoredQuestion.of, questions.open(Moment.now()))
        answer_to(questions, question, ToolConfirmationResponse(False, instructions="HERON"), by="ann")
    assert "HERON" in _joint(tmp_path, store, "allow", *_NAMES)


@for_each("granted", _NAMES)
def test_a_use_is_taken_for_every_reading_that_is_granted(tmp_path: Path, granted: str) -> None:
    """Also where another one decides; one call takes one use of a grant of several readings."""
    store = str(tmp_path / f"{_NAMES.index(granted)}.db")
    _grant(store, Grant(f'tools = ["{granted}"]', uses_left=1))
    assert _joint(tmp_path, store, "confirm", granted) == ""
    assert "permitry approve" in _joint(tmp_path, store, "confirm", granted)
    _grant(store, Grant(f"tools = {_NAMES}", uses_left=2))
    assert [_joint(tmp_path, store, "confirm", *_NAMES) for _ in range(2)] == ["", ""]
    assert "permitry approve" in _joint(tmp_path, store, "confirm", *_NAMES)


def test_a_use_that_another_process_takes_permits_no_other_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reading that decides needs none."""
    store = str(tmp_path / "s.db")
    _grant(store, Grant(f'tools = ["{_NAMES[1]}"]', uses_left=1))
    monkeypatch.setattr(StoredGrants, "take", lambda *_: False)
    assert "taken meanwhile" in _joint(tmp_path, store, "confirm", _NAMES[1])

"""Questions of hooks are in the store: each answer counts once, for one call of one session and agent, in time."""

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.unit.permitry_hosts.hooks.payloads import command

from permitry.channels.ancestors import ancestors
from permitry.channels.clock import Moment
from permitry.channels.response import ToolConfirmationResponse
from permitry.channels.stored_question import StoredQuestion, answer_to
from permitry.cli.records import RecordFilter, records_at
from permitry.errors import LedgerError, StoreError
from permitry.store.questions import StoredQuestions
from permitry.store.sqlite import SqliteStore
from permitry_hosts.hooks.answering import Options, answer
from permitry_hosts.hooks.asking import HostLedger

YES, NO = ToolConfirmationResponse(True), ToolConfirmationResponse(False, instructions="HERON")
ASKS = "[[rule]]\nid = 'asks'\neffect = 'confirm'\nwhen.command = 'touch *'"
ALLOWS = "[[rule]]\nid = 'allows'\neffect = 'allow'\nwhen.command = 'touch *'"
BLOCKS = "[[rule]]\nid = 'blocks'\neffect = 'block'\nwhen.command = 'touch *'\nmessage = 'MAGPIE'"


@attrs.define
class Host:
    """Claude Code, which makes every call under a new id, and a human at the store."""

    folder: Path
    questions: StoredQuestions
    number: int = 0

    def rules(self, text: str) -> None:
        """Put rules in force."""
        head = "schema = 1\nextends = ['permitry:tools-claude-code']\n"
        (self.folder / "rules.toml").write_text(head + text)

    def call(self, text: str = "touch a", *, options: Options | None = None, **more: Any) -> str:  # noqa: ANN401 -- parts of a payload
        """Return what the hook says about a command."""
        self.number += 1
        payload = {**command("claude-code", text), "tool_use_id": f"toolu_{self.number}", **more}
        given = attrs.evolve(options or Options(), rules=[str(self.folder / "rules.toml")])
        environ = {"CLAUDE_CODE_SESSION_ATTENDED": "1"} if more.get("attended") else {}
        return answer("claude-code", json.dumps(payload).encode(), given, environ).out

    @property
    def open(self) -> list[StoredQuestion]:
        """What a human can answer now."""
        return [StoredQuestion.of(row) for row in self.questions.open(Moment.now())]

    def answer(self, response: ToolConfirmationResponse) -> str:
        """Answer the one question that is open, and return its id."""
        (question,) = self.open
        answer_to(self.questions, question, response, by="ann")
        return question.id

    def events(self, call: int) -> list[str]:
        """Return what is on record about a call."""
        wanted = RecordFilter(equal={"call_id": f"toolu_{call}"})
        return [each["event"] for each in records_at(self.folder / "state/permitry/permitry.db", wanted)]


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    """Return a host whose rules ask about `touch`."""
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / ("" if name == "HOME" else name.split("_")[1].lower())))
    with closing(SqliteStore(tmp_path / "state/permitry/permitry.db")) as store:
        made = Host(tmp_path, StoredQuestions(store))
        made.rules(ASKS)
        yield made


def test_a_question_says_how_it_is_answered(host: Host) -> None:
    """With its id; the human is shown the call, the rule and the folder."""
    said = host.call()
    (question,) = host.open
    assert f"`permitry approve {question.id}` in another terminal" in said
    assert (question.session, question.agent, question.tool) == ("claude-code:s1", "main", "Bash")
    assert question.request is not None
    assert question.request.arguments["command"] == "touch a"
    assert "rule `asks`" in question.request.reason
    assert question.request.reason.endswith("in `/home/ann/project`")
    assert question.request.suggested_grants == ()


def test_another_store_is_named_as_well(host: Host, tmp_path: Path) -> None:
    """The human would look into the usual one."""
    other = str(tmp_path / "my s.db")
    assert f"--store '{other}'` in another" in host.call(options=Options(store=other))
    assert host.open == []


def test_an_answer_counts_once(host: Host) -> None:
    """For the call that is made again, under another id; the next one is asked about."""
    assert "permitry approve" in host.call()
    first = host.answer(YES)
    assert '"allow"' in host.call()
    assert host.open == []
    assert "permitry approve" in host.call()
    assert host.open[0].id != first
    assert [host.events(number) for number in (1, 2, 3)] == [
        ["decided", "asked"], ["decided", "answered", "started"], ["decided", "asked"],
    ]  # fmt: skip


def test_a_no_comes_with_its_words(host: Host) -> None:
    """Which the model is shown."""
    host.call()
    host.answer(NO)
    assert "HERON" in host.call()
    assert host.events(2) == ["decided", "answered"]


@pytest.mark.parametrize("more", [{"session_id": "s2"}, {"agent_id": "a1", "agent_type": "reviewer"}])
def test_an_answer_is_for_one_session_and_agent(host: Host, more: dict[str, Any]) -> None:
    """Others are asked about the same call."""
    host.call()
    host.answer(YES)
    assert "permitry approve" in host.call(**more)
    assert '"allow"' in host.call()


def test_an_answer_is_for_one_call(host: Host) -> None:
    """By its digest, not by its tool or id."""
    host.call("touch a", tool_use_id="x")
    host.answer(YES)
    assert "permitry approve" in host.call("touch b", tool_use_id="x")


def test_a_question_that_is_open_is_not_opened_twice(host: Host) -> None:
    """It stays open for longer, and is about the call that was made last."""
    host.call()
    (first,) = host.open
    time.sleep(0.05)
    host.call(options=Options(process=os.getppid()))
    (then,) = host.open
    assert then.id == first.id
    assert then.deadline.wall > first.deadline.wall
    assert then.above == tuple(dict.fromkeys([*first.above, *tuple(ancestors(os.getppid()))[:2]]))
    assert host.events(2) == ["decided"]


def test_who_asks_again_makes_no_room_for_an_answer(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """From below the process that asked first: an agent could give the payload of its own call to a hook."""
    host.call()
    (first,) = host.open
    monkeypatch.setattr("permitry_hosts.hooks.answering.ancestors", lambda process: (process, process + 1))
    for number in range(20):
        host.call(options=Options(process=5_000_000 + 2 * number))
    above = host.open[0].above
    assert {*first.above, 5_000_038, 5_000_039} <= set(above)
    assert len(above) == 32


def test_the_processes_of_the_host_are_noted(host: Host) -> None:
    """Two of them: a shell perhaps, and the host; what is above may be the terminal of the human."""
    host.call()
    assert host.open[0].above == tuple(ancestors(os.getpid()))[:2]


def test_what_was_asked_about_stays_a_question(host: Host) -> None:
    """Whatever the rules say by now; and no answer lifts a block."""
    host.call()
    host.rules(ALLOWS)
    assert "permitry approve" in host.call(options=Options(grants=True))
    host.rules(BLOCKS)
    host.answer(YES)
    assert "MAGPIE" in host.call()
    assert host.open == []


def test_a_host_that_asks_itself_is_asked_about_the_same(host: Host) -> None:
    """It opens no question here, and one that is open is a question there."""
    assert '"ask"' in host.call(attended=True)
    assert host.open == []
    host.call()
    host.rules(ALLOWS)
    assert '"ask"' in host.call(attended=True, options=Options(grants=True))
    assert '"allow"' in host.call("touch b", attended=True, options=Options(grants=True))


def test_other_arguments_are_for_the_model_to_make(host: Host) -> None:
    """The host would run the call as it was."""
    host.call()
    host.answer(ToolConfirmationResponse(True, arguments={"command": "touch b"}))
    said = host.call()
    assert "deny" in said
    assert "touch b" in said
    assert "started" not in host.events(2)


def test_a_late_answer_counts_for_nothing(host: Host) -> None:
    """It is refused; the call that is made again has a new question."""
    host.call()
    (question,) = host.open
    long_ago = Moment.now().after(-3_000)
    host.questions.renew(question.id, "toolu_1", "[]", long_ago)
    assert host.open == []
    with pytest.raises(LedgerError, match="not open"):
        answer_to(host.questions, question, YES, by="ann")
    assert "permitry approve" in host.call()
    assert [each.id for each in host.open] != [question.id]


def test_it_waits_for_an_answer(host: Host) -> None:
    """No longer than needed, and no longer than it may."""
    answers = threading.Timer(0.3, host.answer, (YES,))
    answers.start()
    begun = time.monotonic()
    waits: list[int] = []
    said = host.call(options=Options(wait=30, before_waiting=lambda: waits.append(1)))
    answers.join()
    assert '"allow"' in said
    assert time.monotonic() - begun < 15
    assert "permitry approve" in host.call(options=Options(wait=0.2, before_waiting=lambda: waits.append(2)))
    assert waits == [1, 2]


def test_of_many_that_wait_one_has_the_answer(host: Host) -> None:
    """Two calls may be the same."""
    host.call()
    host.answer(YES)
    said: list[str] = []
    threads = [threading.Thread(target=lambda: said.append(host.call())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum('"allow"' in each for each in said) == 1
    assert len(said) == 4


def test_a_store_that_is_away_while_a_question_is_renewed_is_an_error(host: Host) -> None:
    """The call is blocked."""

    class Away(StoredQuestions):
        def renew(self, *_: object) -> None:
            raise StoreError("away")

    host.call()
    (question,) = host.open
    assert question.request is not None
    ledger = HostLedger(Away(host.questions.database))
    with pytest.raises(LedgerError, match="away"):
        ledger.earlier(question.request.call, None, ("claude-code:s1", "main"))

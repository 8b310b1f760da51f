"""What a human has granted counts for hooks: it runs unasked, and no more than that."""

import json
from collections.abc import Callable, Collection
from contextlib import closing
from pathlib import Path

import pytest
from tests.unit.permitry_hosts.hooks.payloads import command

from permitry.channels.clock import Moment
from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.channels.stored_question import StoredQuestion, answer_to
from permitry.cli.records import RecordFilter, records_at
from permitry.core.call import ToolCall
from permitry.core.shared import Limit
from permitry.guard.grants import Grant
from permitry.store.grants import StoredGrants
from permitry.store.leases import Counters
from permitry.store.questions import StoredQuestions
from permitry.store.sqlite import SqliteStore
from permitry_hosts.hooks.answering import Options, answer
from permitry_hosts.hooks.host import Reply
from permitry_hosts.hooks.stores import Stores

Hook = Callable[..., Reply]
RULES = """\
schema = 1
extends = ["permitry:tools-claude-code"]
[[rule]]
id = "asks"
effect = "confirm"
when.command = "touch *"
[[rule]]
id = "blocks"
effect = "block"
when.command = "rm *"
[[rule]]
id = "allows"
effect = "allow"
when.command = "make *"
"""
MAKES = 'when.command = ["touch *", "rm *", "cp *"]'


@pytest.fixture
def store(tmp_path: Path) -> str:
    """Return the name of a store."""
    return str(tmp_path / "s.db")


@pytest.fixture
def hook(tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch) -> Hook:
    """Return a function that asks about a command in a session; its rules ask, block and allow."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "rules.toml").write_text(RULES)

    def ask(
        text: str,
        *,
        session: str = "s1",
        stores: Stores | None = None,
        host: str = "claude-code",
        turn: str | None = None,
    ) -> Reply:
        options = Options([str(tmp_path / "rules.toml")], store=store, stores=stores or Stores())
        payload = {**command(host, text), "session_id": session, "sessionId": session}
        payload |= {} if turn is None else {"prompt_id": turn}
        return answer(host, json.dumps(payload).encode(), options, {})

    return ask


def _grant(store: str, grant: Grant) -> None:
    opened = SqliteStore(Path(store))
    StoredGrants(opened).add(grant.row())
    opened.close()


def test_it_is_said_who_has_approved_a_call(hook: Hook, store: str) -> None:
    """Where the user answers in another terminal, the host shows who it was."""
    assert "permitry approve" in hook("touch x", host="gemini").out
    with closing(SqliteStore(Path(store))) as opened:
        questions = StoredQuestions(opened)
        (question,) = map(StoredQuestion.of, questions.open(Moment.now()))
        answer_to(questions, question, ToolConfirmationResponse(approved=True), by="ann")
    said = json.loads(hook("touch x", host="gemini").out)
    assert (said["decision"], said["reason"].partition(":")[0]) == ("allow", "approved by ann")


def test_what_no_rule_is_about_is_granted(hook: Hook, store: str) -> None:
    """The host is answered that it may run, though permissions of rules do not count."""
    assert hook("cp a b") == Reply()
    _grant(store, Grant(MAKES, id="0a"))
    assert '"allow"' in hook("cp a b").out
    assert hook("make x") == Reply()
    last = list(records_at(store, RecordFilter(equal={"event": "decided"}, text="cp a b")))[-1]
    assert (last["verdict"], last["rule"]) == ("allow", "grant-0a")


def test_a_shared_budget_counts_for_all_sessions_of_hooks(hook: Hook, store: str, tmp_path: Path) -> None:
    """A call that is left to the host counts, as it may run; another store has counted none."""
    limit = 'effect = "block"\nwhen.command = "cp *"\nbudget = { calls = 2, per = "1h", by = "principal" }\n'
    rules = tmp_path / "rules.toml"
    rules.write_text(f'{RULES}[[rule]]\nid = "few"\n{limit}')
    assert [hook(f"cp a {each}", session=each).out for each in ("b", "c")] == ["", ""]
    assert "deny" in hook("cp a d", session="d").out
    other = Options([str(rules)], store=store.replace("s.db", "other.db"))
    assert answer("claude-code", json.dumps(command("claude-code", "cp a d")).encode(), other, {}) == Reply()


def test_what_the_host_asks_about_goes_beyond_no_budget_that_blocks(
    hook: Hook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two calls that are decided at once, one is asked about."""
    limit = 'effect = "block"\nwhen.command = "touch *"\nbudget = { calls = 1, per = "1h", by = "principal" }\n'
    (tmp_path / "rules.toml").write_text(f'{RULES}[[rule]]\nid = "few"\n{limit}')
    charge = Counters.charge

    def late(self: Counters, limits: Collection[Limit], within: Collection[Limit] = ()) -> bool:
        monkeypatch.setattr(Counters, "charge", charge)
        assert '"ask"' in hook("touch a", session="other", host="copilot").out
        return charge(self, limits, within)

    monkeypatch.setattr(Counters, "charge", late)
    assert '"deny"' in hook("touch b", session="own", host="copilot").out


def test_a_grant_lifts_no_block_and_no_question_of_a_rule(hook: Hook, store: str) -> None:
    """Only one of that very call answers such a question, as often as it says."""
    _grant(store, Grant(MAKES))
    assert "deny" in hook("rm a").out
    assert "deny" in hook("touch a").out
    arguments = command("claude-code", "touch a")["tool_input"]
    digest = ToolConfirmationRequest(ToolCall("Bash", arguments)).call.digest
    _grant(store, Grant(MAKES, digest, uses_left=1))
    # It was asked about before, and is answered so.
    assert '"allow"' in hook("touch a").out
    assert "deny" in hook("touch a").out
    assert "deny" in hook("touch b").out
    events = [each["event"] for each in records_at(store, RecordFilter(equal={"digest": digest}))]
    assert events == ["decided", "asked", "answered", "decided", "started", "decided", "asked"]


def test_a_grant_is_for_its_session(hook: Hook, store: str) -> None:
    """By the name that records and questions give it; a process that keeps the store open learns of it."""
    stores = Stores(is_kept=True)
    assert hook("cp a b", stores=stores) == Reply()
    _grant(store, Grant(MAKES, session="claude-code:s1"))
    assert '"allow"' in hook("cp a b", stores=stores).out
    assert hook("cp a b", session="s2", stores=stores) == Reply()
    stores.close()


def test_uses_are_counted_from_one_hook_to_the_next(hook: Hook, store: str) -> None:
    """Each is a process of its own."""
    _grant(store, Grant(MAKES, uses_left=2))
    assert ['"allow"' in hook("cp a b").out for _ in range(4)] == [True, True, False, False]


def test_a_grant_does_not_count_where_the_rules_allow_by_now(hook: Hook, store: str, tmp_path: Path) -> None:
    """A question that is open is one for a human: a rule that has changed answers none."""
    assert "deny" in hook("touch a").out
    (tmp_path / "rules.toml").write_text(RULES.replace("confirm", "allow"))
    _grant(store, Grant('when.command = "cp *"'))
    assert "permitry approve" in hook("touch a").out


def test_a_grant_that_answers_a_question_is_on_record(hook: Hook, store: str, tmp_path: Path) -> None:
    """As a grant, not as the word of a human; and what it keeps first is kept."""
    (tmp_path / "rules.toml").write_text(RULES.replace('"confirm"', '"confirm"\npriority = 260'))
    for name, more in (("0a", ""), ("0b", "\nkeep = true")):
        assert "permitry approve" in hook(f"touch {name}").out
        _grant(store, Grant(f'when.command = "touch {name}"{more}', id=name))
        assert '"allow"' in hook(f"touch {name}").out
        answered = [each for each in records_at(store, RecordFilter()) if each.get("grant") == name]
        assert [(each["event"], each["approved"]) for each in answered] == [("answered", True)]
    events = [each["event"] for each in records_at(store, RecordFilter()) if each["event"] != "policy"]
    assert events[-4:] == ["answered", "decided", "kept", "started"]


def test_a_grant_for_a_request_ends_when_the_user_writes_again(hook: Hook, store: str) -> None:
    """The host says which message an agent works on; where it does not, no such grant counts."""
    _grant(store, Grant(MAKES, session="claude-code:s1", request="r1", id="0a"))
    assert '"allow"' in hook("cp a b", turn="r1").out
    for turn, session in (("r2", "s1"), (None, "s1"), ("", "s1"), ("r1", "s2")):
        assert hook("cp a b", turn=turn, session=session) == Reply(), (turn, session)

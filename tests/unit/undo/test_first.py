"""A call that is only allowed if it is kept first: kept, or decided as if that permission was not there."""

import gc
import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.unit.undo.test_restoration import tree_of

from permitry.actions.changes import Change
from permitry.actions.extract import ReadActions
from permitry.audit.record import MemoryRecorder
from permitry.channels.response import ToolConfirmationResponse
from permitry.config.load import load_policy, load_rules
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.spec import ArgumentRole, ToolSpec, ToolTraits
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import AuditError, ReplayError, UndoError
from permitry.guard.guard import Guard
from permitry.guard.handled import HandledCalls
from permitry.guard.outcome import Ask, Cause, Decided, Permit, Refusal, Silence
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry.undo.first import Asked, Snapshot, decide_unkept
from permitry.undo.inspection import Limits
from permitry.undo.restoration import restore
from permitry.undo.vault import Vault

RULES = """
schema = 1
[[rule]]
id = "undoable"
effect = "allow"
keep = true
tools = ["@shell", "write_file"]
[[rule]]
id = "no-git"
effect = "block"
when.path = "**/.git/**"
"""
PLAIN = RULES + '[[rule]]\nid = "touch"\neffect = "allow"\ntools = ["@shell"]\nwhen.command = "touch *"\n'


@pytest.fixture
def guard(vault: Vault, work: Path) -> Guard:
    """Return a guard whose rules let run what can be undone."""
    return Guard(load_policy(RULES), Session(workspace=str(work)), undo=vault)


def _check(guard: Guard, command: str, call_id: str | None = None) -> Permit | Refusal | Ask | Silence:
    return guard.check(guard.call("bash", {"command": command}, call_id=call_id))


def _run(guard: Guard, command: str, work: Path) -> None:
    permit = _check(guard, command)
    assert isinstance(permit, Permit)
    with permit as arguments:
        subprocess.run(["/bin/sh", "-c", arguments["command"]], cwd=work, check=True)


def test_what_is_allowed_is_kept_before_it_runs(guard: Guard, vault: Vault, work: Path) -> None:
    """And its end is noted, so that it can be undone without force."""
    before = tree_of(work)
    _run(guard, "rm -r d; echo x > a", work)
    (entry,) = vault.entries()
    assert entry.tool == "bash"
    assert entry.workspace == str(work)
    assert tree_of(work) != before
    restore(vault, entry.id)
    assert tree_of(work) == before


def test_it_is_recorded_between_the_decision_and_the_start(guard: Guard, work: Path) -> None:
    """With the id of what was kept."""
    _run(guard, "rm a", work)
    assert isinstance(guard.recorder, MemoryRecorder)
    assert [record["event"] for record in guard.recorder.records] == ["decided", "kept", "started", "finished"]
    assert guard.recorder.records[1]["entry"] == "1"


def test_what_changes_between_decision_and_start_is_kept_again(guard: Guard, vault: Vault, work: Path) -> None:
    """Else an undo would take back what a human, or a call that was begun before, has done in between."""
    first, second = _check(guard, "echo first > a"), _check(guard, "echo second > a")
    assert isinstance(first, Permit)
    assert isinstance(second, Permit)
    for permit in (first, second):
        with permit as arguments:
            subprocess.run(["/bin/sh", "-c", arguments["command"]], cwd=work, check=True)
    assert [entry.id for entry in vault.entries()] == ["1", "3"]
    assert isinstance(guard.recorder, MemoryRecorder)
    assert [record["entry"] for record in guard.recorder.records if record["event"] == "kept"] == ["1", "2", "3"]
    restore(vault, "3")
    assert (work / "a").read_text() == "first\n"
    restore(vault, "1")
    assert (work / "a").read_text() == "a\n"


def test_calls_with_one_id_are_kept_each(guard: Guard, vault: Vault, work: Path) -> None:
    """The model chooses ids: a second call with that of the first takes nothing from what is known of it."""
    first, second = _check(guard, "echo agent > a", "c1"), _check(guard, "echo agent > b", "c1")
    assert isinstance(first, Permit)
    assert isinstance(second, Permit)
    (work / "a").write_text("mine")
    for permit in (first, second):
        with permit as arguments:
            subprocess.run(["/bin/sh", "-c", arguments["command"]], cwd=work, check=True)
    assert all(entry.after is not None for entry in vault.entries())
    for entry in vault.entries():
        restore(vault, entry.id)
    assert (work / "a").read_text() == "mine"


def test_what_cannot_be_kept_again_does_not_run(guard: Guard, vault: Vault, work: Path) -> None:
    """Its permit cannot be taken."""
    permit = _check(guard, "rm a")
    assert isinstance(permit, Permit)
    (work / "a").unlink()
    os.mkfifo(work / "a")
    with pytest.raises(UndoError, match="a pipe"):
        permit.take()
    with pytest.raises(ReplayError):
        permit.take()
    assert len(vault.entries()) == 1


def test_what_would_change_something_else_by_now_does_not_run(guard: Guard, work: Path) -> None:
    """A link that was made since the decision leads to a file that was not kept."""
    permit = _check(guard, "echo x > new")
    assert isinstance(permit, Permit)
    (work / "new").symlink_to("a")
    with pytest.raises(UndoError, match="would change other files by now"):
        permit.take()
    assert (work / "a").read_text() == "a\n"


def _count_snapshots() -> int:
    """Return for how many calls it is known what was kept: what no host sees."""
    gc.collect()
    return sum(type(each) is Snapshot for each in gc.get_objects())


def test_what_was_kept_is_remembered_for_as_long_as_the_call_may_run(vault: Vault, work: Path) -> None:
    """However many calls were kept after it; of those that never run nothing is left."""
    handled: HandledCalls[Decided] = HandledCalls(calls=1)
    guard = Guard(load_policy(RULES), Session(workspace=str(work)), undo=vault, handled=handled)
    before = _count_snapshots()
    first = _check(guard, "echo first > a", "c0")
    for number in range(1, 5):
        _check(guard, f"echo {number} > a", f"c{number}")
    assert _count_snapshots() - before == 2
    assert isinstance(first, Permit)
    with first:
        (work / "a").write_text("first")
    assert vault.find("1").after is not None


def test_where_nothing_changes_nothing_is_kept(guard: Guard, vault: Vault) -> None:
    """It is allowed all the same."""
    assert isinstance(_check(guard, "ls -l"), Permit)
    assert vault.entries() == []


def test_the_same_call_is_kept_once(guard: Guard, vault: Vault) -> None:
    """The outcome of its id is kept, too."""
    assert isinstance(_check(guard, "rm a", "c1"), Permit)
    assert isinstance(_check(guard, "rm a", "c1"), Permit)
    assert len(vault.entries()) == 1


def _no_vault(guard: Guard, _: Path) -> str:
    guard.undo = None
    return "nothing here keeps what calls change"


def _full(guard: Guard, work: Path) -> str:
    del work
    assert isinstance(guard.undo, Vault)
    guard.undo = attrs.evolve(guard.undo, limits=Limits(total=1))
    return "too large"


def _large(guard: Guard, work: Path) -> str:
    del guard
    (work / "d" / "huge").touch()
    os.truncate(work / "d" / "huge", 1 << 40)
    return "more than 268435456 bytes"


def _pipe(guard: Guard, work: Path) -> str:
    del guard
    os.mkfifo(work / "d" / "pipe")
    return "is a pipe, a socket or a device"


def _second_name(guard: Guard, work: Path) -> str:
    del guard
    (work / "b").hardlink_to(work / "a")
    return "another name"


def _broken(guard: Guard, work: Path) -> str:
    del work

    class Broken(_Mute):
        def keep(self, *_: object, **__: object) -> str:
            raise ZeroDivisionError("broken")

    guard.undo = Broken()
    return "broken"


class _Mute:
    """Keeps nothing, and says otherwise."""

    def keep(self, *_: object, **__: object) -> str:
        """Return an id."""
        return "1"

    def renew(self, entry: str) -> str:
        """Return the same id."""
        return entry

    def ended(self, _: str) -> None:
        """Note nothing."""


@pytest.mark.parametrize("lacks", [_no_vault, _full, _large, _pipe, _second_name, _broken])
@pytest.mark.parametrize("unmatched", ["confirm", "block"])
def test_what_is_not_kept_never_runs_for_that_permission(
    vault: Vault, work: Path, lacks: Callable[[Guard, Path], str], unmatched: str
) -> None:
    """It is what it would be without: a question, or a block; the reason says why."""
    policy = load_policy(f'{RULES}[policy]\nunmatched = "{unmatched}"\n')
    guard = Guard(policy, Session(workspace=str(work)), undo=vault)
    why, before = lacks(guard, work), len(vault.entries())
    outcome = _check(guard, "rm -r a d")
    assert isinstance(outcome, Ask if unmatched == "confirm" else Refusal)
    assert outcome.decision is not None
    assert outcome.decision.verdict is Verdict(unmatched)
    assert outcome.decision.reason.startswith("`keep` permits only what can be undone: ")
    assert why in outcome.decision.reason
    assert outcome.decision.policy_version == policy.version
    assert len(vault.entries()) == before


def test_another_permission_still_permits(vault: Vault, work: Path) -> None:
    """Law 4: one permission more never allows less."""
    guard = Guard(load_policy(PLAIN), Session(workspace=str(work)), undo=attrs.evolve(vault, limits=Limits(total=1)))
    permit = _check(guard, "touch a")
    assert isinstance(permit, Permit)
    assert permit.decision.rule_id == "touch"
    assert isinstance(_check(guard, "rm a"), Ask)


def test_a_block_stays_a_block(guard: Guard, vault: Vault) -> None:
    """Law 1; and nothing is kept for it."""
    assert isinstance(_check(guard, "rm .git/config"), Refusal)
    assert vault.entries() == []


def test_what_a_human_approves_runs_as_it_is(guard: Guard, vault: Vault, work: Path) -> None:
    """They were asked because it cannot be undone."""
    os.mkfifo(work / "d" / "pipe")
    ask = _check(guard, "rm -r d")
    assert isinstance(ask, Ask)
    assert isinstance(guard.answer(ask.id, ToolConfirmationResponse(approved=True)), Permit)
    assert vault.entries() == []


def test_a_folder_that_became_a_link_since_the_decision_is_not_kept(guard: Guard, work: Path) -> None:
    """What an agent puts there between the two would be another folder."""

    class Swapping(Vault):
        def keep(self, call: ToolCall, changes: Sequence[Change], **rest: Any) -> str:  # noqa: ANN401 -- passed on
            (work / "d").rename(work / "old")
            (work / "d").symlink_to("/")
            return super().keep(call, changes, **rest)

    assert isinstance(guard.undo, Vault)
    guard.undo = Swapping(guard.undo.folder)
    outcome = _check(guard, "rm d/x")
    assert isinstance(outcome, Ask)
    assert "is not what it was" in outcome.decision.reason


def test_what_a_link_leads_to_is_not_copied(guard: Guard, vault: Vault, work: Path, tmp_path: Path) -> None:
    """A folder is removed with the link in it, not with what is behind; and that comes back, as a link."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_text("mine")
    (work / "d" / "out").symlink_to(tmp_path / "outside")
    before = tree_of(work)
    _run(guard, "rm -r d", work)
    assert not any("outside" in node.path for node in vault.entries()[0].before)
    restore(vault, "1")
    assert tree_of(work) == before
    assert (work / "d" / "out" / "file").read_text() == "mine"


def test_what_cannot_be_recorded_does_not_run(vault: Vault, work: Path) -> None:
    """Law 7: neither is the event `kept` left out."""

    class Failing(MemoryRecorder):
        def record(self, event: str, call: ToolCall, /, **details: object) -> None:
            if event == "kept":
                raise AuditError("disk full")
            super().record(event, call, **details)

    guard = Guard(load_policy(RULES), Session(workspace=str(work)), undo=vault, recorder=Failing())
    outcome = _check(guard, "rm a")
    assert isinstance(outcome, Refusal)
    assert outcome.cause is Cause.NOT_RECORDED


def test_a_handler_keeps_what_its_tools_change(vault: Vault, work: Path) -> None:
    """Its decision and explanation say without a vault that it is not allowed."""
    path = {"path": ArgumentRole.WRITE_PATH}
    traits = ToolTraits(read_only=False, open_world=False, spawns_agent=False)
    registry = ToolRegistry()

    def write(arguments: dict[str, Any]) -> tuple[bool, str]:
        (work / arguments["path"]).write_text("new")
        return True, "done"

    registry.register(ToolSpec("write_file", traits=traits, roles=path), write)
    handler = ToolHandler(Session(workspace=str(work)), load_policy(RULES), registry=registry)
    call, before = ToolCall("write_file", {"path": "n/m"}), tree_of(work)
    assert handler.decide(call).verdict is handler.explain(call).decision.verdict is Verdict.CONFIRM
    (work / "n").mkdir()
    handler.undo = vault
    assert handler.decide(call).verdict is handler.explain(call).decision.verdict is Verdict.ALLOW
    assert handler.handle(call).ok
    restore(vault, "1")
    (work / "n").rmdir()
    assert tree_of(work) == before


def test_calls_that_never_run_are_forgotten(guard: Guard) -> None:
    """A host may ask and not run."""
    guard.undo = _Mute()
    before = _count_snapshots()
    for number in range(1_010):
        assert isinstance(_check(guard, "rm a", str(number)), Permit)
    assert _count_snapshots() - before == 1_000


def test_a_rule_of_the_session_that_keeps_permits_nothing_either(tmp_path: Path) -> None:
    """The policy does not have it, so that it cannot be taken out."""
    rules = load_rules(RULES)
    asked = Asked(AuthorizationPolicy(reader=ReadActions()), ToolCall("bash", {"command": "rm a"}), AuthContext(
        workspace=str(tmp_path), rules=rules), None)  # fmt: skip
    decision = asked.policy.decide(asked.call, asked.context)
    assert decision.keeps
    found = decide_unkept(asked, decision, "why")
    assert (found.verdict, found.rule_id) == (Verdict.CONFIRM, None)
    assert found.reason == "`keep` permits only what can be undone: why"


def test_what_the_agent_above_may_only_do_kept_is_kept(vault: Vault, work: Path) -> None:
    """Law 4: a sub-agent is never allowed more than the agent that started it."""
    rules = """
schema = 1
[[rule]]
id = "own"
effect = "allow"
tools = ["@shell"]
when.agent = "helper"
[[rule]]
id = "above"
effect = "allow"
keep = true
tools = ["@shell"]
when.agent = "main"
"""
    child = Session(workspace=str(work)).child("helper")
    guard = Guard(load_policy(rules), child, undo=vault)
    assert isinstance(_check(guard, "rm a"), Permit)
    assert len(vault.entries()) == 1
    assert isinstance(_check(Guard(load_policy(rules), child), "rm a"), Ask)

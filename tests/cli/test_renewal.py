"""The rules of a running session, as their files are at each decision."""

from pathlib import Path

import pytest

from permitry.audit.record import JsonlRecorder
from permitry.channels.channel import CallbackChannel
from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.cli.renewal import Renewal, RenewingChannel
from permitry.config.load import Origin
from permitry.config.reload import PolicyReloader
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.errors import AuditError, ConfigError
from permitry.guard.guard import Guard
from permitry.guard.outcome import Ask, Permit, Refusal

RULES = 'schema = 1\n[[rule]]\nid = "a"\neffect = "{}"\ntools = ["look"]\n'
LOOK = ToolCall("look")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a rule file that permits."""
    file = tmp_path / "rules.toml"
    file.write_text(RULES.format("allow"))
    return file


@pytest.fixture
def renewal(file: Path, tmp_path: Path) -> Renewal:
    """Return what keeps a guard to that file."""
    reloader = PolicyReloader(lambda: [Origin(str(file))])
    recorder = JsonlRecorder(str(tmp_path / "record.jsonl"))
    return Renewal(reloader, recorder, Guard(reloader.policy, recorder=recorder))


def test_a_change_counts_at_once(renewal: Renewal, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And is reported, once."""
    assert isinstance(renewal.guard.check(LOOK), Permit)
    file.write_text(RULES.format("block"))
    renewal.renew()
    renewal.renew()
    assert isinstance(renewal.guard.check(LOOK), Refusal)
    assert capsys.readouterr().err.count("the rules have changed") == 1


def test_mistakes_block_every_call_until_they_are_right(
    renewal: Renewal, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever is permitted otherwise, even without any rule of the files; the reason names the file and the line."""
    file.write_text("schema = 2\n[[rule]]\n")
    for call in (LOOK, ToolCall("present_plan", {"plan": "look"})):
        renewal.renew()
        outcome = renewal.guard.check(call)
        assert isinstance(outcome, Refusal)
        assert outcome.text.endswith("Tell the user; leave the files alone.")
    decision = renewal.guard.policy.decide(LOOK, AuthContext(mode="plan"))
    assert decision.reason.startswith(f"the rule files have mistakes: {file}:1: `schema` is 2")
    assert decision.reason.endswith(", and 1 more mistake")
    file.write_text(RULES.format("allow"))
    renewal.renew()
    assert isinstance(renewal.guard.check(LOOK), Permit)
    err = capsys.readouterr().err
    assert err.count("no call runs: the rule files have mistakes") == 1
    assert err.count("the rule files are right again") == 1


def test_a_file_that_is_gone_blocks_every_call(renewal: Renewal, file: Path) -> None:
    """Deleting a file is no way around it; the file itself is named."""
    file.unlink()
    renewal.renew()
    assert isinstance(renewal.guard.check(LOOK), Refusal)
    decision = renewal.guard.policy.decide(LOOK, AuthContext())
    assert decision.reason.startswith(f"the rule files have mistakes: {file}: ")


def test_a_mistake_while_the_user_thinks_counts(renewal: Renewal, file: Path) -> None:
    """The approval runs nothing."""

    def answer(_: ToolConfirmationRequest) -> ToolConfirmationResponse:
        file.write_text("schema = 2\n")
        return ToolConfirmationResponse(approved=True)

    file.write_text(RULES.format("confirm"))
    renewal.renew()
    renewal.guard.channel = RenewingChannel(CallbackChannel(answer), renewal)
    assert isinstance(renewal.guard.inline(LOOK), Refusal)


def test_where_the_user_sees_no_report_mistakes_permit_nothing(renewal: Renewal, file: Path) -> None:
    """Each time, until the files are right."""
    renewal.require()
    file.write_text("schema = 2\n")
    for _ in range(2):
        with pytest.raises(ConfigError, match="schema") as caught:
            renewal.require()
        assert caught.value is not renewal.reloader.problems
    file.unlink()
    with pytest.raises(ConfigError):
        renewal.require()
    file.write_text(RULES.format("block"))
    renewal.require()
    assert isinstance(renewal.guard.check(LOOK), Refusal)


def test_a_change_that_cannot_be_recorded_is_not_lost(
    renewal: Renewal, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is tried again, and nothing is decided until then."""

    def full(*_: object, **__: object) -> None:
        raise AuditError("the disk is full")

    file.write_text(RULES.format("block"))
    with monkeypatch.context() as patch:
        patch.setattr(JsonlRecorder, "reloaded", full)
        for _ in range(2):
            with pytest.raises(AuditError, match="full"):
                renewal.renew()
    renewal.renew()
    assert isinstance(renewal.guard.check(LOOK), Refusal)


def test_an_answer_meets_the_rules_of_its_time(renewal: Renewal, file: Path) -> None:
    """A block that is written while the user thinks counts."""

    def answer(_: ToolConfirmationRequest) -> ToolConfirmationResponse:
        file.write_text(RULES.format("block"))
        return ToolConfirmationResponse(approved=True)

    file.write_text(RULES.format("confirm"))
    renewal.renew()
    assert isinstance(renewal.guard.check(LOOK), Ask)
    renewal.guard.channel = RenewingChannel(CallbackChannel(answer), renewal)
    assert isinstance(renewal.guard.inline(LOOK), Refusal)

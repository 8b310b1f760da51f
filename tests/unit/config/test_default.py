"""The policy everything starts from."""

from pathlib import Path

import pytest

from permitry.actions.extract import ReadActions
from permitry.config.default import create_default_authorization_policy
from permitry.core.action import Actions
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.spec import ToolSpec, ToolTraits
from permitry.rules import BUILT_IN_RULES
from permitry.rules.exclusive_template import ExclusiveTemplateRule

LS = ToolCall("bash", {"command": "ls"})


def test_the_default_policy_holds_the_built_in_rules() -> None:
    """And the extra ones behind them."""
    assert create_default_authorization_policy().rules == BUILT_IN_RULES
    extra = ExclusiveTemplateRule()
    assert create_default_authorization_policy([extra]).rules == (*BUILT_IN_RULES, extra)


def test_the_default_policy_reads_what_calls_would_do() -> None:
    """A command that only reads runs."""
    assert create_default_authorization_policy().decide(LS, AuthContext()).verdict is Verdict.ALLOW


def test_another_reader_may_be_given() -> None:
    """As everything else a policy takes."""
    policy = create_default_authorization_policy(
        reader=lambda *_: Actions(doubt="who knows"),
        declared={"look": ToolSpec("look", traits=ToolTraits(read_only=True))},
    )
    assert policy.decide(LS, AuthContext()).verdict is Verdict.CONFIRM
    assert policy.decide(ToolCall("look"), AuthContext()).verdict is Verdict.ALLOW


def test_there_may_be_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then a tilde leads nowhere in particular, and nothing fails."""

    def homeless() -> Path:
        raise RuntimeError("no home")

    monkeypatch.setattr(Path, "home", homeless)
    assert create_default_authorization_policy().reader == ReadActions(None)

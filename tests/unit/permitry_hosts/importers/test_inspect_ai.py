"""The approval policy of inspect_ai, as rules of ours."""

import importlib

import pytest
from tests.tables import for_each
from tests.unit.permitry_hosts.importers.conftest import Import, Verdicts

from permitry.core.decision import Verdict
from permitry.errors import ConfigError, PermitryError
from permitry_hosts.importers import Outcome

POLICY = """
approvers:
  - name: auto
    tools: ["web_browser_click", "grep"]
    decision: approve
  - name: human
    tools: bash*, python
  - name: auto
    tools: "rm"
    decision: terminate
  - name: mine/checker
    tools: mail
  - name: auto
    tools: "shell(cmd='git*"
  - name: auto
    tools: "computer(action='key'"
    decision: reject
  - name: auto
    tools: "*"
    decision: escalate
"""


@for_each(
    ("tool", "verdict"),
    [
        ("grep", Verdict.ALLOW),
        ("bash", Verdict.CONFIRM),
        ("python_session", Verdict.CONFIRM),
        ("rm", Verdict.BLOCK),
        ("mail", Verdict.BLOCK),
        ("computer", Verdict.BLOCK),
        ("other", Verdict.BLOCK),
    ],
)
def test_the_first_match_decides(made: Import, decide: Verdicts, tool: str, verdict: Verdict) -> None:
    """What no approver is for is rejected."""
    assert decide(made("inspect_ai", POLICY), tool, x="y") is verdict


def test_what_became_of_an_approver_is_reported(made: Import) -> None:
    """With the line that it is on."""
    rows = made("inspect_ai", POLICY, "approval.yaml").rows
    assert [(row.place, row.outcome) for row in rows] == [
        ("approval.yaml:3", Outcome.SAME),
        ("approval.yaml:6", Outcome.SAME),
        ("approval.yaml:8", Outcome.SAME),
        ("approval.yaml:11", Outcome.STRICTER),
        ("approval.yaml:13", Outcome.DROPPED),
        ("approval.yaml:15", Outcome.WIDENED),
        ("approval.yaml:18", Outcome.SAME),
        ("approval.yaml", Outcome.SAME),
    ]


def test_what_an_earlier_approver_decides_is_reported(made: Import) -> None:
    """And nothing is left to reject."""
    text = "approvers:\n- {name: auto, tools: '*'}\n- {name: auto, tools: x, decision: reject}\n"
    assert [row.outcome for row in made("inspect_ai", text).rows] == [Outcome.SAME, Outcome.IGNORED]


@for_each("text", ["[]", "approvers: 1", "approvers: [{tools: x}]", "approvers: [x]", "approvers: [{name: auto}]"])
def test_what_is_no_policy_is_refused(made: Import, text: str) -> None:
    """Nothing is guessed."""
    with pytest.raises(PermitryError, match="source"):
        made("inspect_ai", text)


def test_what_is_no_yaml_has_its_place(made: Import) -> None:
    """Nothing of it is made."""
    with pytest.raises(ConfigError) as caught:
        made("inspect_ai", "approvers:\n  - [")
    assert caught.value.problems[0].line > 0


def test_without_its_reader_there_is_a_hint(made: Import, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an extra."""

    def fail(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", fail)
    with pytest.raises(PermitryError, match="PyYAML is missing"):
        made("inspect_ai", POLICY)

"""A rule that asks among the permissions ends their search, and is asked about what those before it have left."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.tables import for_each

from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Phase, Verdict
from permitry.core.explanation import RuleOutcome
from permitry.core.policy import AuthorizationPolicy

Policy = Callable[..., AuthorizationPolicy]

ALLOW, CONFIRM, BLOCK = Verdict.ALLOW, Verdict.CONFIRM, Verdict.BLOCK
ASK_SHELL = {"id": "ask-shell", "effect": "confirm", "priority": 290, "tools": ["@shell"]}
YOLO = AuthContext(yolo_mode=True, mode="yolo", workspace="/w")


def _allow(*commands: str, priority: int = 250) -> Mapping[str, Any]:
    return {"id": "fine", "effect": "allow", "priority": priority, "tools": ["@shell"], "when": {"command": commands}}


def _table(rule: Mapping[str, Any]) -> str:
    def value(each: Any) -> str:  # noqa: ANN401 -- what TOML can hold
        if isinstance(each, Mapping):
            return "{" + ", ".join(f"{key} = {value(inner)}" for key, inner in each.items()) + "}"
        return str(list(each)) if isinstance(each, tuple | list) else repr(each)

    return "\n".join(["[[rule]]", *(f"{key} = {value(each)}" for key, each in rule.items())])


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    """Return a function that loads a policy of rules."""

    def load(*rules: Mapping[str, Any]) -> AuthorizationPolicy:
        path = tmp_path / "rules.toml"
        path.write_text("\n".join(["schema = 1", *map(_table, rules)]), encoding="utf-8")
        return load_policy(path)

    return load


def _shell(command: str) -> ToolCall:
    return ToolCall("run_shell", {"command": command})


@for_each(
    ("command", "verdict", "rule_id"),
    [
        ("pytest -q", ALLOW, "fine"),
        ("make", CONFIRM, "ask-shell"),
        ("pytest -q && make", CONFIRM, "ask-shell"),
        ("pytest -q && pytest -x", ALLOW, "fine"),
        ("git status", ALLOW, "read-only"),
        ("$program", CONFIRM, "ask-shell"),
    ],
)
def test_all_is_asked_about_but_what_is_allowed_before(
    policy: Policy, command: str, verdict: Verdict, rule_id: str
) -> None:
    """Even in YOLO mode: its permission comes after the request."""
    decision = policy(_allow("pytest *"), ASK_SHELL).decide(_shell(command), YOLO)
    assert (decision.verdict, decision.rule_id, decision.phase) == (verdict, rule_id, Phase.PERMISSION)


def test_what_is_allowed_after_it_is_asked_about(policy: Policy) -> None:
    """A permission that comes later is never reached."""
    assert policy(_allow("make", priority=291), ASK_SHELL).decide(_shell("make"), YOLO).verdict is CONFIRM


@for_each("is_first", [True, False])
def test_of_equal_priorities_the_one_that_asks_goes_first(policy: Policy, is_first: bool) -> None:  # noqa: FBT001 -- a case
    """In whichever order they are written."""
    rules = (_allow("make", priority=290), ASK_SHELL)
    assert policy(*(rules if is_first else rules[::-1])).decide(_shell("make"), YOLO).verdict is CONFIRM


def test_a_restriction_is_not_touched_by_it(policy: Policy) -> None:
    """A block is a block, whatever comes after."""
    block = {"id": "no-push", "effect": "block", "when": {"command": ["git push *"]}}
    assert policy(block, ASK_SHELL, _allow("git *")).decide(_shell("git push"), YOLO).verdict is BLOCK


@for_each(
    ("command", "verdict"),
    [("pytest && rm x", CONFIRM), ("rm x", CONFIRM), ("pytest", ALLOW), ("pytest && make", ALLOW), ("make", ALLOW)],
)
def test_it_is_asked_about_the_parts_that_are_left(policy: Policy, command: str, verdict: Verdict) -> None:
    """What a permission before it covers, it does not ask about."""
    ask = {**ASK_SHELL, "when": {"command": ["rm *", "pytest *"]}}
    assert (
        policy(_allow("pytest *"), ask, {**_allow("make", priority=300), "id": "later"})
        .decide(_shell(command), AuthContext(yolo_mode=True, workspace="/w"))
        .verdict
        is verdict
    )


def test_it_counts_when_it_fails(policy: Policy) -> None:
    """Where its condition has no answer, the call is asked about, and the failure is in the decision."""
    ask = {"id": "dear", "effect": "confirm", "priority": 290, "tools": ["pay"], "when": {"args.amount": {"gt": 5}}}
    plain = {"id": "pays", "effect": "allow", "priority": 300, "tools": ["pay"]}
    payer = policy(ask, plain)
    assert payer.decide(ToolCall("pay", {"amount": 3}), AuthContext()).verdict is ALLOW
    decision = payer.decide(ToolCall("pay"), AuthContext())
    assert (decision.verdict, decision.rule_id, len(decision.errors)) == (CONFIRM, "dear", 1)


def test_it_sees_other_spellings_of_a_name(policy: Policy) -> None:
    """As a restriction does: what may be meant is asked about."""
    ask = {"id": "dear", "effect": "confirm", "priority": 290, "tools": ["send_money"]}
    everything = {"id": "all", "effect": "allow", "priority": 300, "tools": ["*"]}
    assert policy(ask, everything).decide(ToolCall("Send_Money"), AuthContext()).verdict is CONFIRM


def test_it_is_explained(policy: Policy) -> None:
    """It is the deciding rule, and what comes after it is listed as matching too."""
    explanation = policy(_allow("pytest *"), ASK_SHELL).explain(_shell("pytest && make"), YOLO)
    found = {rule.rule_id: (rule.outcome, rule.deciding) for rule in explanation.matches}
    assert found["ask-shell"] == (RuleOutcome.MATCHED, True)
    assert found["fine"] == (RuleOutcome.COVERED, False)
    assert found["yolo"] == (RuleOutcome.MATCHED, False)

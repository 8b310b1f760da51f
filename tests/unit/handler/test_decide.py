"""Asking the policy through the handler, and the parts a host uses by itself."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.tables import for_each

from permitry.channels.channel import UnattendedChannel
from permitry.channels.response import ToolConfirmationResponse
from permitry.conditions.mode import ModeCondition
from permitry.conditions.scope import Conditions, Scope
from permitry.config.load import load_policy, load_rules
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Phase, Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.template import Template
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import RuleError
from permitry.guard.session import Session
from permitry.handler import Blocked, Cause, ToolHandler
from permitry.rules.configured import ConfiguredRule


@pytest.mark.parametrize(("tool", "verdict"), [("look", Verdict.ALLOW), ("write", Verdict.CONFIRM)])
def test_a_decision_is_the_policys(handler: ToolHandler, tool: str, verdict: Verdict) -> None:
    """The tool's own spec from the registry is taken into account."""
    assert handler.decide(ToolCall(tool)).verdict is verdict


def test_deciding_leaves_no_trace(handler: ToolHandler, events: Callable[[], list[object]], ran: list[object]) -> None:
    """Nothing is recorded, asked or run."""
    handler.decide(ToolCall("write"))
    handler.explain(ToolCall("write"))
    assert (len(handler.ledger), events(), ran) == (0, [], [])


def test_an_explanation_has_the_same_decision(handler: ToolHandler) -> None:
    """The two ways to ask agree."""
    handler.session.switch_mode("plan")
    assert handler.explain(ToolCall("write")).decision == handler.decide(ToolCall("write"))


@pytest.mark.parametrize("mode", ["default", "yolo", "plan"])
@pytest.mark.parametrize("registry_of", [None, ToolRegistry])
def test_an_explanation_of_an_unknown_tool_has_the_same_decision(
    handler: ToolHandler, mode: str, registry_of: Callable[[], ToolRegistry] | None
) -> None:
    """The two ways to ask agree about it, too, and in a host without tools of its own."""
    handler.session.switch_mode(mode)
    handler.registry = registry_of() if registry_of else handler.registry
    call = ToolCall("missing")
    assert handler.explain(call).decision == handler.decide(call)


def test_an_explanation_of_an_unknown_tool_says_that_there_is_none(handler: ToolHandler) -> None:
    """It blocks, and still tells what every rule said."""
    handler.session.switch_mode("yolo")
    told = handler.explain(ToolCall("wriet"))
    assert (told.decision.verdict, told.decision.reason) == (Verdict.BLOCK, "the tool `wriet` is not registered")
    assert told.rules == handler.policy.explain(ToolCall("wriet"), AuthContext.from_state(handler.session)).rules
    assert "yolo" in [rule.rule_id for rule in told.matches]


def test_a_change_of_the_session_counts_at_once(handler: ToolHandler) -> None:
    """The context is read again for every question."""
    verdicts = []
    for mode in ("default", "yolo", "plan"):
        handler.session.switch_mode(mode)
        verdicts.append(handler.decide(ToolCall("write")).verdict)
    assert verdicts == [Verdict.CONFIRM, Verdict.ALLOW, Verdict.BLOCK]


@pytest.mark.parametrize(
    ("mode", "should_confirm", "is_blocked"),
    [("default", True, False), ("plan", True, True), ("yolo", False, False)],
)
def test_the_two_questions_of_the_seed(
    handler: ToolHandler,
    mode: str,
    should_confirm: bool,  # noqa: FBT001 -- a table of flags
    is_blocked: bool,  # noqa: FBT001 -- a table of flags
) -> None:
    """A block counts as both: it may not run unasked, and no answer helps."""
    handler.session.switch_mode(mode)
    assert handler.should_confirm("write") is should_confirm
    assert handler.is_tool_blocked("write") is is_blocked


def test_a_tool_that_only_reads_needs_no_confirmation(handler: ToolHandler) -> None:
    """Not even in plan mode."""
    handler.session.switch_mode("plan")
    assert handler.should_confirm("look") is False
    assert handler.is_tool_blocked("look") is False


@pytest.mark.parametrize("mode", ["default", "yolo"])
def test_an_unknown_tool_is_blocked_beside_known_ones(handler: ToolHandler, mode: str) -> None:
    """Whoever only asks learns what `begin` would do with a wrong name."""
    handler.session.switch_mode(mode)
    decision = handler.decide(ToolCall("wriet"))
    assert (decision.verdict, decision.rule_id, decision.phase) == (Verdict.BLOCK, None, Phase.INPUT)
    assert decision.message == "There is no tool `wriet`. Did you mean `write`? Tools: look, write."
    assert (handler.should_confirm("wriet"), handler.is_tool_blocked("wriet")) == (True, True)


def test_a_restriction_decides_about_an_unknown_tool_first(handler: ToolHandler) -> None:
    """A rule that blocks keeps its word, and its place in the answer."""
    handler.session.switch_mode("plan")
    assert handler.decide(ToolCall("wriet")).rule_id == "plan-mode"


@for_each(("mode", "verdict"), [("default", Verdict.CONFIRM), ("yolo", Verdict.ALLOW), ("plan", Verdict.BLOCK)])
def test_a_host_without_a_registry_gets_the_policys_answer(mode: str, verdict: Verdict) -> None:
    """Who dispatches by himself registers nothing here, and is told nothing of unknown tools."""
    handler = ToolHandler()
    handler.session.switch_mode(mode)
    assert handler.decide(ToolCall("write")).verdict is verdict


def test_no_decision_of_an_empty_registry_leads_to_a_run() -> None:
    """An allowed call of a tool that is not here is blocked as soon as it is to run here."""
    handler = ToolHandler()
    handler.session.switch_mode("yolo")
    outcome = handler.begin(ToolCall("write"))
    assert isinstance(outcome, Blocked)
    assert (outcome.cause, outcome.decision.verdict) == (Cause.POLICY, Verdict.BLOCK)


def test_a_template_is_set_and_taken_away(handler: ToolHandler) -> None:
    """The active template is the session's."""
    template = Template("writer", ("write",))
    handler.set_active_template(template)
    assert handler.active_template is handler.session.active_template is template
    assert handler.should_confirm("write") is False
    handler.set_active_template(None)
    assert handler.active_template is None
    assert handler.should_confirm("write") is True


def test_a_request_can_be_made_without_asking(handler: ToolHandler) -> None:
    """A host with a dialog of its own gets the same question, and no question is opened."""
    request = handler.create_confirmation_request("write", {"path": "a"})
    assert (request.tool, request.path, request.preview) == ("write", "a", "+a")
    assert request.reason == "no rule allows this call"
    assert len(handler.ledger) == 0


def test_a_handler_of_defaults_asks_about_everything_and_runs_nothing() -> None:
    """Nothing given means the six rules, no tools, and no one to ask."""
    result = ToolHandler().handle(ToolCall("anything"))
    assert result.ok is False
    assert result.text == "The call of `anything` was blocked. There is no tool `anything`. Tools: none."


# Confirmations a host asked for itself ----------------------------------------------------------------------------


def test_a_yes_lets_the_host_go_on(handler: ToolHandler) -> None:
    """Nothing is remembered, and the model is shown nothing."""
    assert handler.process_confirmation(ToolConfirmationResponse(True), "write") is True
    assert handler.session.tool_ignore_list == []
    assert handler.session.messages == []


def test_a_yes_for_good_is_remembered(handler: ToolHandler) -> None:
    """The tool is not asked about again."""
    assert handler.process_confirmation(ToolConfirmationResponse(True, skip_future=True), "write") is True
    assert handler.session.tool_ignore_list == ["write"]
    assert handler.should_confirm("write") is False


@pytest.mark.parametrize(("approved", "abort"), [(False, False), (False, True), (True, True)])
def test_a_no_is_told_to_the_model_and_never_remembered(
    handler: ToolHandler,
    approved: bool,  # noqa: FBT001 -- a table of flags
    abort: bool,  # noqa: FBT001 -- a table of flags
) -> None:
    """The guidance is kept for the host, and "do not ask again" does not count."""
    response = ToolConfirmationResponse(approved, skip_future=True, abort=abort, instructions="use tabs")
    assert handler.process_confirmation(response, "write") is False
    assert handler.session.tool_ignore_list == []
    [told] = handler.session.messages
    assert "The user says: use tabs" in told


def test_a_mode_that_no_rule_knows_is_warned_of_once(handler: ToolHandler, caplog: pytest.LogCaptureFixture) -> None:
    """It is a session without plan mode, so the log says it."""
    handler.session.switch_mode("review")
    handler.handle(ToolCall("look"))
    handler.handle(ToolCall("look"))
    messages = [each.getMessage() for each in caplog.records]
    assert messages == ["no rule knows the mode `review`; known: default, plan, yolo"]


def test_a_mode_of_a_rule_is_known(caplog: pytest.LogCaptureFixture) -> None:
    """What a rule file names is a mode of the host."""
    rule = ConfiguredRule("night", Verdict.BLOCK, 150, Scope(when=Conditions(plain=(ModeCondition(("night",)),))))
    handler = ToolHandler(Session(mode="night"), AuthorizationPolicy([rule]))
    handler.handle(ToolCall("look"))
    assert not caplog.records


@for_each(
    ("parts", "message"),
    [
        ({"policy": "rules.toml"}, "load it first: policy=load_policy('rules.toml')"),
        ({"policy": Path("rules.toml")}, "load it first: policy=load_policy('rules.toml')"),
        ({"policy": []}, "use load_policy(...) for rule files, or AuthorizationPolicy(rules) for rules"),
        ({"channel": lambda _: None}, "wrap the function: channel=CallbackChannel(...)"),
        ({"channel": UnattendedChannel}, "make one of it: UnattendedChannel(...)"),
        ({"channel": "terminal"}, "a channel has a method `ask(request)` that returns a ToolConfirmationResponse"),
    ],
)
def test_what_a_handler_cannot_use_is_refused_when_it_is_made(parts: dict[str, Any], message: str) -> None:
    """The error says what to write instead."""
    with pytest.raises(TypeError, match=re.escape(message)):
        ToolHandler(**parts)


def test_a_policy_is_checked_when_it_is_replaced(handler: ToolHandler) -> None:
    """A path is not taken for a policy later either."""
    with pytest.raises(TypeError, match="load it first"):
        handler.policy = "rules.toml"  # type: ignore[assignment]  # what people write


TEXT = 'schema = 1\n[[rule]]\nid = "{}"\neffect = "{}"\ntools = ["send"]\nwhen.args.to = {{ in = "@people" }}\n'
LIST = "[list.people]\nvalues = []\n"


def test_a_session_whose_rules_cannot_be_used_is_refused_at_once() -> None:
    """Not at the first call: the host sees it where it makes the handler."""
    policy = load_policy(TEXT.format("mail", "allow") + LIST)
    with pytest.raises(RuleError, match="mail"):
        ToolHandler(Session(rules=load_rules(TEXT.format("mail", "block") + LIST)), policy)
    with pytest.raises(RuleError, match=r"no rule uses the list `peple`; did you mean `people`\?"):
        ToolHandler(Session(lists={"peple": ["ann"]}), policy)
    handler = ToolHandler(Session(lists={"people": ["ann"]}), policy)
    assert handler.decide(ToolCall("send", {"to": "ann"})).verdict is Verdict.ALLOW

"""The kit finds what is wrong with an adapter: each host here breaks one promise, and fails."""

import contextlib
import json
from collections.abc import Mapping, Sequence

import attrs
import pytest
from tests.tables import for_each

from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import ToolCall
from permitry.errors import AuditError, ReplayError
from permitry.guard.capabilities import Capabilities
from permitry.guard.guard import Guard
from permitry.guard.outcome import Ask, Cause, Permit, Refusal
from permitry.testing.conformance import CASES, Case, Made, Progress, Tools, check


@attrs.define
class _Host:
    """A host that suspends; `fault` names the promise that it breaks."""

    fault: str = ""
    capabilities: Capabilities = attrs.field(factory=lambda: Capabilities(asks="suspend", outlives=True))

    def run(self, guard: Guard, tools: Tools, calls: Sequence[Made]) -> Progress:
        """Check each call, and run the tools once no question is open."""
        return self._go_on(guard, tools, tuple(calls), {}, asked=False)

    def resume(
        self, guard: Guard, tools: Tools, progress: Progress, answers: Mapping[str, ToolConfirmationResponse]
    ) -> Progress:
        """Go on with the answers."""
        return self._go_on(guard, tools, progress.state, answers, asked=self.fault != "forgets")

    def _go_on(
        self,
        guard: Guard,
        tools: Tools,
        calls: Sequence[Made],
        answers: Mapping[str, ToolConfirmationResponse],
        *,
        asked: bool,
    ) -> Progress:
        if self.fault == "runs all":
            return Progress(tuple(_run(tools, made.tool, made.path) for made in calls))
        shown, waiting = [], []
        for number, made in enumerate(calls):
            outcome = guard.check(self._call(guard, made), asked=asked)
            if isinstance(outcome, Ask):
                path = self._path(number, calls, answers)
                if path not in answers or self.fault == "loses answers":
                    waiting.append(made.path)
                    if self.fault == "runs early":
                        _run(tools, made.tool, made.path)
                    continue
                outcome = self._answered(guard.answer(outcome.id, answers[path]), answers[path], tools, made)
            if isinstance(outcome, Permit):
                shown.append(self._permitted(outcome, tools, made))
            elif isinstance(outcome, Refusal):
                if self.fault == "runs again" and outcome.cause is Cause.HANDLED:
                    _run(tools, made.tool, made.path)
                shown.append("no" if self.fault == "hides texts" else outcome.text)
        if self.fault == "loses results":
            shown = []
        return Progress(tuple(shown), tuple(waiting), calls)

    def _path(self, number: int, calls: Sequence[Made], answers: Mapping[str, ToolConfirmationResponse]) -> str:
        """Return the path whose answer a call gets."""
        if self.fault == "mixes answers" and answers:
            return list(answers)[number]
        made = calls[number]
        if self.fault == "answers by id":
            made = next(each for each in calls if each.call_id == made.call_id)
        return made.path

    def _answered(
        self, outcome: Permit | Refusal, response: ToolConfirmationResponse, tools: Tools, made: Made
    ) -> Permit | Refusal:
        if self.fault == "reads answers" and response.approved:
            _run(tools, made.tool, made.path)
        return outcome

    def _call(self, guard: Guard, made: Made) -> ToolCall | Refusal:
        arguments = made.json
        call_id = "x" if self.fault == "gives one id" else made.call_id
        if self.fault == "takes the last":
            with contextlib.suppress(ValueError):
                arguments = json.loads(arguments)
        return guard.call(made.tool, arguments, call_id=call_id)

    def _permitted(self, permit: Permit, tools: Tools, made: Made) -> str:
        if self.fault == "takes no permit":
            return _run(tools, made.tool, str(permit.call.arguments["path"]))
        if self.fault == "records late":
            _run(tools, made.tool, made.path)
            permit.take()
            permit.done(ok=True)
            return "done"
        if self.fault == "needs no record":
            with contextlib.suppress(AuditError):
                permit.take()
            return _run(tools, made.tool, made.path)
        path = permit.take()["path"]
        shown = _run(tools, made.tool, made.path if self.fault == "ignores edits" else path)
        if self.fault != "ends no run":
            permit.done(ok=True)
        return shown


def _run(tools: Tools, tool: str, path: str) -> str:
    known = {"look": tools.look, "write": tools.write}
    return known[tool](path) if tool in known else "no such tool"


@for_each("case", CASES, ids=str)
def test_a_host_that_keeps_its_promises_passes(case: Case) -> None:
    """Every case that it can be asked."""
    check(case, _Host())


@for_each(
    ("fault", "cases"),
    [
        (
            "runs all",
            {"a blocked call is refused in words", "a no reaches the model in words", "an edit is decided again"},
        ),
        ("runs early", {"a no reaches the model in words", "a yes lets the call run"}),
        ("forgets", {"nor does it in another process"}),
        ("mixes answers", {"two questions have an answer each"}),
        ("ignores edits", {"an edited call runs as edited"}),
        ("hides texts", {"a blocked call is refused in words", "a rule that crashes blocks"}),
        ("takes no permit", {"an allowed call runs", "a yes lets the call run"}),
        ("ends no run", {"an allowed call runs", "a yes counts in another process"}),
        ("runs again", {"a yes lets the call run", "a yes counts in another process"}),
        ("loses answers", {"a yes lets the call run", "a no reaches the model in words"}),
        ("loses results", {"an allowed call runs"}),
        ("answers by id", {"so have two with one call id"}),
        ("gives one id", {"and so do two that are the same"}),
        ("reads answers", {"a yes that ends the session lets nothing run"}),
        ("takes the last", {"an argument that is given twice does not run"}),
        ("records late", {"an allowed call runs", "a run whose start is not recorded does not begin"}),
        ("needs no record", {"a run whose start is not recorded does not begin"}),
    ],
)
def test_a_host_that_breaks_a_promise_fails(fault: str, cases: set[str]) -> None:
    """In the cases that are about it."""
    failed = set()
    for case in CASES:
        try:
            check(case, _Host(fault))
        except (AssertionError, ReplayError):
            failed.add(str(case))
    assert cases <= failed


def test_an_answer_that_counts_twice_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kit answers every question once more at the end."""
    permit = Guard().check(ToolCall("x"))
    assert isinstance(permit, Ask)
    case = next(case for case in CASES if case.name == "a no reaches the model in words")
    given = Guard.answer
    answers: list[object] = []

    def twice(guard: Guard, pending_id: str, response: ToolConfirmationResponse) -> object:
        answers.append(pending_id)
        outcome = given(guard, pending_id, response)
        return Permit(ToolCall("x"), permit.decision, None, None) if len(answers) > 1 else outcome  # type: ignore[arg-type]

    monkeypatch.setattr(Guard, "answer", twice)
    with pytest.raises(AssertionError, match="answered twice"):
        check(case, _Host())


def test_a_case_that_a_host_cannot_be_asked_is_not_passed() -> None:
    """It fails in its own way, not as one that was passed."""
    case = next(case for case in CASES if case.restarts)
    with pytest.raises(LookupError, match="cannot be asked"):
        check(case, _Host(capabilities=Capabilities(asks="inline")))

"""The original of seed 003: its published cases, and its whole truth table.

permitry answers every boolean as the original does, with two deliberate differences:

(a) A call blocked in plan mode was "ask" there, and its executor then refused; here the verdict is BLOCK, which no
    answer lifts. `should_confirm` is True in both.
(b) `skip_future` put the tool on the ignore list there even when the call was rejected or the session aborted; here
    only an approval does. No published case shows it; the grid below does.

The words of messages are permitry's own; what is compared is whether there is one, and that it holds the guidance.
"""

import itertools
import json
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pytest

from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.template import Template
from permitry.guard.session import Session
from permitry.handler import ToolHandler

Case: TypeAlias = dict[str, Any]

CASES = Path(__file__).resolve().parents[2] / ".." / "shared" / "cases" / "tunacode.json"
BLOCKED_WHERE_THE_ORIGINAL_ASKS = {
    f"tunacode-{number:03}" for number in (4, 5, 6, 7, 14, 15, 16, 17, 54, 56, 57)
}  # difference (a)

# The published cases ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    """Return the published cases."""
    if not CASES.exists():
        pytest.skip("the folder `shared` is not beside this checkout")
    published: list[Case] = json.loads(CASES.read_text(encoding="utf-8"))["cases"]
    return published


def _of(cases: list[Case], operation: str) -> list[Case]:
    return [case for case in cases if case["op"] == operation]


def _handler(case: Case) -> ToolHandler:
    state = case["state"]
    handler = ToolHandler(Session(state["plan_mode"], state["yolo"], list(state["tool_ignore"])))
    if (template := state["active_template"]) is not None:
        handler.set_active_template(
            Template(template["name"], template["allowed_tools"], description=template["description"])
        )
    return handler


def test_every_published_case_is_of_a_known_kind(cases: list[Case]) -> None:
    """All 76 cases are run by one of the tests below."""
    operations = (
        "should_confirm",
        "is_tool_blocked_in_plan_mode",
        "create_confirmation_request",
        "process_confirmation",
    )
    assert [len(_of(cases, operation)) for operation in operations] == [58, 11, 2, 5]
    assert len(cases) == 76


def test_should_confirm_agrees(cases: list[Case]) -> None:
    """The boolean agrees in every case."""
    for case in _of(cases, "should_confirm"):
        assert _handler(case).should_confirm(case["tool"]) is case["expected"]["should_confirm"], case["id"]


def test_the_verdict_agrees_but_for_the_blocks_of_plan_mode(cases: list[Case]) -> None:
    """Difference (a), in exactly the cases listed."""
    differing = set()
    for case in _of(cases, "should_confirm"):
        verdict = _handler(case).decide(ToolCall(case["tool"])).verdict
        if verdict is not {"allow": Verdict.ALLOW, "ask": Verdict.CONFIRM}[case["expected"]["decision"]]:
            differing.add(case["id"])
            assert verdict is Verdict.BLOCK
    assert differing == BLOCKED_WHERE_THE_ORIGINAL_ASKS


def test_is_tool_blocked_agrees(cases: list[Case]) -> None:
    """The boolean agrees in every case."""
    for case in _of(cases, "is_tool_blocked_in_plan_mode"):
        assert _handler(case).is_tool_blocked(case["tool"]) is case["expected"]["blocked"], case["id"]


def test_confirmation_requests_agree(cases: list[Case]) -> None:
    """Tool, arguments and path of the request agree."""
    for case in _of(cases, "create_confirmation_request"):
        request = _handler(case).create_confirmation_request(case["tool"], case["args"])
        expected = case["expected"]["request"]
        found = {"tool_name": request.tool, "args": request.arguments, "filepath": request.path}
        assert found == expected, case["id"]


def test_process_confirmation_agrees(cases: list[Case]) -> None:
    """The boolean, the ignore list, and what the model is shown, with the guidance in it."""
    for case in _of(cases, "process_confirmation"):
        handler, expected = _handler(case), case["expected"]
        response = ToolConfirmationResponse(**case["response"])
        assert handler.process_confirmation(response, case["tool"]) is expected["proceed"], case["id"]
        assert handler.session.tool_ignore_list == expected["tool_ignore_after"]
        assert len(handler.session.messages) == len(expected["messages_added"])
        assert all(case["response"]["instructions"] in message for message in handler.session.messages)


# The whole table of `should_confirm` ------------------------------------------------------------------------------

_READING = {"read_file", "grep", "list_dir", "glob", "react", "exit_plan_mode"}
_TOOLS = ("read_file", "exit_plan_mode", "write_file", "update_file", "bash", "todo", "present_plan", "deploy")
_IGNORED = ((), ("write_file",), ("bash", "bash", "read_file"), ("present_plan", "deploy", "Todo"))
_ALLOWED = ("no template", None, ["write_file", "deploy"], ["bash", "read_file", "present_plan"])


class State(NamedTuple):
    """One place in the table."""

    plan: bool
    yolo: bool
    ignored: tuple[str, ...]
    allowed: Any
    tool: str


GRID = [State(*place) for place in itertools.product((False, True), (False, True), _IGNORED, _ALLOWED, _TOOLS)]


def _original_blocks(state: State) -> bool:
    """In plan mode only reading tools and the presentation of the plan are left."""
    return state.plan and state.tool not in _READING | {"present_plan"}


def _original_confirms(state: State) -> bool:
    """Of what is not blocked, five things let a tool run without a question; a blocked one shows as "confirm"."""
    is_listed = isinstance(state.allowed, list) and state.tool in state.allowed
    is_familiar = state.tool in _READING or state.tool == "present_plan"
    runs = is_familiar or is_listed or state.yolo or state.tool in state.ignored
    return _original_blocks(state) or not runs


def _session(state: State) -> Session:
    template = None if state.allowed == "no template" else Template("t", state.allowed)
    return Session(state.plan, state.yolo, list(state.ignored), template)


def test_the_table_is_complete_and_its_places_differ() -> None:
    """512 places, and no answer is the same everywhere."""
    assert len(GRID) == len({str(state) for state in GRID}) == 512
    answers = [(_original_confirms(state), _original_blocks(state)) for state in GRID]
    assert set(answers) == {(False, False), (True, False), (True, True)}


def test_should_confirm_agrees_everywhere() -> None:
    """The handler's boolean is the original's in all 512 places."""
    differing = [s for s in GRID if ToolHandler(_session(s)).should_confirm(s.tool) is not _original_confirms(s)]
    assert differing == []


def test_is_tool_blocked_agrees_everywhere() -> None:
    """The handler's boolean is the original's in all 512 places."""
    differing = [s for s in GRID if ToolHandler(_session(s)).is_tool_blocked(s.tool) is not _original_blocks(s)]
    assert differing == []


def test_the_policy_agrees_with_the_handler_everywhere() -> None:
    """Asked the seed's way, with a context, the policy gives the same two booleans."""
    for state in GRID:
        handler, context = ToolHandler(_session(state)), AuthContext.from_state(_session(state))
        assert handler.policy.should_confirm(state.tool, context) is handler.should_confirm(state.tool)
        assert handler.policy.is_tool_blocked(state.tool, context) is handler.is_tool_blocked(state.tool)


def test_the_verdict_is_block_exactly_where_the_original_refuses() -> None:
    """Difference (a): a real BLOCK where the original answered "confirm" and then refused."""
    for state in GRID:
        expected = Verdict.CONFIRM if _original_confirms(state) else Verdict.ALLOW
        expected = Verdict.BLOCK if _original_blocks(state) else expected
        assert ToolHandler(_session(state)).decide(ToolCall(state.tool)).verdict is expected, state


# The whole table of `process_confirmation` ------------------------------------------------------------------------


class Answer(NamedTuple):
    """One answer to the question about one tool."""

    approved: bool
    abort: bool
    skip_future: bool
    guidance: str
    tool: str


_GUIDANCE = ("", " \n\t", "use another way", "  first this,\n  then that  ")
_FLAGS = (False, True)
ANSWERS = [Answer(*a) for a in itertools.product(_FLAGS, _FLAGS, _FLAGS, _GUIDANCE, ("bash", "deploy"))]


def _processed(answer: Answer) -> tuple[bool, Session]:
    session = Session(tool_ignore_list=["before"])
    response = ToolConfirmationResponse(answer.approved, answer.skip_future, answer.abort, answer.guidance)
    return ToolHandler(session).process_confirmation(response, answer.tool), session


def test_the_answer_agrees_everywhere() -> None:
    """In all 64 places the tool goes on exactly when it was approved and nothing aborted."""
    assert len(ANSWERS) == len(set(ANSWERS)) == 64
    differing = [a for a in ANSWERS if _processed(a)[0] is not (a.approved and not a.abort)]
    assert differing == []


def test_the_model_is_reported_of_everything_that_does_not_go_on() -> None:
    """One message with the guidance and the tool where the original sent one, and none elsewhere."""
    for answer in ANSWERS:
        goes_on, session = _processed(answer)
        assert len(session.messages) == (0 if goes_on else 1)
        assert all(answer.guidance.strip() in message and answer.tool in message for message in session.messages)


def test_blank_guidance_is_no_guidance() -> None:
    """The message is one of two kinds, with and without guidance."""
    shown = {guidance: _processed(Answer(False, False, False, guidance, "bash"))[1].messages for guidance in _GUIDANCE}
    assert shown[""] == shown[" \n\t"]
    assert len({messages[0] for messages in shown.values()}) == 3


def test_a_tool_is_remembered_as_in_the_original_but_only_with_an_approval() -> None:
    """Difference (b): of the 32 places where the original remembered, the 24 without an approval do not count."""
    differing = []
    for answer in ANSWERS:
        original = ["before", answer.tool] if answer.skip_future else ["before"]
        remembered = _processed(answer)[1].tool_ignore_list
        if remembered != original:
            differing.append(answer)
            assert remembered == ["before"]
    assert differing == [a for a in ANSWERS if a.skip_future and (a.abort or not a.approved)]
    assert len(differing) == 24

"""The walk of a call through the house, from a trace of each function that is entered: down, and never back up.

`handle`, then the stages, each of which looks down: at the policy, at the tools, at the record.
"""

import sys
from types import FrameType

import attrs
import pytest

from permitry.audit.record import MemoryRecorder
from permitry.channels.channel import CallbackChannel
from permitry.channels.response import ToolConfirmationResponse
from permitry.config.load import load_policy
from permitry.core.result import ToolResult
from permitry.core.spec import ToolSpec
from permitry.dispatch.registry import ToolRegistry
from permitry.guard.ledger import ConfirmationLedger
from permitry.handler import ToolHandler
from tests.guarding import RULES, YES, new_call, open_ask

ROOMS = ("handler", "guard", "core.policy", "channels", "audit", "dispatch")
STAGES = "guard.stages."
SHOWN = {
    "handler.handle",
    "guard.guard.begin", "guard.guard.ask", "guard.line.decide_call", "guard.line.settle_answer",
    "core.policy.decide",
    "channels.channel.ask",
    "audit.recorder.record", "audit.recorder.started", "audit.recorder.finished",
    "dispatch.registry.dispatch",
}  # fmt: skip
"""What a walk is compared by, besides the stages; on failure all of it is printed."""

BEGIN = """
handler.handle
guard.guard.begin
guard.line.decide_call
guard.stages.known.recall
guard.stages.resolve.resolve
guard.stages.resume.resume
guard.stages.decide.decide
core.policy.decide
guard.stages.grant.use_grant
guard.stages.budget.charge
guard.stages.snapshot.take_snapshot
guard.stages.record.record_call
audit.recorder.record
guard.stages.settle.settle
"""
ASK = """
audit.recorder.record
guard.guard.ask
channels.channel.ask
guard.line.settle_answer
audit.recorder.record
guard.stages.bind.edit
guard.stages.resolve.resolve
guard.stages.decide.decide
core.policy.decide
guard.stages.bind.bind
guard.stages.record.record_answer
guard.stages.settle.settle
guard.stages.budget.charge_approved
"""
RUN = """
dispatch.registry.dispatch
audit.recorder.started
audit.recorder.finished
"""
WALKS = {"look": BEGIN + RUN, "write": BEGIN + ASK + RUN, "remove": BEGIN}
"""By tool: a call that is allowed, one that is asked about and approved, and one that is blocked."""

# Who is called while it is at work further up, and why.
RUNNING = {
    "dispatch.running": "the steps of a run are a coroutine, which `apart` drives",
    "dispatch.registry": "the clock of a registry is asked when a tool begins",
}
CLIMBS = {"look": RUNNING, "write": RUNNING, "remove": {}}


@attrs.frozen
class Step:
    """A function that was entered from another module; `is_climb`: its module was at work further up already."""

    depth: int
    module: str
    function: str
    is_climb: bool

    def __str__(self) -> str:
        return f"{'  ' * self.depth}{self.module}.{self.function}{'  <- a climb' * self.is_climb}"


@attrs.define
class Walk:
    """The modules that are entered while a call is handled, in their order; those in one module are one step."""

    steps: list[Step] = attrs.field(factory=list)
    _entered: list[str] = attrs.field(factory=list)

    def __str__(self) -> str:
        return "\n".join(["", *map(str, self.steps)])

    @property
    def stages(self) -> list[str]:
        """The names of the files of the stages."""
        return [each.module.removeprefix(STAGES) for each in self.steps if each.module.startswith(STAGES)]

    @property
    def shown(self) -> list[str]:
        """The steps that it is compared by."""
        names = [f"{each.module}.{each.function}" for each in self.steps]
        return [name for name in names if name.startswith(STAGES) or name in SHOWN]

    @property
    def climbs(self) -> set[str]:
        """Who was called while it was at work further up."""
        return {each.module for each in self.steps if each.is_climb}

    def profile(self, frame: FrameType, event: str, _: object) -> None:
        """Note a call or a return: a function for `sys.setprofile`."""
        module = str(frame.f_globals.get("__name__", "")).removeprefix("permitry.")
        if not any(module == room or module.startswith(f"{room}.") for room in ROOMS):
            return
        if event == "return":
            self._entered.pop()
        elif event == "call":
            if self._entered[-1:] != [module]:
                depth, is_climb = len(self._entered), module in self._entered
                self.steps.append(Step(depth, module, frame.f_code.co_name, is_climb))
            self._entered.append(module)


def walk(handler: ToolHandler, tool: str, call_id: str = "c1") -> tuple[Walk, ToolResult]:
    """Return the walk of a call, and its result."""
    call, steps, before = new_call(tool, call_id=call_id), Walk(), sys.getprofile()
    sys.setprofile(steps.profile)
    try:
        result = handler.handle(call)
    finally:
        sys.setprofile(before)
    return steps, result


@attrs.define
class _Elsewhere(ConfirmationLedger):
    """Knows answers from elsewhere."""

    given: ToolConfirmationResponse | None = attrs.field(default=None, kw_only=True)

    def answer(self, pending_id: str) -> ToolConfirmationResponse | None:
        """Return what was given."""
        return super().answer(pending_id) or self.given


@pytest.fixture
def ledger() -> _Elsewhere:
    """Return a ledger without an answer from elsewhere."""
    return _Elsewhere()


@pytest.fixture
def handler(ledger: _Elsewhere) -> ToolHandler:
    """Return a handler whose human says yes; what is done once was done."""
    registry, yes = ToolRegistry(), CallbackChannel(lambda _: YES)
    for tool in WALKS:
        registry.register(ToolSpec(tool), lambda _: "done")
    parts = {"registry": registry, "channel": yes, "ledger": ledger, "recorder": MemoryRecorder()}
    handler = ToolHandler(policy=load_policy(RULES), **parts)  # type: ignore[arg-type]  # parts of several kinds
    for tool in WALKS:
        handler.handle(new_call(tool, call_id="first"))
    return handler


@pytest.mark.parametrize("tool", WALKS)
def test_a_call_walks_down_the_line(handler: ToolHandler, tool: str) -> None:
    """To the policy before it is recorded, to the record before it is settled, and then, if it may, to its tool."""
    steps, result = walk(handler, tool)
    assert result.ok is (tool != "remove")
    assert steps.shown == WALKS[tool].split(), str(steps)


@pytest.mark.parametrize("tool", WALKS)
def test_no_stage_is_visited_more_than_twice(handler: ToolHandler, tool: str) -> None:
    """Twice by a call that is asked about: before the question and after its answer.

    The file `bind` has two stages, both after the answer: the edit comes first, as it is decided on.
    """
    steps, _ = walk(handler, tool)
    assert max(map(steps.stages.count, steps.stages)) <= (2 if tool == "write" else 1), str(steps)


@pytest.mark.parametrize("tool", WALKS)
def test_a_call_does_not_climb_back(handler: ToolHandler, tool: str) -> None:
    """No file calls one that is waiting for it, but for those that are listed with a reason; of the guard only one."""
    steps, _ = walk(handler, tool)
    assert steps.climbs == CLIMBS[tool].keys(), str(steps)


def test_an_answer_from_elsewhere_is_the_one_climb_of_a_stage(handler: ToolHandler, ledger: _Elsewhere) -> None:
    """A call that is made again finds its question answered: `known` gives the answer to the guard, as a channel would.

    The guard sends it down the other line. That is why `take_answer` is a part, and no stage imports `line`.
    """
    open_ask(handler.guard)
    ledger.given = YES
    steps, result = walk(handler, "write")
    assert result.ok
    first = next(each for each in steps.steps if each.is_climb)
    assert f"{first.module}.{first.function}" == "guard.guard.take_answer", str(steps)
    assert steps.climbs - RUNNING.keys() == {"guard.guard", "guard.line", "guard.open_questions"}, str(steps)

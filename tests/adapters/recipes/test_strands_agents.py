"""The recipe for Strands Agents."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence

import attrs
import pytest

from permitry.audit.record import MemoryRecorder
from permitry.channels.response import ToolConfirmationResponse
from permitry.guard.capabilities import Capabilities
from permitry.guard.guard import Guard
from permitry.testing import conformance
from permitry.testing.conformance import Made, Progress, Tools

pytest.importorskip("strands", reason="an environment of its own: tests/adapters/run_all.sh")

import strands
from strands.models.model import Model
from tests.adapters.recipe import Foreign, cases, check_that_nothing_runs_by_mistake, recipe

SECTION = "Strands Agents"
CAPABILITIES = Capabilities(asks="suspend", outlives=True, in_parallel=True, sees_text=False, repeats_ids=False)
CASES = cases(CAPABILITIES)
RECIPE = recipe(SECTION)


class _Model(Model):
    """Makes the given calls in one message, and then ends."""

    def __init__(self, calls: Sequence[Made]) -> None:
        self.turns = [calls] if calls else []

    def update_config(self, **_: Foreign) -> None:
        """Take nothing."""

    def get_config(self) -> Foreign:
        return {}

    def structured_output(self, *_: Foreign, **__: Foreign) -> Foreign:
        raise NotImplementedError

    async def stream(self, *_: Foreign, **__: Foreign) -> AsyncIterator[Foreign]:
        calls = self.turns.pop() if self.turns else ()
        yield {"messageStart": {"role": "assistant"}}
        for made in calls:
            yield {"contentBlockStart": {"start": {"toolUse": {"name": made.tool, "toolUseId": made.call_id}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": made.json}}}}
            yield {"contentBlockStop": {}}
        if not calls:
            yield {"contentBlockDelta": {"delta": {"text": "done"}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if calls else "end_turn"}}


def _agent(guard: Guard, tools: Tools, calls: Sequence[Made] = (), **rest: Foreign) -> Foreign:
    known = [strands.tool(tools.look, name="look"), strands.tool(tools.write, name="write")]
    return RECIPE.guard_agent(guard, strands.Agent(_Model(calls), tools=known, callback_handler=None, **rest))


def _shown(messages: Sequence[Foreign]) -> tuple[str, ...]:
    contents = [content for message in messages for content in message["content"]]
    return tuple(content["toolResult"]["content"][0]["text"] for content in contents if "toolResult" in content)


@attrs.define
class _Host:
    """An agent that is resumed from a snapshot of plain JSON, as a new object."""

    capabilities: Capabilities = CAPABILITIES

    def run(self, guard: Guard, tools: Tools, calls: Sequence[Made]) -> Progress:
        return self._go_on(_agent(guard, tools, calls), "go")

    def resume(
        self, guard: Guard, tools: Tools, progress: Progress, answers: Mapping[str, ToolConfirmationResponse]
    ) -> Progress:
        snapshot, ids = progress.state
        agent = _agent(guard, tools)
        agent.load_snapshot(strands.Snapshot.from_dict(json.loads(snapshot)))
        given = [
            {"interruptResponse": {"interruptId": ids[path], "response": attrs.asdict(answer)}}
            for path, answer in answers.items()
        ]
        return self._go_on(agent, given)

    def _go_on(self, agent: Foreign, prompt: Foreign) -> Progress:
        result = agent(prompt)
        if result.stop_reason != "interrupt":
            return Progress(_shown(agent.messages))
        ids = {str(each.reason["arguments"]["path"]): each.id for each in result.interrupts}
        return Progress((), tuple(ids), (json.dumps(agent.take_snapshot(preset="session").to_dict()), ids))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_agent_keeps_what_the_guard_says(case: conformance.Case) -> None:
    """In every case that it can be asked."""
    conformance.check(case, _Host())


def test_nothing_runs_by_mistake() -> None:
    """The framework makes a result of an error, and goes on."""
    check_that_nothing_runs_by_mistake(_Host())


class _Failing(Tools):
    def look(self, path: str) -> str:
        """Show a file."""
        raise KeyError(path)


def test_a_tool_that_fails_is_recorded_as_such() -> None:
    """The framework makes a result of its error."""
    recorder = MemoryRecorder()
    _Host().run(Guard(conformance.CASES[0].policy, recorder=recorder), _Failing(), [Made("look", "a")])
    assert [each["outcome"] for each in recorder.records if each["event"] == "finished"] == ["failed"]

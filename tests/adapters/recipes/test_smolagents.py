"""The recipe for smolagents."""

import contextlib
import json
from collections.abc import Sequence

import attrs
import pytest

from permitry.guard.capabilities import Capabilities
from permitry.guard.guard import Guard
from permitry.testing import conformance
from permitry.testing.conformance import Made, Progress, Tools

pytest.importorskip("smolagents", reason="an environment of its own: tests/adapters/run_all.sh")

from smolagents import ChatMessage, CodeAgent, MessageRole, Model, ToolCallingAgent, tool
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction
from smolagents.monitoring import AgentLogger, LogLevel
from smolagents.remote_executors import RemotePythonExecutor
from tests.adapters.recipe import Foreign, cases, check_that_nothing_runs_by_mistake, recipe

SECTION = "smolagents"
CAPABILITIES = Capabilities(asks="inline", in_parallel=True, sees_text=False, repeats_ids=False)
CASES = cases(CAPABILITIES, "broken JSON does not run")
RECIPE = recipe(SECTION)


class _Model(Model):
    """Says what it is given, one message after the other, and then ends."""

    def __init__(self, *messages: ChatMessage) -> None:
        super().__init__()
        self.messages = [*messages]

    def generate(self, *_: Foreign, **__: Foreign) -> ChatMessage:
        return self.messages.pop(0) if self.messages else _calls(Made("final_answer", "", text='{"answer": "done"}'))


def _calls(*made: Made) -> ChatMessage:
    calls = []
    for each in made:
        arguments: Foreign = each.json
        with contextlib.suppress(ValueError):
            arguments = json.loads(each.json)
        function = ChatMessageToolCallFunction(name=each.tool, arguments=arguments)
        calls.append(ChatMessageToolCall(function=function, id=each.call_id, type="function"))
    return ChatMessage(MessageRole.ASSISTANT, "", tool_calls=calls)


def _guarded(guard: Guard, tools: Tools) -> list[Foreign]:
    @tool
    def look(path: str) -> str:
        """Show a file.

        Args:
            path: the file
        """
        return tools.look(path)

    @tool
    def write(path: str) -> str:
        """Write a file.

        Args:
            path: the file
        """
        return tools.write(path)

    return [RECIPE.guard_tool(guard, each) for each in (look, write)]


@attrs.define
class _Host:
    """An agent that makes calls as JSON; with `as_code`, in Python."""

    as_code: bool = False
    capabilities: Capabilities = CAPABILITIES

    def run(self, guard: Guard, tools: Tools, calls: Sequence[Made]) -> Progress:
        if self.as_code:
            lines = [f"print({each.tool}({each.text or repr(each.path)}))" for each in calls]
            code = [ChatMessage(MessageRole.ASSISTANT, f"<code>\n{line}\n</code>") for line in lines]
            end = ChatMessage(MessageRole.ASSISTANT, "<code>\nfinal_answer('done')\n</code>")
            agent: Foreign = CodeAgent(_guarded(guard, tools), _Model(*code, end), verbosity_level=0)
        else:
            agent = ToolCallingAgent(_guarded(guard, tools), _Model(_calls(*calls)), verbosity_level=0)
        agent.run("go")
        # The results of one message are one text, in the order of their ids.
        text = "\n".join(f"{step.observations} {step.error}" for step in agent.memory.steps[1:])
        return Progress((text,) * len(calls))

    resume: Foreign = None


@pytest.mark.parametrize("host", [_Host(), _Host(as_code=True)], ids=["json", "code"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_agent_keeps_what_the_guard_says(case: conformance.Case, host: _Host) -> None:
    """Whichever way it makes its calls."""
    conformance.check(case, host)


def test_nothing_runs_by_mistake() -> None:
    """The framework makes a result of an error, and goes on."""
    check_that_nothing_runs_by_mistake(_Host())


def test_no_tool_is_sent_to_a_remote_executor() -> None:
    """It would be rebuilt there from its source, and run without a guard."""
    sent: list[str] = []

    class _Elsewhere(RemotePythonExecutor):
        def install_packages(self, additional_imports: list[str]) -> list[str]:
            return additional_imports

        def run_code_raise_errors(self, code: str) -> Foreign:
            sent.append(code)

    executor = _Elsewhere([], AgentLogger(LogLevel.OFF))
    with pytest.raises(TypeError, match="elsewhere"):
        executor.send_tools({each.name: each for each in _guarded(Guard(), Tools())})
    assert sent == []

"""The tools `subtask` and `execute`: they hand work to an agent that the host runs."""

import functools
import time
from collections.abc import Callable
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

import attrs
from pydantic import Field, ValidationError

from permitry.port import (
    CallScope,
    ToolError,
    ToolRegistry,
    ToolResult,
    ToolSpec,
    ToolTraits,
    UnavailableError,
    safe_str,
    unfit,
    with_check,
)
from permitry_tools._spec import Arguments, spec

__all__ = ["AgentRunner", "AgentTask", "Delegation", "Judge", "Judgement", "register"]

Model = TypeVar("Model", bound=Arguments)
Kind: TypeAlias = Literal["analysis", "execute", "subtask"]
_TOOLS = ("subtask", "execute")
_MARK = "[ACCEPTANCE CRITERIA:"
_NO_RUNNER = "No agent can be started here: the host has no runner for one. Do the work yourself."
_TIMEOUT = 3_600.0


@attrs.frozen
class AgentTask:
    """What an agent is to do, and with what at most.

    `tools` are the only tools it may call, None for all there are; `without` are left out of these. `model` is None
    where the runner may choose. A round is one answer of its model; `max_rounds` is None where the runner decides.
    """

    objective: str
    kind: Kind = "subtask"
    acceptance_criteria: str | None = attrs.field(default=None, kw_only=True)
    model: str | None = attrs.field(default=None, kw_only=True)
    reasoning_effort: str | None = attrs.field(default=None, kw_only=True)
    tools: tuple[str, ...] | None = attrs.field(default=None, kw_only=True)
    without: tuple[str, ...] = attrs.field(default=(), kw_only=True)
    max_rounds: int | None = attrs.field(default=None, kw_only=True)

    def may_use(self, tool: str) -> bool:
        """Return whether the agent may call `tool` at all; a policy still decides each call."""
        return (self.tools is None or tool in self.tools) and tool not in self.without


class AgentRunner(Protocol):
    """What runs an agent: a host with a model.

    The calls of that agent must go through a handler with a `Session.child` of the caller's session, which is
    `scope.session`, so that it is never allowed more than its caller. Only tools with `task.may_use(name)` may reach
    it, where `name` is that of the tool itself and not an alias (`ToolRegistry.resolved`).
    """

    def run(self, task: AgentTask, scope: CallScope) -> str:
        """Return the agent's answer; `scope` is that of the agent, one deeper than its caller's.

        `scope.session` is still the session of the caller: that of the agent is to be a child of it.

        Raises: `ToolError` with what the caller is to be shown.
        """
        ...


@attrs.frozen
class Judgement:
    """Whether a result meets its acceptance criteria, and why."""

    is_pass: bool = attrs.field(validator=attrs.validators.instance_of(bool))
    reason: str = ""


class Judge(Protocol):
    """Judges the result of an agent; one that fails counts as FAIL."""

    def __call__(self, task: AgentTask, result: str) -> Judgement:
        """Return the judgement of `result`."""
        ...


@attrs.frozen
class Delegation:
    """How work may be handed on.

    `is_recursive` is False in flat mode, where no agent starts another; `max_depth` is how many agents may be above
    the deepest one. With `needs_criteria` every task says how its result will be judged, and `judge` does that, where
    there is one. `models` are names, the most capable first: an agent gets no model above its caller's.
    """

    is_recursive: bool = True
    max_depth: int = 4
    needs_criteria: bool = False
    judge: Judge | None = None
    models: tuple[str, ...] = ()

    def model_for(self, wanted: str | None, scope: CallScope) -> str | None:
        """Return the model of an agent that was asked for with `wanted`.

        Raises: `ToolError` for a model above the caller's, or where it is unknown that it is not.
        """
        if wanted is None or wanted == scope.model:
            return scope.model
        if wanted not in self.models:
            known = f"there are {', '.join(f'`{model}`' for model in self.models)}" if self.models else "leave it out"
            raise ToolError(f"There is no model `{wanted}` to choose; {known}.")
        # A caller whose model is not listed counts as the least of all.
        above = self.models.index(scope.model) if scope.model in self.models else len(self.models) - 1
        if self.models.index(wanted) < above:
            raise ToolError(
                f"Cannot delegate to the higher-tier model `{wanted}`; use `{self.models[above]}` or below."
            )
        return wanted


class Execute(Arguments):
    """The arguments of `execute`."""

    objective: str = Field("", max_length=20_000, description="What is to be done, in full: the agent sees no more.")
    acceptance_criteria: str | None = Field(
        None, max_length=20_000, description="What the result is judged by: specific, verifiable criteria."
    )


class Subtask(Execute):
    """The arguments of `subtask`."""

    model: str | None = Field(None, description="The model of the agent: your own, or one below.")
    reasoning_effort: Literal["low", "medium", "high"] | None = Field(None, description="How much it is to think.")


def register(registry: ToolRegistry, runner: AgentRunner | None = None, settings: Delegation | None = None) -> None:
    """Add `subtask` and `execute` to `registry`; without a runner they refuse."""
    desk = _Desk(registry, runner, settings or Delegation())
    registry.register_call_time(
        _declare("subtask", "Have an agent like you work on a part of the task, and get its result.", Subtask, desk),
        with_check(desk.subtask, functools.partial(desk.check, "subtask", Subtask)),
    )
    registry.register_call_time(
        _declare("execute", "Have a simple agent carry out one clear step. It starts no agents.", Execute, desk),
        with_check(desk.execute, functools.partial(desk.check, "execute", Execute)),
    )


def _declare(name: str, description: str, model: type[Arguments], desk: "_Desk") -> ToolSpec:
    traits = ToolTraits(read_only=False, spawns_agent=True)
    declared = spec(name, description, model, traits, timeout=_TIMEOUT)
    # Left out, these are answered in words of their own, so the models of arguments do not require them.
    required = ["objective", *(["acceptance_criteria"] if desk.settings.needs_criteria else [])]
    return attrs.evolve(declared, parameters={**declared.parameters, "required": required})


@attrs.frozen
class _Desk:
    """Checks each request for an agent, hands it on, and has the result judged."""

    registry: ToolRegistry
    runner: AgentRunner | None
    settings: Delegation

    def check(self, tool: str, model: type[Execute], arguments: dict[str, Any]) -> None:
        """Refuse what no caller could have done, whatever the depth."""
        _check(model, arguments)
        self._check_mode(tool)
        if "objective" not in arguments:
            raise ToolError(f"{tool} requires objective")
        self._runner_here()

    def _runner_here(self) -> AgentRunner:
        if self.runner is None:
            raise UnavailableError(_NO_RUNNER)
        return self.runner

    def subtask(self, arguments: dict[str, Any], scope: CallScope) -> ToolResult:
        asked = _check(Subtask, arguments)
        self._check_mode("subtask")
        self._check_depth("subtask", scope)
        self._check_words("subtask", asked)
        model = self.settings.model_for(asked.model, scope)
        task = AgentTask(
            asked.objective.strip(),
            "subtask",
            acceptance_criteria=asked.acceptance_criteria,
            model=model,
            reasoning_effort=asked.reasoning_effort,
        )
        return self._result("Subtask", task, scope)

    def execute(self, arguments: dict[str, Any], scope: CallScope) -> ToolResult:
        asked = _check(Execute, arguments)
        self._check_mode("execute")
        self._check_words("execute", asked)
        self._check_depth("execute", scope)
        others = (spec.name for spec in self.registry if spec.traits.spawns_agent is True and spec.name not in _TOOLS)
        task = AgentTask(
            asked.objective.strip(),
            "execute",
            acceptance_criteria=asked.acceptance_criteria,
            model=self.settings.models[-1] if self.settings.models else scope.model,
            without=(*_TOOLS, *others),
        )
        return self._result("Execute", task, scope)

    def _check_mode(self, tool: str) -> None:
        if not self.settings.is_recursive:
            raise UnavailableError(f"{tool.capitalize()} tool not available in flat mode.")

    def _check_depth(self, tool: str, scope: CallScope) -> None:
        if scope.depth >= self.settings.max_depth:
            raise ToolError(f"Max recursion depth reached; cannot run {tool}.")
        if scope.deadline is not None and time.monotonic() >= scope.deadline:
            raise ToolError(f"The time of this run is over; cannot run {tool}.")

    def _check_words(self, tool: str, asked: Execute) -> None:
        if not asked.objective.strip():
            raise ToolError(f"{tool} requires objective")
        if self.settings.needs_criteria and not (asked.acceptance_criteria or "").strip():
            raise ToolError(
                f"{tool} requires acceptance_criteria when acceptance criteria mode is enabled. "
                "Provide specific, verifiable criteria for judging the result."
            )

    def _result(self, title: str, task: AgentTask, scope: CallScope) -> ToolResult:
        result = self._runner_here().run(task, attrs.evolve(scope, depth=scope.depth + 1, model=task.model, step=0))
        # The agent's own words must not pass for the verdict below them.
        shown = result.replace(_MARK, _MARK.replace("[", "("))
        text = f"{title} result for '{task.objective}':\n{shown}"
        if self.settings.judge is None or not (task.acceptance_criteria or "").strip():
            return ToolResult(True, text)
        judgement = _judge(self.settings.judge, task, result)
        word = "PASS" if judgement.is_pass else "FAIL"
        return ToolResult(judgement.is_pass, f"{text}\n\n{_MARK} {word}]\n{judgement.reason}".rstrip())


def _judge(judge: Callable[[AgentTask, str], object], task: AgentTask, result: str) -> Judgement:
    """Return the judgement; whatever is none counts as FAIL: nothing passes that was not looked at."""
    try:
        judgement = judge(task, result)
    except Exception as error:  # noqa: BLE001 -- a judge may fail in any way
        return Judgement(is_pass=False, reason=f"The judge failed: {safe_str(error)}")
    if not isinstance(judgement, Judgement):
        return Judgement(is_pass=False, reason="The judge gave no judgement.")
    return judgement


def _check(model: type[Model], arguments: dict[str, Any]) -> Model:
    try:
        return model.model_validate(arguments)
    except ValidationError as error:
        raise unfit(error) from error
